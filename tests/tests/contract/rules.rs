//! One form for ids, times, money and pages, and options for every language.

use std::collections::BTreeSet;

use prost_types::FieldDescriptorProto;
use prost_types::field_descriptor_proto::Type;

use super::public::{files, is_importable, messages, public_files};

/// Calls `fault` for every field of the public API and demands that it finds none.
fn no_field(fault: impl Fn(&FieldDescriptorProto) -> bool) {
    let mut fields = 0;
    let mut faults = Vec::new();
    for file in public_files() {
        for message in messages(&file) {
            fields += message.field.len();
            let bad = message.field.iter().filter(|field| fault(field));
            faults.extend(bad.map(|field| format!("{}.{}", message.name(), field.name())));
        }
    }
    assert!(fields > 300, "{fields}");
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn ids_are_text() {
    let is_id = |name: &str| name.ends_with("_id") || name.ends_with("_ids");
    // A digest of a key names the key, and the number of a card's kind is no id of anything.
    let is_other = |name: &str| matches!(name, "key_id" | "card_id" | "card_ids");
    no_field(|field| {
        is_id(field.name()) && !is_other(field.name()) && field.r#type() != Type::String
    });
}

#[test]
fn times_are_timestamps_named_after_what_happened() {
    no_field(|field| {
        let is_timestamp = field.type_name() == ".google.protobuf.Timestamp";
        let has_name = field.name().ends_with("_time") || field.name() == "deadline";
        let is_number_of_time =
            field.name().ends_with("_micros") || field.name().ends_with("_nanos");
        is_number_of_time || is_timestamp != has_name
    });
}

#[test]
fn money_is_a_plain_number_with_its_unit() {
    let amounts = ["amount", "balance", "stack", "pot", "buy_in", "rake", "total", "held", "ante"];
    no_field(|field| {
        let is_number = matches!(field.r#type(), Type::Uint64 | Type::Int64);
        let is_amount = amounts
            .iter()
            .any(|word| field.name() == *word || field.name().ends_with(&format!("_{word}")));
        let zigzag = matches!(field.r#type(), Type::Sint32 | Type::Sint64);
        let wrong_type = field.name().ends_with("_credits") && !is_number;
        zigzag || wrong_type || is_number && is_amount
    });
}

#[test]
fn pages_are_asked_for_in_one_way() {
    no_field(|field| match field.name() {
        "page_size" => field.r#type() != Type::Int32,
        "page_token" | "next_page_token" => field.r#type() != Type::String,
        _ => false,
    });
}

#[test]
fn the_public_api_takes_nothing_from_the_log_or_from_what_services_say() {
    let mut imports = BTreeSet::new();
    for file in public_files() {
        for import in &file.dependency {
            let is_own_option = import == "google/protobuf/descriptor.proto";
            assert!(is_own_option || is_importable(import), "{} imports {import}", file.name());
            imports.insert(import.clone());
        }
    }
    assert!(imports.contains("sabacc/common/v1/chance.proto"), "{imports:?}");
    assert!(!is_importable("sabacc/event/v1/table.proto"));
    assert!(!is_importable("sabacc/dealer/v1/dealer.proto"));
    assert!(!is_importable("sabacc/wallet/v1/settlement.proto"));
}

#[test]
fn every_file_says_what_its_code_is_called_in_each_language() {
    for file in files() {
        let area = file.package().split('.').nth(1).unwrap();
        let (first, rest) = area.split_at(1);
        let options = file.options.clone().unwrap();
        assert_eq!(options.go_package(), format!("sabacc/{area}/v1;{area}v1"), "{}", file.name());
        assert_eq!(options.java_package(), file.package(), "{}", file.name());
        assert!(options.java_multiple_files(), "{}", file.name());
        let namespace = format!("Sabacc.{}{rest}.V1", first.to_uppercase());
        assert_eq!(options.csharp_namespace(), namespace, "{}", file.name());
    }
}
