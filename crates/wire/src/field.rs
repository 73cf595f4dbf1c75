//! Fields of requests: presence, shape, range. Each error names its field.

use primitives::{Credits, PlayerId, RequestId, SeatNo, TableId};

/// A field that cannot be what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct BadField {
    /// The field's name as the protobuf file spells it, with its path, such as `move.cards[0]`.
    pub field: String,
    /// What is wrong, and what is allowed.
    pub problem: String,
}

impl BadField {
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> BadField {
        BadField { field: field.into(), problem: problem.into() }
    }
}

/// An id of 16 bytes, of any kind.
pub fn id<'a, T: TryFrom<&'a [u8]>>(field: &str, bytes: &'a [u8]) -> Result<T, BadField> {
    T::try_from(bytes).map_err(|_| {
        let problem = match bytes.len() {
            16 => "an id that services keep for themselves: make up another".to_owned(),
            length => format!("an id is 16 bytes; this has {length} bytes"),
        };
        BadField::new(field, problem)
    })
}

/// The id of a command.
pub fn request_id(bytes: &[u8]) -> Result<RequestId, BadField> {
    if bytes.is_empty() {
        let problem = "missing: 16 bytes that you make up, and send again when you repeat the call";
        return Err(BadField::new("request_id", problem));
    }
    let id: RequestId = id("request_id", bytes)?;
    if id.0 == [0; 16] {
        return Err(BadField::new("request_id", "16 zero bytes name nothing: make up an id"));
    }
    Ok(id)
}

/// A table's id.
pub fn table_id(bytes: &[u8]) -> Result<TableId, BadField> {
    id("table_id", bytes)
}

/// A player's id.
pub fn player_id(bytes: &[u8]) -> Result<PlayerId, BadField> {
    id("player_id", bytes)
}

/// An amount of credits.
pub fn credits(field: &str, amount: u64) -> Result<Credits, BadField> {
    Credits::try_new(amount).map_err(|error| BadField::new(field, error.to_string()))
}

/// An amount of at least one credit.
pub fn positive(field: &str, amount: u64) -> Result<Credits, BadField> {
    if amount == 0 {
        Err(BadField::new(field, "at least 1 credit"))
    } else {
        credits(field, amount)
    }
}

/// A seat's number.
pub fn seat(field: &str, number: u32) -> Result<SeatNo, BadField> {
    SeatNo::try_from(number).map_err(|error| BadField::new(field, error.to_string()))
}

/// Exactly `N` bytes.
pub fn exactly<const N: usize>(field: &str, bytes: &[u8]) -> Result<[u8; N], BadField> {
    bytes
        .try_into()
        .map_err(|_| BadField::new(field, format!("{N} bytes; this has {} bytes", bytes.len())))
}

/// Text of `min` to `max` characters, none of them a control character.
pub fn text(field: &str, text: &str, min: usize, max: usize) -> Result<String, BadField> {
    let length = text.chars().count();
    if length < min || length > max {
        let problem = format!("{min} to {max} characters; this has {length}");
        return Err(BadField::new(field, problem));
    }
    if text.chars().any(char::is_control) {
        return Err(BadField::new(field, "control characters are not allowed"));
    }
    Ok(text.to_owned())
}
