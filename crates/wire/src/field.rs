//! Fields of requests: presence, shape, range. Each error names its field.

use std::str::FromStr;

use primitives::{Credits, PlayerId, Quoted, RequestId, SeatNo, StreamId, TableId};

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

/// Form in which a message has an id: text in the public API, 16 bytes in the log and between
/// services.
pub trait IdForm {
    fn is_absent(&self) -> bool;

    /// Parses the id; the error says what is wrong with the form.
    fn parse<T: AnyId>(&self) -> Result<T, String>;
}

/// Id of any kind.
pub trait AnyId: for<'a> TryFrom<&'a [u8]> + FromStr {}

impl<T: for<'a> TryFrom<&'a [u8]> + FromStr> AnyId for T {}

const RESERVED: &str = "an id that services keep for themselves: make up another";

/// A UUID in one spelling: 36 characters, lower case, with hyphens.
impl IdForm for str {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }

    fn parse<T: AnyId>(&self) -> Result<T, String> {
        let spelled = self.len() == 36 && !self.bytes().any(|byte| byte.is_ascii_uppercase());
        if spelled && let Ok(id) = T::from_str(self) {
            return Ok(id);
        }
        Err(if spelled && StreamId::from_str(self).is_ok() {
            RESERVED.to_owned()
        } else {
            format!("a UUID such as {EXAMPLE}, in lower case; this is {}", Quoted(self))
        })
    }
}

/// UUID that errors give as an example.
const EXAMPLE: &str = "0198f0c2-7a3e-7000-8000-000000000001";

impl IdForm for [u8] {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }

    fn parse<T: AnyId>(&self) -> Result<T, String> {
        T::try_from(self).map_err(|_| match self.len() {
            16 => RESERVED.to_owned(),
            length => format!("an id is 16 bytes; this has {length} bytes"),
        })
    }
}

macro_rules! form_of {
    ($($owner:ty => $form:ty),*) => {$(
        impl IdForm for $owner {
            fn is_absent(&self) -> bool {
                self.is_empty()
            }

            fn parse<T: AnyId>(&self) -> Result<T, String> {
                <$form as IdForm>::parse(self)
            }
        }
    )*};
}

form_of!(String => str, Vec<u8> => [u8], bytes::Bytes => [u8]);

/// Parses an id of any kind.
pub fn id<T: AnyId>(field: &str, form: &(impl IdForm + ?Sized)) -> Result<T, BadField> {
    form.parse().map_err(|problem| BadField::new(field, problem))
}

/// Whether a text is this id.
#[must_use]
pub fn is_id<T: AnyId + Copy + PartialEq>(text: &str, id: T) -> bool {
    IdForm::parse(text).is_ok_and(|read: T| read == id)
}

/// Parses the id of a command, which is not all zero.
pub fn request_id(form: &(impl IdForm + ?Sized)) -> Result<RequestId, BadField> {
    if form.is_absent() {
        let problem = "missing: a UUID that you make up, and send again when you repeat the call";
        return Err(BadField::new("request_id", problem));
    }
    let id: RequestId = id("request_id", form)?;
    if id.0 == [0; 16] {
        return Err(BadField::new("request_id", "an id of zeros names nothing: make up another"));
    }
    Ok(id)
}

/// Parses the id of a table.
pub fn table_id(form: &(impl IdForm + ?Sized)) -> Result<TableId, BadField> {
    id("table_id", form)
}

/// Parses the id of a player.
pub fn player_id(form: &(impl IdForm + ?Sized)) -> Result<PlayerId, BadField> {
    id("player_id", form)
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

/// Parses the size of a page: 0 is the default, and more than `most` is `most`.
pub fn page_size(size: i32, default: usize, most: usize) -> Result<usize, BadField> {
    match usize::try_from(size) {
        Ok(0) => Ok(default),
        Ok(size) => Ok(size.min(most)),
        Err(_) => Err(BadField::new("page_size", "0 or more")),
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

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "0198f0c2-7a3e-7000-8000-0000000000ff";

    #[test]
    fn an_id_is_read_from_its_one_spelling_and_written_so() {
        let read = table_id(TEXT).unwrap();
        assert_eq!(read.to_string(), TEXT);
        assert_eq!(table_id(read.bytes().as_slice()).unwrap(), read);
        for other in [
            "",
            "0198F0C2-7A3E-7000-8000-0000000000FF",
            "0198f0c2-7a3e-7000-8000-0000000000fF",
            "0198f0c27a3e700080000000000000ff",
            "{0198f0c2-7a3e-7000-8000-0000000000ff}",
            "urn:uuid:0198f0c2-7a3e-7000-8000-0000000000ff",
            " 0198f0c2-7a3e-7000-8000-0000000000ff",
            "0198f0c2-7a3e-7000-8000-0000000000f",
            "0198f0c2-7a3e-7000-80000-000000000ff",
            "0198f0c2-7a3e-7000-8000-0000000000é",
            "g198f0c2-7a3e-7000-8000-0000000000ff",
        ] {
            let bad = table_id(other).unwrap_err();
            assert_eq!(bad.field, "table_id");
            assert!(bad.problem.contains(EXAMPLE), "{other}: {bad}");
        }
    }

    #[test]
    fn an_id_of_a_service_is_refused_in_either_form() {
        let clock = StreamId::CLOCK;
        assert_eq!(table_id(clock.to_string().as_str()).unwrap_err().problem, RESERVED);
        assert_eq!(table_id(clock.bytes().as_slice()).unwrap_err().problem, RESERVED);
        assert_eq!(id::<StreamId>("stream_id", clock.to_string().as_str()), Ok(clock));
    }

    #[test]
    fn a_page_has_at_most_what_there_is_of_it() {
        assert_eq!(
            [0, 1, 500, 501, i32::MAX].map(|size| page_size(size, 100, 500).unwrap()),
            [100, 1, 500, 500, 500]
        );
        assert_eq!(page_size(-1, 100, 500).unwrap_err().field, "page_size");
    }

    #[test]
    fn a_command_needs_an_id_that_names_something() {
        assert!(request_id("").unwrap_err().problem.starts_with("missing"));
        let zeros = request_id("00000000-0000-0000-0000-000000000000").unwrap_err();
        assert!(zeros.problem.contains("zeros"), "{zeros}");
        assert!(request_id(TEXT).is_ok());
    }
}
