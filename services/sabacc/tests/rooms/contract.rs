//! The public contract from outside: every method of the descriptors, in every protocol, with a
//! valid request and with whatever may be wrong with one. Each answer has the code and the reason
//! that the protobuf files document, and each repeat gets the same.
//!
//! Methods, roles and fields come from the descriptors. `requests` has a valid request to each
//! method, and `fields.txt` what each field takes and refuses: a method or a field without a line
//! there is a finding.

mod check;
mod fields;
mod in_stream;
mod protocol;
mod recorded;
mod requests;
mod world;

use std::sync::Arc;

use prost_reflect::MethodDescriptor;
use rustix::process::Signal;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use self::check::{MethodCheck, Report};
use self::fields::FieldRules;
use self::world::World;
use crate::matrix::PUBLIC;

/// Methods that are checked at the same time.
const AT_ONCE: usize = 8;

fn public_methods(world: &World) -> Vec<MethodDescriptor> {
    let services = PUBLIC.iter().map(|name| world.pool.get_service_by_name(name).unwrap());
    services.flat_map(|service| service.methods().collect::<Vec<_>>()).collect()
}

async fn check_all(world: &Arc<World>, methods: Vec<MethodDescriptor>) -> Report {
    let rules = Arc::new(FieldRules::read(&methods));
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut checks = JoinSet::new();
    for method in methods {
        let (world, rules, turns) = (Arc::clone(world), Arc::clone(&rules), Arc::clone(&turns));
        checks.spawn(async move {
            let _turn = turns.acquire().await.unwrap();
            MethodCheck::new(world, rules, method).await.run().await
        });
    }
    let in_stream = in_stream::check(world, &rules).await;
    let mut report = in_stream;
    while let Some(checked) = checks.join_next().await {
        report = report.and(checked.unwrap_or_else(|panic| Report::of(format!("{panic}"))));
    }
    report.and(rules.unused())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_public_method_answers_as_documented_in_every_protocol() {
    let world = Arc::new(World::open().await);
    let methods = public_methods(&world);
    let (count, report) = (methods.len(), check_all(&world, methods).await);
    assert!(report.findings.is_empty(), "{}", report.findings.join("\n"));
    assert!(report.calls > 60 * count, "{} calls to {count} methods", report.calls);
    end(world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_requests_are_read_as_they_were_and_served() {
    let world = Arc::new(World::open().await);
    let methods = public_methods(&world);
    let report = recorded::serve(&world, &methods).await;
    assert!(report.findings.is_empty(), "{}", report.findings.join("\n"));
    assert_eq!(report.calls, methods.len());
    end(world).await;
}

/// Stops a room that nothing has harmed.
async fn end(world: Arc<World>) {
    unharmed(&world).await;
    let Ok(World { harness, mut room, .. }) = Arc::try_unwrap(world) else { panic!("all is done") };
    let log = room.running.log();
    assert!(!log.contains("panicked"), "{log}");
    room.running.stop(Signal::INT).await;
    drop(harness);
}

/// Checks that hands are still played and that no credit was made or lost.
async fn unharmed(world: &World) {
    let mut party = world.party().await.lock().await;
    let hand_no = party.view_of(0).await.hand_no;
    party.play_until(|view| view.hand_no > hand_no).await;
    let (status, said) = world.harness.run(world.harness.sabacc(&["audit", "ledger"])).await;
    assert!(status.success(), "no credit was made or lost: {said}");
}
