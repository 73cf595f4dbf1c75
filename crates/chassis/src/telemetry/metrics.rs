//! Metrics of this process, exported over OTLP where the operator asks for them. Elsewhere they go
//! nowhere and cost nothing.
//!
//! A gauge is what is known now, so that an alarm stands as long as its reason does, over restarts.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use opentelemetry::global;
use opentelemetry::metrics::Gauge;

/// Gauges by name. An instrument that is made again would be another one to some exporters.
static GAUGES: LazyLock<Mutex<BTreeMap<&'static str, Gauge<u64>>>> = LazyLock::new(Mutex::default);

/// Sets a gauge. Its name has dots between its parts, as OpenTelemetry names instruments.
pub fn gauge(name: &'static str, value: u64) {
    let mut gauges = GAUGES.lock().unwrap_or_else(PoisonError::into_inner);
    let gauge =
        gauges.entry(name).or_insert_with(|| global::meter("sabacc").u64_gauge(name).build());
    gauge.record(value, &[]);
}
