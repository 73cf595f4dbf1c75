//! Forms of events, updates and protobuf enums in a snapshot.

/// Event of the table's log, if there is one: its type and its payload.
pub(crate) mod optional_record {
    use base64ct::{Base64, Encoding as _};
    use proto::event::v1::EventType;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};
    use wire::{Record as _, TableRecord};

    #[expect(clippy::ref_option, reason = "the shape that serde asks for")]
    pub(crate) fn serialize<S: Serializer>(
        record: &Option<Box<TableRecord>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let text = |record: &TableRecord| {
            (i32::from(record.event_type()), Base64::encode_string(&record.payload()))
        };
        record.as_deref().map(text).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Box<TableRecord>>, D::Error> {
        let Some((kind, payload)) = Option::<(i32, String)>::deserialize(from)? else {
            return Ok(None);
        };
        let payload = Base64::decode_vec(&payload).map_err(D::Error::custom)?;
        let kind = EventType::try_from(kind).map_err(D::Error::custom)?;
        let record = TableRecord::decode(kind, &payload)
            .ok_or_else(|| D::Error::custom("an event of another log"))?;
        record.map(|record| Some(Box::new(record))).map_err(D::Error::custom)
    }
}

/// Content of an update, if there is one.
pub(crate) mod optional_update {
    use proto::table::v1::TableUpdate;
    use proto::table::v1::table_update::What;
    use serde::{Deserializer, Serializer};

    use crate::stored::optional_message;

    #[expect(clippy::ref_option, reason = "the shape that serde asks for")]
    pub(crate) fn serialize<S: Serializer>(
        update: &Option<Box<What>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let whole = update
            .as_deref()
            .map(|what| TableUpdate { what: Some(what.clone()), ..TableUpdate::default() });
        optional_message::serialize(&whole, to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Box<What>>, D::Error> {
        let whole: Option<TableUpdate> = optional_message::deserialize(from)?;
        Ok(whole.and_then(|update| update.what).map(Box::new))
    }
}

/// Value of a protobuf enum, if there is one: its number.
pub(crate) mod optional_enum {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};

    pub(crate) fn serialize<E: Copy + Into<i32>, S: Serializer>(
        value: &Option<E>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.map(Into::into).serialize(to)
    }

    pub(crate) fn deserialize<'de, E: TryFrom<i32>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<E>, D::Error> {
        let Some(number) = Option::<i32>::deserialize(from)? else { return Ok(None) };
        let value = E::try_from(number);
        value.map(Some).map_err(|_| D::Error::custom(format!("{number} is no such value")))
    }
}

/// Value of a protobuf enum and something else, if there is one.
pub(crate) mod optional_enum_pair {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

    pub(crate) fn serialize<E: Copy + Into<i32>, T: Serialize, S: Serializer>(
        pair: &Option<(E, T)>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        pair.as_ref().map(|(value, other)| ((*value).into(), other)).serialize(to)
    }

    pub(crate) fn deserialize<'de, E: TryFrom<i32>, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<(E, T)>, D::Error> {
        let Some((number, other)) = Option::<(i32, T)>::deserialize(from)? else {
            return Ok(None);
        };
        let value = E::try_from(number);
        let value = value.map_err(|_| D::Error::custom(format!("{number} is no such value")))?;
        Ok(Some((value, other)))
    }
}
