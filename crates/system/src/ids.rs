//! Generator of identifiers.
//!
//! Tables, disputes and requests get a UUIDv7. Its order is nearly that of time, so an index over
//! them grows at one end. Players get a random id: a pseudonym must not reveal when its owner
//! joined.

use std::sync::Arc;

use primitives::{DisputeId, PlayerId, RequestId, TableId};

use crate::clock::{Clock, SystemClock};
use crate::entropy::{self, Entropy, SystemEntropy};

/// Makes identifiers from a clock and a source of entropy. Cheap to clone.
#[derive(Clone)]
pub struct IdMaker {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl IdMaker {
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> IdMaker {
        IdMaker { clock, entropy }
    }

    /// Generator that uses the machine's clock and entropy.
    #[must_use]
    pub fn system() -> IdMaker {
        IdMaker::new(Arc::new(SystemClock::new()), Arc::new(SystemEntropy))
    }

    #[must_use]
    pub fn table_id(&self) -> TableId {
        TableId(self.uuid_v7())
    }

    #[must_use]
    pub fn request_id(&self) -> RequestId {
        RequestId(self.uuid_v7())
    }

    #[must_use]
    pub fn dispute_id(&self) -> DisputeId {
        DisputeId(self.uuid_v7())
    }

    #[must_use]
    pub fn player_id(&self) -> PlayerId {
        PlayerId(self.uuid_v4())
    }

    /// Random UUID, version 4.
    #[must_use]
    pub fn uuid_v4(&self) -> [u8; 16] {
        uuid::Builder::from_random_bytes(entropy::bytes(&*self.entropy)).into_uuid().into_bytes()
    }

    /// UUID version 7: Unix milliseconds, the fraction of the millisecond in 12 bits, 62 random
    /// bits.
    #[must_use]
    pub fn uuid_v7(&self) -> [u8; 16] {
        let micros = self.clock.now().0;
        let fraction = (micros % 1000) * 4096 / 1000;
        let fraction = u16::try_from(fraction).expect("less than 4096").to_be_bytes();
        let [a, b, c, d, e, f, g, h] = entropy::bytes(&*self.entropy);
        let [high, low] = fraction;
        uuid::Builder::from_unix_timestamp_millis(
            micros / 1000,
            &[high, low, a, b, c, d, e, f, g, h],
        )
        .into_uuid()
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use primitives::UnixMicros;

    use super::*;
    use crate::clock::ManualClock;
    use crate::entropy::SeededEntropy;

    #[test]
    fn version_7_ids_follow_the_clock_microsecond_by_microsecond() {
        let clock = Arc::new(ManualClock::new(UnixMicros(1_700_000_000_123_000)));
        let ids =
            IdMaker::new(Arc::clone(&clock) as Arc<dyn Clock>, Arc::new(SeededEntropy::new(1)));
        let mut last = ids.table_id();
        for _ in 0..3000 {
            clock.advance(Duration::from_micros(1));
            let next = ids.table_id();
            assert!(next > last, "{next} after {last}");
            last = next;
        }
        let uuid = uuid::Uuid::from_bytes(last.0);
        assert_eq!(uuid.get_version_num(), 7);
        assert_eq!(uuid.get_variant(), uuid::Variant::RFC4122);
        assert_eq!(uuid.get_timestamp().unwrap().to_unix().0, 1_700_000_000);
    }

    #[test]
    fn players_are_random_and_say_so() {
        let ids = IdMaker::system();
        let (one, two) = (ids.player_id(), ids.player_id());
        assert_ne!(one, two);
        assert_eq!(uuid::Uuid::from_bytes(one.0).get_version_num(), 4);
        assert_ne!(ids.request_id(), ids.request_id());
    }
}
