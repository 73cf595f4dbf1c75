//! Guests and revoked tokens: a pure fold of the log, and the judgement of refresh tokens.
//!
//! A guest is forgotten when their refresh token was not used for [`REFRESH_LIFETIME`], since nobody
//! can come in by it any more; a revocation when no token that it names can be good.

use std::collections::BTreeMap;
use std::time::Duration;

use primitives::{PlayerId, RequestId, UnixMicros};
use proto::event::v1 as pb;
use serde::{Deserialize, Serialize};
use wire::field;

use super::refresh_token::RefreshToken;
use super::registry::EventLocation;
use crate::table::Corrupt;

/// Time for which a refresh token is good where it is not used.
pub(crate) const REFRESH_LIFETIME: Duration = Duration::from_hours(30 * 24);

/// Microseconds of a day.
pub(super) const DAY_MICROS: u64 = 86_400_000_000;

/// Guests, and tokens that were revoked.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct SignIns {
    guests: BTreeMap<PlayerId, Guest>,
    /// Revocations by their numbers, which count all that were ever recorded.
    revoked: BTreeMap<u64, Revocation>,
    next_number: u64,
    /// The newest day on which anything was recorded, and the guests who came on it.
    today: u64,
    guests_today: u32,
}

/// A guest's way in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Guest {
    /// Number of refresh tokens that were used.
    pub generation: u64,
    /// SHA-256 of the newest refresh token.
    #[serde(with = "crate::stored::fixed")]
    sha256: [u8; 32],
    /// The refresh token before it, and the request that it was used with.
    used: Option<UsedToken>,
    /// Time at which the newest refresh token was given.
    pub given_at: UnixMicros,
    is_revoked: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct UsedToken {
    #[serde(with = "crate::stored::fixed")]
    sha256: [u8; 32],
    request: RequestId,
}

/// Tokens that were revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Revocation {
    pub tokens: RevokedTokens,
    /// Time from which no such token can be good.
    pub forgotten_at: UnixMicros,
}

/// Tokens of a revocation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RevokedTokens {
    Id(String),
    Subject { subject: String, issued_until: UnixMicros },
}

/// Judgement of a refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefreshVerdict {
    /// The newest token: it is used up by this.
    Newest,
    /// The token before the newest, with the request that it was used with.
    Repeated,
    /// A token that was used up by another request.
    Reused,
    /// The player's tokens were revoked.
    Revoked,
    /// It was not used for too long.
    Expired,
    /// None of this room's.
    Forged,
}

impl SignIns {
    pub(crate) fn guest(&self, player: PlayerId) -> Option<&Guest> {
        self.guests.get(&player)
    }

    /// Number of guests who came on the day of `now`.
    pub(crate) const fn guests_on(&self, now: UnixMicros) -> u32 {
        if now.0 / DAY_MICROS > self.today { 0 } else { self.guests_today }
    }

    /// Revocations from a number on that are not forgotten at `now`, with their numbers.
    pub(crate) fn revoked_from(
        &self,
        number: u64,
        now: UnixMicros,
    ) -> impl Iterator<Item = (u64, &Revocation)> {
        let rest = self.revoked.range(number..).map(|(number, revoked)| (*number, revoked));
        rest.filter(move |(_, revoked)| now < revoked.forgotten_at)
    }

    /// Number of the revocation that is recorded next.
    pub(crate) const fn next_number(&self) -> u64 {
        self.next_number
    }

    /// Judges a refresh token that came with a request; `is_ours` where this room has made it.
    pub(crate) fn judge(
        &self,
        token: &RefreshToken,
        is_ours: bool,
        request: RequestId,
        now: UnixMicros,
    ) -> RefreshVerdict {
        let Some(guest) = self.guests.get(&token.player) else {
            return if is_ours { RefreshVerdict::Expired } else { RefreshVerdict::Forged };
        };
        let sha256 = token.sha256();
        let is_newest = sha256 == guest.sha256;
        let used = guest.used.as_ref().filter(|used| used.sha256 == sha256);
        if !is_newest && used.is_none() && !(is_ours && token.generation < guest.generation) {
            return RefreshVerdict::Forged;
        }
        if guest.is_revoked {
            return RefreshVerdict::Revoked;
        }
        if is_newest {
            let is_over = now.since(guest.given_at) >= REFRESH_LIFETIME;
            return if is_over { RefreshVerdict::Expired } else { RefreshVerdict::Newest };
        }
        match used {
            Some(used) if used.request == request => RefreshVerdict::Repeated,
            Some(_) | None => RefreshVerdict::Reused,
        }
    }

    pub(super) fn signed_in(
        &mut self,
        event: &pb::GuestSignedIn,
        place: EventLocation,
    ) -> Result<(), Corrupt> {
        let pb::GuestSignedIn { refresh_sha256 } = event;
        let sha256 = field::exactly("refresh_sha256", refresh_sha256)?;
        self.turn_day(place.at);
        self.guests_today = self.guests_today.saturating_add(1);
        let guest =
            Guest { generation: 0, sha256, used: None, given_at: place.at, is_revoked: false };
        match self.guests.insert(PlayerId(place.stream.0), guest) {
            None => Ok(()),
            Some(_) => Err(Corrupt("a guest who came twice".to_owned())),
        }
    }

    pub(super) fn refreshed(
        &mut self,
        event: &pb::RefreshTokenUsed,
        place: EventLocation,
    ) -> Result<(), Corrupt> {
        let pb::RefreshTokenUsed { generation, refresh_sha256, request_id } = event;
        let guest = self.guests.get_mut(&PlayerId(place.stream.0));
        let guest = guest.filter(|guest| guest.generation + 1 == *generation);
        let guest = guest.ok_or_else(|| Corrupt("a refresh token of nobody".to_owned()))?;
        let request = field::id("request_id", request_id)?;
        let next = field::exactly("refresh_sha256", refresh_sha256)?;
        let sha256 = std::mem::replace(&mut guest.sha256, next);
        guest.used = Some(UsedToken { sha256, request });
        guest.generation = *generation;
        guest.given_at = place.at;
        Ok(())
    }

    pub(super) fn revoked(
        &mut self,
        event: &pb::TokensRevoked,
        place: EventLocation,
    ) -> Result<(), Corrupt> {
        self.turn_day(place.at);
        let issued_until = UnixMicros(event.issued_until_micros);
        let tokens = match &event.tokens {
            Some(pb::tokens_revoked::Tokens::TokenId(id)) => RevokedTokens::Id(id.clone()),
            Some(pb::tokens_revoked::Tokens::Subject(subject)) => {
                let guest = subject.parse::<PlayerId>().ok();
                if let Some(guest) = guest.and_then(|id| self.guests.get_mut(&id)) {
                    guest.is_revoked = true;
                }
                RevokedTokens::Subject { subject: subject.clone(), issued_until }
            }
            None => return Err(Corrupt("a revocation of no tokens".to_owned())),
        };
        let forgotten_at = UnixMicros(event.forget_micros);
        self.revoked.insert(self.next_number, Revocation { tokens, forgotten_at });
        self.next_number += 1;
        Ok(())
    }

    /// Ends a player's way in.
    pub(super) fn erased(&mut self, player: PlayerId) {
        if let Some(guest) = self.guests.get_mut(&player) {
            guest.is_revoked = true;
        }
    }

    /// Forgets what is of no use any more, once a day.
    fn turn_day(&mut self, now: UnixMicros) {
        let day = now.0 / DAY_MICROS;
        if day <= self.today {
            return;
        }
        (self.today, self.guests_today) = (day, 0);
        self.guests.retain(|_, guest| now.since(guest.given_at) < REFRESH_LIFETIME);
        self.revoked.retain(|_, revoked| now < revoked.forgotten_at);
    }
}

#[cfg(test)]
mod tests {
    use eventlog::Position;
    use primitives::StreamId;
    use zeroize::Zeroizing;

    use super::*;
    use crate::people::refresh_token::RefreshSecret;

    const ANN: PlayerId = PlayerId([1; 16]);
    const BEGIN: UnixMicros = UnixMicros(20_000 * DAY_MICROS);

    fn place(stream: StreamId, at: UnixMicros) -> EventLocation {
        EventLocation { stream, position: Position(0), at }
    }

    fn token(generation: u64) -> RefreshToken {
        RefreshSecret::new(Zeroizing::new([1; 32])).token(ANN, generation, RequestId([3; 16]), &[])
    }

    fn came(sign_ins: &mut SignIns, player: PlayerId, at: UnixMicros) {
        let event = pb::GuestSignedIn { refresh_sha256: token(0).sha256().to_vec().into() };
        sign_ins.signed_in(&event, place(player.into(), at)).unwrap();
    }

    fn used(generation: u64, request: u8) -> pb::RefreshTokenUsed {
        pb::RefreshTokenUsed {
            generation,
            refresh_sha256: token(generation).sha256().to_vec().into(),
            request_id: vec![request; 16].into(),
        }
    }

    #[test]
    fn each_token_is_judged_by_what_became_of_it() {
        let mut sign_ins = SignIns::default();
        came(&mut sign_ins, ANN, BEGIN);
        for (generation, request) in [(1, 7), (2, 8)] {
            sign_ins.refreshed(&used(generation, request), place(ANN.into(), BEGIN)).unwrap();
        }
        let judge = |generation, is_ours, request| {
            sign_ins.judge(&token(generation), is_ours, RequestId([request; 16]), BEGIN)
        };
        assert_eq!(judge(2, true, 9), RefreshVerdict::Newest);
        assert_eq!(judge(2, false, 9), RefreshVerdict::Newest, "its hash is on record");
        assert_eq!(judge(1, true, 8), RefreshVerdict::Repeated);
        assert_eq!(judge(1, false, 9), RefreshVerdict::Reused, "its hash is on record");
        assert_eq!(judge(0, true, 7), RefreshVerdict::Reused);
        assert_eq!(judge(0, false, 7), RefreshVerdict::Forged, "of a key that is gone");
        assert_eq!(judge(3, true, 9), RefreshVerdict::Forged, "never given");
    }

    #[test]
    fn events_that_cannot_be_are_damage() {
        let mut sign_ins = SignIns::default();
        came(&mut sign_ins, ANN, BEGIN);
        let twice = pb::GuestSignedIn { refresh_sha256: vec![1; 32].into() };
        assert!(sign_ins.signed_in(&twice, place(ANN.into(), BEGIN)).is_err());
        assert!(sign_ins.refreshed(&used(2, 7), place(ANN.into(), BEGIN)).is_err(), "a gap");
        let nobody = place(StreamId([9; 16]), BEGIN);
        assert!(sign_ins.refreshed(&used(1, 7), nobody).is_err());
        assert!(sign_ins.revoked(&pb::TokensRevoked::default(), nobody).is_err());
    }

    #[test]
    fn what_nobody_can_come_in_by_is_forgotten() {
        let mut sign_ins = SignIns::default();
        came(&mut sign_ins, ANN, BEGIN);
        let revoked = pb::TokensRevoked {
            tokens: Some(pb::tokens_revoked::Tokens::TokenId("one".to_owned())),
            forget_micros: BEGIN.plus(REFRESH_LIFETIME).0,
            ..pb::TokensRevoked::default()
        };
        sign_ins.revoked(&revoked, place(StreamId::REVOCATIONS, BEGIN)).unwrap();
        let later = BEGIN.plus(REFRESH_LIFETIME);
        assert_eq!(sign_ins.revoked_from(0, BEGIN).count(), 1);
        assert_eq!(sign_ins.revoked_from(0, later).count(), 0);
        assert_eq!((sign_ins.guests_on(BEGIN), sign_ins.guests_on(later)), (1, 0));
        came(&mut sign_ins, PlayerId([2; 16]), later);
        assert!(sign_ins.guest(ANN).is_none() && sign_ins.revoked.is_empty());
        assert_eq!((sign_ins.next_number(), sign_ins.guests_on(later)), (1, 1));
        let gone = sign_ins.judge(&token(0), true, RequestId([9; 16]), later);
        assert_eq!(gone, RefreshVerdict::Expired);
    }
}
