//! Starting credits of guests: the table service has them issued, once for each.

use primitives::RequestId;

use super::*;

/// Reason of such an issue, as the log of every room has it.
const REASON: &str = "starting credits of a guest";

/// Checks that fail where the room's first credits are a guest's: issued by this author, for this
/// reason, under this id, so many times.
fn failing(actor: &str, reason: &str, id: [u8; 16], times: u8) -> Vec<Check> {
    let mut room = closed();
    let entries = &mut room.script.entries;
    let is_issue = |entry: &Entry| matches!(&entry.recorded, Wallet(WalletRecord::TransferPosted(it)) if it.kind == 1);
    let place = entries.iter().position(is_issue).unwrap();
    let mut issue = entries.remove(place);
    for time in 0..times {
        let Wallet(WalletRecord::TransferPosted(it)) = &mut issue.recorded else { unreachable!() };
        reason.clone_into(&mut it.reason);
        let mut id = id;
        id[0] = time;
        it.transfer_id = id.to_vec().into();
        entries.insert(place, issue.clone());
    }
    let mut wallet = room.script.events(LogName::Wallet);
    for event in &mut wallet {
        let recorded = AnyRecord::decode(LogName::Wallet, event);
        if matches!(recorded, Ok(Wallet(WalletRecord::TransferPosted(it))) if it.reason == reason) {
            event.actor = actor.into();
        }
    }
    fails(&audit(&wallet, &room.script.events(LogName::Table), END))
}

/// ARCHITECTURE.md §6.5.
#[test]
fn a_guest_is_given_credits_once_by_the_table_and_nobody_else_issues_any() {
    let derived = RequestId::derived(UnixMicros(0), [7; 16]).0;
    assert_eq!(failing("service:table", REASON, derived, 1), []);
    assert!(failing("service:table", REASON, derived, 2).contains(&Check::Lawful), "twice");
    assert_eq!(failing("service:dealer", REASON, derived, 1), [Check::Lawful]);
    assert_eq!(failing("player:x", REASON, derived, 1), [Check::Lawful]);
    assert_eq!(failing("service:table", "welcome back", derived, 1), [Check::Lawful]);
    assert_eq!(failing("service:table", REASON, [7; 16], 1), [Check::Lawful], "a person's id");
}
