//! Trace from a caller through a server to a collector. It runs in a process of its own, since
//! telemetry is started for the whole process.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

#[path = "../serve/echo.rs"]
mod echo;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chassis::telemetry::{self, LogFormat, TelemetryConfig};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use tonic::{Request, Response, Status};
use tracing::Instrument;

use crate::echo::{Room, Setting, call, text, ticks};

#[derive(Clone, Default)]
struct Collector {
    received: Arc<Mutex<Vec<(String, Span)>>>,
    metrics: Arc<Mutex<Vec<Metric>>>,
}

#[tonic::async_trait]
impl MetricsService for Collector {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        let resources = request.into_inner().resource_metrics.into_iter();
        let scopes = resources.flat_map(|resource| resource.scope_metrics);
        self.metrics.lock().unwrap().extend(scopes.flat_map(|scope| scope.metrics));
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

impl Collector {
    /// Value of a gauge as it was received last.
    fn gauge(&self, name: &str) -> Option<Value> {
        let metrics = self.metrics.lock().unwrap();
        let of_name = metrics.iter().filter(|metric| metric.name == name);
        let value = |metric: &Metric| {
            let Some(Data::Gauge(gauge)) = &metric.data else { return None };
            gauge.data_points.last().and_then(|point| point.value)
        };
        of_name.filter_map(value).next_back()
    }
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        for resource in request.into_inner().resource_spans {
            let service = format!("{:?}", resource.resource);
            let spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
            let spans = spans.map(|span| (service.clone(), span));
            self.received.lock().unwrap().extend(spans);
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn trace_of(metadata: &tonic::metadata::MetadataMap) -> String {
    metadata.get("trace-id").expect("every answer has it").to_str().unwrap().to_owned()
}

/// Serves a collector.
async fn collect() -> (Collector, SocketAddr) {
    let collector = Collector::default();
    let incoming = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = incoming.local_addr().unwrap();
    let service = TraceServiceServer::new(collector.clone());
    let incoming = tonic::transport::server::TcpIncoming::from(incoming);
    tokio::spawn(
        tonic::transport::Server::builder()
            .add_service(service)
            .add_service(MetricsServiceServer::new(collector.clone()))
            .serve_with_incoming(incoming),
    );
    (collector, address)
}

#[tokio::test]
async fn a_trace_goes_from_the_caller_through_the_server_to_the_collector() {
    let (collector, address) = collect().await;
    let config = TelemetryConfig {
        colours: false,
        // Nothing is logged, but spans have ids all the same.
        log: "off".to_owned(),
        format: LogFormat::Json,
        otlp: Some(format!("http://{address}")),
        otlp_metrics: Some(format!("http://{address}")),
    };
    assert_eq!(telemetry::trace_id(), [0; 16], "outside any span");
    let started = telemetry::start("sabacc-echo", &config).unwrap();
    assert!(telemetry::start("sabacc-echo", &config).is_err(), "once a process");

    telemetry::metrics::gauge("sabacc.test.level", 7);
    telemetry::metrics::gauge("sabacc.test.level", 8);

    let room = Room::open(Setting::default()).await;
    let channel = room.channel();
    let span = tracing::info_span!("caller");
    let calls = async {
        let id = hex(&telemetry::trace_id());
        let answer = call(&channel, "Operate", text("hello")).await.unwrap();
        assert_eq!(trace_of(answer.metadata()), id);
        let seen = answer.into_inner().text;
        assert_eq!(seen, format!("service:test {id}"), "the handler is in the caller's trace");
        let failed = call(&channel, "Operate", text("fail")).await.unwrap_err();
        assert_eq!(trace_of(failed.metadata()), id);
        let refused = call(&room.plain(), "Play", text("hello")).await.unwrap_err();
        assert_eq!(trace_of(refused.metadata()), id, "also where nobody was let in");
        let mut stream = ticks(&channel).await.unwrap();
        stream.message().await.unwrap();
        id
    };
    let id = calls.instrument(span.clone()).await;
    drop(span);
    let alone = call(&channel, "Operate", text("hello")).await.unwrap();
    assert_ne!(trace_of(alone.metadata()), id, "a call outside any trace begins one");

    room.drain.begin();
    drop(channel);
    tokio::time::timeout(Duration::from_secs(5), room.served).await.unwrap().unwrap();
    started.flush().await;

    assert_eq!(collector.gauge("sabacc.test.level"), Some(Value::AsInt(8)));
    let received = collector.received.lock().unwrap();
    let ours: Vec<&Span> =
        received.iter().map(|(_, span)| span).filter(|span| hex(&span.trace_id) == id).collect();
    let caller = ours.iter().find(|span| span.name == "caller").expect("the caller's span");
    let served: Vec<&&Span> =
        ours.iter().filter(|span| span.parent_span_id == caller.span_id).collect();
    let mut names: Vec<&str> = served.iter().map(|span| span.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "chassis.test.v1.EchoService/Operate",
            "chassis.test.v1.EchoService/Operate",
            "chassis.test.v1.EchoService/Play",
            "chassis.test.v1.EchoService/Ticks",
        ]
    );
    assert!(received.iter().all(|(service, _)| service.contains("sabacc-echo")));
    let everything = format!("{received:?}");
    assert!(!everything.contains("Bearer") && !everything.contains("eyJ"), "no token in a span");
}
