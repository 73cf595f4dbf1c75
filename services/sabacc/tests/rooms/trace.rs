//! One trace from a player's call at the gateway to the commit that makes it durable, and its id
//! everywhere it is reported.

use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use rustix::process::Signal;
use system::ids::IdMaker;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

use crate::harness::RoomHarness;
use crate::people::Party;
use crate::records;

/// Trace collector that keeps every span.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Span>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let scopes = request.into_inner().resource_spans.into_iter();
        let scopes = scopes.flat_map(|resource| resource.scope_spans);
        self.0.lock().unwrap().extend(scopes.flat_map(|scope| scope.spans));
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    /// Listens; returns the address to export to.
    async fn listen(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tonic::transport::Server::builder();
        let service = TraceServiceServer::new(self.clone());
        tokio::spawn({
            let mut server = server;
            server.add_service(service).serve_with_incoming(TcpIncoming::from(listener))
        });
        format!("http://{address}")
    }
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_trace_leads_from_the_edge_to_the_commit() {
    let collector = Collector::default();
    let endpoint = collector.listen().await;
    let harness = RoomHarness::new();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())];
    let mut room = harness.up_with(&["--no-bots"], &variables).await;
    let party = Party::new(&harness, &room.url, 2).await;
    let (guest, view) = party.turn().await;
    let request = IdMaker::system().request_id();
    let answer = party.act(guest, party.act_request(guest, &view, request)).await.unwrap();
    let trace = answer.metadata().get("trace-id").expect("every answer has it");
    let trace = trace.to_str().unwrap().to_owned();
    let events = records::events(&room.database, "table").await;
    let decided = events.iter().find(|event| event.request_id == Some(request)).unwrap();
    assert_eq!(hex(&decided.trace), trace, "the record names the trace");
    // An error carries its trace as well.
    let again = party.act_request(guest, &view, IdMaker::system().request_id());
    let refused = party.act(guest, again).await.expect_err("that turn is over");
    let other = refused.metadata().get("trace-id").expect("every answer has it");
    assert_ne!(other.to_str().unwrap(), trace);
    // The end flushes spans from memory.
    room.running.stop(Signal::INT).await;

    let spans = collector.0.lock().unwrap();
    let of_trace: Vec<&Span> = spans.iter().filter(|span| hex(&span.trace_id) == trace).collect();
    let named = |name: &str| -> Vec<&Span> {
        of_trace.iter().copied().filter(|span| span.name == name).collect()
    };
    let calls = named("sabacc.table.v1.TableService/Act");
    let [one, other] = calls[..] else { panic!("the edge and the table: {of_trace:#?}") };
    let (edge, table) = if one.parent_span_id.is_empty() { (one, other) } else { (other, one) };
    assert_eq!(table.parent_span_id, edge.span_id, "the edge called the table");
    let above = |span: &Span| of_trace.iter().copied().find(|it| it.span_id == span.parent_span_id);
    let [commit] = named("log.commit")[..] else { panic!("one commit: {of_trace:#?}") };
    let mut ancestors = std::iter::successors(above(commit), |span| above(span));
    assert!(ancestors.any(|span| span.span_id == table.span_id), "{of_trace:#?}");
    let [append] = named("log.append")[..] else { panic!("one append: {of_trace:#?}") };
    let begins_within = append.start_time_unix_nano <= commit.start_time_unix_nano;
    assert!(begins_within && commit.end_time_unix_nano <= edge.end_time_unix_nano, "in order");
    let everything = format!("{spans:?}");
    assert!(!everything.contains("eyJ"), "no token in a span");
}
