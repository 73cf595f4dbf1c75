//! One hand, from the dealer's commitment to the opened seed, recorded event by event.

use std::time::Duration;

use ::ledger::{Account, Kind};
use fairness::{Handle, Keys, Shoe, deck};
use primitives::{Credits, HandId, PlayerId, UnixMicros};
use proto::common::v1::{CardRef, SettlementLine};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use rules::{By, Chance, Deal, Line, Move, Next, Player, Pot, Settlement, To};
use wire::places::handle_to_pb;
use wire::{HandReplay, Recorded};

use super::promise::Secret;
use super::{ACTION_SECONDS, BANK_SECONDS, Part, Room, Seat, Void, as_signed, transfer_of};
use crate::dealing;
use crate::hand::chance;

/// Caller of the dealer.
const CALLER: &str = "service/table";

/// A hand in play.
struct Maker<'a> {
    room: &'a mut Room,
    hand: HandId,
    opened: pb::HandOpened,
    replay: HandReplay,
    shoe: Shoe,
    keys: Keys,
    /// Number of inputs of the rules so far.
    inputs: u32,
    turn: u32,
    due_at: UnixMicros,
    banks: Vec<Duration>,
    misses: Vec<u32>,
}

impl Room {
    /// Plays the next hand to its end. Returns false if fewer than two players can pay for it.
    ///
    /// # Panics
    /// If this crate or one below it has a bug.
    pub fn play(&mut self) -> bool {
        let rules = rules::RuleSet::from_canonical(&self.rule_set).expect("it is canonical");
        let pot = Credits::try_new(self.sabacc_pot).expect("a pot");
        let due = rules.due(pot).get();
        let ready = self.seats.iter().filter(|(_, seat)| seat.stack >= due);
        let roster: Vec<(u32, Seat)> = ready.map(|(no, seat)| (*no, seat.clone())).collect();
        if roster.len() < 2 {
            return false;
        }
        self.hand_no += 1;
        let secret = self.commit();
        let hand = fairness::hand_id(self.table, self.hand_no);
        let roster = roster.into_iter().map(|(seat, it)| pb::RosterSeat {
            seat,
            player_id: it.player.0.to_vec().into(),
            stack: it.stack,
        });
        let roster: Vec<pb::RosterSeat> = roster.collect();
        self.commit_entropy(&secret, &roster, &[Part::Reveals, Part::Withholds, Part::Dropped]);
        let opened = self.open_hand((hand, &secret), roster);
        self.commit_entropy(&secret, &opened.roster, &[Part::Late]);
        self.reveal_entropy(hand, &secret, &opened);
        let misses = vec![0; opened.roster.len()];
        if !self.silent(&opened.roster).is_empty() {
            self.abort((hand, &secret), &opened, (pb::AtFault::Seat, misses));
            return true;
        }
        if let Some((fault, None)) = self.ways.abort {
            self.wait_ms(60_000);
            self.abort((hand, &secret), &opened, (fault, misses));
            return true;
        }
        let keys = self.seal(hand, &secret, &opened.roster);
        let due_at = self.now();
        let count = opened.roster.len();
        let maker = Maker {
            replay: HandReplay::open(&opened).expect("a hand of these rules"),
            room: self,
            hand,
            opened,
            shoe: Shoe::new(keys.clone()),
            keys,
            inputs: 0,
            turn: 0,
            due_at,
            banks: vec![Duration::from_secs(u64::from(BANK_SECONDS)); count],
            misses,
        };
        maker.play_out(&secret);
        true
    }

    fn open_hand(
        &mut self,
        (hand, secret): (HandId, &Secret),
        roster: Vec<pb::RosterSeat>,
    ) -> pb::HandOpened {
        let opened = pb::HandOpened {
            table_id: self.table.0.to_vec().into(),
            hand_no: self.hand_no,
            commitment: Some(secret.commitment.clone()),
            rule_set: self.rule_set.clone(),
            entropy_deadline_micros: self.entropy_deadline(&roster),
            roster,
            sabacc_pot: self.sabacc_pot,
            carried_pot: self.carried_pot,
            action_seconds: ACTION_SECONDS,
            bank_seconds: BANK_SECONDS,
            reveal_delay_seconds: self.ways.reveal_delay_seconds,
        };
        let started = pb::HandStarted { hand_no: self.hand_no, hand_id: hand.0.to_vec().into() };
        self.table_says(started);
        self.hand_says(hand, opened.clone());
        opened
    }
}

impl Maker<'_> {
    fn play_out(mut self, secret: &Secret) {
        loop {
            if let Some((fault, Some(inputs))) = self.room.ways.abort
                && self.inputs >= inputs
            {
                let Maker { room, hand, opened, misses, .. } = self;
                room.wait_ms(60_000);
                return room.abort((hand, secret), &opened, (fault, misses));
            }
            match rules::next(&self.replay.hand) {
                Next::Chance([due, ..]) => {
                    let due = due.clone();
                    self.chance(&due);
                }
                Next::Chance([]) => unreachable!("chance that is due is something"),
                Next::Decision(_) if self.room.choose(40) == 0 => self.leave(),
                Next::Decision(decision) => {
                    let mv = rules::play::any_move(&decision, &mut |n| self.room.choose(n));
                    self.decide(decision.player, decision.default, mv);
                }
                Next::Done(settlement) => {
                    let settlement = settlement.clone();
                    return self.settle(&settlement, &secret.seed);
                }
            }
        }
    }

    /// Writes an input of the rules to the hand's stream and applies it.
    fn play(&mut self, recorded: Recorded) {
        let (shoe, deck) = (&self.shoe, self.replay.hand.rules().variant().deck);
        let face = |place| shoe.reopen(place).ok().and_then(|id| deck.card(id));
        let input = self.replay.apply(&recorded, &face).expect("an honest record");
        self.room.hand_says(self.hand, recorded);
        if input.is_some() {
            self.inputs += 1;
            self.due_at = self.room.now();
            self.turn += u32::from(self.replay.hand.to_act().is_some());
        }
    }

    fn perform(&mut self, operation: dealer::Operation, restock: bool) {
        let ask = chance::ask(&operation).expect("an operation of ours");
        let index = operation.index;
        let answer = self.shoe.perform(index, &ask).expect("the next operation");
        let roots = !self.room.ways.without_entropy;
        let result = Some(chance::result(index, &answer, roots));
        let operation = Some(operation);
        let done = pb::OperationPerformed { operation: operation.clone(), result: result.clone() };
        self.room.dealer_says(self.hand, done);
        self.play(pb::ChanceUsed { operation, result, restock }.into());
    }

    fn chance(&mut self, due: &Chance) {
        let Chance::Deal(deal) = due else {
            let operation = self.replay.places.clone().ask(due).expect("places of this hand");
            return self.perform(operation, false);
        };
        let layout = dealing::lay_out(&self.replay, &self.shoe, deal);
        let layout = layout.expect("the piles hold what is dealt");
        for restock in layout.restocks {
            self.perform(restock, true);
        }
        self.deal(deal, &layout.places);
    }

    fn deal(&mut self, deal: &Deal, places: &[Handle]) {
        let seat = self.replay.recipient(deal.to);
        let open = deal.shown || deal.to == To::Table;
        let reason = if open { dealer::OpeningReason::Rule } else { dealer::OpeningReason::Deal };
        let opening = dealer::Opening {
            cards: places.iter().copied().map(handle_to_pb).collect(),
            audience_seat: if open { 0 } else { seat },
            reason: reason.into(),
        };
        let caller = CALLER.to_owned();
        self.room.dealer_says(self.hand, pb::CardsOpened { opening: Some(opening), caller });
        let cards = places.iter().map(|place| self.card(*place, open)).collect();
        self.play(pb::CardsMoved { seat, cards }.into());
    }

    fn card(&self, place: Handle, open: bool) -> CardRef {
        let deck = self.replay.hand.rules().variant().deck;
        let card = deck.card(self.shoe.reopen(place).expect("a card of this hand"));
        let card = card.filter(|_| open).map_or("", |card| deck.code(card)).to_owned();
        let position = u32::from(place.position);
        self.salted(CardRef { op: place.op, position, card, salt: Vec::new() })
    }

    /// Adds the salt to a card whose face is recorded.
    fn salted(&self, card: CardRef) -> CardRef {
        if card.card.is_empty() || self.room.ways.without_entropy {
            return card;
        }
        let position = u16::try_from(card.position).expect("a place in a pile");
        CardRef { salt: deck::salt(&self.keys, card.op, position).to_vec(), ..card }
    }

    /// Lets a random player leave, in turn or not, if the rules allow it.
    fn leave(&mut self) {
        let all = u64::try_from(self.replay.seats.len()).expect("a few seats");
        let index = u8::try_from(self.room.choose(all)).expect("a seat of a hand");
        let player = Player::try_new(index).expect("a seat of a hand");
        let Ok(input) = rules::decide(&self.replay.hand, player, Move::Leave, By::Player) else {
            return;
        };
        let recorded = self.replay.record_move(&input).expect("no cards").expect("a decision");
        self.misses[player.index()] = 0;
        self.play(pb::MoveDecided { turn: self.turn, ..recorded }.into());
    }

    /// Lets the player decide after a random time, or the clock take the default after the whole
    /// time.
    fn decide(&mut self, player: Player, default: Move, mv: Move) {
        let (action, bank) = (u64::from(ACTION_SECONDS) * 1000, self.banks[player.index()]);
        let bank_ms = u64::try_from(bank.as_millis()).expect("a short time");
        let late = self.room.choose(8) == 0;
        let thinks = if late {
            action + bank_ms
        } else {
            self.room.choose(if self.room.state.is_multiple_of(3) {
                action + bank_ms
            } else {
                4000
            })
        };
        self.room.now = self.due_at.0;
        self.room.wait_ms(thinks);
        let (mv, by) = if late { (default, By::Clock) } else { (mv, By::Player) };
        let input = rules::decide(&self.replay.hand, player, mv, by).expect("a legal move");
        let recorded = self.replay.record_move(&input).expect("known cards");
        let mut recorded = recorded.expect("a decision");
        let used = thinks.saturating_sub(action).min(bank_ms);
        recorded.bank_used_ms = u32::try_from(used).expect("a short time");
        recorded.turn = self.turn;
        recorded.cards = recorded.cards.into_iter().map(|card| self.salted(card)).collect();
        self.banks[player.index()] = bank.saturating_sub(Duration::from_millis(used));
        self.misses[player.index()] = if late { self.misses[player.index()] + 1 } else { 0 };
        self.play(recorded.into());
    }

    /// Shows hands, settles, has the settlement posted and opens the seed.
    fn settle(mut self, settlement: &Settlement, seed: &[u8; 64]) {
        for player in settlement.shown.iter() {
            self.show(player);
        }
        let settled = self.settled(settlement);
        let hand = self.hand;
        self.room.hand_says(hand, settled.clone());
        let ways = self.room.ways.clone();
        if let Some(void) = ways.void {
            return self.take_back(void, seed);
        }
        if ways.reveal_delay_seconds == 0 && !ways.without_entropy {
            self.reveal(seed);
            self.finish(&settled);
            let position = self.post(&settled);
            self.room.hand_says(hand, pb::SettlementPosted { position });
            return;
        }
        self.finish(&settled);
        let position = self.post(&settled);
        self.room.hand_says(hand, pb::SettlementPosted { position });
        self.room.wait_ms(u64::from(ways.reveal_delay_seconds) * 1000);
        self.reveal(seed);
    }

    /// Makes the settled hand void, as an operator. Its seed is opened like that of a posted hand.
    fn take_back(mut self, void: Void, seed: &[u8; 64]) {
        if void == Void::AfterItsSeed {
            self.reveal(seed);
        }
        let end = (pb::AtFault::Operator, self.misses.clone());
        self.room.give_back(self.hand, &self.opened, end);
        if void == Void::BeforeItsSeed {
            self.room.wait_ms(60_000);
            self.reveal(seed);
        }
    }

    fn reveal(&mut self, seed: &[u8; 64]) {
        let seed = bytes::Bytes::copy_from_slice(seed);
        self.room.dealer_says(self.hand, pb::SeedOpened { seed: seed.clone(), discarded: false });
        self.room.hand_says(self.hand, pb::HandRevealed { seed });
    }

    fn show(&mut self, player: Player) {
        let held = self.replay.hand.cards_of(player);
        let places = held.iter().map(|card| self.replay.places.of(*card).expect("a held card"));
        let places: Vec<Handle> = places.collect();
        let opening = dealer::Opening {
            cards: places.iter().copied().map(handle_to_pb).collect(),
            audience_seat: 0,
            reason: dealer::OpeningReason::Show.into(),
        };
        let caller = CALLER.to_owned();
        self.room.dealer_says(self.hand, pb::CardsOpened { opening: Some(opening), caller });
        let cards = places.into_iter().map(|place| self.card(place, true)).collect();
        let seat = wire::moves::seat_of(player, &self.replay.seats);
        self.room.hand_says(self.hand, pb::CardsShown { seat, cards });
    }

    fn settled(&self, settlement: &Settlement) -> pb::HandSettled {
        let rules = self.replay.hand.rules();
        let before = Credits::try_new(self.opened.sabacc_pot).expect("a pot");
        let ante = rules.sabacc_ante_due(before).get();
        let mut paid = vec![0; self.opened.roster.len()];
        if rules.variant().has_sabacc_pot {
            paid.fill(ante);
        }
        for line in &settlement.lines {
            if let Line::PaysSabacc { player, amount, .. } = line {
                paid[player.index()] += amount.get();
            }
        }
        let won = |line: &Line| matches!(line, Line::Wins { pot: Pot::Sabacc, .. });
        let won = settlement.lines.iter().any(won);
        if won {
            paid.fill(0);
        }
        let line = |line: &Line| SettlementLine { text: line.to_string() };
        pb::HandSettled {
            lines: settlement.lines.iter().map(line).collect(),
            finishing_stacks: settlement.finishing_stacks.iter().map(|it| it.get()).collect(),
            finishing_sabacc_pot: settlement.finishing_sabacc_pot.get(),
            finishing_carried_pot: settlement.finishing_carried_pot.get(),
            rake: settlement.rake.get(),
            sabacc_paid: paid,
            sabacc_won: won,
        }
    }

    /// Writes the end of the hand, and keeps its credits for the next.
    fn finish(&mut self, settled: &pb::HandSettled) {
        let roster = self.opened.roster.iter().zip(&settled.finishing_stacks);
        let seats: Vec<pb::RosterSeat> =
            roster.map(|(seat, stack)| pb::RosterSeat { stack: *stack, ..seat.clone() }).collect();
        for seat in &seats {
            let sits = self.room.seats.get_mut(&seat.seat);
            sits.expect("who was dealt in sits there").stack = seat.stack;
        }
        self.room.sabacc_pot = settled.finishing_sabacc_pot;
        self.room.carried_pot = settled.finishing_carried_pot;
        let finished = pb::HandFinished {
            hand_no: self.opened.hand_no,
            hand_id: self.hand.0.to_vec().into(),
            seats,
            sabacc_pot: settled.finishing_sabacc_pot,
            carried_pot: settled.finishing_carried_pot,
            sabacc_paid: settled.sabacc_paid.clone(),
            sabacc_won: settled.sabacc_won,
            misses: self.misses.clone(),
            aborted: false,
        };
        self.room.table_says(finished);
    }

    fn post(&mut self, settled: &pb::HandSettled) -> u64 {
        let table = self.room.table;
        let mut legs = Vec::new();
        for (seat, stack) in self.opened.roster.iter().zip(&settled.finishing_stacks) {
            let player = PlayerId::try_from(&seat.player_id[..]).expect("an id");
            legs.push((Account::Seat(table, player), as_signed(*stack) - as_signed(seat.stack)));
        }
        let pots = [
            (Account::SabaccPot(table), self.opened.sabacc_pot, settled.finishing_sabacc_pot),
            (Account::CarriedPot(table), self.opened.carried_pot, settled.finishing_carried_pot),
            (Account::Rake, 0, settled.rake),
        ];
        let moved = |(account, before, after)| (account, as_signed(after) - as_signed(before));
        legs.extend(pots.into_iter().map(moved));
        if self.room.ways.without_zero_legs {
            legs.retain(|(_, amount)| *amount != 0);
        }
        self.room.post(transfer_of(self.hand.into(), Kind::Settlement { table }, &legs))
    }
}
