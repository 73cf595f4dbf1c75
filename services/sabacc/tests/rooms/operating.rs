//! A room is operated by command alone: tables, accounts, and what a player sets of their own.

use std::time::Duration;

use chassis::auth::Role;
use client::Client;
use primitives::PlayerId;
use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Room, RoomHarness};

/// Someone who runs commands: with a token, or as an operator of this name.
enum As<'a> {
    Operator(&'a str),
    Player(&'a str),
}

/// Runs a command with `--json`, and returns whether it succeeded, with what it said.
async fn run(harness: &RoomHarness, who: &As<'_>, arguments: &[&str]) -> (bool, String) {
    let mut command = harness.sabacc(&["--json"]);
    match who {
        As::Operator(name) if arguments[0] == "account" => {
            command.arg("account").args(["--operator", name]).args(&arguments[1..]);
        }
        As::Operator(_) => {
            command.args(arguments);
        }
        As::Player(token) => {
            command.args(arguments).env("SABACC_TOKEN", token);
        }
    }
    let (status, said) = harness.run(command).await;
    (status.success(), said)
}

/// Runs a command that succeeds, and returns the lines of its answer.
async fn lines(harness: &RoomHarness, who: &As<'_>, arguments: &[&str]) -> Vec<Value> {
    let (fine, said) = run(harness, who, arguments).await;
    assert!(fine, "{arguments:?}: {said}");
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn one(harness: &RoomHarness, who: &As<'_>, arguments: &[&str]) -> Value {
    let mut lines = lines(harness, who, arguments).await;
    assert_eq!(lines.len(), 1, "{arguments:?}: {lines:?}");
    lines.remove(0)
}

async fn refused(harness: &RoomHarness, who: &As<'_>, arguments: &[&str], why: &str) {
    let (fine, said) = run(harness, who, arguments).await;
    assert!(!fine && said.contains(why), "{arguments:?}: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_runs_a_room_and_a_player_their_own_by_command() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    tables(&harness, &room).await;
    accounts(&harness, &room).await;
    room.running.stop(Signal::TERM).await;
}

async fn tables(harness: &RoomHarness, room: &Room) {
    let operator = As::Operator("ann");
    let open =
        ["table", "open", "kessel", "--name", "Coaxium", "--ruleset", "chips=4,tokens=random"];
    let opened =
        one(harness, &operator, &[&open[..], &["--seats", "3", "--pause-ms", "100"]].concat())
            .await;
    let listed = lines(harness, &operator, &["table", "list"]).await;
    let found = listed.iter().find(|table| table["table"] == opened["table"]).unwrap();
    assert_eq!(
        (&found["name"], &found["game"], &found["seats"]),
        (&"Coaxium".into(), &"kessel".into(), &3.into())
    );
    refused(harness, &operator, &["table", "open", "kesel", "--name", "x"], "these are known")
        .await;
    let wrong = ["table", "open", "kessel", "--name", "x", "--ruleset", "hand_ante=5"];
    refused(harness, &operator, &wrong, "kessel has no field `hand_ante`").await;
    let client = Client::connect(&room.url, harness.token(Role::Auditor, "reader")).unwrap();
    let table = opened["table"].as_str().unwrap().parse().unwrap();
    let rules = client.explain_rules(table).await.unwrap();
    assert_eq!(rules.variant, "kessel");
    assert!(rules.text.contains("4 chips") && rules.sections.len() == 6, "{}", rules.text);

    disabling(harness, opened["table"].as_str().unwrap()).await;
    let closing = one(harness, &operator, &["table", "close", "Coaxium"]).await;
    assert_eq!(closing["table"], opened["table"]);
    let gone = async || {
        let listed = lines(harness, &operator, &["table", "list"]).await;
        listed.iter().all(|table| table["table"] != opened["table"])
    };
    for _ in 0..100 {
        if gone().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the table is listed after it was closed");
}

/// Waits until a table is listed as disabled for a reason, or as none.
async fn is_disabled(harness: &RoomHarness, table: &str, reason: Value) {
    for _ in 0..100 {
        let listed = lines(harness, &As::Operator("ann"), &["table", "list"]).await;
        let found = listed.iter().find(|it| it["table"] == table).unwrap();
        if found["disabled"] == reason {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{table} is not listed with {reason}");
}

/// The room once its logs are signed, which is soon after they are written.
async fn signed_room(harness: &RoomHarness, by: &As<'_>) -> Value {
    for _ in 0..100 {
        let room = one(harness, by, &["room"]).await;
        if room["activity"]["logs"][0]["size"].as_u64().unwrap() > 0 {
            return room;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nothing is signed");
}

async fn disabling(harness: &RoomHarness, table: &str) {
    let ann = As::Operator("ann");
    let disabled =
        one(harness, &ann, &["table", "disable", "Coaxium", "--reason", "the felt is torn"]).await;
    assert_eq!((&disabled["table"], &disabled["hand_in_play"]), (&table.into(), &0.into()));
    is_disabled(harness, table, "the felt is torn".into()).await;
    one(harness, &ann, &["table", "enable", "Coaxium", "--reason", "sewn"]).await;
    is_disabled(harness, table, Value::Null).await;
    one(harness, &ann, &["room", "disable-game", "kessel", "--reason", "a fault"]).await;
    is_disabled(harness, table, "a fault".into()).await;
    let open = ["table", "open", "kessel", "--name", "x", "--ruleset", "chips=4,tokens=random"];
    refused(harness, &ann, &open, "disabled in this room: a fault").await;
    refused(harness, &ann, &["table", "enable", "Coaxium", "--reason", "x"], "a fault").await;
    let room = signed_room(harness, &ann).await;
    let games = room["games"].as_array().unwrap();
    let kessel = games.iter().find(|it| it["game"] == "kessel").unwrap();
    assert_eq!((&kessel["disabled"], games.len()), (&"a fault".into(), rules::ALL.len()));
    assert_eq!(
        (&room["silent"], &room["keys"][2]["log"]),
        (&Value::Array(vec![]), &"wallet".into())
    );
    assert!(room["builds"][0]["program_sha256"].as_str().unwrap().len() == 64, "{room}");
    let gateway = &room["activity"]["gateway"];
    assert!(gateway["windows"][2]["counts"]["calls"]["count"].as_u64().unwrap() > 0, "{room}");
    one(harness, &ann, &["room", "enable-game", "kessel", "--reason", "mended"]).await;
    is_disabled(harness, table, Value::Null).await;
}

async fn accounts(harness: &RoomHarness, room: &Room) {
    let (ann, bob) = (As::Operator("ann"), As::Operator("bob"));
    let player = PlayerId(*b"operating player");
    let (id, account) = (player.to_string(), format!("player/{player}"));
    let token = harness.token(Role::Player, &id);
    let me = As::Player(&token);
    let balance = async |credits: u64| {
        assert_eq!(one(harness, &me, &["me"]).await["balance"], credits, "of {}", room.url);
    };
    one(harness, &ann, &["account", "open", &id]).await;
    let issue = ["account", "issue", &id, "500", "--reason", "a start"];
    assert_eq!(one(harness, &ann, &issue).await["balance"], 500);
    one(harness, &ann, &["account", "redeem", &id, "100", "--reason", "too much"]).await;
    balance(400).await;

    let adjust = ["account", "adjust", &account, "-50", "--reason", "a mistake"];
    let proposed = one(harness, &ann, &adjust).await;
    let number = proposed["adjustment"].as_str().unwrap();
    let waiting = one(harness, &bob, &["account", "adjustments"]).await;
    assert_eq!((&waiting["adjustment"], &waiting["credits"]), (&number.into(), &(-50).into()));
    balance(400).await;
    refused(harness, &ann, &["account", "approve", number], "another operator must").await;
    one(harness, &bob, &["account", "approve", number]).await;
    balance(350).await;

    one(harness, &ann, &["account", "freeze", &id, "--reason", "a question"]).await;
    assert_eq!(one(harness, &me, &["me"]).await["frozen"], true);
    one(harness, &ann, &["account", "unfreeze", &id, "--reason", "answered"]).await;
    assert_eq!(one(harness, &ann, &["account", "mark", &id]).await["bot"], true);
    assert_eq!(one(harness, &ann, &["account", "mark", &id, "--clear"]).await["bot"], false);

    let own =
        one(harness, &me, &["me", "limits", "--buy-in", "day=200", "--loss", "week=300"]).await;
    assert_eq!(own["own"]["buy_in"]["now"]["day"], 200);
    assert_eq!(own["own"]["loss"]["now"]["week"], 300);
    let house = one(harness, &ann, &["account", "limits", &id, "--buy-in", "day=100"]).await;
    assert_eq!(
        (&house["operator"]["buy_in"]["now"]["day"], &house["own"]["buy_in"]["now"]["day"]),
        (&100.into(), &200.into())
    );

    assert_eq!(one(harness, &me, &["me", "name", "Operata"]).await["name"], "Operata");
    assert_eq!(one(harness, &me, &["me", "name"]).await["name"], "Operata");
    assert_eq!(one(harness, &me, &["me", "hands"]).await["hands"], 0);
    refused(harness, &As::Operator("ann"), &["me"], "give their token").await;
    refused(harness, &me, &["me", "exclude"], "--for-good").await;
    let until = one(harness, &me, &["me", "exclude", "--until", "2999-01-01T00:00:00Z"]).await;
    assert_eq!(until["excluded_until"], "2999-01-01T00:00:00Z");
    refused(
        harness,
        &me,
        &["me", "exclude", "--until", "2998-01-01T00:00:00Z"],
        "only be made longer",
    )
    .await;
}
