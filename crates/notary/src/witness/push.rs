//! Requests for cosignatures: each new checkpoint of a log is sent to its witnesses, one at a time,
//! and only the newest after a slow answer. A witness that is away costs its cosignature and
//! nothing else.

use std::sync::Arc;
use std::time::Duration;

use chassis::fetch::{Answer, Fetch};
use http::{StatusCode, Uri};
use merkle::note::{Note, Signature, VerifierKey};
use merkle::witness::{self, AddCheckpoint};
use merkle::{Checkpoint, prove_consistency, tiles_for_consistency};

use crate::fault::Trouble;
use crate::notary::{Notary, Shown};

/// First delay before a witness that did not answer is asked again.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest such delay: it doubles with each failure.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Interval between two checkpoints for one witness.
const PACE: Duration = Duration::from_secs(1);

/// Address and key of a witness.
#[derive(Clone, Debug)]
pub struct Invited {
    /// Base address, without `/add-checkpoint`.
    pub url: Uri,
    /// Public key that verifies its cosignatures.
    pub key: VerifierKey,
}

/// Reason why a checkpoint has no cosignature.
#[derive(Debug, thiserror::Error)]
enum Missed {
    #[error("the witness does not answer: {0}")]
    Away(#[from] chassis::fetch::FetchError),
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
    Proof(#[source] Trouble),
}

/// Sends every new checkpoint to a witness until the notary is dropped.
pub fn invite(notary: &Notary, invited: Invited, fetch: Arc<Fetch>) {
    let (desk, mut shown) = (Arc::downgrade(&notary.desk), notary.watch());
    tokio::spawn(async move {
        let (mut known, mut pause) = (None, PAUSE);
        // A checkpoint that was published before the subscription counts too.
        shown.mark_changed();
        while shown.changed().await.is_ok() {
            let Some(now) = shown.borrow_and_update().clone() else { continue };
            if known == Some(now.head().size) {
                // Nothing but cosignatures has changed.
                continue;
            }
            let Some(notary) = desk.upgrade().map(|desk| Notary { desk }) else { return };
            match ask(&notary, &now, (&invited, &fetch), known.unwrap_or(0)).await {
                Ok(by) => {
                    known = Some(now.head().size);
                    pause = PAUSE;
                    notary.cosigned(&now.checkpoint, by);
                    tokio::time::sleep(PACE).await;
                }
                Err(missed) => {
                    tracing::warn!(runbook = "deploy/README.md, A witness is away", witness = %invited.key.name(), error = &missed as &dyn std::error::Error, "a checkpoint is not cosigned");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    shown.mark_changed();
                }
            }
        }
    });
}

/// Requests a cosignature, and once more if the witness names another size than `known`.
async fn ask(
    notary: &Notary,
    shown: &Shown,
    (invited, fetch): (&Invited, &Fetch),
    known: u64,
) -> Result<Vec<Signature>, Missed> {
    let mut old = known.min(shown.head().size);
    let mut again = true;
    loop {
        let body = request(notary, shown, old).await.map_err(Missed::Proof)?;
        let Answer { status, kind, body } =
            fetch.post(&invited.url, "add-checkpoint", body).await?;
        if status == StatusCode::OK {
            return verified(&shown.note, &invited.key, &body).ok_or(Missed::Forged);
        }
        let told = witness::size(&body).filter(|_| kind == "text/x.tlog.size");
        match told.filter(|_| status == StatusCode::CONFLICT) {
            Some(size) if size > shown.head().size => {
                return Err(Missed::Ahead { known: size, size: shown.head().size });
            }
            Some(size) if again => (old, again) = (size, false),
            Some(_) | None => {
                let words: String = String::from_utf8_lossy(&body).chars().take(200).collect();
                return Err(Missed::Refused { status, words: words.trim().to_owned() });
            }
        }
    }
}

async fn request(notary: &Notary, shown: &Shown, old: u64) -> Result<String, Trouble> {
    let size = shown.head().size;
    let trees = &notary.desk.trees;
    let wanted = tiles_for_consistency(old, size)?;
    let tiles = trees.under((shown.head(), &shown.edge), wanted).await?;
    let proof = prove_consistency(&tiles, old, size)?;
    // The note without cosignatures.
    let note = notary.own(&shown.note);
    let asked = AddCheckpoint::try_new(old, proof, note);
    Ok(asked.expect("a tree of ours has a size and a proof in bounds").to_string())
}

/// Returns the signatures in an answer that are by the witness's key. `None` if there is none, or
/// one of them is wrong.
fn verified(note: &Note, key: &VerifierKey, answer: &[u8]) -> Option<Vec<Signature>> {
    let checkpoint = Checkpoint::parse(note.text()).ok()?;
    let lines = witness::cosignatures(answer).ok()?;
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
