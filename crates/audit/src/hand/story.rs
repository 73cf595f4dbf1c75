//! The story of a hand, line by line: who did what and when, and then the verdict of each check.
//!
//! The story and the verdicts come from the same replay. Records after the end of the replay are
//! named without their meaning. Cards that the dealer reveals for a deal or a show are described
//! there and not a second time; every other reveal has a line of its own. Each time is that of the
//! event's own log; lines are in the order of their times.

use ::ledger::Account;
use eventlog_core::Event;
use primitives::{PlayerId, UnixMicros};
use proto::dealer::v1::OpeningReason;
use proto::event::v1 as pb;
use proto::wallet::v1::Leg;
use rules::Player;
use serde::Serialize;
use wire::card_positions::handle_from_pb;
use wire::records::{
    DealerRecord, HandEvent, PlayEvent, SeatEvent, TableEvent, TableRecord, TableSubject,
    WalletRecord,
};
use wire::replay::is_void;

use crate::hand::decoded_records::{DecodedEvent, DecodedRecords};
use crate::hand::replay::{Replay, RuleInput};
use crate::hand::sentences::{self, Sentences};
use crate::hand::{HandRecords, Report};

/// A line of the story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoryLine {
    /// Time of the record, serialized in RFC 3339, UTC; `None` for verdicts.
    #[serde(serialize_with = "rfc_3339")]
    pub when: Option<UnixMicros>,
    /// Subject: `seat 3 (0198f0c2)`, `the dealer`, `the table`, `the wallet` or `audit`.
    pub who: String,
    /// The sentence without its subject.
    pub what: String,
    /// Log and position of the record; `None` for verdicts.
    pub record: Option<(&'static str, u64)>,
}

fn rfc_3339<S: serde::Serializer>(when: &Option<UnixMicros>, to: S) -> Result<S::Ok, S::Error> {
    when.map(|when| when.to_string()).serialize(to)
}

/// Returns the hand's story with its verdicts. `report` is the result of [`crate::hand::audit`] for
/// these records.
#[must_use]
pub fn story(records: &HandRecords, report: &Report) -> Vec<StoryLine> {
    let decoded = DecodedRecords::decode(records);
    let replay = Replay::run(&decoded);
    let narrator = Narrator { decoded: &decoded, replay: &replay };
    let mut timed: Vec<(UnixMicros, StoryLine)> = Vec::new();
    let mut add = |log: &'static str, event: &Event, lines: Vec<(String, String)>| {
        for (who, what) in lines {
            let (when, record) = (Some(event.recorded_at), Some((log, event.position.0)));
            timed.push((event.recorded_at, StoryLine { when, who, what, record }));
        }
    };
    for DecodedEvent { event, recorded } in &decoded.dealer {
        let what = narrator.describe_dealer_event(recorded).into_iter();
        add("dealer", event, what.map(|what| ("the dealer".to_owned(), what)).collect());
    }
    for read in decoded.table.iter().chain(&decoded.hand) {
        add("table", read.event, narrator.describe_table_record(read));
    }
    for DecodedEvent { event, recorded } in &decoded.wallet {
        let what = narrator.describe_wallet_event(recorded).into_iter();
        add("wallet", event, what.map(|what| ("the wallet".to_owned(), what)).collect());
    }
    timed.sort_by_key(|(at, _)| *at);
    let verdicts = report.checks.0.iter().map(|checked| StoryLine {
        when: None,
        who: "audit".to_owned(),
        what: format!("{} {}", checked.check.sentence(), checked.verdict),
        record: None,
    });
    timed.into_iter().map(|(_, line)| line).chain(verdicts).collect()
}

struct Narrator<'a> {
    decoded: &'a DecodedRecords<'a>,
    replay: &'a Replay,
}

impl Narrator<'_> {
    fn describe_table_record(
        &self,
        DecodedEvent { event, recorded }: &DecodedEvent<'_, TableRecord>,
    ) -> Vec<(String, String)> {
        if let Some(input) = self.replay.inputs.get(&event.position.0) {
            return vec![self.describe_input(input)];
        }
        match recorded.subject() {
            TableSubject::Hand(event) => self.describe_hand_event(event),
            TableSubject::Play(event) => self.describe_play(event),
            TableSubject::Table(event) => self.describe_table_event(event).into_iter().collect(),
            TableSubject::Seat(event) => vec![self.describe_seat_event(event)],
            TableSubject::Person(_) | TableSubject::Room(_) | TableSubject::Clock(_) => Vec::new(),
        }
    }

    fn describe_hand_event(&self, event: HandEvent<'_>) -> Vec<(String, String)> {
        let table = |what: &str| ("the table".to_owned(), what.to_owned());
        vec![match event {
            HandEvent::HandOpened(opened) => return self.describe_opened(opened),
            HandEvent::EntropyClosed(closed) => table(&self.describe_entropy_closed(closed)),
            HandEvent::EntropyRevealed(revealed) => {
                (self.seat(revealed.seat), "reveals the entropy it had committed to".to_owned())
            }
            HandEvent::HandRevealed(_) => table("notes the opened seed"),
            HandEvent::SeedRefused(_) => table("refuses the seed: it is not the one committed to"),
            HandEvent::HandAborted(aborted) => {
                table(&format!("aborts the hand. {}", sentences::describe_abort(aborted)))
            }
            HandEvent::HandSuspended(suspended) => {
                let until = UnixMicros(suspended.until_micros);
                table(&format!("suspends the hand, until {until}: the dealer is silent"))
            }
            HandEvent::HandContinued(_) => table("goes on: the dealer is back"),
        }]
    }

    fn describe_play(&self, event: PlayEvent<'_>) -> Vec<(String, String)> {
        let table = |what: &str| ("the table".to_owned(), what.to_owned());
        let dealer = |what: &str| ("the dealer".to_owned(), what.to_owned());
        vec![match event {
            PlayEvent::HandSettled(settled) => return self.describe_settled(settled),
            PlayEvent::HandSealed(_) => table("takes the antes"),
            PlayEvent::ChanceUsed(pb::ChanceUsed { restock: true, .. }) => {
                dealer("shuffles the discards, because a pile runs out")
            }
            PlayEvent::ChanceUsed(_) => dealer("used chance, which the replay did not come to"),
            PlayEvent::CardsMoved(_) => dealer("dealt cards, which the replay did not come to"),
            PlayEvent::MoveDecided(decided) if is_void(decided) => {
                (self.seat(decided.seat), "agrees to end the suspended hand".to_owned())
            }
            PlayEvent::MoveDecided(_) => table("took a decision, which the replay did not come to"),
            PlayEvent::ClockResumed(resumed) => {
                let until = UnixMicros(resumed.deadline_micros);
                table(&format!("resumes the clock of turn {}, until {until}", resumed.turn))
            }
            PlayEvent::CardsShown(shown) => {
                let cards: Vec<&str> = shown.cards.iter().map(|card| card.card.as_str()).collect();
                (self.seat(shown.seat), format!("shows {}", cards.join(" ")))
            }
            PlayEvent::SettlementPosted(_) => {
                table("notes that the wallet has posted the settlement")
            }
        }]
    }

    /// Describes an event of the table's stream: of this hand in its own words, of another by its
    /// number.
    fn describe_table_event(&self, event: TableEvent<'_>) -> Option<(String, String)> {
        let table = |what: String| Some(("the table".to_owned(), what));
        let this = |hand_no: u64| self.decoded.hand_no() == Ok(hand_no);
        let of = |hand_no: u64| {
            if this(hand_no) { "the hand".to_owned() } else { format!("hand {hand_no}") }
        };
        match event {
            TableEvent::HandCommitted(noted) => {
                table(format!("notes the dealer's commitment to {}", of(noted.hand_no)))
            }
            TableEvent::EntropyCommitted(given) => {
                let key = if given.key.is_empty() { "no key" } else { "a key" };
                let hand = of(given.hand_no);
                let what = format!("commits to entropy of its own for {hand}, unseen, with {key}");
                Some((self.seat(given.seat), what))
            }
            TableEvent::HandStarted(started) => table(format!("starts {}", of(started.hand_no))),
            TableEvent::HandFinished(it) if it.aborted && this(it.hand_no) => {
                table("gives everything back, and goes on with what it had".to_owned())
            }
            TableEvent::HandFinished(it) if it.aborted => {
                table(format!("gives everything of hand {} back: it came to nothing", it.hand_no))
            }
            TableEvent::HandFinished(it) => {
                table(format!("goes on with what {} left", of(it.hand_no)))
            }
            TableEvent::TableCreated(created) => table(format!("is created as {}", created.name)),
            TableEvent::CloseAsked(_) => table("is to close".to_owned()),
            TableEvent::TableDisabled(it) => {
                let what = if it.with_game { "is disabled with its game" } else { "is disabled" };
                table(format!("{what}, and starts no hand: {}", it.reason))
            }
            TableEvent::TableEnabled(it) => table(format!("is enabled: {}", it.reason)),
            TableEvent::PotRefundDue(_) => table("pays its pots back".to_owned()),
            TableEvent::PotRefunded(_) => table("has paid its pots back".to_owned()),
            TableEvent::TableClosed(_) => table("closes".to_owned()),
            TableEvent::AbsentPaid(_) => table("has paid a player who had left".to_owned()),
            TableEvent::EffectStopped(_) => table("stops an effect".to_owned()),
            TableEvent::EffectResumed(_) => table("resumes an effect".to_owned()),
        }
    }

    fn describe_seat_event(&self, event: SeatEvent<'_>) -> (String, String) {
        let what = match event {
            SeatEvent::SeatTaken(taken) => format!("is taken, with {}", taken.buy_in),
            SeatEvent::SeatFunded(_) => "has its credits".to_owned(),
            SeatEvent::SeatRefused(_) => "is free again: its credits were refused".to_owned(),
            SeatEvent::LeaveAsked(asked) => format!("is to leave ({})", asked.why),
            SeatEvent::CashOutDue(due) => format!("is to be paid out, {}", due.amount),
            SeatEvent::SeatVacated(_) => "is free".to_owned(),
            SeatEvent::SitOutChanged(changed) if changed.sitting_out => {
                format!("sits out ({})", changed.why)
            }
            SeatEvent::SitOutChanged(changed) => format!("plays again ({})", changed.why),
            SeatEvent::SeatRenamed(_) => "has another name".to_owned(),
            SeatEvent::SeatExcluded(excluded) => format!(
                "is excluded before hand {}, for withholding in hand {}: step {}",
                excluded.until_hand_no, excluded.burnt_hand_no, excluded.step
            ),
            SeatEvent::StandingFound(_) => "has another standing with the wallet".to_owned(),
        };
        (self.seat(event.seat()), what)
    }

    fn describe_dealer_event(&self, event: &DealerRecord) -> Option<String> {
        match event {
            DealerRecord::SeedCommitted(_) => Some("commits to a seed".to_owned()),
            DealerRecord::CommitmentsClosed(_) => {
                Some("signs what every seat has committed to".to_owned())
            }
            DealerRecord::SeedSealed(_) => {
                Some("binds what the seats brought to chance".to_owned())
            }
            DealerRecord::OperationPerformed(_)
            | DealerRecord::ClockStepped(_)
            | DealerRecord::EntropyFailed(_)
            | DealerRecord::OutcomesTested(_)
            | DealerRecord::BiasFound(_)
            | DealerRecord::PromisesLost(_) => None,
            DealerRecord::CardsOpened(opened) => {
                (!self.is_described_elsewhere(opened)).then(|| describe_reveal(opened))
            }
            DealerRecord::SeedOpened(pb::SeedOpened { discarded: true, .. }) => {
                Some("opens the seed that was not used".to_owned())
            }
            DealerRecord::SeedOpened(_) => Some("opens the seed".to_owned()),
        }
    }

    fn describe_wallet_event(&self, event: &WalletRecord) -> Option<String> {
        match event {
            WalletRecord::TransferPosted(posted) => {
                let leg = |leg: &Leg| format!("{} {:+}", self.account(&leg.account), leg.amount);
                let legs: Vec<String> = posted.legs.iter().map(leg).collect();
                let what = if legs.is_empty() { "nothing".to_owned() } else { legs.join(", ") };
                Some(format!("moves {what}"))
            }
            WalletRecord::AccountOpened(_)
            | WalletRecord::AccountFrozen(_)
            | WalletRecord::AccountUnfrozen(_)
            | WalletRecord::AccountClosed(_)
            | WalletRecord::HoldPlaced(_)
            | WalletRecord::HoldReleased(_)
            | WalletRecord::HoldExpired(_)
            | WalletRecord::LimitsSet(_)
            | WalletRecord::PlayerExcluded(_)
            | WalletRecord::AdjustmentProposed(_)
            | WalletRecord::AdjustmentRejected(_)
            | WalletRecord::SnapshotTaken(_)
            | WalletRecord::ClockStepped(_) => None,
        }
    }

    /// Whether these cards are described when they are dealt or shown, to the same audience.
    fn is_described_elsewhere(&self, opened: &pb::CardsOpened) -> bool {
        let Some(opening) = &opened.opening else { return false };
        let places = || opening.cards.iter().map(handle_from_pb);
        match opening.reason() {
            OpeningReason::Deal | OpeningReason::Rule => {
                let dealt = |place| {
                    let mut deals = self.replay.deals.iter().filter(|deal| deal.is_recorded);
                    deals.any(|it| {
                        it.audience == opening.audience_seat && it.places.contains(&place)
                    })
                };
                places().all(|place| place.is_ok_and(dealt))
            }
            OpeningReason::Show => {
                let shown = |place| self.replay.end.iter().any(|end| end.shown.contains(&place));
                places().all(|place| place.is_ok_and(shown))
            }
            OpeningReason::Recovery | OpeningReason::Unspecified => false,
        }
    }

    fn describe_entropy_closed(&self, closed: &pb::EntropyClosed) -> String {
        let rows = closed.closing.iter().flat_map(|closing| &closing.rows);
        let committed = rows.filter(|row| !row.commitment.is_empty());
        let seats: Vec<String> = committed.map(|row| self.seat(row.seat)).collect();
        if seats.is_empty() {
            "takes no entropy any more; no seat has committed to any".to_owned()
        } else {
            format!("takes no entropy any more; to reveal theirs: {}", seats.join(", "))
        }
    }

    fn describe_input(&self, step: &RuleInput) -> (String, String) {
        let name = |player: Player| self.seat(wire::moves::seat_of(player, &self.replay.seats));
        let Some(deck) = self.replay.deck else { return (String::new(), String::new()) };
        let words = Sentences { deck, name: &name };
        match step {
            RuleInput::Chance(due, outcome) => {
                ("the dealer".to_owned(), words.chance(due, outcome))
            }
            RuleInput::Decision(player, mv, by) => (name(*player), words.decision(mv, *by)),
        }
    }

    fn describe_opened(&self, opened: &pb::HandOpened) -> Vec<(String, String)> {
        let pb::HandOpened { hand_no, roster, sabacc_pot, carried_pot, .. } = opened;
        let pots = format!(
            "opens hand {hand_no}; in the Sabacc Pot {sabacc_pot}, carried over {carried_pot}"
        );
        let seats = roster.iter().enumerate().map(|(at, seat)| {
            let button = if at + 1 == roster.len() { " and has the button" } else { "" };
            (self.seat(seat.seat), format!("is dealt in with {}{button}", seat.stack))
        });
        [("the table".to_owned(), pots)].into_iter().chain(seats).collect()
    }

    /// Returns a seat with its player's short name.
    fn seat(&self, number: u32) -> String {
        let opened = self.decoded.opened().ok().map(|(_, opened)| opened);
        let seat = opened.and_then(|it| it.roster.iter().find(|seat| seat.seat == number));
        let player = seat.and_then(|seat| PlayerId::try_from(&seat.player_id[..]).ok());
        match player {
            Some(player) => format!("seat {number} ({:.8})", player.to_string()),
            None => format!("seat {number}"),
        }
    }

    /// Describes an account of this hand; any other by its name.
    fn account(&self, name: &str) -> String {
        let Ok(account) = name.parse::<Account>() else { return name.to_owned() };
        let ours = account.table().is_some() && account.table() == self.decoded.table_id().ok();
        match account {
            Account::Seat(_, player) if ours => {
                let roster = self.decoded.opened().ok().map(|(_, opened)| opened.roster.iter());
                let seat = roster.and_then(|mut it| it.find(|seat| seat.player_id[..] == player.0));
                seat.map_or_else(|| name.to_owned(), |seat| self.seat(seat.seat))
            }
            Account::SabaccPot(_) if ours => "the Sabacc Pot".to_owned(),
            Account::CarriedPot(_) if ours => "the carried pot".to_owned(),
            Account::Rake => "the house's rake".to_owned(),
            Account::Suspense => "the house's suspense account".to_owned(),
            Account::Seat(..)
            | Account::SabaccPot(_)
            | Account::CarriedPot(_)
            | Account::Player(_)
            | Account::Issuance => name.to_owned(),
        }
    }

    /// Describes a settlement; in sentences as far as its lines are those that the rules make.
    fn describe_settled(&self, settled: &pb::HandSettled) -> Vec<(String, String)> {
        let name = |player| self.seat(wire::moves::seat_of(player, &self.replay.seats));
        let ruled = self.replay.end.iter().flat_map(|end| &end.settlement.lines);
        let mut ruled =
            ruled.map(|line| (line.to_string(), sentences::describe_settlement_line(line, &name)));
        let mut lines = vec![("the table".to_owned(), "settles the hand".to_owned())];
        for line in &settled.lines {
            let ruling =
                ruled.next().filter(|(text, _)| *text == line.text).map(|(_, ruling)| ruling);
            lines.push(ruling.unwrap_or_else(|| self.with_names(&line.text)));
        }
        lines
    }

    /// Splits a settlement line into its player's name and the rest.
    fn with_names(&self, line: &str) -> (String, String) {
        let subject = line.split_once(' ').and_then(|(first, rest)| {
            let player = Player::parse(first)?;
            let seat = self.replay.seats.get(player.index())?;
            Some((self.seat(u32::from(seat.get())), rest.to_owned()))
        });
        subject.unwrap_or_else(|| ("the table".to_owned(), format!("records `{line}`")))
    }
}

fn describe_reveal(opened: &pb::CardsOpened) -> String {
    let Some(opening) = &opened.opening else { return "opens nothing".to_owned() };
    let to = match opening.audience_seat {
        0 => "everybody".to_owned(),
        seat => format!("seat {seat} alone"),
    };
    let count = opening.cards.len();
    let (plural, caller) = (if count == 1 { "card" } else { "cards" }, &opened.caller);
    format!("lets {to} see {count} {plural}, as {caller} asks")
}
