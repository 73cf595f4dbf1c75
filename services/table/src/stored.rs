//! Forms of values in a snapshot whose types have none: protobuf messages, and bytes of the fairness
//! protocol. Both are text in base64, so a snapshot is JSON. Maps whose keys are no text are lists of
//! pairs.
//!
//! Each module here is for `#[serde(with = "…")]`.

mod records;

use base64ct::{Base64, Encoding as _};
use fairness::{ClientCommitment, Context, Entropy, PlayerKey};
use prost::Message;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

pub(crate) use records::{optional_enum, optional_enum_pair, optional_record, optional_update};

/// Value of fixed bytes.
trait FixedBytes: Copy {
    fn to_array(self) -> [u8; 32];
    /// `None` for bytes that are no such value.
    fn from_array(bytes: [u8; 32]) -> Option<Self>;
}

impl FixedBytes for [u8; 32] {
    fn to_array(self) -> [u8; 32] {
        self
    }

    fn from_array(bytes: [u8; 32]) -> Option<[u8; 32]> {
        Some(bytes)
    }
}

impl FixedBytes for ClientCommitment {
    fn to_array(self) -> [u8; 32] {
        self.0
    }

    fn from_array(bytes: [u8; 32]) -> Option<ClientCommitment> {
        Some(ClientCommitment(bytes))
    }
}

impl FixedBytes for Context {
    fn to_array(self) -> [u8; 32] {
        self.0
    }

    fn from_array(bytes: [u8; 32]) -> Option<Context> {
        Some(Context(bytes))
    }
}

impl FixedBytes for fairness::Commitment {
    fn to_array(self) -> [u8; 32] {
        self.0
    }

    fn from_array(bytes: [u8; 32]) -> Option<fairness::Commitment> {
        Some(fairness::Commitment(bytes))
    }
}

/// Entropy that a seat has revealed, which is in the log.
impl FixedBytes for Entropy {
    fn to_array(self) -> [u8; 32] {
        self.0
    }

    fn from_array(bytes: [u8; 32]) -> Option<Entropy> {
        Some(Entropy(bytes))
    }
}

impl FixedBytes for PlayerKey {
    fn to_array(self) -> [u8; 32] {
        *self.bytes()
    }

    fn from_array(bytes: [u8; 32]) -> Option<PlayerKey> {
        PlayerKey::try_new(bytes).ok()
    }
}

/// Fixed bytes as text.
struct FixedText<T>(T);

impl<T: FixedBytes> Serialize for FixedText<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&Base64::encode_string(&self.0.to_array()))
    }
}

impl<'de, T: FixedBytes> Deserialize<'de> for FixedText<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<FixedText<T>, D::Error> {
        let bytes = decoded::<D>(&String::deserialize(from)?)?;
        let bytes = <[u8; 32]>::try_from(bytes).ok().and_then(T::from_array);
        bytes.map(FixedText).ok_or_else(|| D::Error::custom("not the bytes of such a value"))
    }
}

/// Protobuf message as text.
struct MessageText<M>(M);

impl<M: Message> Serialize for MessageText<&M> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&Base64::encode_string(&self.0.encode_to_vec()))
    }
}

impl<'de, M: Message + Default> Deserialize<'de> for MessageText<M> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<MessageText<M>, D::Error> {
        let bytes = decoded::<D>(&String::deserialize(from)?)?;
        M::decode(&bytes[..]).map(MessageText).map_err(D::Error::custom)
    }
}

fn decoded<'de, D: Deserializer<'de>>(text: &str) -> Result<Vec<u8>, D::Error> {
    Base64::decode_vec(text).map_err(D::Error::custom)
}

/// Bytes of any length.
pub(crate) mod bytes {
    use super::{Base64, Deserialize as _, Deserializer, Serializer, decoded};
    use base64ct::Encoding as _;

    pub(crate) fn serialize<S: Serializer>(
        bytes: &impl AsRef<[u8]>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(&Base64::encode_string(bytes.as_ref()))
    }

    pub(crate) fn deserialize<'de, T: From<Vec<u8>>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        decoded::<D>(&String::deserialize(from)?).map(T::from)
    }
}

/// Bytes of fixed length.
pub(crate) mod fixed {
    use super::{
        Deserialize as _, Deserializer, FixedBytes, FixedText, Serialize as _, Serializer,
    };

    #[expect(private_bounds, reason = "the trait is for this file's types alone")]
    pub(crate) fn serialize<T: FixedBytes, S: Serializer>(
        value: &T,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        FixedText(*value).serialize(to)
    }

    #[expect(private_bounds, reason = "the trait is for this file's types alone")]
    pub(crate) fn deserialize<'de, T: FixedBytes, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        FixedText::deserialize(from).map(|text| text.0)
    }
}

/// Bytes of fixed length, if there are any.
pub(crate) mod optional_fixed {
    use super::{
        Deserialize as _, Deserializer, FixedBytes, FixedText, Serialize as _, Serializer,
    };

    #[expect(private_bounds, reason = "the trait is for this file's types alone")]
    pub(crate) fn serialize<T: FixedBytes, S: Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.map(FixedText).serialize(to)
    }

    #[expect(private_bounds, reason = "the trait is for this file's types alone")]
    pub(crate) fn deserialize<'de, T: FixedBytes, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        Ok(Option::<FixedText<T>>::deserialize(from)?.map(|text| text.0))
    }
}

/// Bytes of fixed length by seat.
pub(crate) mod fixed_by_seat {
    use std::collections::BTreeMap;

    use super::{Deserialize as _, Deserializer, FixedBytes, FixedText, Serializer};
    use primitives::SeatNo;

    #[expect(private_bounds, reason = "the trait is for this file's types alone")]
    pub(crate) fn serialize<T: FixedBytes, S: Serializer>(
        values: &BTreeMap<SeatNo, T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(values.iter().map(|(seat, value)| (seat, FixedText(*value))))
    }

    #[expect(private_bounds, reason = "the trait is for this file's types alone")]
    pub(crate) fn deserialize<'de, T: FixedBytes, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<SeatNo, T>, D::Error> {
        let values = BTreeMap::<SeatNo, FixedText<T>>::deserialize(from)?;
        Ok(values.into_iter().map(|(seat, text)| (seat, text.0)).collect())
    }
}

/// Protobuf message.
pub(crate) mod message {
    use super::{Deserialize as _, Deserializer, Message, MessageText, Serialize as _, Serializer};

    pub(crate) fn serialize<M: Message, S: Serializer>(
        message: &M,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        MessageText(message).serialize(to)
    }

    pub(crate) fn deserialize<'de, M: Message + Default, D: Deserializer<'de>>(
        from: D,
    ) -> Result<M, D::Error> {
        MessageText::deserialize(from).map(|text| text.0)
    }
}

/// Protobuf message, if there is one.
pub(crate) mod optional_message {
    use super::{Deserialize as _, Deserializer, Message, MessageText, Serialize as _, Serializer};

    pub(crate) fn serialize<M: Message, S: Serializer>(
        message: &Option<M>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        message.as_ref().map(MessageText).serialize(to)
    }

    pub(crate) fn deserialize<'de, M: Message + Default, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<M>, D::Error> {
        Ok(Option::<MessageText<M>>::deserialize(from)?.map(|text| text.0))
    }
}

/// Shared protobuf message, if there is one.
pub(crate) mod shared_message {
    use std::sync::Arc;

    use super::{Deserializer, Message, MessageText, Serialize as _, Serializer, optional_message};

    pub(crate) fn serialize<M: Message, S: Serializer>(
        message: &Option<Arc<M>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        message.as_deref().map(MessageText).serialize(to)
    }

    pub(crate) fn deserialize<'de, M: Message + Default, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<M>>, D::Error> {
        Ok(optional_message::deserialize(from)?.map(Arc::new))
    }
}

/// Protobuf message and something else, if there is one.
pub(crate) mod optional_message_pair {
    use super::{Deserialize, Deserializer, Message, MessageText, Serialize, Serializer};

    pub(crate) fn serialize<M: Message, T: Serialize, S: Serializer>(
        pair: &Option<(M, T)>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        pair.as_ref().map(|(message, other)| (MessageText(message), other)).serialize(to)
    }

    pub(crate) fn deserialize<
        'de,
        M: Message + Default,
        T: Deserialize<'de>,
        D: Deserializer<'de>,
    >(
        from: D,
    ) -> Result<Option<(M, T)>, D::Error> {
        let pair = Option::<(MessageText<M>, T)>::deserialize(from)?;
        Ok(pair.map(|(text, other)| (text.0, other)))
    }
}

/// Protobuf messages behind something else each.
pub(crate) mod message_pairs {
    use super::{Deserialize, Deserializer, Message, MessageText, Serialize, Serializer};

    pub(crate) fn serialize<K: Serialize, M: Message, S: Serializer>(
        pairs: &[(K, M)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(pairs.iter().map(|(key, message)| (key, MessageText(message))))
    }

    pub(crate) fn deserialize<
        'de,
        K: Deserialize<'de>,
        M: Message + Default,
        D: Deserializer<'de>,
    >(
        from: D,
    ) -> Result<Vec<(K, M)>, D::Error> {
        let pairs = Vec::<(K, MessageText<M>)>::deserialize(from)?;
        Ok(pairs.into_iter().map(|(key, text)| (key, text.0)).collect())
    }
}

/// Map as a list of pairs.
pub(crate) mod pairs {
    use std::collections::BTreeMap;

    use super::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub(crate) fn deserialize<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(from)?.into_iter().collect())
    }
}

/// Maps by number, each as a list of pairs.
pub(crate) mod pairs_by_number {
    use std::collections::BTreeMap;

    use super::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        maps: &BTreeMap<u64, BTreeMap<K, V>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(maps.iter().map(|(number, map)| (number, map.iter().collect::<Vec<_>>())))
    }

    pub(crate) fn deserialize<'de, K, V, D>(
        from: D,
    ) -> Result<BTreeMap<u64, BTreeMap<K, V>>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        let maps = BTreeMap::<u64, Vec<(K, V)>>::deserialize(from)?;
        Ok(maps.into_iter().map(|(number, pairs)| (number, pairs.into_iter().collect())).collect())
    }
}
