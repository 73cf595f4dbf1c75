//! Histories of a hand, one for each viewer.

use audit::hand::{HandPlayer, HandRecords, ViewerHistory};
use primitives::PlayerId;
use prost::Message as _;
use proto::common::v1::ErrorReason;
use proto::history::v1 as pb;
use wire::status::{ApiRefusal, api_refusal};

use super::collect::HandProgress;

/// Program that the histories name.
const ENGINE: &str = concat!("sabacc ", env!("CARGO_PKG_VERSION"));

/// Histories of one hand: as everybody sees it, then as each player who was dealt in.
#[derive(Debug, Clone, Default)]
pub(super) struct Histories(Vec<History>);

/// A history as message and as text.
#[derive(Debug, Clone)]
pub(super) struct History {
    /// `None`: as everybody sees it.
    pub(super) viewer: Option<HandPlayer>,
    pub(super) history: pb::HandHistory,
    pub(super) text: String,
}

impl Histories {
    /// Writes the histories of a hand.
    ///
    /// # Errors
    /// The hand is not over, its seed is not open, or its records cannot be replayed.
    pub(super) fn of(
        records: &HandRecords,
        progress: HandProgress,
    ) -> Result<Histories, ApiRefusal> {
        let HandProgress { is_over, is_seed_open } = progress;
        if !is_over {
            let words = "the hand is in play: ask again when it has ended";
            return Err(api_refusal(ErrorReason::HandInPlay, words));
        }
        let histories = audit::hand::histories(records, ENGINE).map_err(|why| {
            if is_seed_open {
                let words = format!("the hand cannot be written down: {why}");
                return api_refusal(ErrorReason::Corrupt, words);
            }
            let words = "the hand's seed is not open yet: ask again when it is";
            api_refusal(ErrorReason::SeedNotOpen, words)
        })?;
        Ok(Histories(histories.into_iter().map(History::of).collect()))
    }

    /// The history for a player, where they were dealt in; else as everybody sees it.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn history_for(&self, player: Option<PlayerId>) -> Result<&History, ApiRefusal> {
        let is_of = |history: &&History| {
            player.is_some() && history.viewer.map(|viewer| viewer.player) == player
        };
        let public = || self.0.iter().find(|history| history.viewer.is_none());
        let found = self.0.iter().find(is_of).or_else(public);
        found.ok_or_else(|| api_refusal(ErrorReason::Corrupt, "the hand has no history"))
    }

    /// Bytes that the histories take.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|history| history.history.encoded_len() + history.text.len()).sum()
    }
}

impl History {
    fn of(viewed: ViewerHistory) -> History {
        let ViewerHistory { viewer, history } = viewed;
        let message = wire::history::write(&history);
        History { viewer, history: message, text: ::history::write(&[history]) }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use audit::bundle::{Bundle, TrustedKeys};

    use super::*;

    fn histories(name: &str, progress: HandProgress) -> Result<Histories, ErrorReason> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/bundles");
        let keys = std::fs::read_to_string(folder.join("keys.txt")).unwrap();
        let bytes = std::fs::read(folder.join(format!("{name}.sabacc"))).unwrap();
        let bundle = Bundle::parse(&bytes).unwrap();
        let records = bundle.records(&TrustedKeys::parse(&keys).unwrap());
        Histories::of(&records, progress).map_err(|refused| refused.reason())
    }

    const OPEN: HandProgress = HandProgress { is_over: true, is_seed_open: true };
    const OWED: HandProgress = HandProgress { is_over: true, is_seed_open: false };
    const IN_PLAY: HandProgress = HandProgress { is_over: false, is_seed_open: false };

    #[test]
    fn a_player_gets_their_own_view_and_a_stranger_that_of_everybody() {
        let histories = histories("spike-long", OPEN).unwrap();
        let players: Vec<_> = histories.0.iter().filter_map(|history| history.viewer).collect();
        assert!(players.len() > 1);
        for player in &players {
            let viewed = histories.history_for(Some(player.player)).unwrap();
            assert_eq!(viewed.viewer, Some(*player));
            let read = ::history::read(viewed.text.as_bytes()).unwrap().remove(0).unwrap();
            assert_eq!(wire::history::write(&read), viewed.history);
        }
        for stranger in [None, Some(PlayerId([0xee; 16]))] {
            assert_eq!(histories.history_for(stranger).unwrap().viewer, None);
        }
        assert!(histories.bytes() > histories.0[0].text.len());
    }

    #[test]
    fn what_cannot_be_written_says_why() {
        let refused = |name, progress| histories(name, progress).map(drop).unwrap_err();
        assert_eq!(refused("suspended-with-secrets", IN_PLAY), ErrorReason::HandInPlay);
        // It could be replayed, and has not ended by its table's word.
        assert_eq!(refused("spike-long", IN_PLAY), ErrorReason::HandInPlay);
        assert_eq!(refused("seed-owed", OWED), ErrorReason::SeedNotOpen);
        assert_eq!(refused("operations-other-result", OPEN), ErrorReason::Corrupt);
        assert!(histories("burnt-by-all", OWED).is_ok(), "nothing was dealt");
    }
}
