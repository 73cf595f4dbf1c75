//! The chain of decisions, and the signatures of the player's own.

use fairness::evidence::{Entry, Statement};
use fairness::{Chain, DecisionStatement, SignedText as _};
use primitives::PlayerId;
use proto::common::v1::{LegalMove, Move, MoveKind};

use super::*;
use crate::hand_fixture::OTHER;

/// A dealt hand in which the client holds two cards and decides.
struct Dealt {
    player: Player,
    entropy: Entropy,
    chain: Chain,
    key: [u8; 32],
}

fn legal(kind: MoveKind, text: &str, secret: bool) -> LegalMove {
    LegalMove { kind: kind.into(), text: text.to_owned(), secret, ..LegalMove::default() }
}

fn turn(seat: u8) -> pb::Turn {
    let legal = vec![
        legal(MoveKind::Trade, "trade S1|S2", false),
        legal(MoveKind::Bet, "bet 10..490", false),
        legal(MoveKind::Choose, "choose a|b|c|d", true),
        legal(MoveKind::Impostor, "impostor S1", true),
        legal(MoveKind::Token, "token embargo", false),
        legal(MoveKind::Fold, "fold", false),
    ];
    pb::Turn { seat: seat.into(), turn: 1, legal, ..pb::Turn::default() }
}

fn dealt() -> Dealt {
    let mut player = player();
    let (commitment, key) = player.commit();
    let receipt = player.fixture.receipt(&commitment, &key);
    player.chance.accept_receipt(HAND, &receipt).unwrap();
    player.apply(What::Entropy(player.fixture.closed(Some(&commitment), None))).unwrap();
    let Some(EntropyMessage::Reveal { entropy, .. }) = player.next() else { panic!("reveals") };
    let receipt = player.fixture.reveal_receipt(entropy);
    player.chance.reveal_accepted(HAND, Some(&receipt)).unwrap();
    let rows = player.fixture.rows(Some(entropy));
    player.apply(What::HandStarted(player.fixture.started(&rows))).unwrap();
    let (shoe, roots) = player.fixture.shoe(&rows);
    for root in roots {
        player.apply(player.fixture.shuffled(root)).unwrap();
    }
    let cards = pb::HandAction { turn: Some(turn(SEAT)), ..player.fixture.dealt(&shoe) };
    player.apply(What::Action(cards)).unwrap();
    let chain = Chain::new(&player.fixture.transcript(&rows));
    Dealt { player, entropy, chain, key: key.try_into().unwrap() }
}

impl Dealt {
    /// The update of a decision, as the table sends it.
    fn decided(&self, seat: u8, line: &str, by_clock: bool) -> pb::HandAction {
        pb::HandAction {
            hand_no: HAND,
            seat: seat.into(),
            decision: Some(Move { kind: MoveKind::Fold.into(), ..Move::default() }),
            by_clock,
            chain_line: line.to_owned(),
            chain: self.chain.with(by_clock, line).0.to_vec(),
            turn: Some(turn(SEAT)),
            ..pb::HandAction::default()
        }
    }

    fn announce(
        &mut self,
        seat: u8,
        line: &str,
        by_clock: bool,
    ) -> Result<(), Box<FairnessViolation>> {
        let action = self.decided(seat, line, by_clock);
        self.chain = self.chain.with(by_clock, line);
        self.player.apply(What::Action(action))
    }

    fn sign(&mut self, decision: &Move) -> [u8; 64] {
        let signature = self.player.chance.sign_decision(HAND, decision).unwrap();
        signature.try_into().expect("it has a key")
    }

    /// Checks that a decision is signed over this line and what was said.
    #[track_caller]
    fn check_signed(&mut self, decision: &Move, line: &str, said: &str) {
        let signature = self.sign(decision);
        let (context, chain) = (self.player.fixture.context(), self.chain.with(false, line));
        let text = DecisionStatement { context: &context, chain: &chain, said };
        text.verify(&self.key, &signature).unwrap();
    }
}

fn bet() -> Move {
    Move { kind: MoveKind::Bet.into(), amount_credits: 20, ..Move::default() }
}

/// fairness/SPEC.md §9.2.
#[test]
fn decisions_are_signed_as_the_chain_takes_them() {
    let mut hand = dealt();
    hand.check_signed(&bet(), "p1 bet 20", "p1 bet 20");
    let second = hand.code(1);
    let trade = Move { kind: MoveKind::Trade.into(), cards: vec![second.clone()], ..bet() };
    let trade = Move { amount_credits: 0, ..trade };
    hand.check_signed(&trade, "p1 trade 0.1", "p1 trade 0.1");
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let choose = Move { kind: MoveKind::Choose.into(), names, ..Move::default() };
    hand.check_signed(&choose, "p1 choose ?? ?? ??", "p1 choose a b c");
    let cards = vec![second];
    let impostor = Move { kind: MoveKind::Impostor.into(), cards, value: 4, ..Move::default() };
    hand.check_signed(&impostor, "p1 impostor 0.1 ??", "p1 impostor 0.1 4");
    let (names, target_seat) = (vec!["embargo".to_owned()], OTHER.into());
    let token = Move { kind: MoveKind::Token.into(), names, target_seat, ..Move::default() };
    hand.check_signed(&token, "p1 token embargo p2", "p1 token embargo p2");
    // What is not legal, and a card that is not held, is for the table to refuse.
    let other = Move { kind: MoveKind::Draw.into(), ..Move::default() };
    assert!(hand.player.chance.sign_decision(HAND, &other).unwrap().is_empty());
    let none = Move { cards: vec!["no card".to_owned()], ..trade };
    assert!(hand.player.chance.sign_decision(HAND, &none).unwrap().is_empty());
}

/// While a hand stands still nobody has a turn, and all live players may end it.
/// fairness/SPEC.md §9.6.
#[test]
fn who_may_end_a_hand_that_stands_still_signs_that_whoever_is_to_decide() {
    let void = Move { kind: MoveKind::Void.into(), ..Move::default() };
    for seat in [0, SEAT, OTHER] {
        let mut hand = dealt();
        let may = |legal| pb::Turn { seat: seat.into(), turn: 1, legal, ..pb::Turn::default() };
        let stands = |turn| {
            let since = Some(wire::time::timestamp(primitives::UnixMicros(7)));
            let suspension =
                Some(pb::Suspension { start_time: since, ..pb::Suspension::default() });
            let hand_no = HAND;
            What::Suspension(pb::SuspensionChanged {
                hand_no,
                suspension,
                turn: Some(turn),
                ..Default::default()
            })
        };
        let legal = vec![legal(MoveKind::Void, "void", false)];
        hand.player.apply(stands(may(legal))).unwrap();
        hand.check_signed(&void, "p1 void", "p1 void");
        // Who has agreed, or is not live, has nothing to sign.
        hand.player.apply(stands(may(Vec::new()))).unwrap();
        assert!(hand.player.chance.sign_decision(HAND, &void).unwrap().is_empty());
    }
}

impl Dealt {
    /// Code of an own card.
    fn code(&self, at: u16) -> String {
        let rows = self.player.fixture.rows(Some(self.entropy));
        let (shoe, _) = self.player.fixture.shoe(&rows);
        self.player.fixture.proof(&shoe, 0, at).0
    }
}

/// fairness/SPEC.md §9.1.
#[test]
fn the_chain_goes_on_from_all_that_was_decided() {
    let mut hand = dealt();
    hand.announce(OTHER, "p2 check", false).unwrap();
    hand.announce(OTHER, "p2 fold", true).unwrap();
    type Bend = fn(&mut pb::HandAction);
    let bends: [(Bend, ViolationKind); 6] = [
        (|action| action.chain[0] ^= 1, ViolationKind::WrongChain),
        (|action| action.by_clock = true, ViolationKind::WrongChain),
        (|action| action.chain_line.push('0'), ViolationKind::WrongChain),
        (|action| action.seat = SEAT.into(), ViolationKind::WrongChain),
        (|action| action.chain.clear(), ViolationKind::Missing("a decision's line in the chain")),
        (
            |action| action.chain_line.clear(),
            ViolationKind::Missing("a decision's line in the chain"),
        ),
    ];
    for (bend, what) in bends {
        let mut hand = dealt();
        let mut action = hand.decided(OTHER, "p2 bet 20", false);
        bend(&mut action);
        let seen = hand.player.apply(What::Action(action));
        check_violation(seen, (PartyAtFault::Table, what), true);
    }
}

#[test]
fn nobody_decides_in_this_clients_name() {
    let mut hand = dealt();
    let foreign = (PartyAtFault::Table, ViolationKind::ForeignDecision);
    check_violation(hand.announce(SEAT, "p1 fold", false), foreign.clone(), true);
    let mut hand = dealt();
    hand.sign(&bet());
    check_violation(hand.announce(SEAT, "p1 bet 490", false), foreign, true);
    // Its own, and the clock's, are in order.
    let mut hand = dealt();
    hand.sign(&bet());
    hand.announce(SEAT, "p1 bet 20", false).unwrap();
    hand.announce(SEAT, "p1 fold", true).unwrap();
}

/// fairness/SPEC.md §9.7.
#[test]
fn a_decision_gets_a_receipt_and_stays_in_the_chain() {
    let signed = || {
        let mut hand = dealt();
        hand.sign(&bet());
        let after = hand.chain.with(false, "p1 bet 20");
        (hand, after)
    };
    let (mut hand, after) = signed();
    let receipt = hand.player.fixture.decision_receipt(&after);
    hand.player.chance.accept_decision_receipt(HAND, Some(&receipt)).unwrap();
    hand.announce(SEAT, "p1 bet 20", false).unwrap();
    // The clock is said to have decided instead: before the receipt, and after it.
    let dropped = (PartyAtFault::Table, ViolationKind::DecisionDropped);
    let (mut hand, _) = signed();
    hand.player.chance.accept_decision_receipt(HAND, Some(&receipt)).unwrap();
    check_violation(hand.announce(SEAT, "p1 fold", true), dropped.clone(), true);
    let (mut hand, _) = signed();
    hand.announce(SEAT, "p1 fold", true).unwrap();
    let seen = hand.player.chance.accept_decision_receipt(HAND, Some(&receipt));
    check_violation(seen, dropped, true);

    let check = |receipt: Option<pb::DecisionReceipt>, what| {
        let (mut hand, _) = signed();
        let seen = hand.player.chance.accept_decision_receipt(HAND, receipt.as_ref());
        check_violation(seen, (PartyAtFault::Table, what), true);
    };
    check(None, ViolationKind::Missing("a receipt for a decision"));
    let other = pb::DecisionReceipt { position: 1, ..receipt.clone() };
    check(Some(other), ViolationKind::ReceiptSignature);
    let other = hand.player.fixture.decision_receipt(&Chain([1; 32]));
    let foreign = ViolationKind::ReceiptContent("a decision that this client never signed");
    check(Some(other), foreign);
}

/// Refusal of a signature at a table whose chain stands here.
fn refusal(chain: &Chain) -> client::Refusal {
    client::Refusal {
        reason: Some(common::ErrorReason::SignatureInvalid),
        message: String::new(),
        field: None,
        trace_id: None,
        metadata: [("chain".to_owned(), hex::encode(chain.0))].into(),
        retry_after: None,
    }
}

fn leaving(seat: u8) -> pb::SeatView {
    pb::SeatView {
        seat: seat.into(),
        player_id: PlayerId(if seat == SEAT { ME } else { [9; 16] }).to_string(),
        state: pb::SeatState::Leaving.into(),
        ..Default::default()
    }
}

/// fairness/SPEC.md §9.5.
#[test]
fn a_leave_that_came_between_is_signed_over_if_it_is_known() {
    let mut hand = dealt();
    hand.sign(&bet());
    let between = hand.chain.with(false, "p2 leave");
    let again = |hand: &mut Dealt, chain: &Chain| {
        hand.player.chance.sign_again(HAND, &bet(), &refusal(chain)).unwrap()
    };
    assert_eq!(again(&mut hand, &between), None, "nobody is known to have left");
    let seat = Some(leaving(OTHER));
    let leaving = pb::SeatChanged { seat, vacated: false, your_standing: None };
    hand.player.apply(What::Seat(leaving)).unwrap();
    let signature: [u8; 64] = again(&mut hand, &between).unwrap().try_into().unwrap();
    let context = hand.player.fixture.context();
    let chain = between.with(false, "p1 bet 20");
    let text = DecisionStatement { context: &context, chain: &chain, said: "p1 bet 20" };
    text.verify(&hand.key, &signature).unwrap();
    assert_eq!(again(&mut hand, &Chain([1; 32])), None, "a chain that nothing explains");
    hand.announce(OTHER, "p2 leave", false).unwrap();
    hand.announce(SEAT, "p1 bet 20", false).unwrap();
}

#[test]
fn leaving_is_signed_and_kept() {
    let mut hand = dealt();
    let (hand_no, signature) = hand.player.chance.sign_leave().unwrap();
    let context = hand.player.fixture.context();
    let chain = hand.chain.with(false, "p1 leave");
    let text = DecisionStatement { context: &context, chain: &chain, said: "p1 leave" };
    text.verify(&hand.key, &signature.try_into().unwrap()).unwrap();
    assert_eq!(hand_no, HAND);
    let mut action = hand.decided(OTHER, "p2 bet 20", false);
    action.chain.clear();
    let evidence = hand.player.apply(What::Action(action)).unwrap_err().evidence;
    let kept = evidence.iter().any(|entry| match entry {
        Entry::Signed(signed) => matches!(
            signed.statement().unwrap(),
            Statement::Decision { said, .. } if said == "p1 leave"
        ),
        Entry::Open(_) | Entry::Note { .. } => false,
    });
    assert!(kept);
    hand.announce(SEAT, "p1 leave", false).unwrap();
}

impl Dealt {
    /// Applies a snapshot of the hand, in which the other seat is leaving.
    fn resume(&mut self, chain: Chain) {
        let rows = self.player.fixture.rows(Some(self.entropy));
        let started = self.player.fixture.started(&rows);
        let hand = pb::HandView {
            hand_no: HAND,
            phase: pb::HandPhase::Betting.into(),
            seats: started.seats,
            rows: started.rows,
            transcript: started.transcript,
            dealer: Some(self.player.fixture.dealer_commitment()),
            rule_set: self.player.fixture.rules.canonical(),
            settings: self.player.fixture.settings.canonical(),
            chain: chain.0.to_vec(),
            ..pb::HandView::default()
        };
        let mut view =
            pb::TableView { hand: Some(hand), hand_no: HAND, ..self.player.fixture.view() };
        view.seats[1] = leaving(OTHER);
        self.chain = chain;
        self.player.chance.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap();
    }

    /// Checks over which chain this client signs its leave, at first and after a refusal.
    #[track_caller]
    fn check_leave(&mut self, first: Chain, stands: Chain) {
        let (_, signature) = self.player.chance.sign_leave().unwrap();
        self.check_leave_signature(&signature, first);
        let again = self.player.chance.sign_leave_again(HAND, &refusal(&stands)).unwrap();
        self.check_leave_signature(&again.expect("the leaves that it knows of explain it"), stands);
    }

    #[track_caller]
    fn check_leave_signature(&self, signature: &[u8], before: Chain) {
        let (context, chain) = (self.player.fixture.context(), before.with(false, "p1 leave"));
        let text = DecisionStatement { context: &context, chain: &chain, said: "p1 leave" };
        text.verify(&self.key, &signature.try_into().unwrap()).unwrap();
    }
}

/// A snapshot shows who leaves the table, not whether the leave is in the chain: it may be, or it
/// was asked for before the hand was sealed.
///
/// fairness/SPEC.md §9.5.
#[test]
fn a_leave_that_a_snapshot_shows_is_signed_over_only_if_the_table_says_so() {
    let mut hand = dealt();
    let left = hand.chain.with(false, "p2 leave");
    hand.resume(left);
    hand.check_leave(left, left);
    let mut hand = dealt();
    let before = hand.chain;
    hand.resume(before);
    hand.check_leave(before, before.with(false, "p2 leave"));
    let unknown = refusal(&Chain([1; 32]));
    assert_eq!(hand.player.chance.sign_leave_again(HAND, &unknown).unwrap(), None);
}

/// Leaves that were signed before it lapse with an agreement to end the hand.
///
/// fairness/SPEC.md §9.5.
#[test]
fn a_leave_lapses_when_somebody_agrees_to_end_the_hand() {
    let mut hand = dealt();
    let seat = Some(leaving(OTHER));
    let asked = pb::SeatChanged { seat, vacated: false, your_standing: None };
    hand.player.apply(What::Seat(asked)).unwrap();
    let pending = hand.chain.with(false, "p2 leave");
    hand.check_leave(pending, hand.chain);
    hand.announce(OTHER, "p2 void", false).unwrap();
    let agreed = hand.chain;
    // A leave without a signature stands.
    hand.check_leave(agreed, agreed.with(false, "p2 leave"));
}
