//! Every view of every worked hand follows from updates alone: for each viewer, the fold of the
//! updates is the snapshot after each of them.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use client::{TableState, WatchMessage};
use fairness::{Chain, Transcript};
use primitives::{HandId, PlayerId, TableId, UnixMicros};
use proto::common::v1::{CardProof, Commitment, DeckRoot};
use proto::event::v1 as event;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use rules::{Event, Outcome, TableSettings, Viewer, notation};

use super::*;
use crate::decisions::ChainStep;
use crate::hand_in_play::{HandStage, InheritedState};
use crate::proof::CardProofs;

const HAND_NO: u64 = 9;

/// Change of an update before a viewer gets it.
type Change = fn(&mut pb::HandAction);

/// A viewer with what they know, and the same viewer joining in the middle of the hand.
struct Follower {
    id: Option<PlayerId>,
    viewer: Viewer,
    state: TableState,
    latecomer: Option<TableState>,
}

/// A worked hand at a table, and its followers.
struct Scene {
    play: HandInPlay,
    followers: Vec<Follower>,
    sequence: u64,
    change: Change,
}

impl Scene {
    fn new(setup: &rules::Setup, change: Change) -> Scene {
        let opened = opened(setup);
        let inherited = InheritedState { missed_clocks: vec![0; 8], standings: Vec::new() };
        let mut play =
            HandInPlay::open(HandId([4; 16]), &opened, inherited, UnixMicros(0)).unwrap();
        let transcript = Transcript([6; 32]);
        play.stage = HandStage::Playing;
        play.chain = Some(Chain::new(&transcript));
        play.sealed = Some(event::HandSealed {
            transcript: transcript.0.to_vec().into(),
            ..event::HandSealed::default()
        });
        let proof = |card: rules::Card| {
            let card_id = u32::from(card.id());
            Arc::new(CardProof { card_id, salt: vec![2; 32], ..CardProof::default() })
        };
        let by_card = setup.rules.variant().deck.cards().map(|card| (card, proof(card))).collect();
        play.card_proofs = Arc::new(CardProofs { by_card, roots: Vec::new() });
        let spectator = Some(PlayerId([99; 16]));
        let ids = play.players.iter().map(|player| Some(*player)).chain([spectator, None]);
        let follower = |id| {
            let mut state = TableState::new(id);
            let sequence = 0;
            let view = pb::TableView { sequence, ..empty_table(setup) };
            state.apply(&WatchMessage::Snapshot(Box::new(view)));
            Follower { id, viewer: play.viewer(id), state, latecomer: None }
        };
        let followers = ids.map(follower).collect();
        Scene { play, followers, sequence: 0, change }
    }

    fn clock(&self) -> Option<DecisionClock> {
        let bank = Duration::from_secs(30);
        let deadline = UnixMicros(1_000_000 * self.sequence);
        self.play.to_act().map(|_| DecisionClock { turn: self.play.turn, deadline, bank })
    }

    /// Clock as the next update shows it.
    fn clock_of_next(&self) -> Option<DecisionClock> {
        let deadline = UnixMicros(1_000_000 * (self.sequence + 1));
        self.clock().map(|clock| DecisionClock { deadline, ..clock })
    }

    /// Sends an update to all, and compares what they know with a snapshot.
    fn publish(&mut self, what: impl Fn(&Follower) -> What) -> Result<(), String> {
        self.sequence += 1;
        let (clock, sequence) = (self.clock(), self.sequence);
        for follower in &mut self.followers {
            let update =
                pb::TableUpdate { sequence, record_time: None, what: Some(what(follower)) };
            let update = WatchMessage::Update(Box::new(update));
            follower.state.apply(&update);
            if self.play.stage == HandStage::Opened {
                continue;
            }
            let snapshot = hand_view(&self.play, clock, follower.viewer);
            compare(follower.viewer, &follower.state, &snapshot)?;
            if let Some(latecomer) = &mut follower.latecomer {
                latecomer.apply(&update);
                compare(follower.viewer, latecomer, &snapshot)?;
            }
        }
        Ok(())
    }

    /// Lets every viewer join a second time.
    fn join(&mut self) {
        let clock = self.clock();
        for follower in &mut self.followers {
            let mut view = follower.state.view().clone();
            view.hand = Some(hand_view(&self.play, clock, follower.viewer));
            let mut state = TableState::new(follower.id);
            state.apply(&WatchMessage::Snapshot(Box::new(view)));
            follower.latecomer = Some(state);
        }
    }

    fn start(&mut self) -> Result<(), String> {
        let opened = pb::Entropy {
            hand_no: HAND_NO,
            commitment: self.play.opened.commitment.clone(),
            rule_set: self.play.opened.rule_set.clone(),
            settings: self.play.opened.settings.clone(),
            ..pb::Entropy::default()
        };
        self.play.stage = HandStage::Opened;
        self.publish(|_| What::Entropy(opened.clone()))?;
        self.play.stage = HandStage::Playing;
        let play = self.play.clone();
        let clock = self.clock_of_next();
        self.publish(|follower| What::HandStarted(hand_started(&play, clock, follower.id)))
    }

    fn step(&mut self, event: &Event) -> Result<(), String> {
        let before = self.play.replay.hand.clone();
        let line = rules::chain_line(&before, event, false, |_| "0.3".to_owned());
        let decision = line.map(|line| {
            let chain = self.play.chain.unwrap().with(false, &line);
            self.play.chain = Some(chain);
            ChainStep { line, chain }
        });
        if *event == Event::Chance(Outcome::Shuffled) {
            let roots = &mut Arc::make_mut(&mut self.play.card_proofs).roots;
            let op = u32::try_from(roots.len()).unwrap();
            roots.push(DeckRoot { op, cards: 44, root: vec![5; 32] });
        }
        self.play.evolve(event, UnixMicros(0));
        let clock = self.clock_of_next();
        let play = self.play.clone();
        let change = self.change;
        self.publish(|follower| {
            let step = HandStep {
                hand_no: HAND_NO,
                seats: &play.replay.seats,
                before: &before,
                event,
                decision: decision.as_ref(),
                after: &play.replay.hand,
                clock,
                card_proofs: &play.card_proofs,
            };
            let mut action = step.action(follower.viewer);
            change(&mut action);
            What::Action(action)
        })
    }

    /// Makes the shuffles that are due, which have no line.
    fn shuffle(&mut self) -> Result<(), String> {
        while let Some(rules::Chance::Shuffle { .. }) = self.play.replay.hand.due() {
            self.step(&Event::Chance(Outcome::Shuffled))
                .map_err(|why| format!("shuffle: {why}"))?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let Some(end) = self.play.replay.hand.settlement() else { return Ok(()) };
        let (rake, pots) = (end.rake.get(), (end.finishing_sabacc_pot, end.finishing_carried_pot));
        self.play.settled = Some(event::HandSettled { rake, ..event::HandSettled::default() });
        self.play.stage = HandStage::Settled;
        let play = self.play.clone();
        self.publish(|follower| What::HandEnded(hand_ended(&play, follower.viewer)))?;
        for follower in &self.followers {
            let table = follower.state.view();
            assert_eq!(
                (table.sabacc_pot_credits, table.carried_pot_credits),
                (pots.0.get(), pots.1.get())
            );
            let items = table.hand.as_ref().map_or(0, |hand| hand.settlement.len());
            assert!(items > 0, "a settlement has lines");
        }
        Ok(())
    }
}

/// A table between two hands.
fn empty_table(setup: &rules::Setup) -> pb::TableView {
    pb::TableView {
        rule_set: setup.rules.canonical(),
        variant: setup.rules.variant().id.to_owned(),
        ..pb::TableView::default()
    }
}

fn opened(setup: &rules::Setup) -> event::HandOpened {
    let roster = setup.seats.iter().zip(&setup.stacks).map(|(seat, stack)| event::RosterSeat {
        seat: u32::from(seat.get()),
        player_id: vec![seat.get(); 16].into(),
        stack: stack.get(),
        house: false,
    });
    let commitment = Commitment {
        commitment: vec![7; 32],
        origin: "dealer.example/table".to_owned(),
        ..Commitment::default()
    };
    event::HandOpened {
        table_id: TableId([1; 16]).0.to_vec().into(),
        hand_no: HAND_NO,
        commitment: Some(commitment),
        rule_set: setup.rules.canonical(),
        roster: roster.collect(),
        sabacc_pot: setup.sabacc_pot.get(),
        carried_pot: setup.carried_pot.get(),
        settings: TableSettings::default().canonical(),
        build: None,
    }
}

fn compare(viewer: Viewer, state: &TableState, snapshot: &pb::HandView) -> Result<(), String> {
    let known = state.view().hand.as_ref().ok_or("no hand is known")?;
    if known == snapshot {
        return Ok(());
    }
    let (known, shown) = (format!("{known:#?}"), format!("{snapshot:#?}"));
    let differ = known.lines().zip(shown.lines()).find(|(known, shown)| known != shown);
    let (known, shown) = differ.unwrap_or(("more or less than is shown", ""));
    Err(format!("{viewer:?} knows {} and a snapshot shows {}", known.trim(), shown.trim()))
}

/// Plays a worked hand; an error says where an update did not suffice.
fn rebuild(history: &history::HandHistory, change: Change) -> Result<(), String> {
    let mut scene = Scene::new(&history.setup().unwrap(), change);
    scene.start()?;
    let half = history.actions.len() / 2;
    for (number, line) in history.actions.iter().enumerate() {
        scene.shuffle()?;
        let event = notation::read(&scene.play.replay.hand, line).unwrap();
        scene.step(&event).map_err(|why| format!("after `{line}` {why}"))?;
        if number == half {
            scene.join();
        }
    }
    scene.end()
}

/// The worked hands of all games, with their names.
fn worked_hands() -> Vec<(String, history::HandHistory)> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let mut hands = Vec::new();
    for variant in rules::ALL {
        for entry in fs::read_dir(golden.join(variant.id)).unwrap() {
            let path = entry.unwrap().path();
            let read = history::read(&fs::read(&path).unwrap()).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            hands.extend(read.into_iter().map(|hand| (name.clone(), hand.unwrap())));
        }
    }
    hands
}

#[test]
fn every_view_of_every_worked_hand_follows_from_its_updates() {
    let hands = worked_hands();
    assert!(hands.len() > 150);
    for (name, history) in hands {
        if let Err(why) = rebuild(&history, |_| {}) {
            panic!("{}/{name}: {why}", history.variant);
        }
    }
}

/// No field of an update can be left out: without it, some view of some hand is not rebuilt.
#[test]
fn no_field_of_an_update_is_superfluous() {
    let hands = worked_hands();
    let changes: [(&str, Change); 10] = [
        ("standing", |action| action.standing = None),
        ("turn", |action| action.turn = None),
        ("round", |action| action.round = 0),
        ("hands", |action| action.hands.clear()),
        ("phase", |action| action.phase = 0),
        ("phase_text", |action| action.phase_text.clear()),
        ("game_state", |action| action.game_state = None),
        ("called_by", |action| action.called_by = 0),
        ("root", |action| action.root = None),
        ("chain", |action| action.chain.clear()),
    ];
    for (field, change) in changes {
        let is_missed = |hand: &(String, _)| rebuild(&hand.1, change).is_err();
        assert!(hands.iter().any(is_missed), "nobody misses `{field}`");
    }
}

/// Every game has states that change in mid-hand, so none of them is shown by snapshots alone.
#[test]
fn the_state_of_every_game_changes_in_mid_hand() {
    let hands = worked_hands();
    for variant in rules::ALL {
        let mut own = hands.iter().filter(|(_, history)| history.variant == variant.id);
        let is_missed = own.any(|(_, history)| {
            let mut history = history.clone();
            if variant.id == "electronic" {
                // Its only state is the totals that a rule set may have announced.
                let announced = ("declare_totals".to_owned(), rules::FieldValue::Flag(true));
                history.ruleset.push(announced);
            }
            assert_eq!(rebuild(&history, |_| {}), Ok(()));
            rebuild(&history, |action| action.game_state = None).is_err()
        });
        assert!(is_missed, "{}", variant.id);
    }
}
