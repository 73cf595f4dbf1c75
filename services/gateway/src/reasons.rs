//! Page of the reasons for which calls are refused and streams end, made of the comments in the
//! protobuf files: every refusal links to it.
//!
//! Specification: services/gateway/README.md "Public files".

use std::fmt::Write as _;

/// Protobuf files with the enum of reasons in each.
const ENUMS: [(&str, &str); 2] = [
    (include_str!("../../../proto/sabacc/common/v1/error.proto"), "ErrorReason"),
    (include_str!("../../../proto/sabacc/table/v1/table.proto"), "EndReason"),
];

/// Page with a section for each reason, under its full name.
pub(crate) fn page() -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Reasons</title>\n\
         <h1>Why calls are refused, and streams end</h1>\n",
    );
    for (name, text) in ENUMS.iter().flat_map(|(file, of)| values(file, of)) {
        write!(page, "<h2 id=\"{name}\">{name}</h2>\n<p>{}</p>\n", escaped(&text))
            .expect("a text takes all that is written");
    }
    page
}

/// Values of an enum of a protobuf file with their comments, without the one that is not used.
fn values(file: &'static str, of: &str) -> Vec<(&'static str, String)> {
    let begin = format!("enum {of} {{");
    let lines = file.lines().skip_while(|line| *line != begin).skip(1);
    let (mut values, mut comment) = (Vec::new(), String::new());
    for line in lines.take_while(|line| *line != "}").map(str::trim) {
        if let Some(text) = line.strip_prefix("//") {
            comment.push_str(text);
        } else if let Some((name, number)) = line.split_once(" = ") {
            let text = std::mem::take(&mut comment).trim().to_owned();
            values.extend((number != "0;").then_some((name, text)));
        }
    }
    values
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use proto::common::v1::ErrorReason;
    use proto::table::v1::EndReason;
    use wire::status::{REASONS_PAGE, doc_link};

    use super::*;

    /// services/gateway/README.md "Public files".
    #[test]
    fn every_reason_has_a_section_that_its_refusals_link_to() {
        let page = page();
        let errors = (1..256).filter_map(|number| ErrorReason::try_from(number).ok());
        let ends = (1..256).filter_map(|number| EndReason::try_from(number).ok());
        let names =
            errors.map(|reason| reason.as_str_name()).chain(ends.map(|it| it.as_str_name()));
        let mut sections = 0;
        for name in names {
            let anchor = doc_link(name).strip_prefix(REASONS_PAGE).unwrap()[1..].to_owned();
            assert!(page.contains(&format!("<h2 id=\"{anchor}\">")), "{name}");
            sections += 1;
        }
        assert_eq!(page.matches("<h2 ").count(), sections);
        assert!(!page.contains("<p></p>"));
        assert!(page.contains("&lt;token&gt;"), "what a comment says is no markup");
    }
}
