//! Play of a player by the hour: net results, and time with credits at tables.
//!
//! Both follow from transfers and the times at which they were recorded. Results are the legs on
//! the player's seats in settlements, pot refunds and captures of holds of seats. Buy-ins,
//! cash-outs and adjustments are no results. Time counts once, at however many tables it is spent.

use std::collections::BTreeMap;

use primitives::UnixMicros;

use crate::limits::{HOUR_MICROS, Window, first_hour};

/// Play of one player that still counts, back to the longest window.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlayHistory {
    /// Start of the unbroken span in which the player has had credits at some table; `None` if they
    /// have none.
    pub seated_since: Option<UnixMicros>,
    /// Hours of play, by whole hours since 1970-01-01T00:00:00Z.
    pub hours: BTreeMap<u64, HourlyPlay>,
}

/// Play within one hour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HourlyPlay {
    /// Credits won less credits lost.
    pub net: i64,
    /// Time with credits at tables in spans that have ended, in microseconds.
    pub seated_micros: u64,
}

impl PlayHistory {
    /// No play.
    pub const NONE: PlayHistory = PlayHistory { seated_since: None, hours: BTreeMap::new() };

    /// Hours up to `now` in which something counts, ascending.
    pub(crate) fn counted_hours(&self, now: UnixMicros) -> impl Iterator<Item = u64> {
        let this = now.0.div_euclid(HOUR_MICROS);
        let going = self.seated_since.map_or(this..=this, |since| {
            since.0.div_euclid(HOUR_MICROS).max(first_hour(Window::Month, now))..=this
        });
        self.hours.range(first_hour(Window::Month, now)..).map(|(hour, _)| *hour).chain(going)
    }

    /// Credits won less credits lost within `window` at `now`.
    #[must_use]
    pub fn net(&self, window: Window, now: UnixMicros) -> i64 {
        let counted = self.hours.range(first_hour(window, now)..);
        counted.fold(0_i64, |net, (_, hour)| net.saturating_add(hour.net))
    }

    /// Net loss within `window` at `now`, in credits; 0 after a net win.
    #[must_use]
    pub fn net_loss(&self, window: Window, now: UnixMicros) -> u64 {
        let net = self.net(window, now);
        if net < 0 { net.unsigned_abs() } else { 0 }
    }

    /// Time at tables within `window` at `at`, in whole seconds. A player still there is taken to
    /// leave at `leaves`.
    #[must_use]
    pub(crate) fn seated_seconds(&self, window: Window, at: UnixMicros, leaves: UnixMicros) -> u64 {
        let first = first_hour(window, at);
        let counted = self.hours.range(first..);
        let over = counted.fold(0_u64, |sum, (_, hour)| sum.saturating_add(hour.seated_micros));
        let begun = first.saturating_mul(HOUR_MICROS);
        let going =
            self.seated_since.map_or(0, |since| leaves.0.saturating_sub(since.0.max(begun)));
        over.saturating_add(going).div_euclid(1_000_000)
    }

    pub(crate) fn add_net(&mut self, at: UnixMicros, net: i64) {
        let hour = self.hours.entry(at.0.div_euclid(HOUR_MICROS)).or_default();
        hour.net = hour.net.saturating_add(net);
    }

    pub(crate) const fn sit(&mut self, at: UnixMicros) {
        if self.seated_since.is_none() {
            self.seated_since = Some(at);
        }
    }

    /// Ends the span at tables and adds its time to the hours in which it was spent.
    pub(crate) fn stand(&mut self, at: UnixMicros) {
        let Some(since) = self.seated_since.take() else { return };
        let counts = first_hour(Window::Month, at).saturating_mul(HOUR_MICROS);
        let mut from = since.0.max(counts);
        while from < at.0 {
            let hour = from.div_euclid(HOUR_MICROS);
            let to = hour.saturating_add(1).saturating_mul(HOUR_MICROS).min(at.0);
            let entry = self.hours.entry(hour).or_default();
            entry.seated_micros = entry.seated_micros.saturating_add(to.saturating_sub(from));
            from = to;
        }
    }

    /// Drops hours older than the longest window. Returns whether anything is left.
    pub(crate) fn forget(&mut self, now: UnixMicros) -> bool {
        self.hours = self.hours.split_off(&first_hour(Window::Month, now));
        self.seated_since.is_some() || !self.hours.is_empty()
    }
}
