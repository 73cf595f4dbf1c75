//! Restarts, lost logs, unknown outcomes.

use std::time::Duration;

use eventlog::{Entry, Fault, Log, MemStore, NewEvent};
use ledger::{Account, Amount, Command};
use primitives::StreamId;
use sabacc_wallet::command::Request;
use sabacc_wallet::{
    Dependencies, FatalError as WalletFault, LoadError, QueueLimits, Wallet, WalletError,
};
use tokio::task::JoinSet;

use crate::harness::{
    Harness, TABLE, TestClock, buy_in, cash_out, id, issue, open, opener, own, player, seat,
    settle, test_author,
};

#[tokio::test]
async fn a_restart_changes_nothing() {
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(3, 1000).await;
    for n in 0..3 {
        harness.execute(buy_in(u64::from(n), n, 400)).await.unwrap();
    }
    let pot = Account::SabaccPot(TABLE);
    let hand = [(seat(0), -50), (seat(1), 35), (pot, 10), (Account::Rake, 5)];
    harness.execute(settle(10, &hand)).await.unwrap();
    harness.execute(settle(11, &[])).await.unwrap();
    harness.execute(cash_out(12, 0, 350)).await.unwrap();
    let live = harness.log_content().await;
    let store = harness.stop().await;
    let again = Harness::open(store).await;
    assert_eq!(again.log_content().await, live);
    let rest = [own(0), own(1), seat(0), seat(1), pot, Account::Rake];
    assert_eq!(rest.map(|account| live.balance(account)), [950, 600, 0, 435, 10, 5]);
    let lines: Vec<_> =
        live.lines(own(0)).iter().map(|(_, amount, balance)| (*amount, *balance)).collect();
    assert_eq!(lines, [(1000, 1000), (-400, 600), (350, 950)]);
    let seats: Vec<_> = live.ledger.in_play(player(1)).collect();
    assert_eq!(seats, [(TABLE, Amount::try_new(435).unwrap())]);
    assert_eq!(live.ledger.in_play(player(0)).count(), 0);
}

#[tokio::test(start_paused = true)]
async fn outcomes_that_nobody_knew_are_found_out() {
    for fault in [
        Fault::InDoubtNotWritten,
        Fault::InDoubtWritten,
        Fault::InDoubtWrittenLate,
        Fault::Unavailable,
    ] {
        let harness = Harness::open(MemStore::new()).await;
        harness.open_accounts(1, 100).await;
        harness.store.inject(fault);
        let answer = harness.execute_until_answered(buy_in(7, 0, 60)).await;
        assert!(answer.is_ok(), "{fault:?}: {answer:?}");
        assert_eq!(harness.execute_until_answered(buy_in(7, 0, 60)).await, answer, "{fault:?}");
        assert_eq!(
            (harness.balance(own(0)).await, harness.balance(seat(0)).await),
            (40, 60),
            "{fault:?}"
        );
        let live = harness.log_content().await;
        let again = Harness::open(harness.stop().await).await;
        assert_eq!(again.log_content().await, live, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_log_is_read_again_and_nothing_in_flight_is_believed() {
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(20, 100).await;
    harness.store.inject(Fault::Delay(Duration::from_millis(5)));
    harness.store.inject(Fault::LoseOwnership);
    let mut callers = JoinSet::new();
    for n in 0..20 {
        let wallet = harness.wallet.clone();
        callers.spawn(async move {
            tokio::time::sleep(Duration::from_millis(u64::from(n))).await;
            (n, wallet.execute(buy_in(u64::from(n), n, 70), test_author()).await)
        });
    }
    let answers = callers.join_all().await;
    let unknown = answers.iter().filter(|(_, a)| *a == Err(WalletError::Unavailable)).count();
    assert!((1..20).contains(&unknown), "{answers:?}");
    for (n, before) in answers {
        let after = harness.execute_until_answered(buy_in(u64::from(n), n, 70)).await;
        assert!(after.is_ok());
        if before.is_ok() {
            assert_eq!(after, before, "what was acknowledged stays");
        }
        assert_eq!((harness.balance(own(n)).await, harness.balance(seat(n)).await), (30, 70));
    }
    let live = harness.log_content().await;
    let again = Harness::open(harness.stop().await).await;
    assert_eq!(again.log_content().await, live);
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_written_is_given_back() {
    let limits = QueueLimits::default();
    let harness = Harness::open_with(MemStore::new(), limits, Duration::from_millis(50)).await;
    harness.open_accounts(1, 100).await;
    harness.store.set_down(true);
    assert_eq!(harness.execute(buy_in(1, 0, 100)).await, Err(WalletError::Unavailable));
    harness.store.set_down(false);
    assert!(harness.execute_until_answered(buy_in(2, 0, 100)).await.is_ok());
    assert_eq!((harness.balance(own(0)).await, harness.balance(seat(0)).await), (0, 100));
}

#[tokio::test(start_paused = true)]
async fn while_the_log_is_another_s_everybody_gets_unavailable() {
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(1, 100).await;
    let clock = harness.clock.clock();
    let intruder = opener(harness.store.clone(), Duration::from_secs(1), clock)().await.unwrap();
    harness.store.inject(Fault::Delay(Duration::ZERO));
    assert_eq!(harness.execute(buy_in(1, 0, 10)).await, Err(WalletError::Unavailable));
    intruder.close().await;
    assert!(harness.execute_until_answered(buy_in(1, 0, 10)).await.is_ok());
}

#[tokio::test]
async fn a_log_of_somebody_else_is_not_served() {
    let store = MemStore::new();
    let timeout = Duration::from_secs(1);
    let clock = TestClock::new().clock();
    let log: Log = opener(store.clone(), timeout, clock.clone())().await.unwrap();
    let stranger = NewEvent {
        stream: StreamId([1; 16]),
        kind: 1,
        schema: 1,
        sealed: false,
        payload: Vec::new().into(),
    };
    let entry = Entry { events: vec![stranger], request: None, actor: "x".into(), trace: [0; 16] };
    log.append(entry).await.unwrap();
    log.close().await;
    let opener = opener(store, timeout, clock.clone());
    let opened =
        Wallet::open(Dependencies { opener, clock, repo: None }, QueueLimits::default()).await;
    let Err(WalletFault::Load(LoadError::Corrupt(corrupt))) = opened.map(|_| ()) else {
        panic!("a wallet opened over a table's log");
    };
    assert_eq!(corrupt.position, 0);
    assert!(corrupt.reason.contains("TableCreated"), "{corrupt}");
}

#[tokio::test]
async fn stopping_finishes_what_was_accepted() {
    let harness = Harness::open(MemStore::new()).await;
    harness.execute(open(0)).await.unwrap();
    let mut callers = JoinSet::new();
    for n in 0..50 {
        let wallet = harness.wallet.clone();
        callers.spawn(async move { wallet.execute(issue(n, 0, 1), test_author()).await });
    }
    tokio::task::yield_now().await;
    let wallet = harness.wallet.clone();
    let store = harness.stop().await;
    let accepted = callers.join_all().await.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!(wallet.execute(issue(99, 0, 1), test_author()).await, Err(WalletError::Unavailable));
    let again = Harness::open(store).await;
    assert_eq!(again.balance(own(0)).await, i64::try_from(accepted).unwrap());
}

/// Slow queries delay no command: its group is written while they wait, and answered after them.
#[tokio::test(flavor = "multi_thread")]
async fn a_look_on_its_way_holds_no_command_back() {
    let slow = Duration::from_secs(2);
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(1, 100).await;
    harness.store.set_fence_delay(slow);
    let looks = [0, 1].map(|_| {
        let wallet = harness.wallet.clone();
        tokio::spawn(
            async move { wallet.player_limits(vec![player(0)]).await.map(|seen| seen.len()) },
        )
    });
    tokio::time::sleep(slow / 10).await;
    let (before, began) = (harness.store.appends(), tokio::time::Instant::now());
    let wallet = harness.wallet.clone();
    let bought = tokio::spawn(async move { wallet.execute(buy_in(1, 0, 10), test_author()).await });
    while harness.store.appends() == before {
        assert!(began.elapsed() < slow / 2, "it waits for the looks");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for look in looks {
        assert_eq!(look.await.unwrap(), Ok(1));
    }
    bought.await.unwrap().unwrap();
}

/// A lookup of an old request id in the store delays no other command.
#[tokio::test(flavor = "multi_thread")]
async fn an_odd_request_id_holds_nobody_else_up() {
    let slow = Duration::from_secs(4);
    let harness = Harness::open(MemStore::new()).await;
    harness.open_accounts(1, 100).await;
    harness.store.set_read_delay(slow);
    let odd = |n| {
        let mut id = id(n);
        id.0[6] = 0x40;
        Request::new(id, Command::OpenAccount(player(u8::try_from(n).unwrap())))
    };
    let ask = |request| {
        let wallet = harness.wallet.clone();
        tokio::spawn(async move { wallet.execute(request, test_author()).await })
    };
    let began = tokio::time::Instant::now();
    let looked_up = [ask(odd(7)), ask(odd(8))];
    tokio::time::sleep(slow / 10).await;
    assert_eq!(ask(odd(7)).await.unwrap(), Err(WalletError::Unavailable), "it is looked up");
    harness.execute(buy_in(1, 0, 10)).await.unwrap();
    assert!(began.elapsed() < slow / 2, "it waits for the others' ids");
    let before = harness.size().await;
    let mut positions = Vec::new();
    for asked in looked_up {
        positions.push(asked.await.unwrap().unwrap().position);
    }
    assert!(began.elapsed() >= slow);
    let again = ask(odd(7)).await.unwrap().unwrap();
    assert_eq!(again.position, positions[0], "a repeat has its first answer");
    assert_eq!(harness.size().await, before + 2, "each is written once");
}
