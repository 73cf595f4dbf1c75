//! End of a hand: the hands that are shown, the settlement, and its transfer. End of a table: the
//! shares of its pots.
//!
//! Specification: rules/SPEC.md §5.5, §7.

use std::collections::BTreeMap;

use fairness::Seed;
use primitives::{Credits, PlayerId, StreamId};
use proto::common::v1::SettlementLine;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use proto::wallet::v1 as wallet;
use rules::{Pot, Settlement, SettlementItem};
use wire::TableRecord;
use wire::card_positions::handle_to_pb;
use wire::replay::ReplayError;

use crate::batch::Batch;
use crate::effect_calls::Inconsistency;
use crate::entropy::BoundCommitment;
use crate::hand_in_play::HandInPlay;
use crate::peers::PeerCall;
use crate::proof;
use crate::reasons::SitOutReason;
use crate::table::{Closing, Table};
use crate::{abort, ids, plan};

fn settlement(play: &HandInPlay) -> Result<&Settlement, Inconsistency> {
    play.replay.hand.settlement().ok_or_else(|| Inconsistency("the hand is not over".to_owned()))
}

/// Call that asks the dealer to reveal the shown hands to everybody, so that its record has them.
pub(crate) fn show_call(play: &HandInPlay) -> Result<PeerCall, Inconsistency> {
    let mut openings = Vec::new();
    for player in settlement(play)?.shown.iter() {
        let mut cards = Vec::new();
        for card in play.replay.hand.cards_of(player) {
            cards.push(handle_to_pb(play.replay.positions.position_of(*card)?));
        }
        let reason = dealer::OpeningReason::Show.into();
        openings.push(dealer::Opening { cards, audience_seat: 0, reason });
    }
    if openings.is_empty() {
        return Ok(PeerCall::Nothing);
    }
    Ok(PeerCall::Perform(dealer::PerformRequest {
        request_id: ids::of_hand("show", play.opened_at, play.hand_id, play.version).to_vec(),
        table_id: play.opened.table_id.to_vec(),
        hand_no: play.hand_no,
        operations: Vec::new(),
        openings,
    }))
}

/// Checks that the hands that the dealer revealed to everybody are those that were dealt.
pub(crate) fn check_shown(
    play: &HandInPlay,
    answer: &dealer::PerformResponse,
) -> Result<(), ReplayError> {
    let misfit = || ReplayError::Corrupt(plan::MISMATCH.to_owned());
    let shown = play.replay.hand.settlement().ok_or_else(misfit)?.shown;
    if !answer.results.is_empty() || answer.opened.len() != shown.iter().count() {
        return Err(misfit());
    }
    let deck = play.replay.hand.rules().variant().deck;
    for (player, opened) in shown.iter().zip(&answer.opened) {
        let held = play.replay.hand.cards_of(player);
        let places = held.iter().map(|card| play.replay.positions.position_of(*card));
        let places = places.collect::<Result<Vec<_>, _>>()?;
        let faces = proof::verified_faces(&places, opened, deck, &|op| play.deck_root(op))?;
        let other = places.iter().zip(held).find(|(place, card)| faces[place].card != **card);
        if let Some((fairness::Handle { op, position }, _)) = other {
            let text = format!(
                "another card was shown at place {position} of shuffle {op} than was dealt from it"
            );
            return Err(ReplayError::Corrupt(text));
        }
    }
    Ok(())
}

/// Events that end a hand by its rules: the shown cards and the settlement.
pub(crate) fn conclude_settle(play: &HandInPlay) -> Result<Batch, Inconsistency> {
    let end = settlement(play)?;
    let mut events = Vec::new();
    for player in end.shown.iter() {
        let cards = play.replay.hand.cards_of(player).iter();
        let cards = cards.map(|card| play.replay.card_ref(*card, true));
        let mut cards = cards.collect::<Result<Vec<_>, _>>()?;
        play.fill_salts(&mut cards);
        let seat = u32::from(play.seat(player).get());
        events.push((play.hand_id.into(), pb::CardsShown { seat, cards }.into()));
    }
    let (sabacc_paid, sabacc_won) = sabacc_pot_payments(play, end)?;
    let settled = pb::HandSettled {
        lines: end.lines.iter().map(|line| SettlementLine { text: line.to_string() }).collect(),
        finishing_stacks: end.finishing_stacks.iter().map(|stack| stack.get()).collect(),
        finishing_sabacc_pot: end.finishing_sabacc_pot.get(),
        finishing_carried_pot: end.finishing_carried_pot.get(),
        rake: end.rake.get(),
        sabacc_paid,
        sabacc_won,
    };
    events.push((play.hand_id.into(), settled.into()));
    Ok(events.into())
}

/// Records the posted settlement; the table takes its result over.
pub(crate) fn conclude_post(
    table: &Table,
    play: &HandInPlay,
    position: u64,
) -> Result<Batch, Inconsistency> {
    let posted = pb::SettlementPosted { position };
    let mut events: Vec<(StreamId, TableRecord)> = vec![(play.hand_id.into(), posted.into())];
    push_finished(table, play, &mut events)?;
    Ok(events.into())
}

fn push_finished(
    table: &Table,
    play: &HandInPlay,
    events: &mut Vec<(StreamId, TableRecord)>,
) -> Result<(), Inconsistency> {
    let end =
        play.settled.as_ref().ok_or_else(|| Inconsistency("the hand is not settled".to_owned()))?;
    let roster = play.opened.roster.iter().zip(&end.finishing_stacks);
    let finished = pb::HandFinished {
        hand_no: play.hand_no,
        hand_id: play.hand_id.0.to_vec().into(),
        seats: roster.map(|(seat, &stack)| pb::RosterSeat { stack, ..seat.clone() }).collect(),
        sabacc_pot: end.finishing_sabacc_pot,
        carried_pot: end.finishing_carried_pot,
        sabacc_paid: end.sabacc_paid.clone(),
        sabacc_won: end.sabacc_won,
        misses: play.missed_clocks.clone(),
        aborted: false,
    };
    events.push((table.id.into(), finished.into()));
    for (index, misses) in play.missed_clocks.iter().enumerate() {
        if *misses >= 3 {
            let seat = play.replay.seats[index];
            events.extend(abort::sit_out_event(table, seat, SitOutReason::Missed));
        }
    }
    Ok(())
}

/// Records an opened seed. One that does not match its commitment undoes nothing: its hand stays
/// settled. But the table deals no more.
pub(crate) fn conclude_reveal(
    table: &Table,
    hand_no: u64,
    seed: Vec<u8>,
) -> Result<Batch, Inconsistency> {
    let pending = table.seeds.get(hand_no);
    let pending =
        pending.ok_or_else(|| Inconsistency(format!("the seed of hand {hand_no} is not owed")))?;
    let hash = &table.config.rules_hash;
    let BoundCommitment { context, dealer: commitment } =
        BoundCommitment::try_new(&pending.commitment, table.id, hand_no, hash)?;
    let bytes: Option<[u8; 64]> = seed.as_slice().try_into().ok();
    let opens = bytes.is_some_and(|bytes| {
        commitment.opens(&context, &Seed::new(zeroize::Zeroizing::new(bytes)))
    });
    if opens {
        return Ok(Batch::single(pending.hand, pb::HandRevealed { seed: seed.into() }));
    }
    let refused = pb::SeedRefused { seed: seed.into() };
    let mut events: Vec<(StreamId, TableRecord)> = vec![(pending.hand.into(), refused.into())];
    if table.closing == Closing::Open {
        events.push((table.id.into(), pb::CloseAsked {}.into()));
    }
    Ok(events.into())
}

/// Credits that each player has in the Sabacc Pot from this hand, and whether the pot was won. A
/// pot that was won holds only credits from later hands.
fn sabacc_pot_payments(
    play: &HandInPlay,
    end: &Settlement,
) -> Result<(Vec<u64>, bool), Inconsistency> {
    let count = play.players.len();
    let mut paid = vec![Credits::ZERO; count];
    let rules = play.replay.hand.rules();
    let before = Credits::try_new(play.opened.sabacc_pot)?;
    let mut won = false;
    if rules.variant().has_sabacc_pot {
        paid.fill(rules.sabacc_ante_due(before));
    }
    for line in &end.lines {
        match line {
            SettlementItem::PaysSabacc { player, amount, short: _ } => {
                paid[player.index()] = paid[player.index()].plus(*amount)?;
            }
            SettlementItem::Wins { pot: Pot::Sabacc, .. } => won = true,
            SettlementItem::Returned { .. }
            | SettlementItem::Eliminated { .. }
            | SettlementItem::Wins { .. }
            | SettlementItem::MovesToSabacc { .. }
            | SettlementItem::Carries { .. }
            | SettlementItem::Rake { .. } => {}
        }
    }
    if won {
        paid.fill(Credits::ZERO);
    }
    Ok((paid.into_iter().map(Credits::get).collect(), won))
}

/// The single transfer of a hand: every seat's net, the pots and the rake. Every player dealt in
/// has a leg, of 0 credits too, so that the hand is in their statement; pots and rake have one only
/// where they changed.
pub(crate) fn settlement_request(
    table: &Table,
    play: &HandInPlay,
) -> Result<wallet::SettleRequest, Inconsistency> {
    let settled =
        play.settled.as_ref().ok_or_else(|| Inconsistency("the hand is not settled".to_owned()))?;
    let mut legs = Vec::new();
    for (seat, finish) in play.opened.roster.iter().zip(&settled.finishing_stacks) {
        let player = wire::field::player_id(&seat.player_id)?;
        let account = format!("seat/{}/{player}", table.id);
        legs.push(net(Change { account, before: seat.stack, after: *finish })?);
    }
    let pot = |name: &str| format!("pot/{}/{name}", table.id);
    let (opened, rake) = (&play.opened, "house/rake".to_owned());
    legs.extend(changed(vec![
        Change {
            account: pot("sabacc"),
            before: opened.sabacc_pot,
            after: settled.finishing_sabacc_pot,
        },
        Change {
            account: pot("carried"),
            before: opened.carried_pot,
            after: settled.finishing_carried_pot,
        },
        Change { account: rake, before: 0, after: settled.rake },
    ])?);
    Ok(wallet::SettleRequest {
        request_id: play.hand_id.0.to_vec(),
        table_id: table.id.0.to_vec(),
        kind: wallet::TransferKind::Settlement.into(),
        legs,
    })
}

/// Change of an account's balance by a hand.
struct Change {
    account: String,
    before: u64,
    after: u64,
}

/// Leg of an account, of 0 credits where it has what it had.
fn net(change: Change) -> Result<wallet::Leg, Inconsistency> {
    let Change { account, before, after } = change;
    let signed =
        |amount: u64| i64::try_from(amount).map_err(|error| Inconsistency(error.to_string()));
    Ok(wallet::Leg { account, amount: signed(after)? - signed(before)? })
}

/// Legs of what changed.
fn changed(changes: Vec<Change>) -> Result<Vec<wallet::Leg>, Inconsistency> {
    let legs: Vec<wallet::Leg> = changes.into_iter().map(net).collect::<Result<_, _>>()?;
    Ok(legs.into_iter().filter(|leg| leg.amount != 0).collect())
}

/// Shares in one transfer. The wallet takes 64 legs, and each of the two pots may need one.
pub(crate) const MAX_SHARES: usize = 60;

/// Computes the next shares of the pots of a table that closes. Both pots are shared in proportion
/// to each player's payments since the Sabacc Pot was last won; the remainder goes to whoever paid
/// most. At most [`MAX_SHARES`] shares at a time, in the order of the players; the others follow
/// when these are posted.
pub(crate) fn share_pots(table: &Table) -> Result<Batch, Inconsistency> {
    let now = table.sabacc_pot.plus(table.carried_pot)?;
    let (pot, after) =
        table.refund_progress.map_or((now, None), |done| (done.pots, Some(done.last)));
    let paid = contributors(table);
    let total = Credits::sum(paid.values().copied())?;
    let mut shares: BTreeMap<PlayerId, Credits> = BTreeMap::new();
    let mut rest = pot;
    for (player, part) in &paid {
        let share = pot.portion(part.get(), total.get())?;
        rest = rest.minus(share)?;
        shares.insert(*player, share);
    }
    // The first of equals; `max_by_key` alone takes the last.
    let largest = paid.iter().rev().max_by_key(|(_, part)| **part).map(|(player, _)| *player);
    if let Some(share) = largest.and_then(|player| shares.get_mut(&player)) {
        *share = share.plus(rest)?;
    }
    let shares = shares.into_iter().filter(|(_, share)| !share.is_zero());
    let shares =
        shares.filter(|(player, _)| after.is_none_or(|last| *player > last)).take(MAX_SHARES);
    let shares = shares.map(|(player, share)| pb::RosterSeat {
        seat: table.seat_of(player).map_or(0, |seat| u32::from(seat.get())),
        player_id: player.0.to_vec().into(),
        stack: share.get(),
        house: false,
    });
    let transfer = ids::refund(table.last_started_at, table.id, table.hand_no, after);
    let due = pb::PotRefundDue { transfer_id: transfer.to_vec().into(), shares: shares.collect() };
    let mut events = vec![(table.id.into(), due.into())];
    if now.is_zero() {
        // The wallet has nothing to move.
        events.push((table.id.into(), pb::PotRefunded {}.into()));
    }
    Ok(events.into())
}

/// Payments that the shares are computed from. Where nobody has paid into the Sabacc Pot since it
/// was last won (a carried pot, a moved layer), the players of the last hand count alike.
fn contributors(table: &Table) -> BTreeMap<PlayerId, Credits> {
    let pot = !table.sabacc_pot.is_zero() || !table.carried_pot.is_zero();
    if table.paid_into_pot.values().all(|paid| paid.is_zero()) && pot {
        return table.last_roster.iter().map(|player| (*player, Credits::of(1))).collect();
    }
    table.paid_into_pot.clone()
}

/// Transfer of the pending shares.
pub(crate) fn refund_request(table: &Table) -> Result<wallet::SettleRequest, Inconsistency> {
    let Closing::Refunding { transfer, shares } = &table.closing else {
        return Err(Inconsistency("no refund is due".to_owned()));
    };
    let (sabacc, carried) = table.pots_after(shares)?;
    let change = |account, before: Credits, after: Credits| Change {
        account,
        before: before.get(),
        after: after.get(),
    };
    let mut changes = vec![
        change(format!("pot/{}/sabacc", table.id), table.sabacc_pot, sabacc),
        change(format!("pot/{}/carried", table.id), table.carried_pot, carried),
    ];
    for (_, player, share) in shares {
        let seat = format!("seat/{}/{player}", table.id);
        changes.push(change(seat, Credits::ZERO, *share));
    }
    Ok(wallet::SettleRequest {
        request_id: transfer.to_vec(),
        table_id: table.id.0.to_vec(),
        kind: wallet::TransferKind::PotRefund.into(),
        legs: changed(changes)?,
    })
}
