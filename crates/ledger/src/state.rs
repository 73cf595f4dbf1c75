//! State of an account: its balance, and [`Extra`] for what only few accounts have.

use primitives::{Credits, UnixMicros};

use crate::limits::{AllTerms, Brought, Setter, Window, within};
use crate::{Account, Amount};

/// State of an account: 24 bytes, and an [`Extra`] where it differs from [`Extra::NONE`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// Index in the order in which accounts were opened: 0 is `house/issuance`, 1 `house/rake`.
    pub number: u32,
    pub balance: Amount,
    /// `None` where it would be [`Extra::NONE`].
    pub extra: Option<Box<Extra>>,
}

/// State that only few accounts have. A seat uses `held` alone; pots and the house's accounts use
/// none of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Extra {
    /// Sum of the credits left in its pending holds; at most the balance.
    pub held: Credits,
    pub frozen: bool,
    pub closed: bool,
    /// The last exclusion; it may be over.
    pub excluded: Option<Exclusion>,
    /// Limits that the player set; `None` if they never set any.
    pub own: Option<Box<AllTerms>>,
    /// Limits that an operator set for the player; `None` if never set.
    pub operator: Option<Box<AllTerms>>,
    /// Credits brought to tables, in the order of hours, each hour once: at most 721 entries.
    pub brought: Vec<Brought>,
}

/// Span for which players keep themselves from play; the longer one is the greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exclusion {
    Until(UnixMicros),
    ForGood,
}

impl Exclusion {
    /// End of the exclusion; `None` if it never ends.
    #[must_use]
    pub const fn end(self) -> Option<UnixMicros> {
        match self {
            Exclusion::Until(time) => Some(time),
            Exclusion::ForGood => None,
        }
    }
}

impl From<Option<UnixMicros>> for Exclusion {
    fn from(until: Option<UnixMicros>) -> Exclusion {
        until.map_or(Exclusion::ForGood, Exclusion::Until)
    }
}

impl Extra {
    pub const NONE: Extra = Extra {
        held: Credits::ZERO,
        frozen: false,
        closed: false,
        excluded: None,
        own: None,
        operator: None,
        brought: Vec::new(),
    };

    pub(crate) const fn terms_mut(&mut self, by: Setter) -> &mut Option<Box<AllTerms>> {
        match by {
            Setter::Player => &mut self.own,
            Setter::Operator => &mut self.operator,
        }
    }
}

static NONE: Extra = Extra::NONE;

impl State {
    pub(crate) const fn new(number: u32) -> State {
        State { number, balance: Amount::ZERO, extra: None }
    }

    /// The extra state; [`Extra::NONE`] where there is none.
    #[must_use]
    pub fn extra(&self) -> &Extra {
        self.extra.as_deref().unwrap_or(&NONE)
    }

    /// Changes the extra state, and drops it if it then equals [`Extra::NONE`].
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Extra)) {
        change(self.extra.get_or_insert_default());
        if self.extra.as_deref() == Some(&NONE) {
            self.extra = None;
        }
    }

    #[must_use]
    pub fn held(&self) -> Credits {
        self.extra().held
    }

    /// Balance less what is held.
    #[must_use]
    pub fn available(&self) -> Amount {
        self.balance.saturating_plus(Amount::debit(self.held()))
    }

    #[must_use]
    pub fn frozen(&self) -> bool {
        self.extra().frozen
    }

    #[must_use]
    pub fn closed(&self) -> bool {
        self.extra().closed
    }

    /// Exclusion in force at `now`.
    #[must_use]
    pub fn excluded(&self, now: UnixMicros) -> Option<Exclusion> {
        self.extra().excluded.filter(|exclusion| *exclusion > Exclusion::Until(now))
    }

    /// Limits that one setter set: those in force at `now`, and those that will replace them.
    #[must_use]
    pub fn terms(&self, by: Setter, now: UnixMicros) -> AllTerms {
        self.set_by(by).at(now)
    }

    /// Limits as they were set, whatever the time.
    pub(crate) fn set_by(&self, by: Setter) -> AllTerms {
        let extra = self.extra();
        let terms = match by {
            Setter::Player => &extra.own,
            Setter::Operator => &extra.operator,
        };
        terms.as_deref().copied().unwrap_or_default()
    }

    /// Credits brought to tables within `window`, to the hour.
    #[must_use]
    pub fn brought(&self, window: Window, now: UnixMicros) -> Credits {
        within(&self.extra().brought, window, now)
    }

    /// Hours in which credits were brought to tables, ascending.
    pub(crate) fn brought_hours(&self) -> impl Iterator<Item = u64> {
        self.extra().brought.iter().map(|brought| brought.hour)
    }
}

/// An account and its state.
pub(crate) type Entry<'a> = (&'a Account, &'a State);
