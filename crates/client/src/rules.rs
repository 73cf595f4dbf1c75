//! Calls about the games and their rules.

use primitives::TableId;
use proto::table::v1 as pb;
use proto::table::v1::explain_rules_request::Subject;
use proto::table::v1::rules_service_client::RulesServiceClient;

use crate::connection::Client;
use crate::error::Error;

impl Client {
    /// Returns the games, and the moves of all of them.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list_variants(&self) -> Result<pb::ListVariantsResponse, Error> {
        self.call_with_retries(pb::ListVariantsRequest {}, |channel, request| async move {
            RulesServiceClient::new(channel).list_variants(request).await
        })
        .await
    }

    /// Returns one game: the fields of its rule set, its deck and its ranks.
    ///
    /// # Errors
    /// See [`Error`]; `BAD_FIELD` lists the games that there are.
    pub async fn get_variant(&self, variant: &str) -> Result<pb::GetVariantResponse, Error> {
        let request = pb::GetVariantRequest { variant: variant.to_owned() };
        self.call_with_retries(request, |channel, request| async move {
            RulesServiceClient::new(channel).get_variant(request).await
        })
        .await
    }

    /// Returns the rules of a table in words.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn explain_rules(&self, table: TableId) -> Result<pb::ExplainRulesResponse, Error> {
        let subject = Some(Subject::TableId(table.to_string()));
        let request = pb::ExplainRulesRequest { subject };
        self.call_with_retries(request, |channel, request| async move {
            RulesServiceClient::new(channel).explain_rules(request).await
        })
        .await
    }
}
