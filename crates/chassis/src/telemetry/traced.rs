//! Spans around server calls, from a call's headers to the last byte of its answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body::{Body, Frame, SizeHint};
use tokio::time::Instant;
use tower::Service;
use tracing::{Instrument, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::{trace_context, trace_id_of};
use crate::content_type::is_grpc;
use crate::refusal::{CallFacts, complete, is_failure, parse_code};
use crate::serve::CommandId;

/// Metadata of every answer: the call's trace id as 32 hexadecimal digits.
pub const TRACE_ID: HeaderName = HeaderName::from_static("trace-id");

/// Service that gives each call a span, with the caller's span as its parent.
#[derive(Debug, Clone)]
pub struct Traced<S> {
    inner: S,
    public_url: Arc<str>,
}

impl<S> Traced<S> {
    /// `public_url` is what links to documentation begin with; empty: they begin at the port's root.
    pub const fn new(inner: S, public_url: Arc<str>) -> Traced<S> {
        Traced { inner, public_url }
    }
}

impl<S, B, R> Service<Request<B>> for Traced<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
{
    type Response = Response<TracedBody<R>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let (span, id) = open(&request);
        let command = CommandId::default();
        request.extensions_mut().insert(command.clone());
        let public_url = Arc::clone(&self.public_url);
        let call = Call {
            span: span.clone(),
            id,
            command,
            public_url,
            begun: Instant::now(),
            is_recorded: false,
        };
        let answer = span.in_scope(|| self.inner.call(request)).instrument(span);
        Box::pin(async move {
            let mut response = answer.await?;
            let mut call = call;
            call.mark(response.headers_mut());
            Ok(response.map(|inner| TracedBody { inner, call }))
        })
    }
}

/// Opens the span of a call. Returns it with the trace id as the answer will show it.
fn open<B>(request: &Request<B>) -> (Span, Option<HeaderValue>) {
    let path = request.uri().path();
    // A span's name must come from a small set, and a plain HTTP path may hold anything.
    let grpc = is_grpc(request.headers());
    let name = if grpc { path.trim_start_matches('/') } else { request.method().as_str() };
    let span = tracing::info_span!(
        "call",
        otel.name = name,
        otel.kind = "server",
        rpc.system = if grpc { "grpc" } else { "http" },
        trace_id = tracing::field::Empty,
        grpc.code = tracing::field::Empty,
    );
    // Fails only if no subscriber takes spans.
    let _ = span.set_parent(trace_context::extract(request.headers()));
    let id = trace_id_of(&span);
    if id == [0; 16] {
        return (span, None);
    }
    let text = format!("{:032x}", u128::from_be_bytes(id));
    span.record("trace_id", text.as_str());
    (span, HeaderValue::try_from(text).ok())
}

#[derive(Debug)]
struct Call {
    span: Span,
    id: Option<HeaderValue>,
    command: CommandId,
    public_url: Arc<str>,
    begun: Instant,
    is_recorded: bool,
}

impl Call {
    /// Adds the trace id to the headers or trailers, and records the outcome if they hold it.
    fn mark(&mut self, fields: &mut HeaderMap) {
        if let Some(id) = &self.id {
            fields.insert(TRACE_ID, id.clone());
        }
        let code = fields.get("grpc-status").and_then(|code| code.to_str().ok());
        if let Some(code) = code.and_then(|code| code.parse::<i32>().ok()) {
            if code != 0 {
                let trace = self.id.as_ref().and_then(|id| id.to_str().ok());
                let (command, public_url) = (self.command.text(), &*self.public_url);
                complete(fields, CallFacts { trace, command, public_url });
            }
            self.record_outcome(code);
        }
    }

    fn record_outcome(&mut self, code: i32) {
        if std::mem::replace(&mut self.is_recorded, true) {
            return;
        }
        self.span.record("grpc.code", code);
        let took = self.begun.elapsed();
        let _entered = self.span.enter();
        let code = parse_code(code);
        if is_failure(code) {
            tracing::warn!(?code, ?took, "a call failed");
        } else {
            tracing::debug!(?code, ?took, "a call ended");
        }
    }
}

/// Body of an answer. The end of the body is the end of the call.
#[derive(Debug)]
pub struct TracedBody<B> {
    inner: B,
    call: Call,
}

impl<B: Body + Unpin> Body for TracedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let TracedBody { inner, call } = self.get_mut();
        // The span is not entered here: a stream is polled for every frame, and the work of the
        // call makes its own spans with this one as parent.
        let frame = ready!(Pin::new(inner).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            frame.map(|mut frame| {
                if let Some(trailers) = frame.trailers_mut() {
                    call.mark(trailers);
                }
                frame
            })
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
