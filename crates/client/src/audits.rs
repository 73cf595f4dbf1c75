//! Calls of the audit service.

use primitives::TableId;
use proto::audit::v1 as pb;
use proto::audit::v1::audit_service_client::AuditServiceClient;

use crate::connection::Client;
use crate::error::Error;

impl Client {
    /// Returns a finished hand with the proofs that its records are in the logs. The bytes are the
    /// content of a `.sabacc` file, for `sabacc verify` or another verifier. The verifier needs the
    /// logs' keys from another source.
    ///
    /// # Errors
    /// See [`Error`]; `HAND_UNKNOWN`, and `HAND_IN_PLAY` until the hand has ended or is suspended.
    pub async fn get_hand_bundle(&self, table: TableId, hand_no: u64) -> Result<Vec<u8>, Error> {
        let request = pb::GetHandBundleRequest { table_id: table.to_string(), hand_no };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                AuditServiceClient::new(channel).get_hand_bundle(request).await
            })
            .await?;
        Ok(answer.bundle)
    }

    /// Returns the server's own checks of a hand, and the hand's story in words.
    ///
    /// # Errors
    /// See [`Client::get_hand_bundle`].
    pub async fn audit_hand(
        &self,
        table: TableId,
        hand_no: u64,
    ) -> Result<pb::AuditHandResponse, Error> {
        let request = pb::AuditHandRequest { table_id: table.to_string(), hand_no };
        self.call_with_retries(request, |channel, request| async move {
            AuditServiceClient::new(channel).audit_hand(request).await
        })
        .await
    }
}
