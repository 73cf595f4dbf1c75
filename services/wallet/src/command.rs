//! Commands with their request ids, and the digests that recognise repeats.
//!
//! Specification: ARCHITECTURE.md §2.9.

use ledger::{
    Account, Adjustment, Amount, Command, Hold, Kind, Leg, LimitSetter, Limits, RequestedLimits,
    Seconds, Transfer,
};
use primitives::{PlayerId, RequestId, UnixMicros};
use wire::clock::Step;

/// A command with its request id.
#[derive(Clone, Debug)]
pub struct Request {
    /// Id that the caller named the command by; for a transfer, the transfer's id.
    pub id: RequestId,
    pub content: RequestContent,
    /// Whether it is carried out only together with the next one in its batch.
    pub linked: bool,
}

/// Content of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RequestContent {
    Command(Command),
    /// Opens the accounts of those players that have none.
    OpenAccounts(Vec<PlayerId>),
    /// Sets limits of one or more measures, each measure at most once.
    SetLimits {
        player: PlayerId,
        by: LimitSetter,
        limits: Vec<RequestedLimits>,
    },
    /// Records a step of the wallet's clock, which moves nothing.
    ClockStepped(Step),
}

impl Request {
    /// A request for one command, not linked.
    #[must_use]
    pub const fn new(id: RequestId, command: Command) -> Request {
        Request { id, content: RequestContent::Command(command), linked: false }
    }

    /// Digest of the command's content, in a form that must never change: stored digests are
    /// compared with it for ever. The order of legs does not matter, nor do legs of 0 credits on
    /// seats of a settlement: a table of an earlier build asks without them, and may repeat with
    /// them after an upgrade. Nor does the author, except for an operator's name that is part of
    /// the command.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut content = DigestInput(Vec::with_capacity(256));
        match &self.content {
            RequestContent::Command(command) => content.command(command),
            RequestContent::OpenAccounts(players) => {
                content.tag(2);
                players.iter().for_each(|player| content.id(&player.0));
            }
            RequestContent::SetLimits { player, by, limits } => {
                content.set_limits(*player, *by, limits);
            }
            RequestContent::ClockStepped(step) => {
                content.tag(15);
                content.number(step.before().0);
                content.number(step.after().0);
                content.number(step.count());
            }
        }
        eventlog::request_digest("wallet", &[&content.0])
    }
}

/// Bytes to hash. Every part has its own tag or a fixed length, so different contents never have
/// equal bytes.
struct DigestInput(Vec<u8>);

impl DigestInput {
    fn command(&mut self, command: &Command) {
        match command {
            Command::OpenAccount(player) => self.tagged_player(1, *player),
            Command::PostTransfer(transfer) => self.transfer(transfer),
            Command::FreezeAccount { player, reason } => {
                self.tagged_player(4, *player);
                self.text(reason);
            }
            Command::UnfreezeAccount { player, reason } => {
                self.tagged_player(5, *player);
                self.text(reason);
            }
            Command::CloseAccount { player, reason } => {
                self.tagged_player(6, *player);
                self.text(reason);
            }
            Command::PlaceHold(hold) => self.hold(hold),
            Command::CaptureHold { id: _, hold, amount, keep_rest } => {
                self.tag(8);
                self.id(&hold.0);
                self.number(amount.get());
                self.tag(u8::from(*keep_rest));
            }
            Command::ReleaseHold { hold } => {
                self.tag(9);
                self.id(&hold.0);
            }
            Command::SetLimits { player, by, limits } => {
                self.set_limits(*player, *by, std::slice::from_ref(limits));
            }
            Command::Exclude { player, until } => {
                self.tagged_player(11, *player);
                self.optional(until.map(|until: UnixMicros| until.0));
            }
            Command::ProposeAdjustment(adjustment) => self.adjustment(adjustment),
            Command::ApproveAdjustment { id: _, adjustment, by } => {
                self.tag(13);
                self.id(&adjustment.0);
                self.text(by);
            }
            Command::RejectAdjustment { adjustment, reason } => {
                self.tag(14);
                self.id(&adjustment.0);
                self.text(reason);
            }
        }
    }

    fn transfer(&mut self, transfer: &Transfer) {
        let Transfer { id: _, kind, legs, reason } = transfer;
        self.tag(3);
        match kind {
            Kind::Issue => self.tag(1),
            Kind::Redeem => self.tag(2),
            Kind::BuyIn => self.tag(3),
            Kind::CashOut => self.tag(4),
            Kind::Settlement { table } => {
                self.tag(5);
                self.id(&table.0);
            }
            Kind::PotRefund { table } => {
                self.tag(6);
                self.id(&table.0);
            }
            Kind::Adjustment { adjustment } => {
                self.tag(7);
                self.id(&adjustment.0);
            }
            Kind::Capture { hold, keep_rest } => {
                self.tag(8);
                self.id(&hold.0);
                self.tag(u8::from(*keep_rest));
            }
        }
        let counts = |leg: &Leg| !leg.amount.is_zero() || !kind.admits_zero(&leg.account);
        let sorted = legs.is_sorted_by_key(|leg| (leg.account, leg.amount));
        if sorted && legs.iter().all(counts) {
            self.legs(legs);
        } else {
            let mut legs: Vec<Leg> = legs.iter().copied().filter(counts).collect();
            legs.sort_by_key(|leg| (leg.account, leg.amount));
            self.legs(&legs);
        }
        self.text(reason);
    }

    fn hold(&mut self, hold: &Hold) {
        let Hold { id: _, from, to, amount, expires_at } = hold;
        self.tag(7);
        self.account(*from);
        self.account(*to);
        self.number(amount.get());
        self.number(expires_at.0);
    }

    fn adjustment(&mut self, adjustment: &Adjustment) {
        let Adjustment { id: _, account, amount, reason, proposed_by } = adjustment;
        self.tag(12);
        self.leg(*account, *amount);
        self.text(reason);
        self.text(proposed_by);
    }

    fn set_limits(&mut self, player: PlayerId, by: LimitSetter, limits: &[RequestedLimits]) {
        self.tagged_player(10, player);
        self.tag(match by {
            LimitSetter::Player => 1,
            LimitSetter::Operator => 2,
        });
        for wanted in limits {
            match wanted {
                RequestedLimits::BuyIn(limits) => self.limits(1, limits, |limit| limit.get()),
                RequestedLimits::Loss(limits) => self.limits(2, limits, |limit| limit.get()),
                RequestedLimits::Time(limits) => self.limits(3, limits, |Seconds(limit)| limit),
            }
        }
    }

    fn limits<T: Copy>(&mut self, measure: u8, limits: &Limits<T>, unit: impl Fn(T) -> u64) {
        let Limits { day, week, month } = limits;
        self.tag(measure);
        for limit in [day, week, month] {
            self.optional(limit.map(&unit));
        }
    }

    fn legs(&mut self, legs: &[Leg]) {
        self.number(legs.len() as u64);
        legs.iter().for_each(|leg| self.leg(leg.account, leg.amount));
    }

    fn leg(&mut self, account: Account, amount: Amount) {
        self.account(account);
        self.0.extend(amount.get().to_be_bytes());
    }

    fn account(&mut self, account: Account) {
        match account {
            Account::Issuance => self.tag(1),
            Account::Rake => self.tag(2),
            Account::Suspense => self.tag(7),
            Account::Player(player) => self.tagged_player(3, player),
            Account::Seat(table, player) => {
                self.tagged_player(4, player);
                self.id(&table.0);
            }
            Account::SabaccPot(table) => {
                self.tag(5);
                self.id(&table.0);
            }
            Account::CarriedPot(table) => {
                self.tag(6);
                self.id(&table.0);
            }
        }
    }

    fn tagged_player(&mut self, tag: u8, player: PlayerId) {
        self.tag(tag);
        self.id(&player.0);
    }

    fn tag(&mut self, tag: u8) {
        self.0.push(tag);
    }

    fn id(&mut self, id: &[u8; 16]) {
        self.0.extend(id);
    }

    fn number(&mut self, number: u64) {
        self.0.extend(number.to_be_bytes());
    }

    fn optional(&mut self, number: Option<u64>) {
        self.tag(u8::from(number.is_some()));
        self.number(number.unwrap_or_default());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use primitives::{Credits, HoldId, TableId};

    use super::*;

    fn transfer(kind: Kind, legs: &[(Account, u32)]) -> Request {
        let legs = legs.iter().map(|(account, amount)| Leg {
            account: *account,
            amount: Amount::credit(Credits::of(*amount)),
        });
        let transfer =
            Transfer { id: RequestId([1; 16]), kind, legs: legs.collect(), reason: String::new() };
        Request::new(transfer.id, Command::PostTransfer(transfer))
    }

    #[test]
    fn the_order_of_legs_and_the_id_are_no_content() {
        let legs = [(Account::Rake, 1), (Account::Player(PlayerId([7; 16])), 2)];
        let one = transfer(Kind::Issue, &legs);
        let mut other = transfer(Kind::Issue, &[legs[1], legs[0]]);
        other.id = RequestId([2; 16]);
        other.linked = true;
        assert_eq!(one.digest(), other.digest());
    }

    #[test]
    fn legs_of_zero_on_seats_of_a_settlement_are_no_content() {
        let (table, rake) = (TableId([9; 16]), (Account::Rake, 0));
        let [ann, bob] = [[7; 16], [8; 16]].map(|id| Account::Seat(table, PlayerId(id)));
        let digest = |kind, legs: &[(Account, u32)]| transfer(kind, legs).digest();
        let settlement = Kind::Settlement { table };
        let bare = digest(settlement, &[(bob, 5)]);
        assert_eq!(digest(settlement, &[(ann, 0), (bob, 5)]), bare);
        assert_eq!(digest(settlement, &[(bob, 5), (ann, 0)]), bare);
        assert_eq!(digest(settlement, &[(ann, 0), (bob, 0)]), digest(settlement, &[]));
        assert_ne!(digest(settlement, &[(ann, 1), (bob, 5)]), bare);
        assert_ne!(digest(settlement, &[(bob, 5), rake]), bare);
        let refund = Kind::PotRefund { table };
        assert_ne!(digest(refund, &[(ann, 0), (bob, 5)]), digest(refund, &[(bob, 5)]));
    }

    #[test]
    fn other_contents_have_other_digests() {
        let player = PlayerId([7; 16]);
        let table = TableId([7; 16]);
        let hold = HoldId([7; 16]);
        let credits = Credits::of(5);
        let none = RequestedLimits::BuyIn(Limits::NONE);
        let limits = RequestedLimits::BuyIn(Limits { day: Some(Credits::ZERO), ..Limits::NONE });
        let by = |by| Command::SetLimits { player, by, limits: none };
        let capture = |keep_rest| Command::CaptureHold {
            id: RequestId([1; 16]),
            hold,
            amount: credits,
            keep_rest,
        };
        let mut requests: Vec<Request> = [
            Command::OpenAccount(player),
            Command::FreezeAccount { player, reason: "ab".into() },
            Command::UnfreezeAccount { player, reason: "ab".into() },
            Command::CloseAccount { player, reason: "ab".into() },
            Command::ReleaseHold { hold },
            capture(true),
            capture(false),
            by(LimitSetter::Player),
            by(LimitSetter::Operator),
            Command::SetLimits { player, by: LimitSetter::Player, limits },
            Command::SetLimits {
                player,
                by: LimitSetter::Player,
                limits: RequestedLimits::Loss(Limits::NONE),
            },
            Command::SetLimits {
                player,
                by: LimitSetter::Player,
                limits: RequestedLimits::Time(Limits::NONE),
            },
            Command::Exclude { player, until: None },
            Command::Exclude { player, until: Some(UnixMicros(0)) },
        ]
        .into_iter()
        .map(|command| Request::new(RequestId([1; 16]), command))
        .collect();
        requests.push(transfer(Kind::Issue, &[(Account::Rake, 1)]));
        requests.push(transfer(Kind::Redeem, &[(Account::Rake, 1)]));
        requests.push(transfer(Kind::Redeem, &[(Account::Rake, 2)]));
        requests.push(transfer(Kind::Settlement { table }, &[]));
        requests.push(transfer(Kind::PotRefund { table }, &[]));
        let all = RequestContent::OpenAccounts(vec![player]);
        requests.push(Request { id: RequestId([1; 16]), content: all, linked: false });
        let both = vec![RequestedLimits::Loss(Limits::NONE), RequestedLimits::Time(Limits::NONE)];
        let both = RequestContent::SetLimits { player, by: LimitSetter::Player, limits: both };
        requests.push(Request { id: RequestId([1; 16]), content: both, linked: false });
        for step in [Step::new(1, UnixMicros(5), 1), Step::new(1, UnixMicros(5), 2)] {
            let content = RequestContent::ClockStepped(step);
            requests.push(Request { id: RequestId([1; 16]), content, linked: false });
        }
        let digests: std::collections::BTreeSet<_> = requests.iter().map(Request::digest).collect();
        assert_eq!(digests.len(), requests.len());
    }
}
