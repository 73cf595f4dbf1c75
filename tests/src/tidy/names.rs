//! Rule: names of external APIs that only some files may use.

use super::code::{code_only, has_word, is_test_file, lines_with, without_tests};
use super::{Finding, Tree};

/// Start or end of a path that may use a name, and the reason.
pub type AllowedPath = (&'static str, &'static str);

/// Files that may name the database.
#[rustfmt::skip]
pub const SQL: &[AllowedPath] = &[
    ("crates/eventlog/",               "the log is a table"),
    ("crates/keyring/",                "a table of sealed secrets"),
    ("crates/postgres-launcher/",      "starts the database and connects to it"),
    ("crates/testkit/",                "gives every test a database of its own"),
    ("*/src/repo.rs",                  "a service's own tables"),
    ("services/wallet/src/repo/",      "the wallet's are many: a file for each purpose"),
];

/// Files that may name gRPC codes.
#[rustfmt::skip]
pub const CODES: &[AllowedPath] = &[
    ("crates/wire/src/status.rs",      "one refusal, one code"),
    ("crates/chassis/src/refusal.rs",  "the server's own refusals, before a service is called"),
];

/// Finds `sqlx` outside of `places`.
#[must_use]
pub fn sql(tree: &Tree, places: &[AllowedPath]) -> Vec<Finding> {
    let advice = "only a service's repo.rs, eventlog, keyring, testkit and postgres-launcher name \
                  sqlx: \
                  move the statement there, or wrap the error";
    found(tree, places, advice, |line| has_word(line, "sqlx"))
}

/// Finds gRPC codes outside of `places`: `tonic::Code`, and the constructors of `Status` named
/// after them.
#[must_use]
pub fn codes(tree: &Tree, places: &[AllowedPath]) -> Vec<Finding> {
    let advice = "only wire::status names gRPC codes: give the refusal a reason there";
    found(tree, places, advice, |line| {
        let imported = has_word(line, "tonic") && has_word(line, "Code");
        imported || line.contains("Code::") && names_code(line) || constructs(line)
    })
}

/// Finds places that do not exist.
#[must_use]
pub fn stale(tree: &Tree, places: &[AllowedPath]) -> Vec<Finding> {
    let gone = places.iter().filter(|(place, _)| !tree.rust().any(|(path, _)| within(path, place)));
    gone.map(|(place, _)| Finding::new(*place, "no such file: remove the row")).collect()
}

fn found(
    tree: &Tree,
    places: &[AllowedPath],
    advice: &str,
    says: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust() {
        if is_test_file(path) || places.iter().any(|(place, _)| within(path, place)) {
            continue;
        }
        let code = code_only(without_tests(text));
        for (at, line) in code.lines().enumerate() {
            if says(line) {
                findings.push(Finding::new(format!("{path}:{}", at + 1), advice));
            }
        }
    }
    findings
}

fn within(path: &str, place: &str) -> bool {
    match place.strip_prefix('*') {
        Some(end) => path.ends_with(end),
        None => path.starts_with(place),
    }
}

/// Whether the line uses `Code::Unavailable` or the like; not `ExitCode::SUCCESS` or
/// `StatusCode::OK`.
fn names_code(line: &str) -> bool {
    lines_with(line, "Code").next().is_some()
}

fn constructs(line: &str) -> bool {
    CONSTRUCTORS.iter().any(|name| line.contains(&format!("Status::{name}(")))
}

const CONSTRUCTORS: &[&str] = &[
    "aborted",
    "already_exists",
    "cancelled",
    "data_loss",
    "deadline_exceeded",
    "failed_precondition",
    "internal",
    "invalid_argument",
    "not_found",
    "out_of_range",
    "permission_denied",
    "resource_exhausted",
    "unauthenticated",
    "unavailable",
    "unimplemented",
    "unknown",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        rule: fn(&Tree, &[AllowedPath]) -> Vec<Finding>,
        places: &[AllowedPath],
        file: (&str, &str),
        at: &[usize],
    ) {
        let found: Vec<String> =
            rule(&Tree::of(&[file]), places).into_iter().map(|finding| finding.place).collect();
        let expected: Vec<String> = at.iter().map(|line| format!("{}:{line}", file.0)).collect();
        assert_eq!(found, expected, "in {}", file.1);
    }

    #[test]
    fn a_database_named_elsewhere_is_found() {
        let sql = |path, text, at: &[usize]| check(sql, SQL, (path, text), at);
        sql("services/table/src/actor.rs", "use a;\nuse sqlx::Row;", &[2]);
        sql("crates/chassis/src/config.rs", "pub struct A(sqlx::Error);", &[1]);
        sql("services/wallet/src/repo.rs", "use sqlx::Row;", &[]);
        sql("crates/eventlog/src/pg.rs", "use sqlx::Row;", &[]);
        sql("crates/postgres-launcher/src/url.rs", "use sqlx::Row;", &[]);
        sql("services/table/src/actor.rs", "// not sqlx\n", &[]);
        sql("services/table/src/actor.rs", "#[cfg(test)]\nmod tests { use sqlx; }", &[2]);
        sql("services/table/src/actor.rs", "#[cfg(test)]\nmod tests {\nuse sqlx; }", &[]);
        sql("services/table/tests/all.rs", "use sqlx::Row;", &[]);
    }

    #[test]
    fn a_code_named_elsewhere_is_found() {
        let codes = |path, text, at: &[usize]| check(codes, CODES, (path, text), at);
        let api = "services/table/src/api.rs";
        codes(api, "use tonic::{Code, Status};\nCode::NotFound", &[1, 2]);
        codes(api, "tonic::Status::not_found(x)", &[1]);
        codes(api, "Err(Status::internal(\"a\"))", &[1]);
        codes(api, "use tonic::{Request, Response, Status};\nStatus::from(refusal)", &[]);
        codes(api, "ExitCode::SUCCESS; StatusCode::OK; HandStatus::unknown_seat(a)", &[]);
        codes("crates/wire/src/status.rs", "use tonic::Code;", &[]);
    }

    #[test]
    fn a_place_that_is_gone_is_found() {
        let tree = Tree::of(&[("crates/a/src/lib.rs", "")]);
        assert_eq!(stale(&tree, &[("crates/a/", ""), ("*/src/lib.rs", "")]), []);
        assert_eq!(stale(&tree, &[("crates/c/", ""), ("*/src/gone.rs", "")]).len(), 2);
    }
}
