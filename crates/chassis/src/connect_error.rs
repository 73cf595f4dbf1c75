//! Errors in JSON, as the Connect protocol writes them: `code`, `message`, and `details`, each with
//! its type, its bytes in base64, and the same in JSON as `debug`.
//!
//! Everybody who does not speak gRPC gets errors in this form, whatever they asked.

use std::sync::LazyLock;

use base64ct::{Base64Unpadded, Encoding as _};
use http::{HeaderMap, HeaderValue, header};
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde_json::{Value, json};
use tonic::Status;
use tonic_types::StatusExt as _;

use crate::refusal::code_name;

/// Descriptors of the details that errors may have.
static DETAILS: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(tonic_types::pb::FILE_DESCRIPTOR_SET).unwrap_or_default()
});

/// Error as JSON.
pub(crate) fn error_json(status: &Status) -> Value {
    let mut details = tonic_types::pb::Status::decode(status.details()).unwrap_or_default().details;
    // The reason comes first: it is what programs look for.
    details.sort_by_key(|detail| !detail.type_url.ends_with("google.rpc.ErrorInfo"));
    let details = details.iter().map(|detail| {
        let name = detail.type_url.rsplit('/').next().unwrap_or_default();
        let mut shown =
            json!({ "type": name, "value": Base64Unpadded::encode_string(&detail.value) });
        if let Some(debug) = debug(name, &detail.value) {
            shown["debug"] = debug;
        }
        shown
    });
    let details: Vec<Value> = details.collect();
    let mut error = json!({ "code": code_name(status.code()), "message": status.message() });
    if !details.is_empty() {
        error["details"] = details.into();
    }
    error
}

/// Detail in JSON; `None` if its type is not known.
fn debug(name: &str, value: &[u8]) -> Option<Value> {
    let detail = DynamicMessage::decode(DETAILS.get_message_by_name(name)?, value).ok()?;
    serde_json::to_value(&detail).ok()
}

/// Adds the time to wait of an error as the header that browsers and curl know.
pub(crate) fn add_retry_after(status: &Status, headers: &mut HeaderMap) {
    let details = status.get_error_details();
    if let Some(wait) = details.retry_info().and_then(|info| info.retry_delay) {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::refusal::overloaded;

    #[test]
    fn an_error_has_its_details_in_base64_and_for_people() {
        let status = overloaded("wait", Duration::from_millis(1500));
        let error = error_json(&status);
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!("resource_exhausted"), &json!("wait"))
        );
        let info = &error["details"][0];
        assert_eq!(info["type"], "google.rpc.ErrorInfo");
        assert_eq!(info["debug"], json!({ "reason": "OVERLOADED", "domain": "sabacc" }));
        let value = Base64Unpadded::decode_vec(info["value"].as_str().unwrap()).unwrap();
        let value = tonic_types::pb::ErrorInfo::decode(&*value).unwrap();
        assert_eq!(value.reason, "OVERLOADED");
        let mut headers = HeaderMap::new();
        add_retry_after(&status, &mut headers);
        assert_eq!(headers[header::RETRY_AFTER], "1");
        assert_eq!(error["details"][1]["debug"], json!({ "retryDelay": "1.500s" }));
        let bare = error_json(&Status::unknown("x"));
        assert_eq!(bare, json!({ "code": "unknown", "message": "x" }));
    }
}
