//! Short runs of `sabacc load` and `sabacc bench`: the figures exist and were checked. Their size
//! is not tested, since it depends on other load on the machine.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::process::{Command, Output};

use serde_json::Value;

fn sabacc(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sabacc"));
    for name in ["DATABASE_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", "RUST_LOG", "SABACC_CONFIG"] {
        command.env_remove(name);
    }
    command.args(arguments).output().unwrap()
}

/// Returns the line of JSON of a successful run.
fn run_measurement(arguments: &[&str]) -> Value {
    let output = sabacc(&[arguments, &["--json"]].concat());
    let (said, complained) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{arguments:?}: {said}{complained}");
    assert_eq!(said.lines().count(), 1, "with --json only the line: {said}");
    serde_json::from_str(&said).unwrap()
}

fn check_positive(value: &Value, of: &str) {
    assert!(value.as_f64().is_some_and(|figure| figure > 0.0), "{of}: {value}");
}

/// Checks that percentiles exist and are ordered.
fn check_percentiles(latency: &Value) {
    let at = |name: &str| latency[name].as_f64().unwrap();
    let [p50, p95, p99, max] = ["p50", "p95", "p99", "max"].map(at);
    assert!(0.0 < p50 && p50 <= p95 && p95 <= p99 && p99 <= max, "{latency}");
}

/// Checks the fields that every figure of a benchmark has.
fn check_figure(figure: &Value) {
    check_positive(&figure["operations"], "operations");
    check_positive(&figure["rate"], "rate");
    check_percentiles(&figure["latency_ms"]);
    let cpu = figure["cpu_seconds"].as_object().unwrap();
    assert!(cpu.contains_key("sabacc") && cpu.contains_key("postgresql"), "{cpu:?}");
    assert!(!figure["ratios"].as_object().unwrap().is_empty(), "{figure}");
}

/// Checks that a report passes only if every goal was reached.
fn check_passed(report: &Value) {
    let goals = |of: &Value| of["goals"].as_array().unwrap().clone();
    let of_figures = report["figures"].as_array().unwrap().iter().flat_map(goals);
    let reached = of_figures.chain(goals(report)).all(|goal| goal["reached"] == true);
    assert_eq!(report["passed"], reached && report["checks_passed"] == true, "{report}");
}

#[test]
fn load_plays_measures_and_audits() {
    let load = run_measurement(&[
        "load",
        "--tables",
        "2",
        "--players",
        "2",
        "--seconds",
        "2",
        "--warm-up",
        "0",
        "--audit",
        "3",
    ]);
    assert_eq!((&load["tables"], &load["players"]), (&2.into(), &2.into()));
    check_positive(&load["actions"], "actions");
    check_positive(&load["actions_per_second"], "actions a second");
    check_positive(&load["wal_bytes_per_action"], "write-ahead log");
    check_percentiles(&load["latency_ms"]);
    assert!(load["hands_per_second"].is_number() && load["disk_bytes_per_action"].is_number());
    assert!(load["errors"].is_object(), "{load}");
    check_positive(&load["cpu_seconds"]["sabacc"], "processor time");
    check_positive(&load["cpu_seconds"]["postgresql"], "PostgreSQL's processor time");
    let audit = &load["audit"];
    let count = |name: &str| audit[name].as_u64().unwrap();
    assert!(count("ended") > 0 && count("hands") > 0 && count("hands") <= 3, "{audit}");
    assert_eq!(count("passed"), count("hands"));
    assert_eq!((&audit["ledger"], &load["passed"]), (&true.into(), &true.into()));
}

#[test]
fn the_log_is_measured_beside_its_floor() {
    let log =
        run_measurement(&["bench", "log", "--seconds", "1", "--clients", "4", "--pgbench", "0"]);
    assert_eq!(log["measured"], "log");
    assert_eq!(log["yardsticks"]["pgbench"], Value::Null, "it was not asked for");
    let [append] = &log["figures"].as_array().unwrap()[..] else { panic!("one figure: {log}") };
    check_figure(append);
    check_positive(&append["floor"]["rate"], "the floor");
    check_positive(&append["ratios"]["UNNEST"], "of the floor");
    assert!(append["goals"][0]["reached"].is_boolean(), "{append}");
    check_passed(&log);
}

#[test]
fn the_ledger_is_measured_in_every_way_there_is() {
    let ledger = run_measurement(&[
        "bench",
        "ledger",
        "--seconds",
        "1",
        "--clients",
        "4",
        "--batch",
        "20",
        "--window",
        "4",
        "--accounts",
        "2000",
        "--pgbench",
        "3",
    ]);
    let figures = ledger["figures"].as_array().unwrap();
    figures.iter().for_each(check_figure);
    let named = |name: &str| figures.iter().find(|figure| figure["name"] == name).unwrap();
    for name in ["unary", "stream", "batch"] {
        check_positive(&named(name)["cpu_seconds"]["wallet"], "the wallet's processor time");
        check_positive(&named(name)["floor"]["rate"], "the floor");
        check_positive(&named(name)["wal_bytes_per_operation"], "write-ahead log");
    }
    assert_eq!(named("batch")["operations"].as_u64().unwrap() % 20, 0, "whole batches");
    assert_eq!((&named("unary")["clients"], &named("alone")["clients"]), (&4.into(), &1.into()));
    check_positive(&ledger["yardsticks"]["bare_calls"], "calls that do nothing");
    check_positive(&named("unary")["ratios"]["bare calls"], "of them");
    check_positive(&ledger["yardsticks"]["bare_unary_ms"], "a bare call");
    check_positive(&ledger["yardsticks"]["single_commit_ms"], "a commit");
    assert_eq!(ledger["sizes"]["idle_accounts"], 2000.0);
    assert!(ledger["sizes"]["bytes_per_idle_account"].is_number(), "{ledger}");
    check_positive(&ledger["sizes"]["seconds_to_be_ready_again"], "its second start");
    // Without pgbench there is no figure, and no goal is reached or missed.
    let (pgbench, goal) = (&ledger["yardsticks"]["pgbench"], &named("unary")["goals"][0]);
    assert_eq!(pgbench.is_null(), goal["reached"].is_null(), "{ledger}");
}

#[test]
fn a_table_is_measured_at_play_and_idle() {
    let table = run_measurement(&[
        "bench",
        "table",
        "--tables",
        "2",
        "--players",
        "2",
        "--seconds",
        "1",
        "--idle",
        "20",
        "--pgbench",
        "0",
        "--audit",
        "2",
    ]);
    check_figure(&table["figures"][0]);
    assert!(table["sizes"]["bytes_per_idle_table"].is_number(), "{table}");
    check_positive(&table["sizes"]["hands_audited"], "hands that were audited");
    assert!(table["sizes"]["errors"].is_number(), "{table}");
    assert_eq!(table["checks_passed"], true, "what was played was audited");
    assert_eq!(table["passed"], false, "no goal is reached without its baseline");
}

#[test]
fn a_wrong_argument_is_answered_with_what_would_be_right() {
    for (arguments, advice) in [
        (&["load"][..], "--tables <N>"),
        (&["load", "--tables", "1", "--players", "1", "--seconds", "1"], "1 is not in 2..=10"),
        (&["load", "--tables", "0", "--players", "2", "--seconds", "1"], "0 is not in 1..="),
        (
            &[
                "load",
                "--tables",
                "1",
                "--players",
                "2",
                "--seconds",
                "1",
                "--server",
                "http://a:1",
            ],
            "--key <FILE>",
        ),
        (
            &[
                "--data",
                "x",
                "load",
                "--tables",
                "1",
                "--players",
                "2",
                "--seconds",
                "1",
                "--server",
                "http://a:1",
                "--key",
                "k",
            ],
            "leave one of them away",
        ),
        (
            &[
                "load",
                "--tables",
                "1",
                "--players",
                "2",
                "--seconds",
                "1",
                "--server",
                "http://a:1",
                "--key",
                "no-such-file.pem",
            ],
            "the key no-such-file.pem cannot be read",
        ),
        (&["bench"], "ledger"),
        (&["bench", "log", "--clients", "0"], "0 is not in 1..="),
    ] {
        let output = sabacc(arguments);
        let complained = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && complained.contains(advice),
            "{arguments:?}: {complained}"
        );
    }
}

#[test]
fn a_folder_in_which_no_room_runs_says_how_to_get_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let load = ["load", "--tables", "1", "--players", "2", "--seconds", "1"];
    let output = sabacc(&[&["--data", data], &load[..]].concat());
    let complained = String::from_utf8(output.stderr).unwrap();
    assert!(
        complained.contains("there is no room in that folder") && complained.contains("sabacc up"),
        "{complained}"
    );
    assert!(!output.status.success());
}
