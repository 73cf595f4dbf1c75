//! Telemetry: log lines on standard error, and spans and metrics over OTLP if the operator asks for
//! them with the variables that OpenTelemetry defines.
//!
//! Every call has a trace id, whether spans are exported or not. It is in log lines, in events and
//! in each answer's `trace-id` metadata, so that the records of a player's complaint can be found.
//! Lines and spans carry ids, names, sizes and times, never a payload. Colours are for terminals. A
//! warning that repeats during an outage names its section of the runbook and is logged once a
//! minute (`repeat_filter`).

pub mod metrics;
mod repeat_filter;
mod trace_context;
mod traced;

use std::io::IsTerminal as _;
use std::time::Duration;

use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tracing::{Level, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::config::Settings;

pub use trace_context::{extract, inject};
pub use traced::{TRACE_ID, Traced, TracedBody};

/// Longest time to export the spans, and then the metrics, that are still in memory.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    #[default]
    Human,
    Json,
}

/// Content, format and destination of logs and spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetryConfig {
    /// Directives of `tracing_subscriber::EnvFilter`, such as `info` or `info,eventlog=debug`.
    pub log: String,
    pub format: LogFormat,
    /// OTLP endpoint (gRPC) of spans; `None` means that they are not exported.
    pub otlp: Option<String>,
    /// OTLP endpoint (gRPC) of metrics; `None` means that they are not exported.
    pub otlp_metrics: Option<String>,
    /// Whether lines are coloured: they go to a terminal and `NO_COLOR` is not set.
    pub colours: bool,
}

impl Default for TelemetryConfig {
    fn default() -> TelemetryConfig {
        let log = "info".to_owned();
        TelemetryConfig {
            log,
            format: LogFormat::Human,
            otlp: None,
            otlp_metrics: None,
            colours: false,
        }
    }
}

impl TelemetryConfig {
    /// Reads `telemetry.log` (or `RUST_LOG`), `telemetry.format` and the variables of
    /// OpenTelemetry.
    pub fn read(settings: &mut Settings) -> TelemetryConfig {
        let allowed = "directives such as info or info,eventlog=debug";
        let log = settings.get("telemetry.log", allowed, |text| {
            EnvFilter::builder().parse(text).is_ok().then(|| text.to_owned())
        });
        let log = log.or_else(|| settings.variable("RUST_LOG").map(str::to_owned));
        let format = match settings.choice("telemetry.format", &["human", "json"]) {
            Some("json") => LogFormat::Json,
            _ => LogFormat::Human,
        };
        TelemetryConfig {
            log: log.unwrap_or_else(|| "info".to_owned()),
            format,
            otlp: otlp(settings, "TRACES"),
            otlp_metrics: otlp(settings, "METRICS"),
            // https://no-color.org: any value but the empty one disables colours.
            colours: std::io::stderr().is_terminal() && settings.variable("NO_COLOR").is_none(),
        }
    }
}

/// Endpoint of `TRACES` or `METRICS`. `OTEL_TRACES_EXPORTER=otlp`, or `OTEL_METRICS_EXPORTER=otlp`, or
/// an endpoint enables the export; `none` and `OTEL_SDK_DISABLED` disable it.
fn otlp(settings: &mut Settings, signal: &str) -> Option<String> {
    let choice = format!("OTEL_{signal}_EXPORTER");
    let disabled = settings
        .variable("OTEL_SDK_DISABLED")
        .is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let exporter = settings.variable(&choice);
    let endpoint = settings
        .variable(&format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"))
        .or_else(|| settings.variable("OTEL_EXPORTER_OTLP_ENDPOINT"))
        .map(str::to_owned);
    match exporter {
        _ if disabled => None,
        None => endpoint,
        Some("otlp") => endpoint.or_else(|| Some("http://localhost:4317".to_owned())),
        Some("none") => None,
        Some(other) => {
            let other = other.to_owned();
            settings.refuse_variable(&choice, &other, "allowed: otlp, none");
            None
        }
    }
}

/// Error of telemetry that cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    #[error("the log directives {directives:?} are not understood: {source}")]
    Directives { directives: String, source: tracing_subscriber::filter::ParseError },
    #[error("spans or metrics cannot be exported to {endpoint}: {source}")]
    Exporter { endpoint: String, source: opentelemetry_otlp::ExporterBuildError },
    #[error("this process tells about itself already")]
    Started(#[from] tracing_subscriber::util::TryInitError),
}

/// Running telemetry, to be flushed at the end.
#[derive(Debug)]
#[must_use = "spans in memory are lost unless it is flushed"]
pub struct Telemetry {
    provider: SdkTracerProvider,
    meters: SdkMeterProvider,
}

impl Telemetry {
    /// Exports the spans and metrics that are still in memory. Takes ten seconds at most.
    pub async fn flush(self) {
        let Telemetry { provider, meters } = self;
        let sent = tokio::task::spawn_blocking(move || {
            let spans = provider.shutdown_with_timeout(FLUSH_TIMEOUT);
            spans.and(meters.shutdown_with_timeout(FLUSH_TIMEOUT))
        });
        if let Ok(Err(error)) = sent.await {
            tracing::warn!(%error, "the last spans or metrics were not exported");
        }
    }
}

/// Starts telemetry for the whole process. `service` is the complete `service.name` of its spans,
/// such as `sabacc-gateway`. Needs a running tokio runtime if spans are exported.
///
/// # Errors
/// The configuration cannot be used, or telemetry was already started.
pub fn start(service: &str, config: &TelemetryConfig) -> Result<Telemetry, TelemetryError> {
    let provider = provider(service, config)?;
    let meters = meters(service, config)?;
    let directives = EnvFilter::builder().parse(&config.log);
    let directives = directives
        .map_err(|source| TelemetryError::Directives { directives: config.log.clone(), source })?;
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(config.colours);
    let lines = match config.format {
        LogFormat::Human => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry()
        .with(span_layer(&provider, config.otlp.is_some()))
        .with(lines.with_filter(directives.and(repeat_filter::RepeatFilter::new())))
        .try_init()?;
    opentelemetry::global::set_meter_provider(meters.clone());
    Ok(Telemetry { provider, meters })
}

/// Tracer provider. Without an exporter it samples a span only if the caller sampled its trace, so
/// that the caller's trace has no gap; other spans have an id and are dropped.
fn provider(service: &str, config: &TelemetryConfig) -> Result<SdkTracerProvider, TelemetryError> {
    let mut builder = SdkTracerProvider::builder().with_resource(resource(service));
    if let Some(endpoint) = &config.otlp {
        let exporter = SpanExporter::builder().with_tonic().with_endpoint(endpoint).build();
        let exporter = exporter
            .map_err(|source| TelemetryError::Exporter { endpoint: endpoint.clone(), source })?;
        builder = builder.with_batch_exporter(exporter);
    } else {
        builder = builder.with_sampler(Sampler::ParentBased(Box::new(Sampler::AlwaysOff)));
    }
    Ok(builder.build())
}

/// Meter provider. Without an exporter nothing is kept.
fn meters(service: &str, config: &TelemetryConfig) -> Result<SdkMeterProvider, TelemetryError> {
    let mut builder = SdkMeterProvider::builder().with_resource(resource(service));
    if let Some(endpoint) = &config.otlp_metrics {
        let exporter = MetricExporter::builder().with_tonic().with_endpoint(endpoint).build();
        let exporter = exporter
            .map_err(|source| TelemetryError::Exporter { endpoint: endpoint.clone(), source })?;
        builder = builder.with_periodic_exporter(exporter);
    }
    Ok(builder.build())
}

/// Resource of spans and metrics. `service.name` is the name as given, without a prefix.
fn resource(service: &str) -> Resource {
    Resource::builder().with_service_name(service.to_owned()).build()
}

/// Layer for our spans at any log level, without those of the transport and the exporter.
///
/// A call always has a span, since its trace has an id. Spans within a call have the level `debug`
/// and are made only if they are exported: each decision of a player has several, and they cost
/// processor time.
fn span_layer<S>(provider: &SdkTracerProvider, exported: bool) -> impl Layer<S> + use<S>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let inner = if exported { Level::DEBUG } else { Level::INFO };
    let ours = filter_fn(move |of| {
        let finest = if of.is_span() { inner } else { Level::INFO };
        let quiet = ["h2", "hyper", "hyper_util", "tonic", "tower", "opentelemetry"];
        let root = of.target().split("::").next().unwrap_or_default();
        *of.level() <= finest && !quiet.iter().any(|quiet| root.starts_with(quiet))
    });
    let tracer = provider.tracer("sabacc");
    tracing_opentelemetry::layer()
        .with_tracer(tracer)
        // A stream's span is entered for every frame, so entering has to be cheap.
        .with_tracked_inactivity(false)
        .with_context_activation(false)
        .with_location(false)
        .with_threads(false)
        .with_filter(ours.with_max_level_hint(inner))
}

/// Id of the current span's trace; zeros outside any span.
#[must_use]
pub fn trace_id() -> [u8; 16] {
    trace_id_of(&tracing::Span::current())
}

fn trace_id_of(span: &tracing::Span) -> [u8; 16] {
    span.context().span().span_context().trace_id().to_bytes()
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    /// Keeps tests with their own subscribers apart: the interest in a callsite is cached for all
    /// threads.
    pub(super) fn lock_subscriber() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Trace id of a call, and whether a span within the call is enabled.
    fn within(exported: bool) -> ([u8; 16], bool) {
        let _alone = lock_subscriber();
        let config = TelemetryConfig::default();
        let provider = provider("test", &config).unwrap();
        let subscriber = tracing_subscriber::registry().with(span_layer(&provider, exported));
        tracing::subscriber::with_default(subscriber, || {
            tracing::info_span!("call").in_scope(|| {
                let inner = tracing::debug_span!("inner");
                assert_eq!(inner.in_scope(trace_id), trace_id(), "it is the same trace");
                (trace_id(), !inner.is_disabled())
            })
        })
    }

    #[test]
    fn service_name_is_the_name_as_given() {
        for name in ["sabacc", "sabacc-gateway"] {
            let found = resource(name).get(&opentelemetry::Key::new("service.name"));
            assert_eq!(found.map(|value| value.to_string()).as_deref(), Some(name));
        }
    }

    #[test]
    fn a_call_has_a_trace_and_what_is_within_it_has_spans_where_they_are_exported() {
        for exported in [true, false] {
            let (trace, spans) = within(exported);
            assert_ne!(trace, [0; 16]);
            assert_eq!(spans, exported);
        }
    }
}
