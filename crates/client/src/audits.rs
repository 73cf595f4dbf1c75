//! The calls of the audit service.

use primitives::TableId;
use proto::audit::v1 as pb;
use proto::audit::v1::audit_service_client::AuditServiceClient;

use crate::connection::Client;
use crate::error::Error;

impl Client {
    /// A finished hand with the proofs that its records stand in the logs: the content of a file
    /// `.sabacc`, for `sabacc verify` or any other verifier. It proves itself only to somebody who has
    /// the logs' keys from elsewhere.
    ///
    /// # Errors
    /// See [`Error`]; `HAND_UNKNOWN`, and `SEED_NOT_OPEN` until all of the hand is public.
    pub async fn get_hand_bundle(&self, table: TableId, hand_no: u64) -> Result<Vec<u8>, Error> {
        let request = pb::GetHandBundleRequest { table_id: table.bytes().to_vec(), hand_no };
        let answer = self
            .repeat(request, |channel, request| async move {
                AuditServiceClient::new(channel).get_hand_bundle(request).await
            })
            .await?;
        Ok(answer.bundle)
    }

    /// What the house itself finds when it checks a hand, and the hand's story in words.
    ///
    /// # Errors
    /// See [`Client::get_hand_bundle`].
    pub async fn audit_hand(
        &self,
        table: TableId,
        hand_no: u64,
    ) -> Result<pb::AuditHandResponse, Error> {
        let request = pb::AuditHandRequest { table_id: table.bytes().to_vec(), hand_no };
        self.repeat(request, |channel, request| async move {
            AuditServiceClient::new(channel).audit_hand(request).await
        })
        .await
    }
}
