//! Comparison of an archive with the log as it was signed: whoever may write the database could have
//! changed events before they were archived, and the file would prove what they wrote.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use eventlog::PgStore;
use eventlog::archive::Verified;
use merkle::note::VerifierKey;
use merkle::parse_keys_file;

use super::LogName;
use crate::data_directory::DataDirectory;
use crate::keys::room_keys;
use crate::output;
use crate::signed_log::{Prefix, SignedLog};

/// Public keys of a room's logs; none if they are not known.
pub(super) struct LogKeys(Vec<VerifierKey>);

impl LogKeys {
    /// Reads the keys of a file, otherwise those of a data folder.
    pub(super) fn read(
        file: Option<&Path>,
        folder: Option<&DataDirectory>,
    ) -> anyhow::Result<LogKeys> {
        let text = match (file, folder) {
            (Some(file), _) => std::fs::read_to_string(file)
                .with_context(|| format!("the keys {} cannot be read", file.display()))?,
            (None, Some(folder)) => room_keys(folder)?,
            (None, None) => return Ok(LogKeys(Vec::new())),
        };
        let listed = parse_keys_file(&text)?.into_iter();
        Ok(LogKeys(listed.map(|listed| listed.key).filter(VerifierKey::is_log).collect()))
    }

    /// Checks that the log's newest checkpoint is signed, and that the log which it is of begins with
    /// the events of an archive and those before. Says so where no key is known.
    pub(super) async fn check(
        &self,
        store: &Arc<PgStore>,
        log: LogName,
        whole: &Verified,
    ) -> anyhow::Result<()> {
        let end = format!("/{}", log.service());
        let mut keys = self.0.iter().filter(|key| key.name().as_str().ends_with(&end)).peekable();
        if keys.peek().is_none() {
            output::error(&format!(
                "{}: not compared with a signed checkpoint, since the key of this log is not known: \
                 --keys FILE names what `sabacc keys` prints",
                whole.header.log
            ));
            return Ok(());
        }
        let mut outcome = Ok(Prefix::Signed);
        for key in keys {
            let signed = SignedLog::new(Arc::clone(store), &whole.header.log, key.clone());
            outcome = signed.check_prefix(&whole.after).await;
            if outcome.is_ok() {
                break;
            }
        }
        let outcome = outcome.with_context(|| {
            format!(
                "the events of {} are not those that were signed: nothing was removed",
                whole.header.log
            )
        });
        match outcome? {
            Prefix::Signed => Ok(()),
            Prefix::NotYetSigned { signed } => bail!(
                "the log {} has signed its first {signed} events so far, and the archive has those \
                 before position {}: nothing was removed. A room signs once a second while it runs: \
                 remove the archive then",
                whole.header.log,
                whole.header.range.end
            ),
        }
    }
}
