//! Rule: registries are sorted, so that two additions go to different lines.
//!
//! A registry is an `ALL: &[&…]` that lists an item of each module: `&[&kessel::VARIANT, …]`. A
//! list of values whose order has a meaning is an `ALL: [Suit; 4]`, and not a registry.

use super::code::{code_only, is_test_file};
use super::{Finding, Tree};

/// Folders in which a registry must be found, to prove that the rule finds any.
pub const KNOWN: &[&str] = &["crates/rules/"];

/// Finds unsorted registries, and folders of `known` without one.
#[must_use]
pub fn registries(tree: &Tree, known: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut places = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| !is_test_file(path)) {
        let code = code_only(text);
        for (at, _) in code.match_indices(" ALL: &[&") {
            let place = format!("{path}:{}", code[..=at].lines().count());
            match value(&code[at..]) {
                // An alias of another registry.
                Some(alias) if alias.ends_with("::ALL") => continue,
                Some(list) => {
                    findings.extend(judge(list).map(|advice| Finding::new(place, advice)))
                }
                None => findings.push(Finding::new(place, "ALL has no value")),
            }
            places.push(path);
        }
    }
    for folder in known {
        if !places.iter().any(|path| path.starts_with(folder)) {
            let advice = "has no `ALL: &[&…] = &[…];` any more: keep it, or forget it in KNOWN";
            findings.push(Finding::new(*folder, advice));
        }
    }
    findings
}

/// Returns the text between `=` and `;`.
fn value(code: &str) -> Option<&str> {
    let (_, value) = code.split_once('=')?;
    Some(value.split_once(';')?.0.trim())
}

fn judge(list: &str) -> Option<String> {
    let inside = list.strip_prefix("&[").and_then(|list| list.strip_suffix(']')).unwrap_or("");
    // A row may have an attribute, such as `#[cfg(test)]`.
    let bare = |row: &str| row.rsplit(']').next().map_or("", str::trim).to_owned();
    let rows: Vec<String> = inside.split(',').map(bare).filter(|row| !row.is_empty()).collect();
    if rows.is_empty() {
        return Some("ALL is empty, or not written as `&[&a::X, &b::X]`".to_owned());
    }
    let wrong = rows.windows(2).find(|pair| pair[0] >= pair[1])?;
    Some(format!("`{}` stands after `{}`: sort ALL by name", wrong[1], wrong[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, advice: Option<&str>) {
        let findings = registries(&Tree::of(&[("crates/rules/src/lib.rs", text)]), KNOWN);
        assert_eq!(findings.len(), usize::from(advice.is_some()), "{findings:?}");
        let fits = |(finding, advice): (&Finding, &str)| finding.advice.contains(advice);
        assert!(findings.iter().zip(advice).all(fits), "{findings:?}");
    }

    #[test]
    fn a_row_out_of_order_is_found() {
        let list = |rows: &str| format!("mod a;\npub const ALL: &[&Variant] = &[{rows}];");
        check(&list("&kessel::VARIANT, &spike::VARIANT"), None);
        check(&list("\n    &kessel::VARIANT, // the oldest\n    &spike::VARIANT,\n"), None);
        check(&list("&kessel::VARIANT, #[cfg(test)] &mini::VARIANT, &spike::VARIANT"), None);
        check(&list("#[cfg(test)] &mini::VARIANT, &kessel::VARIANT"), Some("stands after"));
        check(&list("&spike::VARIANT, &kessel::VARIANT"), Some("`&kessel::VARIANT` stands after"));
        check(&list("&kessel::VARIANT, &kessel::VARIANT"), Some("stands after"));
        check(&list(""), Some("ALL is empty"));
        check("pub static ALL: &[&u8] = list();", Some("not written as"));
        check("pub const ALL: [u8; 2] = [2, 1];", Some("has no `ALL"));
        check("pub static ALL: &[&Variant] = games::ALL;", Some("has no `ALL"));
        let both = format!("pub static ALL: &[&u8] = games::ALL;\n{}", list("&b::X, &a::X"));
        check(&both, Some("`&a::X` stands after"));
    }
}
