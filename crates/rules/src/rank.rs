//! Rank of a final hand, as a hand history writes it.
//!
//! Specification: history/SPEC.md §7.4.

use std::fmt;

use crate::games::spike::ladder::Rung;

/// Rank of a final hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    Folded,
    IdiotsArray,
    /// A total of 23 or -23.
    Pure(i16),
    Total(i16),
    Bombed(i16),
    Natural(i16),
    Light(i16),
    Dark(i16),
    KesselPure,
    Prime(u8),
    Pair(u8),
    Diff {
        diff: u8,
        sum: u8,
    },
    /// The player left a game of Kessel.
    Left,
    Eleven {
        total: u8,
        cards: u8,
    },
    Over {
        cards: u8,
    },
    Spike(Rung),
    Coruscant {
        off: u16,
        suit: u8,
        total: i16,
        high: i16,
    },
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rank::Folded => f.write_str("folded"),
            Rank::IdiotsArray => f.write_str("idiots-array"),
            Rank::Pure(total) => write!(f, "pure {total}"),
            Rank::Total(total) => write!(f, "total {total}"),
            Rank::Bombed(total) => write!(f, "bombed {total}"),
            Rank::Natural(total) => write!(f, "natural {total}"),
            Rank::Light(total) => write!(f, "light {total}"),
            Rank::Dark(total) => write!(f, "dark {total}"),
            Rank::KesselPure => f.write_str("pure"),
            Rank::Prime(value) => write!(f, "prime {value}"),
            Rank::Pair(value) => write!(f, "pair {value}"),
            Rank::Diff { diff, sum } => write!(f, "diff {diff} sum {sum}"),
            Rank::Left => f.write_str("left"),
            Rank::Eleven { total, cards } => write!(f, "{total} in {cards}"),
            Rank::Over { cards } => write!(f, "over in {cards}"),
            Rank::Spike(rung) => f.write_str(rung.name()),
            Rank::Coruscant { off, suit, total, high } => {
                write!(f, "off {off} suit {suit} total {total} high {high}")
            }
        }
    }
}
