//! The dealer's interface to its callers, and the task that keeps its log.
//!
//! Each call runs as a task of its own: a caller who gives up cannot stop a write that may already
//! be on its way to the log. Calls are refused while the log is not owned by this process.
//!
//! Specification: services/dealer/README.md "Commands".

use std::sync::{Arc, PoisonError, RwLock};

use ed25519_dalek::SigningKey;
use eventlog::{ClockSkew, Log, OpenError, ReadError};
use fairness::{ClosingRow, Seed, Transcript};
use keyring::{KeyId, Keyring, Nonce, OpenError as SealError, SecretStore, StoreError};
use primitives::RequestId;
use system::clock::Clock;
use system::entropy::{Entropy, EntropyError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::entropy_source::EntropySource;
use crate::fixed_seeds::{self, FixedSeedError, FixedSeeds};
use crate::hand::{
    Closed, Committed, Contradiction, HandName, PerformCommand, PerformOutcome, Refusal, SealInput,
};
use crate::handler::Handler;
use crate::record;

/// Identity of a command and of its caller.
#[derive(Debug, Clone)]
pub struct RequestMetadata {
    pub id: RequestId,
    /// SHA-256 of the command's content.
    pub digest: [u8; 32],
    pub actor: Arc<str>,
    pub trace: [u8; 16],
}

/// Dependencies of a dealer, apart from its log.
pub struct Dependencies {
    pub seeds: SecretStore,
    pub keyring: Keyring,
    pub entropy: Arc<dyn Entropy>,
    /// Signs commitments.
    pub key: SigningKey,
    /// Origin of the log, which contexts are bound to.
    pub origin: Arc<str>,
    /// Number of hands kept in memory; others are read from the log when they are needed.
    pub max_cached_hands: usize,
}

/// State of a dealer that outlives the loss of the log.
pub(crate) struct Resources {
    pub(crate) seeds: SecretStore,
    pub(crate) keyring: Keyring,
    pub(crate) source: EntropySource,
    pub(crate) key: SigningKey,
    pub(crate) key_id: [u8; 8],
    pub(crate) origin: Arc<str>,
    pub(crate) max_cached_hands: usize,
    /// Seeds that an option fixes; `None`: they come from entropy.
    pub(crate) fixed_seeds: Option<FixedSeeds>,
}

impl Resources {
    /// Fresh bytes for one sealing.
    pub(crate) fn nonce(&self) -> Result<Nonce, EntropyError> {
        let block = self.source.block()?;
        Ok(*block.first_chunk().expect("a nonce is shorter than a block"))
    }
}

/// Reason why a call has no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DealerError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("there is no commitment for this hand: call Commit first")]
    UnknownHand,
    #[error("this request_id was used before, for something else")]
    RequestIdReused,
    #[error("this request_id is of a time whose answers are archived")]
    RequestIdTooOld,
    #[error("too much is waiting to be written: repeat the call in a moment")]
    Overloaded,
    #[error(
        "the dealer is out of service, since no secret can be made on its machine: {0}; the operator must look at the machine's generators and start the dealer again"
    )]
    Entropy(#[from] EntropyError),
    #[error(
        "the hand's seed is sealed under key {0}, which this dealer does not have: the operator must put it back, as a line of the file that seed_key_previous names"
    )]
    MissingKey(KeyId),
    #[error("the log is out of reach: repeat the call in a moment")]
    Unavailable,
    #[error("{0}; repeat the call once they do")]
    Clock(ClockSkew),
    #[error("a stored record contradicts another: tell the operator the trace id")]
    Corrupt,
}

/// Handle of a dealer. Clones share one dealer.
#[derive(Clone)]
pub struct Dealer {
    resources: Arc<Resources>,
    /// None while the log is not owned by this process.
    handler: Arc<RwLock<Option<Arc<Handler>>>>,
    serves: watch::Sender<bool>,
}

impl Dealer {
    /// Makes a dealer without a log. It answers once it is given one.
    ///
    /// # Errors
    /// If a generator of the entropy has failed.
    pub fn try_new(dependencies: Dependencies) -> Result<Dealer, EntropyError> {
        let Dependencies { seeds, keyring, entropy, key, origin, max_cached_hands } = dependencies;
        let source = EntropySource::try_new(entropy)?;
        let key_id = fairness::KeyId::of(key.verifying_key().as_bytes()).0;
        let resources = Resources {
            seeds,
            keyring,
            source,
            key,
            key_id,
            origin,
            max_cached_hands,
            fixed_seeds: None,
        };
        let (handler, serves) = (Arc::default(), watch::Sender::default());
        Ok(Dealer { resources: Arc::new(resources), handler, serves })
    }

    /// Fixes the seeds of a dealer that has not dealt yet, or leaves them to its entropy.
    ///
    /// # Errors
    /// The name of the log says otherwise.
    pub fn with_fixed_seeds(mut self, fixed: Option<FixedSeeds>) -> Result<Dealer, FixedSeedError> {
        fixed_seeds::check(&self.resources.origin, fixed.as_ref())?;
        let resources = Arc::get_mut(&mut self.resources).expect("nobody has a clone yet");
        resources.fixed_seeds = fixed;
        Ok(self)
    }

    /// Deals on this log from now on, with nothing in memory. With no log, calls are refused.
    fn set_log(&self, log: Option<Log>) {
        let handler = log.map(|log| Arc::new(Handler::new(Arc::clone(&self.resources), log)));
        let serves = handler.is_some();
        *self.handler.write().unwrap_or_else(PoisonError::into_inner) = handler;
        self.serves.send_replace(serves);
    }

    /// Whether calls are taken, and each change of it: true exactly while there is a log.
    #[must_use]
    pub fn serves(&self) -> watch::Receiver<bool> {
        self.serves.subscribe()
    }

    /// Makes a hand's seed and commits to it, once. `before` is the promise for the number before
    /// that the table has on record.
    pub async fn commit(
        &self,
        call: RequestMetadata,
        name: HandName,
        rules_hash: [u8; 32],
        before: Option<Committed>,
    ) -> Result<Committed, DealerError> {
        let handler = self.handler()?;
        run_to_end(async move { handler.commit(&call, name, rules_hash, before.as_ref()).await })
            .await
    }

    /// Fixes what the seats have committed to, once.
    pub async fn close(
        &self,
        call: RequestMetadata,
        name: HandName,
        rows: Vec<ClosingRow>,
    ) -> Result<Closed, DealerError> {
        let handler = self.handler()?;
        run_to_end(async move { handler.close(&call, name, rows).await }).await
    }

    /// Binds the seats' entropy.
    pub async fn seal(
        &self,
        call: RequestMetadata,
        name: HandName,
        sealing: SealInput,
    ) -> Result<Transcript, DealerError> {
        let handler = self.handler()?;
        run_to_end(async move { handler.seal(&call, name, sealing).await }).await
    }

    /// Performs operations and reveals cards: all of it or nothing.
    pub async fn perform(
        &self,
        call: RequestMetadata,
        name: HandName,
        asked: PerformCommand,
    ) -> Result<PerformOutcome, DealerError> {
        let handler = self.handler()?;
        run_to_end(async move { handler.perform(&call, name, &asked).await }).await
    }

    /// Publishes the seed. `discarded` says that the hand was burnt or aborted.
    pub async fn reveal(
        &self,
        call: RequestMetadata,
        name: HandName,
        discarded: bool,
    ) -> Result<Seed, DealerError> {
        let handler = self.handler()?;
        run_to_end(async move { handler.reveal(&call, name, discarded).await }).await
    }

    /// Has each step of the clock from now on recorded, for as long as it is polled. While the log
    /// is not ours it waits.
    pub fn record_steps(&self, clock: Arc<dyn Clock>) -> impl Future<Output = ()> + Send + use<> {
        let dealer = self.clone();
        clocklog::record(clock, move |noticed| {
            let handler = dealer.handler();
            async move {
                match handler {
                    Ok(handler) => handler.record_step(noticed).await,
                    Err(_) => false,
                }
            }
        })
    }

    /// The public keys that commitments are signed with, newest last.
    #[must_use]
    pub fn public_keys(&self) -> Vec<[u8; 32]> {
        vec![self.resources.key.verifying_key().to_bytes()]
    }

    /// Tests the entropy apart from any hand, so that a failure shows even while nobody plays.
    /// After a failure no hand is committed to any more.
    pub fn test_entropy(&self) -> Result<(), EntropyError> {
        self.resources.source.test()
    }

    /// The fault of the entropy, from when it has one.
    #[must_use]
    pub fn entropy_failure(&self) -> watch::Receiver<Option<EntropyError>> {
        self.resources.source.failure()
    }

    pub(crate) fn resources(&self) -> &Resources {
        &self.resources
    }

    pub(crate) fn handler(&self) -> Result<Arc<Handler>, DealerError> {
        let handler = self.handler.read().unwrap_or_else(PoisonError::into_inner);
        handler.clone().ok_or(DealerError::Unavailable)
    }
}

/// Runs work to its end even if its caller gives up.
async fn run_to_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, DealerError>> + Send + 'static,
) -> Result<T, DealerError> {
    match tokio::spawn(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is going down.
            Err(_) => Err(DealerError::Unavailable),
        },
    }
}

/// Gives a dealer its log from `open`, again whenever it was lost. Closes it when `stopping` fires.
///
/// # Errors
/// Those of `open`, which waits while the log cannot be owned.
pub async fn maintain_log<F>(
    dealer: Dealer,
    open: impl Fn() -> F,
    stopping: CancellationToken,
) -> Result<(), OpenError>
where
    F: Future<Output = Result<Log, OpenError>>,
{
    runner::own_log("dealer", |_| open(), |log| dealer.set_log(log), &stopping).await
}

impl From<ReadError> for DealerError {
    fn from(error: ReadError) -> DealerError {
        match error {
            ReadError::Unavailable { .. }
            | ReadError::Stopped
            | ReadError::Archived { .. }
            | ReadError::Archive(_) => DealerError::Unavailable,
            ReadError::Corrupt(what) => corrupt(&what),
        }
    }
}

impl From<StoreError> for DealerError {
    fn from(error: StoreError) -> DealerError {
        match error {
            StoreError::Unavailable(source) => {
                tracing::warn!(runbook = "deploy/README.md, The database is away", error = %source, "the dealer's database is unavailable");
                DealerError::Unavailable
            }
            StoreError::Corrupt => corrupt(&error),
        }
    }
}

impl From<record::Corrupt> for DealerError {
    fn from(error: record::Corrupt) -> DealerError {
        corrupt(&error)
    }
}

impl From<Contradiction> for DealerError {
    fn from(error: Contradiction) -> DealerError {
        corrupt(&error)
    }
}

impl From<SealError> for DealerError {
    fn from(error: SealError) -> DealerError {
        match error {
            SealError::UnknownKey(key) => {
                tracing::error!(%error, "a seed cannot be read");
                DealerError::MissingKey(key)
            }
            SealError::Corrupt(_) => corrupt(&error),
        }
    }
}

fn corrupt(error: &dyn std::fmt::Display) -> DealerError {
    tracing::error!(%error, "a stored record contradicts another");
    DealerError::Corrupt
}
