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
pub use ready::{is_ready, watch_ready};

use crate::auth::ServiceToken;
use crate::telemetry;

/// Channel to another service, from which the generated clients are made. Cheap to clone.
pub type PeerChannel = InterceptedService<Channel, Carry>;

/// Channel to `uri`, not connected yet. `https` uses `tls`, or the well-known roots without it.
/// Needs a running tokio runtime.
///
/// # Errors
/// The certificates cannot be used.
pub fn to(uri: &Uri, tls: Option<&Tls>, carry: Carry) -> Result<PeerChannel, ChannelError> {
    Ok(InterceptedService::new(transport::connect(uri, tls)?, carry))
}

/// Adds the trace context and credentials to every call.
#[derive(Clone)]
pub enum Carry {
    /// Adds the trace context. A token comes only from the call itself.
    Nothing,
    /// Adds the trace context, and this service's own token if the call has none.
    Own(ServiceToken),
}

impl Interceptor for Carry {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let mut headers = std::mem::take(request.metadata_mut()).into_headers();
        telemetry::inject(&mut headers);
        *request.metadata_mut() = tonic::metadata::MetadataMap::from_headers(headers);
        match self {
            Carry::Nothing => {}
            Carry::Own(token) => {
                if !request.metadata().contains_key("authorization") {
                    bear(&mut request, &token.current());
                }
            }
        }
        Ok(request)
    }
}

/// Puts a token into a call. A token that is no valid header value is left out: every server would
/// refuse it.
pub fn bear<T>(request: &mut Request<T>, token: &str) {
    Bearer::new(token).bear(request);
}

/// Forwards the token of the call `from` to a call that is made on its behalf.
pub fn pass_on<T, U>(from: &Request<T>, to: &mut Request<U>) {
    if let Some(token) = from.metadata().get("authorization") {
        to.metadata_mut().insert("authorization", token.clone());
    }
}
