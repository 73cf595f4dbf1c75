//! Many callers, a store that fails at random, and owners that are displaced, all at once.

use std::time::Duration;

use eventlog::{Fault, MemStore};
use ledger::{Account, Command};
use sabacc_wallet::command::{Request, RequestContent};
use sabacc_wallet::{QueueLimits, WalletError};
use tokio::task::JoinSet;

use crate::harness::{Harness, buy_in, cash_out, issue, own, redeem, seat, settle, test_author};

const PLAYERS: u8 = 6;

/// xorshift64*: the same seed gives the same sequence.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }

    fn player(&mut self) -> u8 {
        u8::try_from(self.below(u64::from(PLAYERS))).expect("few players")
    }

    fn amount(&mut self) -> i64 {
        i64::try_from(self.below(60) + 1).expect("small amounts")
    }

    fn command(&mut self, n: u64) -> Request {
        let (who, amount) = (self.player(), self.amount());
        match self.below(6) {
            0 => issue(n, who, amount),
            1 => redeem(n, who, amount),
            2 | 3 => buy_in(n, who, amount),
            4 => cash_out(n, who, amount),
            _ => {
                let to = (who + 1) % PLAYERS;
                settle(n, &[(seat(who), -amount), (seat(to), amount - 1), (Account::Rake, 1)][..])
            }
        }
    }

    fn fault(&mut self) -> Fault {
        match self.below(8) {
            0 => Fault::Unavailable,
            1 => Fault::InDoubtNotWritten,
            2 => Fault::InDoubtWritten,
            3 => Fault::InDoubtWrittenLate,
            4 => Fault::LoseOwnership,
            _ => Fault::Delay(Duration::from_millis(self.below(20))),
        }
    }
}

async fn storm(seed: u64) {
    let mut dice = Dice(seed);
    // Writes are not retried: batches are given up while those behind them are written.
    let harness = Harness::open_with(MemStore::new(), QueueLimits::default(), Duration::ZERO).await;
    harness.open_accounts(PLAYERS, 200).await;
    let mut callers = JoinSet::new();
    let mut expected = Vec::new();
    for n in 0..400 {
        if dice.below(4) == 0 {
            harness.store.inject(dice.fault());
        }
        // Amounts of 1 leave a zero leg in a settlement, which is taken where that seat is open.
        let command = dice.command(n);
        expected.push(command.clone());
        let (wallet, pause) = (harness.wallet.clone(), dice.below(200));
        callers.spawn(async move {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            for _ in 0..20_000 {
                match wallet.execute(command.clone(), test_author()).await {
                    Err(WalletError::Unavailable | WalletError::Overloaded) => {
                        tokio::time::sleep(Duration::from_millis(7)).await;
                    }
                    answer @ (Ok(_) | Err(_)) => return (n, answer),
                }
            }
            panic!("seed {seed}: the wallet does not come back");
        });
    }
    let answers = callers.join_all().await;
    let live = harness.log_content().await;
    let again = Harness::open(harness.stop().await).await;
    assert_eq!(
        again.log_content().await,
        live,
        "seed {seed}: what is in the log is what was in memory"
    );

    // Every acknowledged transfer is in its player's statement exactly once, and no other is.
    let mut on_record: Vec<_> =
        (0..PLAYERS).flat_map(|n| live.lines(own(n))).map(|(position, ..)| position).collect();
    on_record.sort_unstable();
    let mut acknowledged = Vec::new();
    for (n, answer) in &answers {
        let command = &expected[usize::try_from(*n).expect("few commands")];
        match answer {
            Ok(done) if touches_a_player(command) => acknowledged.push(done.position.0),
            Ok(_) => {}
            Err(problem) => assert!(matches!(problem, WalletError::Refused(_)), "{problem}"),
        }
        if let Ok(done) = answer {
            assert_eq!(
                again.execute_until_answered(command.clone()).await,
                Ok(done.clone()),
                "seed {seed}"
            );
        }
    }
    for n in 0..PLAYERS {
        let welcome = issue(1_000_000 + u64::from(n), n, 200);
        acknowledged
            .push(again.execute_until_answered(welcome).await.expect("it was issued").position.0);
        assert!(live.ledger.balance(&own(n)).is_some_and(|balance| !balance.is_debit()));
    }
    acknowledged.sort_unstable();
    assert_eq!(on_record, acknowledged, "seed {seed}");
    assert_eq!(again.log_content().await, live, "seed {seed}: repeats change nothing");
}

fn touches_a_player(request: &Request) -> bool {
    let RequestContent::Command(Command::PostTransfer(transfer)) = &request.content else {
        return false;
    };
    transfer.legs.iter().any(|leg| matches!(leg.account, Account::Player(_)))
}

#[tokio::test(start_paused = true)]
async fn credits_survive_storms() {
    for seed in 1..=20 {
        storm(seed).await;
    }
}
