//! gRPC API of the games: what they are, and their rules in words. It asks a table only for the rule
//! set that it plays by.

use std::sync::Arc;

use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::table::v1::explain_rules_request::Subject;
use proto::table::v1::rules_service_server::{RulesService, RulesServiceServer};
use rules::explain::{Clock, Explanation, explain};
use rules::{ALL, RuleSet, SettingsError, TableSettings};
use tokio::sync::{oneshot, watch};
use tonic::{Request, Response, Status};
use wire::{ApiRefusal, BadField, api_refusal, field, rules_text, ruleset, status};

use super::{send_message, table_unavailable};
use crate::actor::{Query, TableMessage};
use crate::registry::TableRegistry;

/// `RulesService` over the registry that this process owns at the moment.
pub(crate) struct RulesApi {
    registry: watch::Receiver<Option<Arc<TableRegistry>>>,
}

impl RulesApi {
    #[must_use]
    pub(crate) fn service(
        registry: watch::Receiver<Option<Arc<TableRegistry>>>,
    ) -> RulesServiceServer<RulesApi> {
        RulesServiceServer::new(RulesApi { registry })
    }

    /// Rules of a table, by what it was opened with.
    async fn explain_table(&self, table_id: &str) -> Result<Explanation, ApiRefusal> {
        let registry = self.registry.borrow().clone();
        let registry =
            registry.ok_or_else(|| status::unavailable("the tables are just being taken up"))?;
        let table = registry.table(field::table_id(table_id)?).await?;
        let (reply, view) = oneshot::channel();
        let query = Query::View { viewer: None, full: false, reply };
        send_message(&table, TableMessage::Query(query))?;
        let view = view.await.map_err(|_| table_unavailable())?;
        let damaged = || api_refusal(ErrorReason::Corrupt, "the table's rules cannot be read");
        let rules = RuleSet::from_canonical(&view.rule_set).map_err(|_| damaged())?;
        let settings = TableSettings::from_canonical(&view.settings).map_err(|_| damaged())?;
        let TableSettings { action_seconds, bank_seconds, .. } = settings;
        Ok(explain(&rules, Clock { action_seconds, bank_seconds }))
    }
}

/// Rules that somebody proposes.
fn explain_proposed(proposed: &pb::ProposedRules) -> Result<Explanation, ApiRefusal> {
    let pb::ProposedRules { variant, rule_set, action_seconds, bank_seconds } = proposed;
    let rules = ruleset::read("proposed", variant, rule_set)?;
    let defaults = Clock::default();
    let action_seconds =
        if *action_seconds == 0 { defaults.action_seconds } else { *action_seconds };
    let bank_seconds = bank_seconds.unwrap_or(defaults.bank_seconds);
    let settings = TableSettings { action_seconds, bank_seconds, ..TableSettings::default() };
    settings.check().map_err(|error| match error {
        SettingsError::OutOfBounds { name, .. } => {
            BadField::new(format!("proposed.{name}"), error.to_string())
        }
        SettingsError::NotCanonical { .. } | SettingsError::TooLong(_) => {
            BadField::new("proposed", error.to_string())
        }
    })?;
    Ok(explain(&rules, Clock { action_seconds, bank_seconds }))
}

#[tonic::async_trait]
impl RulesService for RulesApi {
    async fn list_variants(
        &self,
        request: Request<pb::ListVariantsRequest>,
    ) -> Result<Response<pb::ListVariantsResponse>, Status> {
        let pb::ListVariantsRequest {} = request.into_inner();
        let variants = ALL.iter().map(|variant| rules_text::write_summary(variant)).collect();
        let moves = rules_text::write_moves();
        Ok(Response::new(pb::ListVariantsResponse { variants, moves }))
    }

    async fn get_variant(
        &self,
        request: Request<pb::GetVariantRequest>,
    ) -> Result<Response<pb::GetVariantResponse>, Status> {
        let pb::GetVariantRequest { variant } = request.into_inner();
        let known = || {
            let ids: Vec<&str> = ALL.iter().map(|variant| variant.id).collect();
            BadField::new("variant", format!("there is no such game; there are {}", ids.join(", ")))
        };
        let variant = rules::variant(&variant).ok_or_else(known)?;
        Ok(Response::new(rules_text::write_variant(variant)))
    }

    async fn explain_rules(
        &self,
        request: Request<pb::ExplainRulesRequest>,
    ) -> Result<Response<pb::ExplainRulesResponse>, Status> {
        let pb::ExplainRulesRequest { subject } = request.into_inner();
        let explanation = match subject {
            Some(Subject::TableId(id)) => self.explain_table(&id).await?,
            Some(Subject::Proposed(proposed)) => explain_proposed(&proposed)?,
            None => Err(BadField::new("subject", "missing: a table, or proposed rules"))?,
        };
        Ok(Response::new(rules_text::write_explanation(&explanation)))
    }
}
