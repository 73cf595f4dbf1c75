//! Requests for cosignatures: each new checkpoint of a log is sent to its witnesses, one at a time,
//! and only the newest after a slow answer. A witness that is away costs its cosignature and
//! nothing else.

use std::sync::Arc;
use std::time::Duration;

use chassis::http_client::{Answer, HttpClient};
use http::{StatusCode, Uri};
use merkle::note::{Note, Signature, VerifierKey};
use merkle::witness::{self, AddCheckpoint};
use merkle::{Checkpoint, prove_consistency, tiles_for_consistency};

use crate::fault::NotaryError;
use crate::notary::{Notary, PublishedTree};

/// First delay before a witness that did not answer is asked again.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Longest such delay: it doubles with each failure.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(60);
/// Interval between two checkpoints for one witness.
const PUSH_INTERVAL: Duration = Duration::from_secs(1);

/// Address and key of a witness.
#[derive(Clone, Debug)]
pub struct WitnessEndpoint {
    /// Base address, without `/add-checkpoint`.
    pub url: Uri,
    /// Public key that verifies its cosignatures.
    pub key: VerifierKey,
}

/// Reason why a checkpoint has no cosignature.
#[derive(Debug, thiserror::Error)]
enum CosignatureError {
    #[error("the witness does not answer: {0}")]
    Unreachable(#[from] chassis::http_client::HttpClientError),
    #[error("the witness answers {status}: {words}")]
    Refused { status: StatusCode, words: String },
    #[error("the witness's cosignature is none under its key")]
    Forged,
    #[error(
        "the witness has seen {known} records of this log, which has {size}: THE LOG WAS PUT BACK TO \
         AN OLDER STATE, or the witness lies"
    )]
    Ahead { known: u64, size: u64 },
    #[error("the proof for the witness cannot be made")]
    Proof(#[source] NotaryError),
}

/// Sends every new checkpoint to a witness until the notary is dropped.
pub fn push_checkpoints(notary: &Notary, invited: WitnessEndpoint, fetch: Arc<HttpClient>) {
    notary.add_witness(invited.key.clone());
    let (shared, mut shown) = (Arc::downgrade(&notary.shared), notary.watch());
    tokio::spawn(async move {
        let (mut known, mut pause) = (None, RETRY_DELAY);
        // A checkpoint that was published before the subscription counts too.
        shown.mark_changed();
        while shown.changed().await.is_ok() {
            let Some(now) = shown.borrow_and_update().clone() else { continue };
            if known == Some(now.head().size) {
                // Nothing but cosignatures has changed.
                continue;
            }
            let Some(notary) = shared.upgrade().map(|shared| Notary { shared }) else { return };
            match request_cosignature(&notary, &now, &invited, &fetch, known.unwrap_or(0)).await {
                Ok(by) => {
                    known = Some(now.head().size);
                    pause = RETRY_DELAY;
                    notary.add_cosignatures(&now, &by);
                    tokio::time::sleep(PUSH_INTERVAL).await;
                }
                Err(missed) => {
                    tracing::warn!(runbook = "deploy/README.md, A witness is away", witness = %invited.key.name(), error = &missed as &dyn std::error::Error, "a checkpoint is not cosigned");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(MAX_RETRY_DELAY);
                    shown.mark_changed();
                }
            }
        }
    });
}

/// Requests a cosignature, and once more if the witness names another size than `known`.
async fn request_cosignature(
    notary: &Notary,
    shown: &PublishedTree,
    invited: &WitnessEndpoint,
    fetch: &HttpClient,
    known: u64,
) -> Result<Vec<Signature>, CosignatureError> {
    let mut old = known.min(shown.head().size);
    let mut again = true;
    loop {
        let body = build_request(notary, shown, old).await.map_err(CosignatureError::Proof)?;
        let Answer { status, content_type: kind, body } =
            fetch.post(&invited.url, "add-checkpoint", body).await?;
        if status == StatusCode::OK {
            return own_signatures(&shown.note, &invited.key, &body)
                .ok_or(CosignatureError::Forged);
        }
        let known_size = witness::parse_size(&body).filter(|_| kind == "text/x.tlog.size");
        match known_size.filter(|_| status == StatusCode::CONFLICT) {
            Some(size) if size > shown.head().size => {
                return Err(CosignatureError::Ahead { known: size, size: shown.head().size });
            }
            Some(size) if again => (old, again) = (size, false),
            Some(_) | None => {
                let words: String = String::from_utf8_lossy(&body).chars().take(200).collect();
                return Err(CosignatureError::Refused { status, words: words.trim().to_owned() });
            }
        }
    }
}

async fn build_request(
    notary: &Notary,
    shown: &PublishedTree,
    old: u64,
) -> Result<String, NotaryError> {
    let size = shown.head().size;
    let trees = &notary.shared.tiles;
    let wanted = tiles_for_consistency(old, size)?;
    let tiles = trees.authenticated(shown.head(), &shown.edge, wanted).await?;
    let proof = prove_consistency(&tiles, old, size)?;
    // The note without cosignatures.
    let note = notary.without_cosignatures(&shown.note);
    let asked = AddCheckpoint::try_new(old, proof, note);
    Ok(asked.expect("a tree of ours has a size and a proof in bounds").to_string())
}

/// Returns the signatures in an answer that are by the witness's key. `None` if there is none, or
/// one of them is wrong.
fn own_signatures(note: &Note, key: &VerifierKey, answer: &[u8]) -> Option<Vec<Signature>> {
    let checkpoint = Checkpoint::parse(note.text()).ok()?;
    let lines = witness::parse_cosignatures(answer).ok()?;
    let mut own = Vec::new();
    for line in lines {
        let alone = Note::new(checkpoint.to_string(), line.clone()).ok()?;
        // Lines by other keys of the witness are passed over.
        match alone.verify(std::slice::from_ref(key)) {
            Ok(_) => own.push(line),
            Err(merkle::note::NoteError::Unknown) => {}
            Err(_) => return None,
        }
    }
    (!own.is_empty()).then_some(own)
}
