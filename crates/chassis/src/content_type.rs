//! Protocols of remote calls, distinguished by the content type of a request.
//!
//! A request with no content type, or with two, is in no protocol: what a proxy in front reads must
//! be what is read here.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

/// Content type of a request or an answer of a remote call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentType {
    /// gRPC with protobuf messages.
    Grpc,
    Web(Dialect, Codec),
}

/// Protocol of a call that is not gRPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Connect, of a method that does not stream: the message alone is the body.
    ConnectUnary,
    /// Connect, of a method that streams: messages in envelopes.
    ConnectStream,
    /// gRPC-Web; `text` is its form in base64.
    GrpcWeb { text: bool },
}

/// Encoding of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    Protobuf,
    Json,
}

const GRPC: &str = "application/grpc";

/// All content types that are understood.
const NAMES: [(&str, ContentType); 12] = {
    use Codec::{Json, Protobuf};
    use ContentType::{Grpc, Web};
    use Dialect::{ConnectStream, ConnectUnary, GrpcWeb};
    [
        (GRPC, Grpc),
        ("application/grpc+proto", Grpc),
        ("application/json", Web(ConnectUnary, Json)),
        ("application/proto", Web(ConnectUnary, Protobuf)),
        ("application/connect+json", Web(ConnectStream, Json)),
        ("application/connect+proto", Web(ConnectStream, Protobuf)),
        ("application/grpc-web", Web(GrpcWeb { text: false }, Protobuf)),
        ("application/grpc-web+proto", Web(GrpcWeb { text: false }, Protobuf)),
        ("application/grpc-web+json", Web(GrpcWeb { text: false }, Json)),
        ("application/grpc-web-text", Web(GrpcWeb { text: true }, Protobuf)),
        ("application/grpc-web-text+proto", Web(GrpcWeb { text: true }, Protobuf)),
        ("application/grpc-web-text+json", Web(GrpcWeb { text: true }, Json)),
    ]
};

impl ContentType {
    /// Content type in these headers; `None` if it is none of a remote call.
    pub(crate) fn of(headers: &HeaderMap) -> Option<ContentType> {
        let mut values = headers.get_all(CONTENT_TYPE).iter();
        let value = values.next()?.as_bytes();
        if values.next().is_some() {
            return None;
        }
        if value == GRPC.as_bytes() {
            return Some(ContentType::Grpc);
        }
        let text = std::str::from_utf8(value).ok()?;
        let (name, parameters) = text.split_once(';').unwrap_or((text, ""));
        let parameters = parameters.trim();
        let plain = parameters.is_empty() || parameters.eq_ignore_ascii_case("charset=utf-8");
        let name = name.trim();
        let known = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.filter(|_| plain).map(|(_, found)| *found)
    }
}

/// Whether a request or an answer is gRPC, by its content type.
pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    ContentType::of(headers) == Some(ContentType::Grpc)
}

impl Dialect {
    /// Content type of answers.
    pub(crate) const fn content_type(self, codec: Codec) -> &'static str {
        match (self, codec) {
            (Dialect::ConnectUnary, Codec::Json) => "application/json",
            (Dialect::ConnectUnary, Codec::Protobuf) => "application/proto",
            (Dialect::ConnectStream, Codec::Json) => "application/connect+json",
            (Dialect::ConnectStream, Codec::Protobuf) => "application/connect+proto",
            (Dialect::GrpcWeb { text: false }, Codec::Json) => "application/grpc-web+json",
            (Dialect::GrpcWeb { text: false }, Codec::Protobuf) => "application/grpc-web+proto",
            (Dialect::GrpcWeb { text: true }, Codec::Json) => "application/grpc-web-text+json",
            (Dialect::GrpcWeb { text: true }, Codec::Protobuf) => "application/grpc-web-text+proto",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Option<ContentType> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(CONTENT_TYPE, value.parse().unwrap());
        }
        ContentType::of(&headers)
    }

    #[test]
    fn a_content_type_is_read_exactly_or_not_at_all() {
        for (name, found) in NAMES {
            assert_eq!(of(&[name]), Some(found), "{name}");
        }
        let json = Some(ContentType::Web(Dialect::ConnectUnary, Codec::Json));
        assert_eq!(of(&["Application/JSON; charset=UTF-8"]), json);
        for odd in [
            "application/grpcweb",
            "application/grpc+json",
            "application/grpc-web+",
            "application/json, application/grpc",
            "application/json; charset=latin1",
            "text/plain",
            "",
        ] {
            assert_eq!(of(&[odd]), None, "{odd:?}");
        }
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[GRPC, "application/json"]), None, "two say nothing");
    }

    #[test]
    fn an_answer_has_the_content_type_of_its_request() {
        for (name, found) in NAMES {
            if let ContentType::Web(dialect, codec) = found {
                assert_eq!(of(&[dialect.content_type(codec)]), Some(found), "{name}");
            }
        }
    }
}
