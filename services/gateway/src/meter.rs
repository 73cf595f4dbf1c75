//! Counts of the calls that the gateway forwards, and how long their answers take.
//!
//! A call adds to atomic numbers and waits for nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chassis::activity::{Activity, Latency, Window};
use chassis::body_with_permit::BodyWithPermit;
use http::Response;
use primitives::UnixMicros;
use proto::table::v1::{self as pb, ActivityKind, LatencyStep};
use tokio::time::Instant;
use tonic::body::Body;
use wire::time::timestamp;

const KINDS: &[ActivityKind] =
    &[ActivityKind::Calls, ActivityKind::Refusals, ActivityKind::Streams];
const STEPS: &[LatencyStep] = &[LatencyStep::Forward];

/// Counts of the forwarded calls, and the streams that are open.
pub(crate) struct Meter {
    activity: Activity<ActivityKind, LatencyStep>,
    open_streams: AtomicU64,
}

/// Forwarded call that has no answer yet.
pub(crate) struct MeasuredCall {
    meter: Arc<Meter>,
    began: Instant,
    stream: Option<OpenStream>,
}

/// Open stream; counted until it is dropped.
pub(crate) struct OpenStream(Arc<Meter>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.open_streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Meter {
    /// Begins to count.
    pub(crate) fn new(now: UnixMicros) -> Arc<Meter> {
        let activity = Activity::new(KINDS, STEPS, now);
        Arc::new(Meter { activity, open_streams: AtomicU64::new(0) })
    }

    /// Keeps the counts of each second, for ever.
    pub(crate) async fn keep(self: Arc<Meter>) {
        self.activity.keep().await;
    }

    /// Counts a call that is forwarded now.
    pub(crate) fn begin(self: &Arc<Meter>, streams: bool) -> MeasuredCall {
        self.activity.count(&ActivityKind::Calls, 1);
        let stream = streams.then(|| self.open_stream());
        MeasuredCall { meter: Arc::clone(self), began: Instant::now(), stream }
    }

    /// Counts a stream that is open until the value is dropped.
    pub(crate) fn open_stream(self: &Arc<Meter>) -> OpenStream {
        self.activity.count(&ActivityKind::Streams, 1);
        self.open_streams.fetch_add(1, Ordering::Relaxed);
        OpenStream(Arc::clone(self))
    }

    /// Streams that are open.
    pub(crate) fn open_streams(&self) -> u64 {
        self.open_streams.load(Ordering::Relaxed)
    }

    /// Activity as an answer shows it.
    pub(crate) fn view(&self) -> pb::ServiceActivity {
        let windows = self.activity.windows().map(window).into();
        pb::ServiceActivity { since_time: Some(timestamp(self.activity.since())), windows }
    }
}

impl MeasuredCall {
    /// Counts the beginning of the answer. A stream is open until the answer's end.
    pub(crate) fn answered(self, answer: Response<Body>) -> Response<Body> {
        let MeasuredCall { meter, began, stream } = self;
        let code = answer.headers().get("grpc-status");
        if !answer.status().is_success() || code.is_some_and(|code| code != "0") {
            meter.activity.count(&ActivityKind::Refusals, 1);
        }
        match stream {
            Some(open) => answer.map(|body| Body::new(BodyWithPermit::new(body, open))),
            None => {
                meter.activity.observe(&LatencyStep::Forward, began.elapsed());
                answer
            }
        }
    }
}

fn window(window: Window<ActivityKind, LatencyStep>) -> pb::ActivityWindow {
    let Window { length, covered, counts, steps } = window;
    let steps = steps.into_iter().map(|(step, latency)| step_latency(step, latency)).collect();
    wire::activity::window(length, covered, counts, steps)
}

fn step_latency(step: LatencyStep, latency: Latency) -> pb::StepLatency {
    let Latency { count, mean_micros, p50_micros, p95_micros, p99_micros } = latency;
    pb::StepLatency {
        step: step.into(),
        count,
        mean_us: mean_micros,
        p50_us: p50_micros,
        p95_us: p95_micros,
        p99_us: p99_micros,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proto::common::v1::ErrorReason;
    use tonic::Status;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn calls_refusals_and_streams_are_distinguished() {
        let meter = Meter::new(UnixMicros(5));
        let fine = || Response::new(Body::empty());
        let refused = wire::api_refusal(ErrorReason::BadField, "no");
        let call = meter.begin(false);
        tokio::time::advance(Duration::from_millis(7)).await;
        call.answered(fine());
        meter.begin(false).answered(Status::from(refused).into_http());
        let content = prost::bytes::Bytes::from_static(b"more comes");
        let more = Body::new(http_body_util::Full::new(content));
        let open = meter.begin(true).answered(Response::new(more));
        // Its caller has left before the answer.
        drop(meter.begin(true));
        assert_eq!(meter.open_streams(), 1);
        drop(open);
        assert_eq!(meter.open_streams(), 0);
        let view = meter.view();
        assert_eq!(view.since_time, Some(timestamp(UnixMicros(5))));
        for window in view.windows {
            let counts: Vec<_> =
                window.counts.iter().map(|count| (count.kind(), count.count)).collect();
            let [calls, refusals, streams] =
                [(ActivityKind::Calls, 4), (ActivityKind::Refusals, 1), (ActivityKind::Streams, 2)];
            assert_eq!(counts, [calls, refusals, streams]);
            let [step] = &window.steps[..] else { panic!("{:?}", window.steps) };
            assert_eq!((step.step(), step.count), (LatencyStep::Forward, 2));
            assert_eq!((step.p50_us, step.p99_us), (100, 10_000));
        }
    }
}
