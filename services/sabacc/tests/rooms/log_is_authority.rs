//! The wallet believes only its log: credits written into its tables by hand are gone after a
//! restart, and nobody can redeem them.

use client::Client;
use rustix::process::Signal;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::harness::{EXEMPT_LOOPBACK, PLAYER_CALLS, RoomHarness, RunningProgram};
use crate::people::{BANKROLL, Guest, operator};
use crate::separate::SeparateServices;
use primitives::{Credits, PlayerId};

const MINTED: u64 = 1_000_000;

/// Returns two updates that add credits to a player's account, at the house's expense.
fn mint_statements(player: PlayerId) -> [String; 2] {
    let update = |name: &str, sign: &str| {
        format!(
            "UPDATE wallet.entries SET balance = balance {sign} {MINTED} WHERE (account, position) = \
             (SELECT account, position FROM wallet.entries WHERE account = \
             (SELECT number FROM wallet.accounts WHERE name = '{name}') \
             ORDER BY position DESC LIMIT 1)"
        )
    };
    [update(&format!("player/{player}"), "+"), update("house/issuance", "-")]
}

/// Applies them as the wallet's own role, or else as a superuser with the setting of a rebuild;
/// returns whether the role could.
async fn apply_mint(admin_url: &str, player: PlayerId) -> bool {
    let mut admin = PgConnection::connect(admin_url).await.unwrap();
    let mut as_role = true;
    for statement in mint_statements(player) {
        sqlx::raw_sql("SET ROLE sabacc_wallet").execute(&mut admin).await.unwrap();
        let done = sqlx::raw_sql(AssertSqlSafe(statement.clone())).execute(&mut admin).await;
        as_role &= done.is_ok();
        sqlx::raw_sql("RESET ROLE").execute(&mut admin).await.unwrap();
        if done.is_err() {
            sqlx::raw_sql("SET sabacc.rebuilds = 'wallet'").execute(&mut admin).await.unwrap();
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut admin).await.unwrap();
        }
    }
    as_role
}

/// Checks that the account is as the log says, and that the added credits cannot be redeemed.
async fn nothing_is_redeemed(operator: &Client, guest: &Guest) {
    let all = Credits::try_new(MINTED).unwrap();
    let refused = operator.redeem(guest.id, all, "all of it").await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(guest.credits().await.0, BANKROLL);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_whose_tables_were_changed_ends_with_words_and_mints_nothing() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let guest = Guest::new(&harness, &room.url).await;
    assert!(!apply_mint(&room.database, guest.id).await, "the role may change entries");
    // The running wallet does not believe it either.
    let all = Credits::try_new(MINTED).unwrap();
    assert!(operator(&harness, &room.url).redeem(guest.id, all, "all of it").await.is_err());
    room.running.stop(Signal::INT).await;
    let mut command = harness.sabacc(&["up", "--no-bots"]);
    command.args(["--listen", "127.0.0.1:0"]);
    let (status, said) = harness.run(command).await;
    assert!(!status.success(), "{said}");
    for word in ["entries", "balance", "the log says", "sabacc migrate --rebuild"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(
        said.contains(&format!("player/{}", guest.id)) || said.contains("house/issuance"),
        "{said}"
    );
    // As the message says.
    let mut command = harness.sabacc(&["migrate", "--rebuild"]);
    command.env_remove(PLAYER_CALLS).env_remove(EXEMPT_LOOPBACK);
    let (status, said) = harness.run(command).await;
    assert!(status.success() && said.contains("anew"), "{said}");
    let mut room = harness.up(&["--no-bots"]).await;
    nothing_is_redeemed(&operator(&harness, &room.url), &guest.connect_at(&room.url)).await;
    room.running.stop(Signal::INT).await;
    let (status, said) = harness.run(harness.sabacc(&["audit", "ledger"])).await;
    assert!(status.success(), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn four_programs_mint_nothing_either() {
    let apart = SeparateServices::new().await;
    let mut running: Vec<RunningProgram> = [0, 1, 2, 3].map(|service| apart.start(service)).into();
    let operator = operator(&apart.harness, &apart.url(3));
    operator.list_tables().await.unwrap();
    let guest = Guest::new(&apart.harness, &apart.url(3)).await;
    running[1].kill();
    assert!(
        !apply_mint(&apart.postgres.admin_url(), guest.id).await,
        "the role may change entries"
    );
    running[1] = apart.start(1);
    let status = running[1].wait().await;
    let said = running[1].output();
    assert!(!status.success() && said.contains("sabacc migrate --rebuild"), "{said}");
    let mut command = apart.harness.sabacc(&["migrate", "--rebuild"]);
    command
        .env_remove(PLAYER_CALLS)
        .env_remove(EXEMPT_LOOPBACK)
        .env("SABACC_DATABASE_URL", apart.postgres.admin_url());
    let (status, said) = apart.harness.run(command).await;
    assert!(status.success(), "{said}");
    running[1] = apart.start(1);
    operator.get_account(Some(guest.id)).await.unwrap();
    nothing_is_redeemed(&operator, &guest).await;
    for mut service in running.into_iter().rev() {
        service.stop(Signal::TERM).await;
    }
    apart.postgres.stop().await.unwrap();
}
