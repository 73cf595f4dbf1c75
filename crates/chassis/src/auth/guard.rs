//! The layer that stands before every gRPC service.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::Either;
use http::{Request, Response};
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, Service};

use super::access::Access;
use super::pace::Pace;
use super::verifier::{TokenError, Verifier};
use super::{Identity, Role};
use crate::refusal::{overloaded, refusal};

/// Lets a call through where its token is believed and its role may call the method. Cheap to clone.
#[derive(Clone)]
pub struct Guard {
    verifier: Verifier,
    access: Arc<Access>,
    pace: Option<Arc<Pace>>,
}

impl Guard {
    #[must_use]
    pub fn new(verifier: Verifier, access: Arc<Access>) -> Guard {
        Guard { verifier, access, pace: None }
    }

    /// The same, where a player may begin so many calls a second; none: as many as he likes.
    #[must_use]
    pub fn paced(self, calls: Option<NonZeroU32>) -> Guard {
        Guard { pace: calls.map(Pace::new).map(Arc::new), ..self }
    }

    /// Who calls `path` with this `authorization` header; nobody where the path is open to all.
    ///
    /// # Errors
    /// The status to answer with.
    pub fn admit(
        &self,
        path: &str,
        authorization: Option<&[u8]>,
    ) -> Result<Option<Identity>, Box<Status>> {
        if Access::is_open(path) {
            return Ok(None);
        }
        let identity = self.verifier.verify_header(authorization).map_err(unauthenticated)?;
        let Some(rule) = self.access.rule(path) else {
            return Err(Box::new(refusal(
                Code::Unimplemented,
                "NO_SUCH_METHOD",
                "this server does not have this method",
            )));
        };
        if !rule.roles.contains(&identity.role) {
            let role = identity.role.name();
            return Err(Box::new(refusal(
                Code::PermissionDenied,
                "ROLE_NOT_ALLOWED",
                format!("the role {role} may not call this method"),
            )));
        }
        match &self.pace {
            Some(pace) if identity.role == Role::Player => {
                pace.step(&identity.subject, self.verifier.now()).map_err(too_fast)?;
            }
            Some(_) | None => {}
        }
        Ok(Some(identity))
    }
}

fn too_fast(wait: Duration) -> Box<Status> {
    let text = "you call faster than a player may: wait as long as the RetryInfo says";
    Box::new(overloaded(text, wait))
}

fn unauthenticated(error: TokenError) -> Box<Status> {
    let reason = match error {
        TokenError::Missing => "TOKEN_MISSING",
        TokenError::Malformed => "TOKEN_MALFORMED",
        TokenError::Expired => "TOKEN_EXPIRED",
        TokenError::Forged => "TOKEN_FORGED",
    };
    Box::new(refusal(Code::Unauthenticated, reason, error.to_string()))
}

impl<S> Layer<S> for Guard {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { guard: self.clone(), inner }
    }
}

/// A service behind a [`Guard`].
#[derive(Clone)]
pub struct Guarded<S> {
    guard: Guard,
    inner: S,
}

impl<S, B> Service<Request<B>> for Guarded<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<std::future::Ready<Result<Response<Body>, S::Error>>, S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        // Only a guard says who calls.
        request.extensions_mut().remove::<Identity>();
        let authorization = request.headers().get(http::header::AUTHORIZATION);
        let path = request.uri().path();
        match self.guard.admit(path, authorization.map(http::HeaderValue::as_bytes)) {
            Ok(identity) => {
                if let Some(identity) = identity {
                    request.extensions_mut().insert(identity);
                }
                Either::Right(self.inner.call(request))
            }
            Err(status) => Either::Left(std::future::ready(Ok(status.into_http()))),
        }
    }
}
