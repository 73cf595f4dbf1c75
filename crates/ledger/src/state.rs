//! Accounts: what is on them, what is held of them, and what few of them have.

use primitives::{Credits, UnixMicros};

use crate::limits::{AllTerms, Brought, Setter, Window, within};
use crate::{Account, Amount};

/// An account as it stands: 24 bytes, and [`Extra`] where there is something to say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// Accounts are numbered as they were opened: 0 is `house/issuance`, 1 `house/rake`.
    pub number: u32,
    pub balance: Amount,
    /// None where it would be [`Extra::NONE`].
    pub extra: Option<Box<Extra>>,
}

/// What few accounts have. Seats have nothing of it but `held`, pots and the house nothing at all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Extra {
    /// The sum of what its pending holds hold; at most the balance.
    pub held: Credits,
    pub frozen: bool,
    pub closed: bool,
    /// The last exclusion; it may be over.
    pub excluded: Option<Exclusion>,
    /// The player's own limits; none where they never set any.
    pub own: Option<Box<AllTerms>>,
    /// The operator's limits of this player; none where none were ever set.
    pub operator: Option<Box<AllTerms>>,
    /// What the player brought to tables, in order of hours, each hour once: at most 721 of them.
    pub brought: Vec<Brought>,
}

/// How long a player keeps himself from play; what is longer is greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exclusion {
    Until(UnixMicros),
    ForGood,
}

impl Exclusion {
    /// When it ends; none: never.
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

    /// The extra, empty where there is none.
    #[must_use]
    pub fn extra(&self) -> &Extra {
        self.extra.as_deref().unwrap_or(&NONE)
    }

    /// Changes the extra; nothing is kept of one that says nothing.
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

    /// The balance without what is held.
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

    /// The exclusion that holds at `now`.
    #[must_use]
    pub fn excluded(&self, now: UnixMicros) -> Option<Exclusion> {
        self.extra().excluded.filter(|exclusion| *exclusion > Exclusion::Until(now))
    }

    /// The limits as they stand at `now`, with what waits.
    #[must_use]
    pub fn terms(&self, by: Setter, now: UnixMicros) -> AllTerms {
        self.set_by(by).at(now)
    }

    /// The limits as they were set, whatever the time.
    pub(crate) fn set_by(&self, by: Setter) -> AllTerms {
        let extra = self.extra();
        let terms = match by {
            Setter::Player => &extra.own,
            Setter::Operator => &extra.operator,
        };
        terms.as_deref().copied().unwrap_or_default()
    }

    /// What was brought to tables within `window`, to the hour.
    #[must_use]
    pub fn brought(&self, window: Window, now: UnixMicros) -> Credits {
        within(&self.extra().brought, window, now)
    }

    /// The hours in which something was brought to tables, ascending.
    pub(crate) fn brought_hours(&self) -> impl Iterator<Item = u64> {
        self.extra().brought.iter().map(|brought| brought.hour)
    }
}

/// A name with the state behind it.
pub(crate) type Entry<'a> = (&'a Account, &'a State);
