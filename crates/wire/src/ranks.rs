//! Conversion of ranks, phases and of how players stand.

use proto::table::v1 as pb;
use proto::table::v1::RankKind;
use rules::{HandPhase, PlayerView, Rank, Rung, Status};

use crate::field::BadField;

/// Converts the rank of a hand.
#[must_use]
pub fn write(rank: Rank) -> pb::HandRank {
    let of = |kind: RankKind| pb::HandRank {
        kind: kind.into(),
        text: rank.to_string(),
        ..pb::HandRank::default()
    };
    let with_total = |kind, total: i16| pb::HandRank { total: total.into(), ..of(kind) };
    let with_value = |kind, value: u8| pb::HandRank { value: value.into(), ..of(kind) };
    match rank {
        Rank::Folded => of(RankKind::Folded),
        Rank::Left => of(RankKind::Left),
        Rank::IdiotsArray => of(RankKind::IdiotsArray),
        Rank::Pure(total) => with_total(RankKind::Pure, total),
        Rank::Total(total) => with_total(RankKind::Total, total),
        Rank::Bombed(total) => with_total(RankKind::Bombed, total),
        Rank::Natural(total) => with_total(RankKind::Natural, total),
        Rank::Light(total) => with_total(RankKind::Light, total),
        Rank::Dark(total) => with_total(RankKind::Dark, total),
        Rank::KesselPure => of(RankKind::KesselPure),
        Rank::Prime(value) => with_value(RankKind::Prime, value),
        Rank::Pair(value) => with_value(RankKind::Pair, value),
        Rank::Diff { diff, sum } => {
            pb::HandRank { difference: diff.into(), sum: sum.into(), ..of(RankKind::Difference) }
        }
        Rank::Eleven { total, cards } => {
            pb::HandRank { cards: cards.into(), ..with_total(RankKind::Eleven, total.into()) }
        }
        Rank::Over { cards } => pb::HandRank { cards: cards.into(), ..of(RankKind::Over) },
        Rank::Spike(rung) => of(kind_of_rung(rung)),
        Rank::Coruscant { off, suit, total, high } => pb::HandRank {
            off_target: off.into(),
            suited: suit.into(),
            high: high.into(),
            ..with_total(RankKind::Coruscant, total)
        },
    }
}

const fn kind_of_rung(rung: Rung) -> RankKind {
    match rung {
        Rung::Nulrhek => RankKind::SpikeNulrhek,
        Rung::Sabacc => RankKind::SpikeSabacc,
        Rung::SabaccPair => RankKind::SpikeSabaccPair,
        Rung::RuleOfTwo => RankKind::SpikeRuleOfTwo,
        Rung::BanthasWild => RankKind::SpikeBanthasWild,
        Rung::StraightKhyron => RankKind::SpikeStraightKhyron,
        Rung::GeeWhiz => RankKind::SpikeGeeWhiz,
        Rung::Squadron => RankKind::SpikeSquadron,
        Rung::Rhylet => RankKind::SpikeRhylet,
        Rung::YeeHaa => RankKind::SpikeYeeHaa,
        Rung::Fleet => RankKind::SpikeFleet,
        Rung::Full => RankKind::SpikeFull,
        Rung::Pure => RankKind::SpikePure,
    }
}

/// Reads the rank of a hand. Its text is for people and not read.
pub fn read(rank: &pb::HandRank) -> Result<Rank, BadField> {
    let pb::HandRank {
        kind: _,
        total,
        value,
        difference,
        sum,
        cards,
        off_target,
        suited,
        high,
        text: _,
    } = rank;
    let (total, high) = (signed(*total)?, signed(*high)?);
    let [value, diff, sum, cards, suit] = [value, difference, sum, cards, suited]
        .map(|number| u8::try_from(*number).map_err(|_| out_of_range()));
    Ok(match rank.kind() {
        RankKind::Unspecified => return Err(BadField::new("rank.kind", "missing")),
        RankKind::Folded => Rank::Folded,
        RankKind::Left => Rank::Left,
        RankKind::IdiotsArray => Rank::IdiotsArray,
        RankKind::Pure => Rank::Pure(total),
        RankKind::Total => Rank::Total(total),
        RankKind::Bombed => Rank::Bombed(total),
        RankKind::Natural => Rank::Natural(total),
        RankKind::Light => Rank::Light(total),
        RankKind::Dark => Rank::Dark(total),
        RankKind::KesselPure => Rank::KesselPure,
        RankKind::Prime => Rank::Prime(value?),
        RankKind::Pair => Rank::Pair(value?),
        RankKind::Difference => Rank::Diff { diff: diff?, sum: sum? },
        RankKind::Eleven => {
            let total = u8::try_from(total).map_err(|_| out_of_range())?;
            Rank::Eleven { total, cards: cards? }
        }
        RankKind::Over => Rank::Over { cards: cards? },
        RankKind::Coruscant => {
            let off = u16::try_from(*off_target).map_err(|_| out_of_range())?;
            Rank::Coruscant { off, suit: suit?, total, high }
        }
        RankKind::SpikeNulrhek => Rank::Spike(Rung::Nulrhek),
        RankKind::SpikeSabacc => Rank::Spike(Rung::Sabacc),
        RankKind::SpikeSabaccPair => Rank::Spike(Rung::SabaccPair),
        RankKind::SpikeRuleOfTwo => Rank::Spike(Rung::RuleOfTwo),
        RankKind::SpikeBanthasWild => Rank::Spike(Rung::BanthasWild),
        RankKind::SpikeStraightKhyron => Rank::Spike(Rung::StraightKhyron),
        RankKind::SpikeGeeWhiz => Rank::Spike(Rung::GeeWhiz),
        RankKind::SpikeSquadron => Rank::Spike(Rung::Squadron),
        RankKind::SpikeRhylet => Rank::Spike(Rung::Rhylet),
        RankKind::SpikeYeeHaa => Rank::Spike(Rung::YeeHaa),
        RankKind::SpikeFleet => Rank::Spike(Rung::Fleet),
        RankKind::SpikeFull => Rank::Spike(Rung::Full),
        RankKind::SpikePure => Rank::Spike(Rung::Pure),
    })
}

fn signed(number: i32) -> Result<i16, BadField> {
    i16::try_from(number).map_err(|_| out_of_range())
}

fn out_of_range() -> BadField {
    BadField::new("rank", "a number is out of range")
}

/// Converts the phase of a hand.
#[must_use]
pub const fn write_phase(phase: HandPhase) -> pb::HandPhase {
    match phase {
        HandPhase::Deal => pb::HandPhase::Deal,
        HandPhase::Draft => pb::HandPhase::Draft,
        HandPhase::Alignment => pb::HandPhase::Alignment,
        HandPhase::Play => pb::HandPhase::Play,
        HandPhase::Action => pb::HandPhase::Action,
        HandPhase::Draw => pb::HandPhase::Draw,
        HandPhase::Turns => pb::HandPhase::Turns,
        HandPhase::Select => pb::HandPhase::Select,
        HandPhase::Dice => pb::HandPhase::Dice,
        HandPhase::Betting => pb::HandPhase::Betting,
        HandPhase::Redraw => pb::HandPhase::Redraw,
        HandPhase::Add => pb::HandPhase::Add,
        HandPhase::Showdown => pb::HandPhase::Showdown,
        HandPhase::Scoring => pb::HandPhase::Scoring,
        HandPhase::Reveal => pb::HandPhase::Reveal,
        HandPhase::Over => pb::HandPhase::Over,
    }
}

/// Converts a player's standing in a hand, with its text for people.
#[must_use]
pub const fn write_status(player: &PlayerView) -> (pb::SeatStatus, &'static str) {
    match (player.status, player.has_left) {
        (Status::Out, _) => (pb::SeatStatus::Out, "out"),
        (Status::Live | Status::AllIn, true) => (pb::SeatStatus::Leaving, "leaving"),
        (Status::Live, false) => (pb::SeatStatus::Live, "live"),
        (Status::AllIn, false) => (pb::SeatStatus::AllIn, "all-in"),
    }
}
