//! Fields of requests: presence, shape, range. Each error names its field.

use primitives::{Credits, PlayerId, RequestId, SeatNo, TableId};

/// Error of a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct BadField {
    /// Path of the field with the names of the protobuf file, such as `move.cards[0]`.
    pub field: String,
    /// Explanation of the fault, and of what is allowed.
    pub problem: String,
}

impl BadField {
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> BadField {
        BadField { field: field.into(), problem: problem.into() }
    }
}

/// Parses an id of any kind: 16 bytes.
pub fn id<'a, T: TryFrom<&'a [u8]>>(field: &str, bytes: &'a [u8]) -> Result<T, BadField> {
    T::try_from(bytes).map_err(|_| {
        let problem = match bytes.len() {
            16 => "an id that services keep for themselves: make up another".to_owned(),
            length => format!("an id is 16 bytes; this has {length} bytes"),
        };
        BadField::new(field, problem)
    })
}

/// Parses the id of a command: 16 bytes, not all zero.
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

/// Parses the id of a table.
pub fn table_id(bytes: &[u8]) -> Result<TableId, BadField> {
    id("table_id", bytes)
}

/// Parses the id of a player.
pub fn player_id(bytes: &[u8]) -> Result<PlayerId, BadField> {
    id("player_id", bytes)
}

/// Parses an amount of credits.
pub fn credits(field: &str, amount: u64) -> Result<Credits, BadField> {
    Credits::try_new(amount).map_err(|error| BadField::new(field, error.to_string()))
}

/// Parses an amount of at least one credit.
pub fn positive(field: &str, amount: u64) -> Result<Credits, BadField> {
    if amount == 0 {
        Err(BadField::new(field, "at least 1 credit"))
    } else {
        credits(field, amount)
    }
}

/// Parses the number of a seat.
pub fn seat(field: &str, number: u32) -> Result<SeatNo, BadField> {
    SeatNo::try_from(number).map_err(|error| BadField::new(field, error.to_string()))
}

/// Parses exactly `N` bytes.
pub fn exactly<const N: usize>(field: &str, bytes: &[u8]) -> Result<[u8; N], BadField> {
    bytes
        .try_into()
        .map_err(|_| BadField::new(field, format!("{N} bytes; this has {} bytes", bytes.len())))
}

/// Parses a text of `min` to `max` characters without control characters.
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
