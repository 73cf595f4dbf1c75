//! Owners whose clocks are wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use eventlog::store::{Batch, Claim, ClaimOutcome, ClockReading, Renewal, StoreError};
use eventlog::{AppendError, ClockSkew, Log, OpenError, UnixMicros};
use system::clock::{Clock as _, SystemClock};
use tokio::time::{sleep, timeout};

use crate::world::{LOG, World, all, note};

const HOUR: i64 = 3_600_000_000;
const LONG: Duration = Duration::from_secs(20);

fn clock(off: i64) -> ClockReading {
    let at = SystemClock::new().now().0.saturating_add_signed(off);
    ClockReading { at: UnixMicros(at), skew: Duration::from_secs(2) }
}

fn is_off_by_an_hour<T>(outcome: Result<T, StoreError>, ahead: bool) {
    let Err(StoreError::Clock(ClockSkew::Owner(off))) = outcome.map(drop) else {
        panic!("the clock is not looked at")
    };
    let off = if ahead { off } else { -off };
    assert!((off - HOUR).abs() < 2_000_000, "{off}");
}

/// ARCHITECTURE.md §2.7.
pub(crate) async fn a_clock_that_is_off_claims_renews_and_writes_nothing(
    world: World,
) -> anyhow::Result<()> {
    let options = world.owner_off_by(&Arc::default());
    let store = &*world.store;
    let claim = |off| Claim {
        log: LOG.into(),
        owner: "owner".into(),
        address: "here".into(),
        lease: Duration::from_secs(30),
        take_over: false,
        clock: clock(off),
    };
    is_off_by_an_hour(store.claim(&claim(HOUR)).await, true);
    is_off_by_an_hour(store.claim(&claim(-HOUR)).await, false);
    assert_eq!(store.fence(LOG).await?, None);
    let ClaimOutcome::Granted(fence) = store.claim(&claim(0)).await? else { anyhow::bail!("held") };
    let renewal = |off| Renewal {
        log: LOG.into(),
        epoch: fence.epoch,
        lease: Duration::ZERO,
        clock: clock(off),
        is_serving: true,
        size: 0,
        tree: None,
    };
    is_off_by_an_hour(store.renew(&renewal(HOUR)).await, true);
    is_off_by_an_hour(store.renew(&renewal(-HOUR)).await, false);
    assert_eq!(store.fence(LOG).await?, Some(fence.clone()));
    let batch = |off, recorded| {
        let recorded_at = clock(recorded).at;
        let event = crate::store_law::event(0, 1);
        Batch {
            events: [eventlog::Event { recorded_at, ..event }].into(),
            clock: clock(off),
            ..crate::store_law::batch(fence.epoch, 0)
        }
    };
    is_off_by_an_hour(store.append(&batch(HOUR, 0)).await, true);
    is_off_by_an_hour(store.append(&batch(-HOUR, 0)).await, false);
    let ahead = store.append(&batch(0, HOUR)).await;
    assert!(matches!(ahead, Err(StoreError::Clock(ClockSkew::Log(_)))), "{ahead:?}");
    assert_eq!(store.fence(LOG).await?, Some(fence.clone()));
    // A batch that is sent again after a long outage has an old time.
    store.append(&batch(0, -HOUR)).await?;
    drop(options);
    Ok(())
}

pub(crate) async fn an_hour_ahead_for_a_second_pins_nothing(world: World) -> anyhow::Result<()> {
    let off = Arc::new(AtomicI64::new(0));
    let log = Log::open(world.store.clone(), world.owner_off_by(&off)).await?;
    log.append(note(1)).await?;
    off.store(HOUR, Ordering::Relaxed);
    let refused = log.append(note(2)).await;
    let Err(AppendError::Clock(words)) = refused else { anyhow::bail!("{refused:?}") };
    let words = words.to_string();
    let names = "clock of this process is 3600.0 s ahead of the database's";
    assert!(words.contains(names) || words.contains("3599.9"), "{words}");
    sleep(Duration::from_millis(700)).await;
    off.store(0, Ordering::Relaxed);
    let receipt = log.append(note(3)).await?;
    let now = SystemClock::new().now();
    assert!(receipt.recorded_at <= now, "{} is after {now}", receipt.recorded_at);
    assert_eq!(all(&log).await?.len(), 2);
    log.close().await;
    let next = Log::open(world.store.clone(), world.owner_off_by(&off)).await?;
    assert!(next.last_alive().is_some_and(|alive| alive <= SystemClock::new().now()));
    Ok(())
}

/// ARCHITECTURE.md §2.7.
pub(crate) async fn an_hour_back_is_refused_until_it_is_right(world: World) -> anyhow::Result<()> {
    let off = Arc::new(AtomicI64::new(-HOUR));
    let opened = Log::open(world.store.clone(), world.owner_off_by(&off)).await;
    let Err(OpenError::Clock { off: ClockSkew::Owner(..0), .. }) = opened.map(drop) else {
        anyhow::bail!("it was let in")
    };
    off.store(0, Ordering::Relaxed);
    let log = Log::open(world.store.clone(), world.owner_off_by(&off)).await?;
    let before = log.append(note(1)).await?.recorded_at;
    off.store(-HOUR, Ordering::Relaxed);
    let refused = log.append(note(2)).await;
    assert!(matches!(refused, Err(AppendError::Clock(_))), "{refused:?}");
    off.store(0, Ordering::Relaxed);
    assert!(log.append(note(2)).await?.recorded_at > before);
    assert_eq!(log.size(), 2);
    Ok(())
}

pub(crate) async fn a_clock_that_is_right_in_time_costs_nobody_anything(
    world: World,
) -> anyhow::Result<()> {
    let off = Arc::new(AtomicI64::new(HOUR / 2));
    let mut options = world.owner_off_by(&off);
    off.store(0, Ordering::Relaxed);
    options.limits.store_timeout = LONG;
    let log = Log::open(world.store.clone(), options).await?;
    off.store(HOUR / 2, Ordering::Relaxed);
    let waits = tokio::spawn({
        let log = log.clone();
        async move { log.append(note(1)).await }
    });
    sleep(Duration::from_millis(300)).await;
    assert!(!waits.is_finished());
    off.store(0, Ordering::Relaxed);
    // The time does not come from the wrong clock.
    let receipt = timeout(LONG, waits).await???;
    assert!(receipt.recorded_at <= SystemClock::new().now());
    Ok(())
}

pub(crate) async fn an_owner_whose_clock_is_off_loses_the_log_to_one_whose_clock_is_right(
    world: World,
) -> anyhow::Result<()> {
    let off = Arc::new(AtomicI64::new(0));
    let mut options = world.owner_off_by(&off);
    options.lease = Duration::from_millis(600);
    let first = Log::open(world.store.clone(), options).await?;
    off.store(-HOUR, Ordering::Relaxed);
    sleep(Duration::from_secs(1)).await;
    let right = world.owner_off_by(&Arc::default());
    let second = timeout(LONG, Log::open(world.store.clone(), right)).await??;
    second.append(note(1)).await?;
    off.store(0, Ordering::Relaxed);
    timeout(LONG, first.stopped().cancelled()).await?;
    Ok(())
}
