//! Words for refusals: what happened, and what to do.
//!
//! Each [`Reason`] has a row. `{…}` stands for a fact of the refusal: a key of its metadata as
//! credits or text, or `range`, `wait`, `until` and `field`.

use client::{Error, Refusal};
use proto::common::v1::ErrorReason as Reason;

use crate::text::{capital, clean, credits};

const TO_OPERATOR: &str = "Tell the room's operator, with the trace's number.";

/// Reason, and words with placeholders.
#[rustfmt::skip]
const WORDS: [(Reason, &str); 54] = [
    (Reason::BadField, "Something in this is not right: {field}. Change it and try again."),
    (Reason::TokenMissing, "This is for players. Give a token with --token, or play as a guest."),
    (Reason::TokenMalformed, "This is no token of this room. Copy the whole of it, from its first letter to its last."),
    (Reason::TokenExpired, "Your sign-in has run out. Make a new token with `sabacc token`, or remove the kept login to join as a new guest."),
    (Reason::TokenForged, "This token is not from this room. Ask the room's operator for one."),
    (Reason::TokenRevoked, "Your sign-in was ended: you signed out, or the same login was used in two places. Remove the kept login to join as a new guest."),
    (Reason::RoleNotAllowed, "Your sign-in does not allow this. Use the token of somebody who may do it."),
    (Reason::TableUnknown, "There is no such table; it may be closed. `sabacc table list` lists those that are open."),
    (Reason::AccountUnknown, "There is no such account. Check the player's id."),
    (Reason::HandUnknown, "There is no such hand at this table. Check its number; `sabacc hands` lists all."),
    (Reason::NotYourTurn, "It is not your turn any more: the clock was quicker, or the hand has moved on. Wait for your next turn."),
    (Reason::IllegalMove, "The rules do not allow that now. Choose one of the moves that are shown."),
    (Reason::AmountOutOfRange, "That amount is not allowed. Choose one {range}."),
    (Reason::NotYourSeat, "You have no seat here. Sit down first."),
    (Reason::SeatTaken, "Somebody has just taken that seat. Sit down again to take another."),
    (Reason::AlreadySeated, "You sit at this table already, perhaps in another window. Leave that seat first to take another."),
    (Reason::InsufficientCredits, "Your account has too few credits for this. Bring fewer, or leave another table first."),
    (Reason::BuyInOutOfRange, "This table takes another amount to sit down with. Bring {range}."),
    (Reason::RequestIdReused, "This was sent before with something else in it. Do it once more."),
    (Reason::RequestIdTooOld, "This was first sent so long ago that it may have been done then. Look whether it was, and do it once more if not."),
    (Reason::AlreadyExists, "This exists already. List what there is to see it."),
    (Reason::Overloaded, "That was too much at once. Try again {wait}."),
    (Reason::Unavailable, "The room cannot answer just now; what you did may have happened all the same. Look again {wait}."),
    (Reason::Corrupt, "The room's records contradict each other. {tell}"),
    (Reason::TransferRefused, "The books do not allow that. Check the amount and the account."),
    (Reason::ChanceRefused, "Your number came too late for this hand. Wait for the next one; nothing is lost."),
    (Reason::RuleSetInvalid, "These rules cannot be played: {field}. Change them and try again."),
    (Reason::TableClosed, "This table is closed, or you are just leaving it. Choose another: `sabacc play` lists them."),
    (Reason::Deadline, "The room took too long. Look whether it has happened, and if not, do it once more."),
    (Reason::NoSuchMethod, "This room does not offer that. A room without guests lets you in with a token of its operator's: give it with --token or SABACC_TOKEN."),
    (Reason::HoldUnknown, "There is no such hold. Check its id."),
    (Reason::NotInLog, "The log has nothing there: not yet, or not any more, where old records are archived. Check the number, try again in a moment, or ask the operator for the archive."),
    (Reason::NotSigned, "The log has not signed that yet. Try again in a moment; where it stays so, tell the operator."),
    (Reason::HandInPlay, "This hand is in play. Ask again when it has ended."),
    (Reason::SeedNotOpen, "The seed of this hand is still sealed: this table opens seeds a day later. Come back then."),
    (Reason::DisputeUnknown, "There is no such dispute of yours. Check its number."),
    (Reason::DisputeAnswered, "This dispute is answered, which happens once. Read the answer; about something else open another."),
    (Reason::DisputesOpen, "There are as many open disputes as there may be. Wait until one is answered."),
    (Reason::PlayerErased, "This player was erased: nothing is recorded of them any more. Join as a new guest."),
    (Reason::PlayerSeated, "The player sits at a table. Leave all tables first, and wait until you are paid out."),
    (Reason::NotYourHand, "Only who was dealt into a hand can dispute it. Choose one of your own: `sabacc me hands` lists them."),
    (Reason::NothingStopped, "Nothing has stopped at this table that can be resolved that way. Look at the table again."),
    (Reason::RecordsSpent, "This is the most that is recorded for now: of new guests a day, or of changes between two hands. Try again {wait}; leaving is always possible."),
    (Reason::BarredFromPlay, "You are barred from further hands{until}. `sabacc me` shows your account, `sabacc me limits` your limits; or ask the operator."),
    (Reason::Withheld, "Your program committed to a hand and was then silent, so the hand number was lost. You are dealt in again{until}. Stay connected while you play."),
    (Reason::SatIdle, "You have kept a seat here without using it. You can sit down again{until}, or now at another table."),
    (Reason::SignatureNeeded, "This has to be signed with the key that was made for this hand. Play on where you sat down, or wait for the next hand."),
    (Reason::SignatureInvalid, "Somebody left just as you decided. Decide once more."),
    (Reason::HandSuspended, "The dealer is silent and the hand stands still. Wait until it is back, or agree to end the hand."),
    (Reason::TableDisabled, "The operator has disabled this table. Choose another; you can leave and are paid out."),
    (Reason::GameDisabled, "The operator has disabled this game in the whole room. Choose another game."),
    (Reason::MessageTooLong, "This is longer than the room takes. Shorten it."),
    (Reason::Compressed, "Something between you and the room has compressed the request. Turn that off, or use another connection."),
    (Reason::Unspecified, "{message}"),
];

/// Tells a person what an error means, and what to do. It ends without the reason's name and the
/// trace: [`trace`] has them.
#[must_use]
pub fn words(error: &Error) -> String {
    match error {
        Error::Refused(refusal) => of_refusal(refusal),
        Error::Unanswered(refusal) if refusal.reason.is_none() => {
            "The room was not reached. Check the address and your connection; what you did may have \
             happened all the same."
                .to_owned()
        }
        Error::Unanswered(refusal) => of_refusal(refusal),
        Error::Malformed(_) | Error::Gap { .. } => {
            format!("{}. Try again; where it stays so, tell the operator.", sentence(error))
        }
        Error::FairnessViolation(_) | Error::Logs(_) => {
            format!("{}. Stop playing here, and keep the evidence.", sentence(error))
        }
        Error::Address(_)
        | Error::Channel(_)
        | Error::Evidence(_)
        | Error::Login(_)
        | Error::NoDealerKey => sentence(error),
    }
}

fn sentence(error: &Error) -> String {
    capital(clean(&error.to_string()).trim_end_matches('.'))
}

/// Reason and trace of a refusal, by which an operator finds it; none where there is neither.
#[must_use]
pub fn trace(error: &Error) -> Option<String> {
    let refusal = error.refusal()?;
    let reason = refusal.reason.map(|reason| wire::status::reason_name(reason).to_owned());
    let trace = refusal.trace_id.as_ref().map(|trace| format!("trace {}", clean(trace)));
    let notes: Vec<String> = reason.into_iter().chain(trace).collect();
    (!notes.is_empty()).then(|| notes.join(", "))
}

/// Tells a person what a refusal means, and what to do.
#[must_use]
pub fn of_refusal(refusal: &Refusal) -> String {
    let reason = refusal.reason.unwrap_or(Reason::Unspecified);
    let row = WORDS.iter().find(|row| row.0 == reason).map_or("{message}", |row| row.1);
    let text = row
        .replace("{tell}", TO_OPERATOR)
        .replace("{range}", &range(refusal))
        .replace("{wait}", &wait(refusal))
        .replace("{until}", &until(refusal))
        .replace("{field}", &field(refusal))
        .replace("{message}", &capital(&clean(&refusal.message)));
    match refusal.metadata.get("why") {
        Some(why) => format!("{text} The operator says: {}", clean(why)),
        None => text,
    }
}

fn number(refusal: &Refusal, name: &str) -> Option<u64> {
    refusal.metadata.get(name)?.parse().ok()
}

fn range(refusal: &Refusal) -> String {
    match (number(refusal, "min"), number(refusal, "max")) {
        (Some(min), Some(max)) => format!("from {} to {} credits", credits(min), credits(max)),
        (Some(min), None) => format!("of {} credits or more", credits(min)),
        (None, Some(max)) => format!("of {} credits or fewer", credits(max)),
        (None, None) => "within the limits".to_owned(),
    }
}

fn wait(refusal: &Refusal) -> String {
    let seconds = refusal.retry_after.map_or(0, |after| after.as_secs());
    match seconds {
        0 | 1 => "in a moment".to_owned(),
        2..=119 => format!("in {seconds} seconds"),
        120..=7199 => format!("in {} minutes", seconds.div_ceil(60)),
        _ => format!("in {} hours", seconds.div_ceil(3600)),
    }
}

fn until(refusal: &Refusal) -> String {
    let time = refusal.metadata.get("until").map(|time| format!(" after {}", clean(time)));
    let hand = refusal.metadata.get("until_hand_no");
    let hand = hand.map(|hand| format!(" from hand {} on", clean(hand)));
    [time, hand].into_iter().flatten().collect::<Vec<_>>().join(" and")
}

fn field(refusal: &Refusal) -> String {
    let message = clean(&refusal.message);
    match &refusal.field {
        Some(field) if !message.contains(&**field) => format!("{}: {message}", clean(field)),
        Some(_) | None => message,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;

    fn refusal(reason: Option<Reason>, facts: &[(&str, &str)]) -> Refusal {
        let facts = facts.iter().map(|(name, fact)| ((*name).to_owned(), (*fact).to_owned()));
        Refusal {
            reason,
            message: "the buy-in is out of range".to_owned(),
            field: None,
            trace_id: Some("0af7".to_owned()),
            metadata: facts.collect::<BTreeMap<_, _>>(),
            retry_after: None,
        }
    }

    /// Every reason that the room has says in words what to do; a new one has no row until somebody
    /// writes it.
    #[test]
    fn every_reason_has_words_that_say_what_to_do() {
        for number in 1..200 {
            let Ok(reason) = Reason::try_from(number) else { continue };
            assert!(WORDS.iter().any(|row| row.0 == reason), "no words for {reason:?}");
            let text = of_refusal(&refusal(Some(reason), &[]));
            assert!(
                text.contains(". ") || text.contains("; "),
                "what happened, what to do: {text}"
            );
            assert!(text.ends_with('.') && !text.contains('{'), "{text}");
        }
    }

    #[test]
    fn facts_of_a_refusal_are_in_its_words() {
        let range = refusal(Some(Reason::BuyInOutOfRange), &[("min", "200"), ("max", "2000")]);
        let text = of_refusal(&range);
        assert!(text.ends_with("Bring from 200 to 2,000 credits."), "{text}");
        let after = Some(Duration::from_secs(90));
        let busy = Refusal { retry_after: after, ..refusal(Some(Reason::Overloaded), &[]) };
        assert!(of_refusal(&busy).ends_with("Try again in 90 seconds."));
        let shut = refusal(Some(Reason::TableDisabled), &[("why", "a fault\u{1b}[2J")]);
        assert!(of_refusal(&shut).ends_with("The operator says: a fault\\u{1b}[2J"));
    }

    #[test]
    fn a_refusal_without_a_reason_keeps_the_rooms_words() {
        let text = of_refusal(&refusal(None, &[]));
        assert_eq!(text, "The buy-in is out of range");
        let error = Error::Refused(refusal(Some(Reason::SeatTaken), &[]));
        assert_eq!(trace(&error).unwrap(), "SEAT_TAKEN, trace 0af7");
    }
}
