//! Channels to other services.
//!
//! A channel connects at its first use and reconnects when necessary. Each call carries the trace
//! context and a token: the call's own token if it has one (a player's, forwarded), else the
//! channel's.

mod pool;
mod ready;

use http::Uri;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Request, Status};
use transport::tls::Tls;
use transport::{Bearer, ChannelError};

pub use pool::{CallError, Pool};
pub use ready::is_ready;
use ready::watch_ready;

use crate::auth::ServiceToken;
use crate::serve::Health;
use crate::telemetry;

/// Channel to another service, from which the generated clients are made. Cheap to clone.
pub type PeerChannel = InterceptedService<Channel, CredentialInterceptor>;

/// Channel to `uri`, not connected yet. `https` uses `tls`, or the well-known roots without it.
/// Needs a running tokio runtime.
///
/// # Errors
/// The certificates cannot be used.
pub fn connect_lazy(
    uri: &Uri,
    tls: Option<&Tls>,
    interceptor: CredentialInterceptor,
) -> Result<PeerChannel, ChannelError> {
    Ok(InterceptedService::new(transport::connect(uri, tls)?, interceptor))
}

/// Makes the readiness of each of these services a condition of `health`.
///
/// # Errors
/// The certificates cannot be used.
pub fn watch_peers<'a>(
    peers: impl IntoIterator<Item = (&'a str, &'a Uri)>,
    tls: Option<&Tls>,
    health: &Health,
) -> Result<(), ChannelError> {
    for (name, uri) in peers {
        let channel = connect_lazy(uri, tls, CredentialInterceptor::NoToken)?;
        let condition = health.condition(name, "it was not asked yet");
        tokio::spawn(watch_ready(channel, condition));
    }
    Ok(())
}

/// Adds the trace context and credentials to every call.
#[derive(Clone)]
pub enum CredentialInterceptor {
    /// Adds the trace context. A token comes only from the call itself.
    NoToken,
    /// Adds the trace context, and this service's own token if the call has none.
    OwnToken(ServiceToken),
}

impl Interceptor for CredentialInterceptor {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let mut headers = std::mem::take(request.metadata_mut()).into_headers();
        telemetry::inject(&mut headers);
        *request.metadata_mut() = tonic::metadata::MetadataMap::from_headers(headers);
        match self {
            CredentialInterceptor::NoToken => {}
            CredentialInterceptor::OwnToken(token) => {
                if !request.metadata().contains_key("authorization") {
                    add_token(&mut request, &token.current());
                }
            }
        }
        Ok(request)
    }
}

/// Puts a token into a call. A token that is no valid header value is left out: every server would
/// refuse it.
pub fn add_token<T>(request: &mut Request<T>, token: &str) {
    Bearer::new(token).add_to(request);
}

/// Forwards the token of the call `from` to a call that is made on its behalf.
pub fn forward_token<T, U>(from: &Request<T>, to: &mut Request<U>) {
    if let Some(token) = from.metadata().get("authorization") {
        to.metadata_mut().insert("authorization", token.clone());
    }
}
