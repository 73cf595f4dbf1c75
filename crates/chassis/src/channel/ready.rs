//! Readiness of another service.

use std::time::Duration;

use http::Request;
use http_body_util::{BodyExt as _, Limited};
use tokio::time::Instant;
use tonic::body::Body;
use tower::{Service as _, ServiceExt as _};

use super::PeerChannel;
use crate::serve::Condition;

/// Time between two checks of a peer that is ready, or has not been for long.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two checks of a peer that is starting, and time from which on it no longer counts as
/// that.
const STARTING_INTERVAL: Duration = Duration::from_millis(50);
const STARTING: Duration = Duration::from_secs(30);
const TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes of an answer that are read.
const MAX_BODY_BYTES: usize = 4096;

/// Checks whether the service behind a channel is ready.
///
/// # Errors
/// The unmet conditions, or that there is no answer.
pub async fn is_ready(channel: &PeerChannel) -> Result<(), String> {
    match tokio::time::timeout(TIMEOUT, request_readiness(channel.clone())).await {
        Ok(answer) => answer,
        Err(_) => Err("it does not answer".to_owned()),
    }
}

async fn request_readiness(mut channel: PeerChannel) -> Result<(), String> {
    let cannot =
        |error: &dyn std::error::Error| format!("it cannot be reached: {}", root_cause(error));
    let request = Request::get("/readyz").body(Body::empty()).map_err(|error| cannot(&error))?;
    let channel = channel.ready().await.map_err(|error| cannot(&error))?;
    let response = channel.call(request).await.map_err(|error| cannot(&error))?;
    if response.status().is_success() {
        return Ok(());
    }
    let body = Limited::new(response.into_body(), MAX_BODY_BYTES).collect().await;
    let body = body.map(|body| body.to_bytes()).unwrap_or_default();
    let said = String::from_utf8_lossy(&body);
    Err(format!("it is not ready: {}", said.trim().replace('\n', "; ")))
}

/// Root cause of an error: the transport's own message says only that something failed.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// Keeps a condition up to date by checking a peer, for ever.
pub(super) async fn watch_ready(channel: PeerChannel, condition: Condition) {
    let mut last_ready = Instant::now();
    loop {
        let unmet = is_ready(&channel).await.err();
        condition.set(unmet.as_deref());
        let pause = match unmet {
            Some(_) if last_ready.elapsed() < STARTING => STARTING_INTERVAL,
            Some(_) => POLL_INTERVAL,
            None => {
                last_ready = Instant::now();
                POLL_INTERVAL
            }
        };
        tokio::time::sleep(pause).await;
    }
}
