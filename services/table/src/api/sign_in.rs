//! gRPC API of sign-ins: guests, new tokens for old ones, revocation.

use std::sync::Arc;

use chassis::request_ids::ANYBODY;
use primitives::PlayerId;
use prost::Message;
use proto::common::v1::ErrorReason;
use proto::event::v1::RevocationCause;
use proto::event::v1::tokens_revoked::Tokens;
use proto::table::v1 as pb;
use system::clock::Clock as _;
use tonic::{Request, Response, Status};
use wire::{ApiRefusal, BadField};

use super::Caller;
use super::people::{PeopleApi, calling_player};
use super::watch_stream::CLOCK;
use crate::author::Author;
use crate::people::guests::{RevokeCommand, token_refusal};
use crate::people::refresh_token::{RefreshToken, SignInSecret};
use crate::people::text_checks;
use crate::registry::TableRegistry;

/// Longest id of a token, in bytes.
const MAX_TOKEN_ID: usize = 128;
/// Longest subject of a token, in bytes.
const MAX_SUBJECT: usize = 64;

impl PeopleApi {
    pub(super) async fn sign_in(
        &self,
        request: Request<pb::SignInAsGuestRequest>,
    ) -> Result<Response<pb::SignInAsGuestResponse>, Status> {
        let caller = Caller::of_anybody(&request);
        let mut message = request.into_inner();
        let registry = self.registry()?;
        registry.people().guests()?;
        let secret = SignInSecret::read(std::mem::take(&mut message.sign_in_secret));
        let secret = secret.ok_or_else(|| {
            let problem =
                "32 random bytes, made for this sign-in, by which you alone can repeat it";
            BadField::new("sign_in_secret", problem)
        })?;
        // The digest is made without the secret, and bound to it under the room's.
        let by = author(&registry, &caller, "SignInAsGuest", &message.request_id, &message)?;
        let signed_in = async move { registry.sign_in_as_guest(&message.name, &secret, by).await };
        self.run_to_end(&caller, signed_in).await
    }

    pub(super) async fn refresh_tokens(
        &self,
        request: Request<pb::RefreshRequest>,
    ) -> Result<Response<pb::RefreshResponse>, Status> {
        let caller = Caller::of_anybody(&request);
        let message = request.into_inner();
        let registry = self.registry()?;
        let people = Arc::clone(registry.people());
        people.guests()?;
        if message.refresh_token.is_empty() {
            return Err(BadField::new("refresh_token", "missing: the newest that you got").into());
        }
        let token = RefreshToken::parse(&message.refresh_token);
        let token = token.ok_or_else(|| token_refusal(ErrorReason::TokenMalformed))?;
        let caller = caller.refreshing(token.player);
        let by = author(&registry, &caller, "Refresh", &message.request_id, &message)?;
        let refreshed = async move {
            let given = people.refresh(token, by).await?;
            let tokens = Some(people.guests()?.tokens(&given));
            Ok::<_, ApiRefusal>(pb::RefreshResponse { tokens })
        };
        self.run_to_end(&caller, refreshed).await
    }

    pub(super) async fn revoke_own(
        &self,
        request: Request<pb::SignOutRequest>,
    ) -> Result<Response<pb::SignOutResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let registry = self.registry()?;
        let player = calling_player(&caller)?;
        let by = author(&registry, &caller, "SignOut", &message.request_id, &message)?;
        let revoke = RevokeCommand {
            tokens: Tokens::Subject(player.to_string()),
            cause: RevocationCause::SignedOut,
            reason: String::new(),
        };
        let now = CLOCK.now();
        let signed_out = async move {
            let is_repeat = registry.is_answered(&by.actor, by.request);
            if !is_repeat {
                registry.bounds().check(player, now)?;
            }
            registry.people().revoke(revoke, now, by).await?;
            if !is_repeat {
                registry.bounds().count(player, now);
            }
            Ok::<_, ApiRefusal>(pb::SignOutResponse {})
        };
        self.run_to_end(&caller, signed_out).await
    }

    pub(super) async fn revoke(
        &self,
        request: Request<pb::RevokeTokensRequest>,
    ) -> Result<Response<pb::RevokeTokensResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let registry = self.registry()?;
        let by = author(&registry, &caller, "RevokeTokens", &message.request_id, &message)?;
        let pb::RevokeTokensRequest { request_id: _, tokens, reason } = message;
        let tokens = match tokens {
            Some(pb::revoke_tokens_request::Tokens::TokenId(id)) => {
                Tokens::TokenId(visible("token_id", id, MAX_TOKEN_ID)?)
            }
            Some(pb::revoke_tokens_request::Tokens::Subject(subject)) => {
                let subject = visible("subject", subject, MAX_SUBJECT)?;
                // Tokens name a player in one form.
                let player = subject.parse::<PlayerId>().map(|player| player.to_string());
                Tokens::Subject(player.unwrap_or(subject))
            }
            None => return Err(BadField::new("tokens", "missing: token_id or subject").into()),
        };
        let reason = text_checks::reason(&reason)?;
        let revoke = RevokeCommand { tokens, cause: RevocationCause::Operator, reason };
        let revoked = async move {
            registry.people().revoke(revoke, CLOCK.now(), by).await?;
            Ok::<_, ApiRefusal>(pb::RevokeTokensResponse {})
        };
        self.run_to_end(&caller, revoked).await
    }
}

/// Author of a command whose request has this id. Odd ids of callers without a token are looked up
/// for all of them together: none of them can use up what a player has.
fn author(
    registry: &TableRegistry,
    caller: &Caller,
    method: &str,
    request_id: &str,
    content: &impl Message,
) -> Result<Author, ApiRefusal> {
    let has_token = !matches!(method, "SignInAsGuest" | "Refresh");
    let pays = if has_token { &*caller.actor } else { ANYBODY };
    let request = registry.bounds().request_id(pays, request_id, CLOCK.now())?;
    Ok(caller.author(request, caller.digest(method, content)))
}

/// Text of visible ASCII characters.
fn visible(field: &str, text: String, most: usize) -> Result<String, BadField> {
    let fits = (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    let problem = || BadField::new(field, format!("1 to {most} visible ASCII characters"));
    if fits { Ok(text) } else { Err(problem()) }
}
