//! State of an account: its balance, and [`AccountDetails`] for what only few accounts have.

use primitives::{Credits, UnixMicros};

use crate::limits::{AllLimitTerms, HourlyBuyIn, LimitSetter, Window, bought_in_within};
use crate::{Account, Amount};

/// State of an account: 24 bytes, and an [`AccountDetails`] where it differs from
/// [`AccountDetails::NONE`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccountState {
    /// Index in the order in which accounts were opened: 0 is `house/issuance`, 1 `house/rake`.
    pub number: u32,
    pub balance: Amount,
    /// `None` where it would be [`AccountDetails::NONE`].
    pub details: Option<Box<AccountDetails>>,
}

/// State that only few accounts have. A seat uses `held` alone; pots and the house's accounts use
/// none of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AccountDetails {
    /// Sum of the credits left in its pending holds; at most the balance.
    pub held: Credits,
    pub frozen: bool,
    pub closed: bool,
    /// The last exclusion; it may be over.
    pub exclusion: Option<Exclusion>,
    /// Limits that the player set; `None` if they never set any.
    pub own_limits: Option<Box<AllLimitTerms>>,
    /// Limits that an operator set for the player; `None` if never set.
    pub operator_limits: Option<Box<AllLimitTerms>>,
    /// Credits brought to tables, in the order of hours, each hour once: at most 721 entries.
    pub buy_ins: Vec<HourlyBuyIn>,
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

impl AccountDetails {
    pub const NONE: AccountDetails = AccountDetails {
        held: Credits::ZERO,
        frozen: false,
        closed: false,
        exclusion: None,
        own_limits: None,
        operator_limits: None,
        buy_ins: Vec::new(),
    };

    pub(crate) const fn limit_terms_mut(
        &mut self,
        by: LimitSetter,
    ) -> &mut Option<Box<AllLimitTerms>> {
        match by {
            LimitSetter::Player => &mut self.own_limits,
            LimitSetter::Operator => &mut self.operator_limits,
        }
    }
}

static NONE: AccountDetails = AccountDetails::NONE;

impl AccountState {
    pub(crate) const fn new(number: u32) -> AccountState {
        AccountState { number, balance: Amount::ZERO, details: None }
    }

    /// The extra state; [`AccountDetails::NONE`] where there is none.
    #[must_use]
    pub fn details(&self) -> &AccountDetails {
        self.details.as_deref().unwrap_or(&NONE)
    }

    /// Changes the extra state, and drops it if it then equals [`AccountDetails::NONE`].
    pub(crate) fn update_details(&mut self, change: impl FnOnce(&mut AccountDetails)) {
        change(self.details.get_or_insert_default());
        if self.details.as_deref() == Some(&NONE) {
            self.details = None;
        }
    }

    #[must_use]
    pub fn held(&self) -> Credits {
        self.details().held
    }

    /// Balance less what is held.
    #[must_use]
    pub fn available(&self) -> Amount {
        self.balance.saturating_plus(Amount::debit(self.held()))
    }

    #[must_use]
    pub fn is_frozen(&self) -> bool {
        self.details().frozen
    }

    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.details().closed
    }

    /// Exclusion in force at `now`.
    #[must_use]
    pub fn exclusion_at(&self, now: UnixMicros) -> Option<Exclusion> {
        self.details().exclusion.filter(|exclusion| *exclusion > Exclusion::Until(now))
    }

    /// Limits that one setter set: those in force at `now`, and those that will replace them.
    #[must_use]
    pub fn limit_terms(&self, by: LimitSetter, now: UnixMicros) -> AllLimitTerms {
        self.terms_set_by(by).at(now)
    }

    /// Limits as they were set, whatever the time.
    pub(crate) fn terms_set_by(&self, by: LimitSetter) -> AllLimitTerms {
        let extra = self.details();
        let terms = match by {
            LimitSetter::Player => &extra.own_limits,
            LimitSetter::Operator => &extra.operator_limits,
        };
        terms.as_deref().copied().unwrap_or_default()
    }

    /// Credits brought to tables within `window`, to the hour.
    #[must_use]
    pub fn bought_in(&self, window: Window, now: UnixMicros) -> Credits {
        bought_in_within(&self.details().buy_ins, window, now)
    }

    /// Hours in which credits were brought to tables, ascending.
    pub(crate) fn buy_in_hours(&self) -> impl Iterator<Item = u64> {
        self.details().buy_ins.iter().map(|brought| brought.hour)
    }
}

/// An account and its state.
pub(crate) type AccountEntry<'a> = (&'a Account, &'a AccountState);
