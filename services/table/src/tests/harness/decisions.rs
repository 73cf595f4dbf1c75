//! Chain of decisions: who signs what, what is refused, and that a crash changes none of it.

use fairness::{Chain, DecisionStatement, PlayerKey, SignedText as _};
use prost::Message as _;
use proto::common::v1::{LegalMove, Move as PbMove, MoveKind as PbKind};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use proto::table::v1::watch_table_response::Message;
use rules::Next;
use wire::TableRecord;

use super::{ErrorReason, Harness, TABLE, event, player, signing_key};
use crate::commands::{Command, DecisionRequest, OfferedCommitment};
use crate::decisions;
use crate::effects::Effect;
use crate::publish::Publisher;

/// Players with a key for the first hand; the third has none.
const KEYED: [u8; 2] = [1, 2];

fn public_key(number: u8) -> PlayerKey {
    PlayerKey::try_new(signing_key(number).verifying_key().to_bytes()).unwrap()
}

fn offer(table: &Harness, number: u8, key: Option<PlayerKey>) -> Command {
    let commitment = table.commitment(1, number);
    Command::CommitEntropy { hand_no: 1, offered: OfferedCommitment { commitment, key } }
}

/// A table at which two of three players have keys for the first hand, which is not sealed yet.
pub(super) fn revealed(table: Harness) -> Harness {
    let mut table = table;
    assert!(table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 }));
    for number in [1, 2, 4] {
        let key = KEYED.contains(&number).then(|| public_key(number));
        let command = offer(&table, number, key);
        table.command(number, command).unwrap();
    }
    assert!(table.run_effect(|effect| effect == Effect::Start));
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 }));
    for number in [1, 2, 4] {
        table.reveal(1, number);
    }
    table
}

pub(super) fn sealed(table: Harness) -> Harness {
    let mut table = revealed(table);
    assert!(table.run_effect(|effect| effect == Effect::Seal { hand_no: 1 }));
    table
}

/// The table at its first decision.
pub(super) fn at_decision(table: Harness) -> Harness {
    let mut table = sealed(table);
    deal(&mut table);
    table
}

/// Uses chance until a decision is due.
pub(super) fn deal(table: &mut Harness) {
    table.run_while(|table| table.state.play.as_ref().unwrap().to_act().is_none());
}

pub(super) fn dice() -> Harness {
    Harness::new("dice", |_| {})
}

/// The chain as a client is shown it.
pub(super) fn chain(table: &Harness) -> Chain {
    let hand = table.state.view(None).hand.unwrap();
    Chain(hand.chain.try_into().unwrap())
}

/// The name of a player in the hand, such as `p2`.
pub(super) fn name(table: &Harness, number: u8) -> String {
    table.state.play.as_ref().unwrap().player(player(number)).unwrap().to_string()
}

/// Signature of a player's line that comes after `chain`.
pub(super) fn sign_after(
    table: &Harness,
    number: u8,
    chain: &Chain,
    line: &str,
    said: &str,
) -> Vec<u8> {
    let context = &table.state.play.as_ref().unwrap().context;
    let chain = &chain.with(false, line);
    DecisionStatement { context, chain, said }.sign(&signing_key(number)).to_vec()
}

pub(super) fn sign(table: &Harness, number: u8, line: &str) -> Vec<u8> {
    sign_after(table, number, &chain(table), line, line)
}

/// A decision that is due, as its player's client sees it.
pub(super) struct Due {
    pub(super) number: u8,
    turn: u32,
    mv: PbMove,
    pub(super) line: String,
}

fn legal_moves(table: &Harness) -> (u8, pb::Turn) {
    let play = table.state.play.as_ref().unwrap();
    let number = play.players[play.to_act().unwrap().index()].0[0];
    let view = table.state.view(Some(player(number)));
    (number, view.hand.unwrap().turn.unwrap())
}

/// A move without words that may be made.
pub(super) fn due(table: &Harness) -> Due {
    let (number, turn) = legal_moves(table);
    let is_calm =
        |legal: &&LegalMove| matches!(legal.kind(), PbKind::Check | PbKind::Match | PbKind::Stand);
    let legal = turn.legal.iter().find(is_calm).unwrap();
    let verb = legal.text.split(' ').next().unwrap();
    let line = format!("{} {verb}", name(table, number));
    let mv = PbMove { kind: legal.kind, ..PbMove::default() };
    Due { number, turn: turn.turn, mv, line }
}

pub(super) fn act(due: &Due, signature: Vec<u8>) -> Command {
    let (turn, mv) = (due.turn, due.mv.clone());
    Command::Act(DecisionRequest { hand_no: 1, turn, mv, signature })
}

pub(super) fn stand_up(signature: Vec<u8>) -> Command {
    Command::StandUp { signature }
}

/// Makes the decision that is due, signed if its player has a key.
pub(super) fn decide(table: &mut Harness) {
    let due = due(table);
    let has_key = KEYED.contains(&due.number);
    let signature = if has_key { sign(table, due.number, &due.line) } else { Vec::new() };
    table.command(due.number, act(&due, signature)).unwrap();
}

/// Refuses a command, which changes nothing; returns the reason and the chain that it names.
pub(super) fn refused(
    table: &mut Harness,
    number: u8,
    command: Command,
) -> (ErrorReason, Option<String>) {
    let before = table.log.len();
    let refusal = table.command(number, command).unwrap_err();
    assert_eq!(table.log.len(), before);
    let chain = refusal.metadata().find(|(key, _)| *key == "chain");
    (refusal.reason(), chain.map(|(_, chain)| chain.to_owned()))
}

pub(super) fn hex(chain: &Chain) -> String {
    chain.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn moves(table: &Harness) -> Vec<event::MoveDecided> {
    let decided = table.log.iter().filter_map(|(_, event, _)| match event {
        TableRecord::MoveDecided(decided) => Some(decided.clone()),
        _ => None,
    });
    decided.collect()
}

/// fairness/SPEC.md §9.4.
#[test]
fn whoever_has_a_key_signs_each_decision() {
    let mut table = at_decision(dice());
    let due = due(&table);
    assert!(KEYED.contains(&due.number));
    let before = chain(&table);
    let needed = refused(&mut table, due.number, act(&due, Vec::new()));
    assert_eq!(needed, (ErrorReason::SignatureNeeded, None));
    let short = refused(&mut table, due.number, act(&due, vec![1; 63]));
    assert_eq!(short.0, ErrorReason::BadField);
    let right = sign(&table, due.number, &due.line);
    let mut flipped = right.clone();
    flipped[40] ^= 1;
    let wrong = [
        sign(&table, 1, &due.line),
        sign(&table, due.number, &format!("{} fold", name(&table, due.number))),
        sign_after(&table, due.number, &Chain([0; 32]), &due.line, &due.line),
        flipped,
    ];
    for signature in wrong {
        let no = refused(&mut table, due.number, act(&due, signature));
        assert_eq!(no, (ErrorReason::SignatureInvalid, Some(hex(&before))));
    }
    table.command(due.number, act(&due, right.clone())).unwrap();
    assert_eq!(moves(&table)[0].signature, right);
    assert_eq!(chain(&table), before.with(false, &due.line));
}

/// fairness/SPEC.md §9.4.
#[test]
fn whoever_has_no_key_signs_nothing() {
    let mut table = at_decision(dice());
    decide(&mut table);
    deal(&mut table);
    let due = due(&table);
    assert_eq!(due.number, 4);
    for signer in [2, 4] {
        let signature = sign(&table, signer, &due.line);
        let no = refused(&mut table, 4, act(&due, signature));
        assert_eq!(no.0, ErrorReason::BadField);
    }
    table.command(4, act(&due, Vec::new())).unwrap();
    assert!(moves(&table)[1].signature.is_empty());
}

/// fairness/SPEC.md §9.4.
#[test]
fn a_signature_fits_one_place() {
    let mut table = at_decision(dice());
    let mut used: Vec<(u8, Vec<u8>)> = Vec::new();
    while table.state.play.as_ref().is_some_and(|play| play.to_act().is_some()) {
        let due = due(&table);
        for (_, signature) in used.iter().filter(|(number, _)| *number == due.number) {
            let no = refused(&mut table, due.number, act(&due, signature.clone()));
            assert_eq!(no.0, ErrorReason::SignatureInvalid);
        }
        decide(&mut table);
        let signature = moves(&table).pop().unwrap().signature.to_vec();
        if !signature.is_empty() {
            used.push((due.number, signature));
        }
        if used.len() > 6 {
            return;
        }
        table.run_while(|table| {
            table.state.play.as_ref().is_some_and(|play| {
                play.to_act().is_none() && play.replay.hand.settlement().is_none()
            })
        });
    }
    assert!(used.len() > 2, "{}", used.len());
}

/// fairness/SPEC.md §9.1, §9.4.
#[test]
fn the_clock_signs_nothing_and_says_so_in_the_chain() {
    let mut table = at_decision(dice());
    let before = chain(&table);
    let play = table.state.play.as_ref().unwrap();
    let Next::Decision(decision) = rules::next(&play.replay.hand) else { panic!("it is due") };
    let line = format!("{} {}", decision.player, decision.default.verb());
    let batch = play.decide_by_clock(&table.state.table.config, decision, table.now).unwrap();
    table.append(batch);
    let decided = moves(&table).pop().unwrap();
    assert!(decided.by_clock && decided.signature.is_empty());
    assert_eq!(chain(&table), before.with(true, &line));
    assert_ne!(chain(&table), before.with(false, &line));
}

/// Updates of the whole log so far, as a viewer gets them.
fn actions(table: &Harness, viewer: Option<u8>) -> (Chain, Vec<pb::HandAction>) {
    let mut publisher = Publisher::new(TABLE, Default::default());
    for past in &table.published {
        publisher.remember(past.duplicate());
    }
    let first = table.published[0].sequence;
    let updates = publisher.updates_since(viewer.map(player), first).unwrap();
    let mut start = None;
    let mut actions = Vec::new();
    for update in updates {
        let Some(Message::Update(update)) = update.message else { continue };
        match update.what {
            Some(What::HandStarted(started)) => start = Some(started.transcript),
            Some(What::Action(action)) => actions.push(action),
            _ => {}
        }
    }
    (Chain(start.unwrap().try_into().unwrap()), actions)
}

/// fairness/SPEC.md §9.1.
#[test]
fn a_client_follows_the_chain_without_the_rules() {
    for variant in ["dice", "swg", "spike", "kessel", "coruscant", "force"] {
        let mut table = sealed(Harness::new(variant, |_| {}));
        let play_on = |table: &Harness| {
            table.state.play.as_ref().is_some_and(|play| play.turn < 12 && play.settled.is_none())
        };
        table.run_while(play_on);
        let received = [None, Some(1), Some(4)].map(|viewer| {
            let (start, actions) = actions(&table, viewer);
            let mut chain = start;
            let mut lines = Vec::new();
            for action in actions {
                assert_eq!(action.chain_line.is_empty(), action.decision.is_none());
                if !action.chain_line.is_empty() {
                    chain = chain.with(action.by_clock, &action.chain_line);
                    assert_eq!(action.chain, chain.0);
                    lines.push(action.chain_line);
                }
            }
            assert_eq!(chain, self::chain(&table));
            lines
        });
        assert!(received[0].len() > 2, "{variant} {received:?}");
        assert!(received.iter().all(|lines| *lines == received[0]), "{variant}");
    }
}

fn drafting() -> Harness {
    at_decision(Harness::new("kessel", |created| {
        let chosen = created.rule_set.replace("tokens = \"random\"", "tokens = \"chosen\"");
        assert_ne!(chosen, created.rule_set);
        created.rule_set = chosen;
    }))
}

/// fairness/SPEC.md §9.2, §9.4.
#[test]
fn a_secret_choice_is_hidden_in_the_chain_and_signed_in_the_clear() {
    let mut table = drafting();
    let (number, turn) = legal_moves(&table);
    assert!(KEYED.contains(&number));
    let legal = turn.legal.iter().find(|legal| legal.kind() == PbKind::Choose).unwrap();
    assert!(legal.secret);
    let names = |from: usize| legal.names[from..from + 3].to_vec();
    let mv = PbMove { kind: legal.kind, names: names(0), ..PbMove::default() };
    let said = |names: Vec<String>| format!("{} choose {}", name(&table, number), names.join(" "));
    let line = format!("{} choose ?? ?? ??", name(&table, number));
    let due = Due { number, turn: turn.turn, mv, line: line.clone() };
    let before = chain(&table);
    let signed =
        |line: &str, said: &str| act(&due, sign_after(&table, number, &before, line, said));
    let (truth, lie) = (said(names(0)), said(names(1)));
    let wrong = [signed(&line, &lie), signed(&line, &line), signed(&truth, &truth)];
    let right = signed(&line, &truth);
    for command in wrong {
        assert_eq!(refused(&mut table, number, command).0, ErrorReason::SignatureInvalid);
    }
    table.command(number, right).unwrap();
    assert_eq!(chain(&table), before.with(false, &line));
    for viewer in [None, Some(1), Some(2), Some(4)] {
        let action = actions(&table, viewer).1.pop().unwrap();
        assert_eq!(action.chain_line, line);
        assert_eq!(action.line.contains("??"), viewer != Some(number), "{}", action.line);
    }
}

/// The lengths of records are public at once.
/// fairness/SPEC.md §18.1.
#[test]
fn the_length_of_a_record_does_not_reveal_a_secret_choice() {
    let recorded = |from: usize| {
        let mut table = drafting();
        let (number, turn) = legal_moves(&table);
        let legal = turn.legal.iter().find(|legal| legal.kind() == PbKind::Choose).unwrap();
        let mut names = legal.names.clone();
        names.sort_by_key(String::len);
        let names = names[from..from + 3].to_vec();
        let words = names.join(" ");
        let mv = PbMove { kind: legal.kind, names, ..PbMove::default() };
        let line = format!("{} choose ?? ?? ??", name(&table, number));
        let said = format!("{} choose {words}", name(&table, number));
        let due = Due { number, turn: turn.turn, mv, line: line.clone() };
        let signature = sign_after(&table, number, &chain(&table), &line, &said);
        table.command(number, act(&due, signature)).unwrap();
        (moves(&table)[0].encoded_len(), words.len())
    };
    let last = drafting_names() - 3;
    let (short, long) = (recorded(0), recorded(last));
    assert_ne!(short.1, long.1);
    assert_eq!((short.0, long.0), (320, 320));
}

/// Number of tokens that may be drafted.
fn drafting_names() -> usize {
    let (_, turn) = legal_moves(&drafting());
    turn.legal.iter().find(|legal| legal.kind() == PbKind::Choose).unwrap().names.len()
}

/// fairness/SPEC.md §9.2.
#[test]
fn a_choice_that_everybody_sees_is_marked_as_none() {
    let table = at_decision(dice());
    assert!(legal_moves(&table).1.legal.iter().all(|legal| !legal.secret));
}

/// fairness/SPEC.md §9.3.
#[test]
fn a_key_has_one_player() {
    let mut table = dice();
    assert!(table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 }));
    let first = offer(&table, 1, Some(public_key(1)));
    table.command(1, first).unwrap();
    let copied = offer(&table, 2, Some(public_key(1)));
    assert_eq!(refused(&mut table, 2, copied).0, ErrorReason::BadField);
    let own = offer(&table, 2, Some(public_key(2)));
    table.command(2, own).unwrap();
}

/// fairness/SPEC.md §9.3.
#[test]
fn a_key_that_anybody_can_sign_for_is_refused() {
    assert_eq!(decisions::parse_key(&[]), Ok(None));
    assert_eq!(decisions::parse_key(public_key(1).bytes()), Ok(Some(public_key(1))));
    for bytes in [&[0; 32][..], &[1; 31], &[0xff; 32]] {
        assert!(decisions::parse_key(bytes).is_err(), "{bytes:?}");
    }
}

/// fairness/SPEC.md §9.3.
#[test]
fn a_key_counts_for_one_hand() {
    let mut table = at_decision(dice());
    let seat = primitives::SeatNo::try_new(1).unwrap();
    assert_eq!(table.state.table.player_key(seat), Some(&public_key(1)));
    table.run_while(|table| table.state.table.hand_no == 1);
    assert_eq!(table.state.table.player_key(seat), None);
}
