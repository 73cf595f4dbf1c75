//! Check of one method against its contract.

use std::sync::Arc;

use chassis::auth::Role;
use prost_reflect::MethodDescriptor;
use proto::common::v1::ErrorReason;
use serde_json::Value;
use tonic::Code;
use tonic_types::StatusExt as _;

use super::fields::{Crossing, Expected, FieldRules, Replacement, replace};
use super::protocol::{Answer, BrokenOff, Call, Connection, Protocol};
use super::requests::{self, Prepared};
use super::world::{World, json_of, request_id};
use crate::matrix::allowed;

/// A field that no message has: 2047, a text.
const UNKNOWN_FIELD: &[u8] = b"\xfa\x7f\x05later";

/// Calls that were made, and what was wrong with their answers.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) calls: usize,
    pub(super) findings: Vec<String>,
}

impl Report {
    pub(super) fn of(finding: String) -> Report {
        Report { calls: 0, findings: vec![finding] }
    }

    pub(super) fn and(mut self, other: Report) -> Report {
        self.findings.extend(other.findings);
        Report { calls: self.calls + other.calls, findings: self.findings }
    }
}

pub(super) struct MethodCheck {
    world: Arc<World>,
    rules: Arc<FieldRules>,
    method: MethodDescriptor,
    connection: Connection,
    report: Report,
}

impl MethodCheck {
    pub(super) async fn new(
        world: Arc<World>,
        rules: Arc<FieldRules>,
        method: MethodDescriptor,
    ) -> MethodCheck {
        let connection = Connection::open(&world.room.url).await;
        MethodCheck { world, rules, method, connection, report: Report::default() }
    }

    pub(super) async fn run(mut self) -> Report {
        let Some(prepared) = self.prepare().await else {
            let name = self.method.full_name();
            self.report.findings.push(format!("{name}: no valid request in contract/requests"));
            return self.report;
        };
        self.refuse_outsiders(&prepared).await;
        self.refuse_noise(&prepared).await;
        self.cross_bounds(&prepared).await;
        for protocol in Protocol::ALL {
            let prepared = self.prepare().await.unwrap();
            self.disturb(protocol, &prepared).await;
            self.repeat(protocol, &prepared).await;
        }
        self.report
    }

    async fn prepare(&self) -> Option<Prepared> {
        let service = self.method.parent_service();
        requests::prepare(&self.world, service.full_name(), self.method.name()).await
    }

    /// Whether the method is a command, which has an id.
    fn is_command(&self) -> bool {
        self.method.input().get_field_by_name("request_id").is_some()
    }

    fn call(&self, prepared: &Prepared, json: Value) -> Call {
        let (method, token) = (self.method.clone(), prepared.token.clone());
        Call { method, token, json, unknown: Vec::new() }
    }

    /// Who may not call is refused for that alone.
    async fn refuse_outsiders(&mut self, prepared: &Prepared) {
        let access = allowed(&self.world.pool, &self.method);
        let mut callers = Vec::new();
        if !access.anybody {
            callers.push((None, ErrorReason::TokenMissing));
        }
        for role in Role::ALL.into_iter().filter(|role| !access.roles.contains(role)) {
            let subject = match role {
                Role::Player => self.world.newcomer().id.to_string(),
                Role::Operator | Role::Auditor | Role::Service => "table".to_owned(),
            };
            let token = self.world.harness.token(role, &subject);
            callers.push((Some(token), ErrorReason::RoleNotAllowed));
        }
        for (token, reason) in callers {
            let call = Call { token, ..self.call(prepared, prepared.json.clone()) };
            for protocol in Protocol::ALL.into_iter().flat_map(|protocol| [protocol; 2]) {
                let answer = self.connection.call(protocol, &call).await;
                self.expect(protocol, "an outsider", &answer, &Expected::refused(reason));
            }
        }
    }

    /// A mebibyte of noise is longer than any request.
    async fn refuse_noise(&mut self, prepared: &Prepared) {
        let call = self.call(prepared, prepared.json.clone());
        let expected = Expected::refused(ErrorReason::MessageTooLong);
        for protocol in Protocol::ALL.into_iter().flat_map(|protocol| [protocol; 2]) {
            let answer = self.connection.call_with(protocol, &call, &self.world.noise).await;
            self.expect(protocol, "noise", &answer, &expected);
        }
    }

    /// Each field is missing, out of its bounds, or names what is not there.
    async fn cross_bounds(&mut self, prepared: &Prepared) {
        let crossings = match self.rules.crossings(&self.method) {
            Ok(crossings) => crossings,
            Err(missing) => return self.report.findings.extend(missing),
        };
        for Crossing { field, value, expected } in crossings {
            if matches!(value, Replacement::Whole) {
                continue;
            }
            let mut json = prepared.json.clone();
            if self.is_command() {
                json["request_id"] = request_id().into();
            }
            replace(&mut json, &self.method.input(), &field, &value);
            let what = format!("{field} {value:.60?}");
            let call = self.call(prepared, json);
            for protocol in Protocol::ALL.into_iter().flat_map(|protocol| [protocol; 2]) {
                let answer = self.connection.call(protocol, &call).await;
                self.expect(protocol, &what, &answer, &expected);
                self.expect_own_id(protocol, &what, &call, &answer);
            }
        }
    }

    /// A call comes too late, and is broken off at two places.
    async fn disturb(&mut self, protocol: Protocol, prepared: &Prepared) {
        let call = self.call(prepared, prepared.json.clone());
        for _ in 0..2 {
            let late = self.connection.call_too_late(protocol, &call).await;
            let expected = Expected::refused(ErrorReason::Deadline);
            self.expect(protocol, "a deadline in the past", &late, &expected);
        }
        for at in [BrokenOff::InRequest, BrokenOff::BeforeAnswer] {
            self.connection.break_off(protocol, &call, at).await;
            self.report.calls += 1;
        }
    }

    /// The valid request succeeds, its repeats get the first answer in every protocol, and its id is
    /// of no use for another one.
    async fn repeat(&mut self, protocol: Protocol, prepared: &Prepared) {
        let call = self.call(prepared, prepared.json.clone());
        let valid = Expected { reason: prepared.refused, field: None };
        let first = self.connection.call(protocol, &call).await;
        if !(prepared.revokes_token && is_revoked(&first)) {
            self.expect(protocol, "a valid request", &first, &valid);
        }
        self.expect_made(&first).await;
        let unknown = Call { unknown: UNKNOWN_FIELD.to_vec(), ..call.clone() };
        for again in Protocol::ALL {
            for call in [&call, &unknown] {
                let answer = self.connection.call(again, call).await;
                if prepared.revokes_token && is_revoked(&answer) {
                    continue;
                }
                self.expect(again, "a repeat", &answer, &valid);
                if self.is_command() && lasting(&answer) != lasting(&first) {
                    let (first, answer) = (lasting(&first), lasting(&answer));
                    self.find(again, &format!("a repeat gets {answer:?}, the first {first:?}"));
                }
            }
        }
        let Some((field, value)) = prepared.other.clone() else { return };
        let mut other = prepared.json.clone();
        replace(&mut other, &self.method.input(), field, &Replacement::Value(value));
        let expected = Expected {
            reason: Some(ErrorReason::RequestIdReused),
            field: Some("request_id".to_owned()),
        };
        for again in Protocol::ALL.into_iter().flat_map(|protocol| [protocol; 2]) {
            let answer = self.connection.call(again, &self.call(prepared, other.clone())).await;
            self.expect(again, "another request under its id", &answer, &expected);
        }
    }

    /// Checks that a table that was made is there, though its maker had left before.
    async fn expect_made(&mut self, first: &Answer) {
        if self.method.name() == "CreateTable"
            && let Some(made) = &first.message
        {
            let name = "sabacc.table.v1.TableService/GetTable";
            self.world.done(name, None, json_of(made)).await;
        }
    }

    /// Checks the outcome of a call, and that a refusal has all that every refusal has.
    fn expect(&mut self, protocol: Protocol, what: &str, answer: &Answer, expected: &Expected) {
        self.report.calls += 1;
        let status = &answer.status;
        let reason = wire::status::reason_of(status);
        if status.code() == Code::Ok && expected.reason.is_none() {
            return;
        }
        let Some(reason) = reason.filter(|reason| Some(*reason) == expected.reason) else {
            let wanted = expected.reason.map_or("ok", wire::status::reason_name);
            let got = reason.map_or("no reason", wire::status::reason_name);
            let (code, words) = (status.code(), status.message());
            return self
                .find(protocol, &format!("{what}: {got} ({code:?}: {words}), not {wanted}"));
        };
        for fault in faults(answer, reason) {
            self.find(protocol, &format!("{what}: {}: {fault}", wire::status::reason_name(reason)));
        }
        let violations = status.get_details_bad_request().map(|bad| bad.field_violations);
        let named = violations.into_iter().flatten().next().map(|violation| violation.field);
        let Some(field) = &expected.field else { return };
        let is_it = |named: &String| named == field || field.ends_with(&format!(".{named}"));
        if !named.as_ref().is_some_and(is_it) {
            self.find(protocol, &format!("{what}: names the field {named:?}, not {field}"));
        }
    }

    /// Checks that a refusal of a command names the command's own id, where it is one.
    fn expect_own_id(&mut self, protocol: Protocol, what: &str, call: &Call, answer: &Answer) {
        let sent = call.json["request_id"].as_str().unwrap_or_default();
        let is_id = sent.len() == 36 && sent == sent.to_lowercase();
        if answer.status.code() == Code::Ok || !self.is_command() || !is_id {
            return;
        }
        let named = answer.status.get_details_error_info();
        let named = named.and_then(|info| info.metadata.get("request_id").cloned());
        if named.as_deref() != Some(sent) {
            self.find(protocol, &format!("{what}: names the command {named:?}, not {sent}"));
        }
    }

    fn find(&mut self, protocol: Protocol, what: &str) {
        let name = self.method.full_name();
        self.report.findings.push(format!("{name} in {protocol:?}: {what}"));
    }
}

fn is_revoked(answer: &Answer) -> bool {
    wire::status::reason_of(&answer.status) == Some(ErrorReason::TokenRevoked)
}

/// Faults of a refusal besides its reason: code, link, trace, and the details of its code.
fn faults(answer: &Answer, reason: ErrorReason) -> Vec<String> {
    let (status, details) = (&answer.status, answer.status.get_error_details());
    let code = wire::status::code(reason);
    let link = wire::status::doc_link(reason.as_str_name());
    let links = details.help().map(|help| help.links.clone()).unwrap_or_default();
    let trace = details.request_info().map(|info| info.request_id.clone()).unwrap_or_default();
    let is_busy = matches!(code, Code::ResourceExhausted | Code::Unavailable);
    let is_not_now = code == Code::FailedPrecondition;
    let faults = [
        (status.code() != code, format!("the code is {:?}, not {code:?}", status.code())),
        (!links.iter().any(|it| it.url == link), format!("no link to {link}")),
        (trace.len() != 32, format!("the trace is {trace:?}")),
        (status.message().is_empty(), "no words".to_owned()),
        (is_busy && details.retry_info().is_none(), "no RetryInfo".to_owned()),
        (is_not_now && details.precondition_failure().is_none(), "no PreconditionFailure".into()),
    ];
    faults.into_iter().filter(|(is_fault, _)| *is_fault).map(|(_, what)| what).collect()
}

/// Answer without what is made anew for each repeat: tokens that end soon, and a bundle under a
/// newer checkpoint.
fn lasting(answer: &Answer) -> Option<Value> {
    let mut json = json_of(answer.message.as_ref()?);
    let object = json.as_object_mut().unwrap();
    object.remove("bundle");
    if let Some(tokens) = object.get_mut("tokens").and_then(Value::as_object_mut) {
        tokens.remove("access_token");
        tokens.remove("access_expire_time");
        tokens.remove("refresh_expire_time");
    }
    Some(json)
}
