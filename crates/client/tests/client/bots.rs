//! Bots at a scripted table.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bots::{BotEnd, BotOptions, Strategy, Thinking, run_bot, strategy};
use client::{Error, TableState, ViolationKind};
use primitives::{Credits, PlayerId, TableId};
use proto::common::v1::{ErrorReason, LegalMove, Move, MoveKind};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use tokio_util::sync::CancellationToken;
use wire::api_refusal;

use crate::fake::{EntropyAnswer, EntropyRequest, FakeServer, ME, Table};
use crate::hand_fixture::HandFixture;

const TABLE: TableId = TableId([1; 16]);
const BOT: BotOptions =
    BotOptions { seat: 2, buy_in: Credits::of(200), thinking: Thinking::Fixed(Duration::ZERO) };

fn table() -> Table {
    let rules = rules::RuleSet::defaults(rules::variant("dice").unwrap());
    let view = pb::TableView {
        variant: "dice".to_owned(),
        rule_set: rules.canonical(),
        min_buy_in_credits: 100,
        max_buy_in_credits: 1000,
        ..pb::TableView::default()
    };
    let on_seat = vec![starts(), What::Action(asks(1, &[MoveKind::Draw, MoveKind::Stand]))];
    Table { view, balance: 300, on_seat, ..Table::default() }
}

fn starts() -> What {
    let place = |seat, id: [u8; 16]| pb::HandSeat {
        seat,
        player_id: PlayerId(id).to_string(),
        ..pb::HandSeat::default()
    };
    let seats = vec![place(2, ME), place(5, [9; 16])];
    What::HandStarted(pb::HandStarted { hand_no: 1, seats, ..pb::HandStarted::default() })
}

/// Asks the bot, who holds 21, to choose one of these moves.
fn asks(turn: u32, kinds: &[MoveKind]) -> pb::HandAction {
    let legal = |kind: &MoveKind| LegalMove { kind: (*kind).into(), ..LegalMove::default() };
    let default = Move { kind: (*kinds.last().unwrap()).into(), ..Move::default() };
    let held = |code: &str| pb::HeldCard { code: code.to_owned(), locked: false, proof: None };
    let cards = vec![held("S12"), held("C9")];
    pb::HandAction {
        hand_no: 1,
        hands: vec![pb::HandSeat { seat: 2, cards, ..pb::HandSeat::default() }],
        turn: Some(pb::Turn {
            seat: 2,
            turn,
            legal: kinds.iter().map(legal).collect(),
            default_move: Some(default),
            ..pb::Turn::default()
        }),
        phase: pb::HandPhase::Play.into(),
        ..pb::HandAction::default()
    }
}

/// Ends the hand with this stack of the bot.
fn ends(stack: u64) -> What {
    let standing =
        pb::SeatStanding { seat: 2, stack_credits: stack, ..pb::SeatStanding::default() };
    let standing = pb::Standing { seats: vec![standing], ..pb::Standing::default() };
    let ended = pb::HandEnded { hand_no: 1, standing: Some(standing), ..pb::HandEnded::default() };
    What::HandEnded(ended)
}

fn kinds(fake: &FakeServer) -> Vec<MoveKind> {
    fake.table().decisions.iter().map(Move::kind).collect()
}

fn methods(fake: &FakeServer) -> Vec<&'static str> {
    fake.table().requests.iter().map(|(method, _)| *method).collect()
}

/// Bounds every wait of a failing test.
async fn with_timeout<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what).await.expect("the bot goes on")
}

#[tokio::test]
async fn a_scripted_hand_is_played_and_the_table_left_when_asked_to_stop() {
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let fake = FakeServer::new(table()).on_decision(move |table, request| {
        assert_eq!(request.hand_no, 1);
        match request.turn {
            1 => table.push(What::Action(asks(2, &[MoveKind::Check, MoveKind::Fold]))),
            2 => {
                table.push(ends(4));
                stopping.cancel();
            }
            turn => panic!("there is no turn {turn}"),
        }
        Ok(None)
    });
    let client = fake.client(0).await.without_checks();
    let steady = strategy::by_name("steady", 1).unwrap();
    let report = with_timeout(run_bot(&client, TABLE, BOT, steady, stop)).await.unwrap();
    assert_eq!(kinds(&fake), [MoveKind::Stand, MoveKind::Check]);
    assert_eq!((report.end, report.decisions, report.illegal_moves), (BotEnd::Stopped, 2, 0));
    assert_eq!(methods(&fake), ["open_account", "sit_down", "act", "act", "stand_up"]);
}

#[tokio::test]
async fn a_stack_too_small_is_bought_anew_as_long_as_there_are_credits() {
    let fake = FakeServer::new(table()).on_decision(|table, _| {
        table.push(ends(4));
        Ok(None)
    });
    let client = fake.client(0).await.without_checks();
    let random = strategy::Random::new(1);
    let bot = tokio::spawn(async move {
        run_bot(&client, TABLE, BOT, random, CancellationToken::new()).await
    });
    let poorer = async {
        // After the second buy-in nothing is left; the stack is lost too.
        while methods(&fake).iter().filter(|method| **method == "sit_down").count() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        fake.table().push(starts());
        fake.table().push(ends(4));
    };
    let (report, ()) = with_timeout(async { tokio::join!(bot, poorer) }).await;
    let report = report.unwrap().unwrap();
    assert_eq!((report.end, report.hands, report.buy_ins), (BotEnd::Broke, 2, 2));
    let expected = ["open_account", "sit_down", "act", "stand_up", "sit_down", "stand_up"];
    assert_eq!(methods(&fake), expected);
    assert_eq!(fake.table().balance, 0);
}

/// Strategy that always folds, and records what it saw.
#[derive(Clone, Default)]
struct Stubborn {
    observed: Arc<Mutex<Vec<String>>>,
}

impl Strategy for Stubborn {
    fn choose(&mut self, state: &TableState, turn: &pb::Turn) -> Move {
        let codes: Vec<&str> = state.my_cards().iter().map(|card| &*card.code).collect();
        self.observed.lock().unwrap().push(format!("{}: {}", turn.turn, codes.join(" ")));
        Move { kind: MoveKind::Fold.into(), ..Move::default() }
    }
}

#[tokio::test]
async fn what_is_not_allowed_becomes_the_default_and_what_is_late_is_let_go() {
    let fake = FakeServer::new(table()).on_decision(|table, request| {
        let fold = request.decision.as_ref().unwrap().kind() == MoveKind::Fold;
        match request.turn {
            1 if fold => Err(api_refusal(ErrorReason::IllegalMove, "draw or stand").into()),
            1 => {
                table.push(What::Action(asks(2, &[MoveKind::Check])));
                Ok(None)
            }
            _ => {
                // The clock was faster, and the table closes.
                table.push(ends(180));
                table.push(What::Closed(pb::TableClosed {}));
                table.end(pb::EndReason::TableClosed);
                Err(api_refusal(ErrorReason::NotYourTurn, "the hand has moved on").into())
            }
        }
    });
    let client = fake.client(0).await.without_checks();
    let stubborn = Stubborn::default();
    let saw = Arc::clone(&stubborn.observed);
    let bot = run_bot(&client, TABLE, BOT, stubborn, CancellationToken::new());
    let report = with_timeout(bot).await.unwrap();
    assert_eq!(kinds(&fake), [MoveKind::Stand]);
    assert_eq!((report.end, report.decisions, report.illegal_moves), (BotEnd::TableClosed, 1, 1));
    assert_eq!(*saw.lock().unwrap(), ["1: S12 C9", "2: S12 C9"]);
}

#[tokio::test]
async fn a_bot_that_thinks_stops_at_once() {
    let fake = FakeServer::new(table());
    let client = fake.client(0).await.without_checks();
    let stop = CancellationToken::new();
    let bot = BotOptions { thinking: Thinking::Fixed(Duration::from_secs(3600)), ..BOT };
    let stopping = async {
        while fake.table().log.len() < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.cancel();
    };
    let bot = run_bot(&client, TABLE, bot, Stubborn::default(), stop.clone());
    let (report, ()) = with_timeout(Box::pin(async { tokio::join!(bot, stopping) })).await;
    assert_eq!(report.unwrap().end, BotEnd::Stopped);
    assert_eq!(methods(&fake), ["open_account", "sit_down", "stand_up"]);
}

/// No update comes meanwhile: the bot returns by its own timer.
#[tokio::test]
async fn a_bot_that_withheld_comes_back_when_it_may() {
    let fake = FakeServer::new(Table { on_seat: Vec::new(), ..table() });
    let client = fake.client(0).await.without_checks();
    let stop = CancellationToken::new();
    let wait = Duration::from_millis(300);
    let sat_out = async {
        let count = |wanted| methods(&fake).iter().filter(|it| **it == wanted).count();
        while count("sit_down") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let out = pb::SeatView {
            seat: 2,
            player_id: PlayerId(ME).to_string(),
            stack_credits: 200,
            state: pb::SeatState::SittingOut.into(),
            ..pb::SeatView::default()
        };
        let changed = pb::SeatChanged { seat: Some(out), vacated: false, your_standing: None };
        let withheld = api_refusal(ErrorReason::Withheld, "not yet").retry_after(wait);
        fake.table().refusals.push_back(withheld.into());
        let asked = tokio::time::Instant::now();
        fake.table().push(What::Seat(changed));
        while count("sit_out") < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(asked.elapsed() >= wait);
        stop.cancel();
    };
    let bot = run_bot(&client, TABLE, BOT, Stubborn::default(), stop.clone());
    let (report, ()) = with_timeout(Box::pin(async { tokio::join!(bot, sat_out) })).await;
    assert_eq!(report.unwrap().end, BotEnd::Stopped);
    assert_eq!(methods(&fake), ["open_account", "sit_down", "sit_out", "sit_out", "stand_up"]);
}

/// Creates a table that deals a hand once the bot has revealed, and closes after it; `bend` may
/// change the start of the hand.
fn dealing_server(bend: fn(&mut pb::HandStarted)) -> FakeServer {
    let fixture = HandFixture { hand_no: 1, ..HandFixture::new("dice") };
    let seats = fixture
        .view()
        .seats
        .into_iter()
        .filter(|seat| seat.player_id != PlayerId(ME).to_string())
        .collect();
    let view = pb::TableView {
        seats,
        min_buy_in_credits: 100,
        max_buy_in_credits: 1000,
        ..fixture.view()
    };
    let table = Table {
        view,
        balance: 300,
        on_seat: vec![What::NextHand(fixture.next_hand())],
        ..Table::default()
    };
    FakeServer::new(table).on_entropy(Box::new(move |table, part| match part {
        EntropyRequest::Commit(commit) => {
            table.push(What::Entropy(fixture.closed(Some(&commit.commitment), None)));
            let receipt = fixture.receipt(&commit.commitment, &commit.key);
            Ok(EntropyAnswer::Committed(receipt))
        }
        EntropyRequest::Reveal(reveal) => {
            let entropy = fairness::Entropy(reveal.entropy.as_slice().try_into().unwrap());
            let rows = fixture.rows(Some(entropy));
            let mut started = fixture.started(&rows);
            bend(&mut started);
            table.push(What::HandStarted(started));
            let (shoe, roots) = fixture.shoe(&rows);
            table.push(fixture.shuffled(roots[0].clone()));
            table.push(What::Action(fixture.dealt(&shoe)));
            table.push(ends(180));
            table.push(What::Seed(fixture.published()));
            table.push(What::Closed(pb::TableClosed {}));
            table.end(pb::EndReason::TableClosed);
            Ok(EntropyAnswer::Revealed(Some(fixture.reveal_receipt(entropy))))
        }
    }))
}

#[tokio::test]
async fn a_bot_takes_part_in_chance_by_single_calls() {
    let fake = dealing_server(|_| {});
    let client = fake.client(0).await.with_trusted_keys(HandFixture::new("dice").trusted_keys());
    let bot = run_bot(&client, TABLE, BOT, Stubborn::default(), CancellationToken::new());
    let report = with_timeout(bot).await.unwrap();
    assert_eq!((report.end, report.hands), (BotEnd::TableClosed, 1));
    let expected = ["open_account", "sit_down", "commit_entropy", "reveal_entropy"];
    assert_eq!(methods(&fake), expected);
}

#[tokio::test]
async fn a_bot_stands_up_from_a_table_that_cheats() {
    let fake = dealing_server(|started| started.rows[0].entropy[0] ^= 1);
    let client = fake.client(0).await.with_trusted_keys(HandFixture::new("dice").trusted_keys());
    let bot = run_bot(&client, TABLE, BOT, Stubborn::default(), CancellationToken::new());
    let Err(Error::FairnessViolation(found)) = with_timeout(bot).await else {
        panic!("it is found")
    };
    assert!(matches!(found.kind, ViolationKind::WrongRows(_)), "{found}");
    assert!(found.receipt.is_some());
    assert_eq!(methods(&fake).last(), Some(&"stand_up"));
}
