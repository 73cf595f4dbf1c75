//! `sabacc healthcheck`: asks a server whether it is ready, for scripts and containers.

use chassis::channel::{self, CredentialInterceptor};
use chassis::config::{Source, caller_tls};
use clap::Args;
use tonic::transport::Uri;

use crate::output;

#[derive(Args)]
pub(crate) struct Options {
    /// A port of any of the four services. For https the certificates are those of
    /// SABACC_PEER_TLS_… or SABACC_TLS_…, as the services have them.
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:7400")]
    url: Uri,
}

/// Whether the server is ready; prints what is missing if it is not.
pub(crate) async fn run(options: Options) -> anyhow::Result<bool> {
    let Options { url } = options;
    let web = matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some();
    anyhow::ensure!(
        web,
        "{url} is no address of a server: write http://HOST:PORT or https://HOST:PORT"
    );
    let tls = caller_tls(Source::from_process(None)?)?;
    let channel = channel::connect_lazy(&url, tls.as_ref(), CredentialInterceptor::NoToken)?;
    Ok(match channel::is_ready(&channel).await {
        Ok(()) => {
            output::line(&format!("{url} is ready"));
            true
        }
        Err(why) => {
            output::error(&format!("{url}: {why}"));
            false
        }
    })
}
