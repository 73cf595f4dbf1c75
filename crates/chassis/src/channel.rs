//! Calling another service.
//!
//! A channel connects when it is first used and again whenever it has to. Each call carries the
//! trace context, and a token: the one that the call brings with it (a player's, passed on), or the
//! channel's own.

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

/// A way to another service: what the generated clients are made from. Cheap to clone.
pub type PeerChannel = InterceptedService<Channel, Carry>;

/// A channel to `uri`, not connected yet. `https` takes `tls`, or the well-known roots without.
/// Needs a running tokio.
///
/// # Errors
/// The certificates cannot be used.
pub fn to(uri: &Uri, tls: Option<&Tls>, carry: Carry) -> Result<PeerChannel, ChannelError> {
    Ok(InterceptedService::new(transport::connect(uri, tls)?, carry))
}

/// What goes along with every call.
#[derive(Clone)]
pub enum Carry {
    /// The trace context, and whatever token the call itself brings.
    Nothing,
    /// This service's own token too, unless the call brings one.
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

/// Puts a token into a call. A token that is no header value is left out: no server believes it.
pub fn bear<T>(request: &mut Request<T>, token: &str) {
    Bearer::new(token).bear(request);
}

/// Passes the token of the call that is being answered on to a call made for it.
pub fn pass_on<T, U>(from: &Request<T>, to: &mut Request<U>) {
    if let Some(token) = from.metadata().get("authorization") {
        to.metadata_mut().insert("authorization", token.clone());
    }
}
