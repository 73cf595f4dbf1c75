//! Id of the command that a unary call carries, for its refusals to name.

use std::sync::{Arc, OnceLock};

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// Bytes of a UUID as text.
const BYTES: usize = 36;

/// Place for the `request_id` of a call's message. It is made with the call's span, lies in the
/// request's extensions, and is filled by the layer that reads the message. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandId(Arc<OnceLock<[u8; BYTES]>>);

impl CommandId {
    /// Takes the id out of a message, where it is spelled as a UUID. The first one stays.
    pub(super) fn read(&self, message: &[u8], field: u32) {
        if let Some(id) = text_field(message, field).and_then(uuid) {
            // Whoever reads the message again reads the same.
            let _ = self.0.set(id);
        }
    }

    /// Id as text; `None` before the message is read, and where it has none.
    pub(crate) fn text(&self) -> Option<&str> {
        self.0.get().and_then(|id| std::str::from_utf8(id).ok())
    }
}

/// Content of a field of a message that has a length, at its first place.
fn text_field(mut rest: &[u8], field: u32) -> Option<&[u8]> {
    while !rest.is_empty() {
        let (number, kind) = decode_key(&mut rest).ok()?;
        if number == field && kind == WireType::LengthDelimited {
            let length = usize::try_from(decode_varint(&mut rest).ok()?).ok()?;
            return rest.get(..length);
        }
        skip_field(kind, number, &mut rest, DecodeContext::default()).ok()?;
    }
    None
}

fn uuid(text: &[u8]) -> Option<[u8; BYTES]> {
    let spelled = text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
    text.try_into().ok().filter(|_| spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0198f0c2-7a3e-7000-8000-000000000001";

    fn read(message: &[u8], field: u32) -> Option<String> {
        let id = CommandId::default();
        id.read(message, field);
        id.text().map(str::to_owned)
    }

    fn text(field: u8, text: &str) -> Vec<u8> {
        [&[field << 3 | 2, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat()
    }

    #[test]
    fn an_id_is_read_wherever_its_field_stands() {
        let number = [0x10, 0x96, 0x01];
        assert_eq!(read(&text(1, ID), 1).as_deref(), Some(ID));
        let behind = [&text(7, "else")[..], &number, &text(1, ID)].concat();
        assert_eq!(read(&behind, 1).as_deref(), Some(ID));
        assert_eq!(read(&behind, 3), None);
    }

    #[test]
    fn nothing_but_a_uuid_is_repeated() {
        let long = "a".repeat(37);
        for other in ["", "0101", &ID.to_uppercase(), &ID.replace('-', "\n"), &long] {
            assert_eq!(read(&text(1, other), 1), None, "{other:?}");
        }
        for broken in [&b"\x0a\xff\xff\xff\x7f"[..], b"\x0a\x24abc", b"\x0f", b"\x0b\x0b"] {
            assert_eq!(read(broken, 1), None, "{broken:?}");
        }
    }
}
