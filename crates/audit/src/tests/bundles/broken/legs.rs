//! Legs of 0 credits in a settlement that should not be there, and one that should.

use crate::hand::Check;
use ledger::Account;
use primitives::{PlayerId, TableId};
use proto::event::v1 as pb;
use proto::wallet::v1::Leg;

use super::{Golden, broken_hand, the};
use crate::tests::bundles::honest::zero_net_of_two;

pub(super) fn all() -> Vec<Golden> {
    let honest = zero_net_of_two();
    let breaks = |name, edit: &dyn Fn(&mut Vec<Leg>)| {
        broken_hand(name, honest.clone(), Check::Transfer, |entries| {
            let settles = |it: &pb::TransferPosted| !it.hand_id.is_empty();
            edit(&mut the!(entries, TransferPosted, settles).legs);
        })
    };
    vec![
        breaks("transfer-zero-leg-of-a-stranger", &|legs| {
            let account = Account::Seat(honest.table, PlayerId([3; 16])).to_string();
            legs.push(Leg { account, amount: 0 });
        }),
        breaks("transfer-zero-leg-at-another-table", &|legs| {
            let player = honest.seats[&1].player;
            let account = Account::Seat(TableId([7; 16]), player).to_string();
            legs.push(Leg { account, amount: 0 });
        }),
        breaks("transfer-zero-leg-twice", &|legs| {
            let zero = legs.iter().find(|leg| leg.amount == 0).unwrap().clone();
            legs.push(zero);
        }),
        breaks("transfer-zero-leg-of-a-pot", &|legs| {
            let account = Account::CarriedPot(honest.table).to_string();
            legs.push(Leg { account, amount: 0 });
        }),
        breaks("transfer-zero-leg-of-the-house", &|legs| {
            legs.push(Leg { account: Account::Rake.to_string(), amount: 0 });
        }),
        breaks("transfer-zero-leg-left-out", &|legs| {
            let at = legs.iter().position(|leg| leg.amount == 0).unwrap();
            legs.remove(at);
        }),
    ]
}
