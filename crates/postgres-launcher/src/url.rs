//! Database addresses: `postgres://user:password@host:port/database?key=value`. All functions work
//! on text, so that the operator's settings (TLS, timeouts) are kept as they were written; crate
//! `url` would write them anew.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that are encoded in a part of an address.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Directory and credentials of a private cluster's socket.
pub(super) struct Socket<'a> {
    pub(super) dir: &'a str,
    pub(super) role: &'a str,
    pub(super) password: &'a str,
}

/// Address of a database behind a socket. Every parameter is explicit, so that `PG*` variables have
/// no effect.
pub(super) fn of_socket(socket: &Socket<'_>, database: &str) -> String {
    let Socket { dir, role, password } = socket;
    format!(
        "postgres:///{}?host={}&port=5432&sslmode=disable&user={}&password={}",
        encode(database),
        encode(dir),
        encode(role),
        encode(password),
    )
}

/// Replaces the role and password of an address. Nothing of the former ones is left.
pub(super) fn with_role(url: &str, role: &str, password: &str) -> String {
    let UrlParts { scheme, host, path, query } = split(url);
    let mut pairs: Vec<String> = query
        .split('&')
        .filter(|pair| !matches!(pair.split('=').next(), Some("user" | "password" | "")))
        .map(str::to_owned)
        .collect();
    pairs.push(format!("user={}", encode(role)));
    pairs.push(format!("password={}", encode(password)));
    format!("{scheme}://{host}{path}?{}", pairs.join("&"))
}

/// Replaces the database of an address.
pub(super) fn with_database(url: &str, database: &str) -> String {
    let path_start = url.find("://").map_or(0, |i| i + 3);
    let rest = &url[path_start..];
    let (before, query) = match rest.split_once('?') {
        Some((before, query)) => (before, format!("?{query}")),
        None => (rest, String::new()),
    };
    let authority = before.split('/').next().unwrap_or_default();
    format!("{}{authority}/{}{query}", &url[..path_start], encode(database))
}

/// Address without user, password and settings, for people and logs.
pub(super) fn redacted(url: &str) -> String {
    let UrlParts { scheme, host, path, query: _ } = split(url);
    format!("{scheme}://{host}{path}")
}

struct UrlParts<'a> {
    scheme: &'a str,
    host: &'a str,
    path: &'a str,
    query: &'a str,
}

fn split(url: &str) -> UrlParts<'_> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", ""));
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let slash = before.find('/').unwrap_or(before.len());
    let (authority, path) = before.split_at(slash);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    UrlParts { scheme, host, path, query }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::postgres::PgConnectOptions;

    fn parsed(url: &str) -> PgConnectOptions {
        url.parse().unwrap()
    }

    #[test]
    fn odd_folders_roles_and_passwords_survive() {
        let socket = Socket { dir: "/a b/ü&?", role: "o'ne", password: "p@ss/w?rd&=%" };
        let read = parsed(&of_socket(&socket, "sabacc"));
        assert_eq!(read.get_socket().unwrap().to_str(), Some("/a b/ü&?"));
        assert_eq!((read.get_username(), read.get_database()), ("o'ne", Some("sabacc")));
    }

    #[test]
    fn another_role_leaves_nothing_of_the_first() {
        for url in [
            "postgres://owner:hunter2@db.example:5433/room?sslmode=require",
            "postgres://db.example:5433/room?user=owner&password=hunter2&sslmode=require",
        ] {
            let other = with_role(url, "table", "s3 cret");
            assert!(!other.contains("owner") && !other.contains("hunter2"), "{other}");
            let read = parsed(&other);
            assert_eq!(read.get_username(), "table");
            assert_eq!((read.get_host(), read.get_port()), ("db.example", 5433));
            assert_eq!(read.get_database(), Some("room"));
            assert!(other.contains("sslmode=require"), "{other}");
        }
    }

    #[test]
    fn another_database_keeps_the_rest() {
        let socket = Socket { dir: "/run/x", role: "postgres", password: "secret" };
        let read = parsed(&with_database(&of_socket(&socket, "sabacc"), "other"));
        assert_eq!((read.get_database(), read.get_username()), (Some("other"), "postgres"));
        assert_eq!(read.get_socket().unwrap().to_str(), Some("/run/x"));
        assert_eq!(with_database("postgres://u:p@h:1/a", "b"), "postgres://u:p@h:1/b");
        assert_eq!(with_database("postgres://u:p@h:1?x=/y", "b"), "postgres://u:p@h:1/b?x=/y");
    }

    #[test]
    fn what_people_see_holds_no_secret() {
        let url = "postgres://owner:hunter2@db.example/room?password=hunter3";
        assert_eq!(redacted(url), "postgres://db.example/room");
        assert_eq!(redacted("not an address with hunter2"), "postgres://");
    }
}
