//! Configurations as operators write them, right and wrong.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeMap;
use std::time::Duration;

use chassis::auth::{IssuerKey, Role, TokenIssuer};
use chassis::config::{
    ArchiveConfig, ArchiveLocation, BucketAccess, Service, ServiceConfig, Settings, Source,
};
use chassis::limits::Limits;
use system::entropy::SystemEntropy;

fn source(file: &str, variables: &[(&str, &str)]) -> Source {
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Source::new("room.toml", file, variables).unwrap()
}

fn parse(file: &str, variables: &[(&str, &str)]) -> Result<ServiceConfig, String> {
    ServiceConfig::parse(Service::Table, source(file, variables)).map_err(|error| error.to_string())
}

/// Checks that the error contains all of these words.
fn complains(file: &str, variables: &[(&str, &str)], words: &[&str]) {
    let error = parse(file, variables).unwrap_err();
    for word in words {
        assert!(error.contains(word), "{word:?} is missing in: {error}");
    }
}

#[test]
fn nothing_set_is_a_service_on_this_machine_alone() {
    let config = parse("", &[]).unwrap();
    assert!(config.listen.ip().is_loopback());
    assert_eq!(config.limits, Limits::internal());
    assert!(config.database_url.is_none() && config.auth.issuers.is_empty());
    let gateway = ServiceConfig::parse(Service::Gateway, source("", &[])).unwrap();
    assert_eq!(gateway.limits, Limits::public());
    assert_ne!(gateway.listen, config.listen);
}

/// ARCHITECTURE.md §7.1.
#[test]
fn every_limit_is_a_setting() {
    let config = parse(
        "[limits]\nerror_resets = 1\npending_resets = 2\nheader_bytes = 4096\n",
        &[
            ("SABACC_LIMITS_KEEPALIVE_MS", "3"),
            ("SABACC_LIMITS_KEEPALIVE_TIMEOUT_MS", "4"),
            ("SABACC_LIMITS_HANDSHAKE_MS", "5"),
        ],
    );
    let limits = config.unwrap().limits;
    assert_eq!((limits.error_resets, limits.pending_resets, limits.header_bytes), (1, 2, 4096));
    let millis = Duration::from_millis;
    assert_eq!((limits.keepalive_interval, limits.keepalive_timeout), (millis(3), millis(4)));
    assert_eq!(limits.handshake_timeout, millis(5));
    complains("", &[("SABACC_LIMITS_HEADER_BYTES", "1")], &["HEADER_BYTES", "1024"]);
}

#[test]
fn origins_of_pages_are_listed_or_there_are_none() {
    assert!(parse("", &[]).unwrap().cors.is_empty());
    let one = parse("cors_origins = 'https://cards.example'", &[]).unwrap();
    assert!(!one.cors.is_empty());
    complains("cors_origins = 'cards.example'", &[], &["cors_origins", "https://cards.example"]);
}

#[test]
fn links_begin_with_the_public_address_where_one_is_named() {
    assert_eq!(&*parse("", &[]).unwrap().public_url, "");
    let named = parse("", &[("SABACC_PUBLIC_URL", "https://cards.example/")]).unwrap();
    assert_eq!(&*named.public_url, "https://cards.example");
    for wrong in ["cards.example", "ftp://cards.example", "https://cards.example/?a=b"] {
        let file = format!("public_url = '{wrong}'");
        complains(&file, &[], &["public_url", "https://cards.example"]);
    }
}

#[test]
fn the_environment_wins_over_the_file() {
    let file = "listen = '0.0.0.0:1'\ndealer_url = 'http://dealer:7402'\ndrain_grace_ms = 1500\n\
                [limits]\nstreams = 7\n[telemetry]\nformat = 'json'\n";
    let config = parse(file, &[("SABACC_LISTEN", "[::1]:9"), ("SABACC_LIMITS_STREAMS", "8")]);
    let config = config.unwrap();
    assert_eq!(config.listen.to_string(), "[::1]:9");
    assert_eq!(config.limits.streams, 8);
    assert_eq!(config.peers.dealer.unwrap().host(), Some("dealer"));
    assert_eq!(config.drain_grace, Duration::from_millis(1500));
}

#[test]
fn a_log_has_its_name_and_its_key_or_neither() {
    assert!(parse("", &[]).unwrap().log.is_none());
    let folder = tempfile::tempdir().unwrap();
    let pem = folder.path().join("log.pem");
    let key = TokenIssuer::generate("log", &SystemEntropy);
    std::fs::write(&pem, key.private_pem().expose()).unwrap();
    let pem = pem.display().to_string();
    let file = format!("origin = 'room.example/table'\nlog_key = '{pem}'");
    let log = parse(&file, &[]).unwrap().log.unwrap();
    assert_eq!(&*log.origin, "room.example/table");
    assert_eq!(format!("{log:?}"), "LogIdentity(room.example/table)");

    complains("origin = 'room.example/table'", &[], &["log_key", "Ed25519 in PEM"]);
    complains(&format!("log_key = '{pem}'"), &[], &["origin", "sabacc.example/table"]);
    complains(&file.replace("room.example", "a room"), &[], &["origin in room.toml", "a name for"]);
    complains("origin = 'a'\nlog_key = '/nowhere'", &[], &["log_key", "cannot be read"]);
    // Only the dealer's key has a former name.
    let older = file.replace("log_key", "commitment_key");
    complains(&older, &[], &["commitment_key", "no such setting"]);
    let dealer = |file: &str| ServiceConfig::parse(Service::Dealer, source(file, &[]));
    assert_eq!(dealer(&older).unwrap().log.unwrap().key, log.key);
    let both = dealer(&format!("{older}\nlog_key = '{pem}'")).unwrap_err().to_string();
    assert!(both.contains("commitment_key") && both.contains("set only that"), "{both}");
}

#[test]
fn witnesses_are_named_with_their_keys() {
    let key = "witness.example/w1+df1c0a35+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU";
    let file = format!(
        "witnesses = ['https://w.example/w1 {key}', 'http://127.0.0.1:7410 {key}']\n\
         checkpoint_file = '/var/lib/sabacc/table'"
    );
    let config = parse(&file, &[]).unwrap().log_witnesses;
    let urls: Vec<String> = config.witnesses.iter().map(|(url, _)| url.to_string()).collect();
    assert_eq!(urls, ["https://w.example/w1", "http://127.0.0.1:7410/"]);
    assert_eq!(config.witnesses[0].1.to_string(), key);
    assert_eq!(config.checkpoint_file.unwrap().to_str(), Some("/var/lib/sabacc/table"));
    assert!(parse("", &[]).unwrap().log_witnesses.witnesses.is_empty());
    // A log's key is not accepted as a witness's.
    let log = "sabacc.example/table/0+0e31dfc4+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c";
    for bad in [key, "https://w.example", &format!("w.example {key}"), &format!("http://w {log}")] {
        complains("", &[("SABACC_WITNESSES", bad)], &["SABACC_WITNESSES", "a space, and the"]);
    }
}

#[test]
fn wrong_values_are_reported_with_what_is_allowed() {
    complains("listen = 'here'", &[], &["listen in room.toml", "\"here\"", "ADDRESS:PORT"]);
    complains("", &[("SABACC_LIMITS_STREAMS", "0")], &["SABACC_LIMITS_STREAMS", "\"0\"", "1 to"]);
    complains("wallet_url = 'wallet:7403'", &[], &["wallet_url", "http://HOST:PORT"]);
    complains("[telemetry]\nformat = 'xml'", &[], &["telemetry.format", "human, json"]);
    complains("[telemetry]\nlog = '=='", &[], &["telemetry.log", "directives"]);
    complains("", &[("OTEL_TRACES_EXPORTER", "zipkin")], &["OTEL_TRACES_EXPORTER", "otlp, none"]);
    complains("database_url = ''", &[], &["database_url", "empty"]);
}

#[test]
fn unknown_keys_are_reported_with_the_nearest_known() {
    complains("lisen = '0.0.0.0:1'", &[], &["lisen in room.toml", "did you mean listen?"]);
    complains("", &[("SABACC_DEALER_URI", "http://d:1")], &["did you mean SABACC_DEALER_URL?"]);
    complains("[limits]\ncolour = 'red'", &[], &["limits.colour", "known are", "limits.streams"]);
    assert!(parse("", &[("SABACC_CONFIG", "x"), ("SABACC_PG_BIN", "y")]).is_ok());
}

#[test]
fn everything_wrong_is_reported_at_once() {
    complains(
        "listen = 1\nlimit = 2\n",
        &[("SABACC_DRAIN_GRACE_MS", "soon")],
        &["listen in", "limit in", "\"soon\""],
    );
}

#[test]
fn files_that_are_no_configuration_are_refused() {
    let none = BTreeMap::new;
    assert!(
        Source::new("room.toml", "listen = ", none()).unwrap_err().to_string().contains("TOML")
    );
    let error = Source::new("room.toml", "[limits]\nage = 1.5", none()).unwrap_err();
    assert!(error.to_string().contains("limits.age in room.toml"), "{error}");
    let missing = std::path::Path::new("/nonexistent/room.toml");
    let error = Source::from_process(Some(missing)).unwrap_err().to_string();
    assert!(
        error.contains("/nonexistent/room.toml") && error.contains("cannot be read"),
        "{error}"
    );
}

#[test]
fn secrets_are_not_repeated() {
    let url = "postgres://sabacc:hunter2@db/sabacc";
    let config = parse("", &[("DATABASE_URL", url)]).unwrap();
    assert_eq!(config.database_url.as_ref().unwrap().expose(), url);
    assert!(!format!("{config:?}").contains("hunter2"));
    let own = [("DATABASE_URL", "postgres://other/"), ("SABACC_DATABASE_URL", url)];
    assert_eq!(parse("", &own).unwrap().database_url.unwrap().expose(), url);
    for misspelt in ["SABACC_DATABSE_URL", "SABACC_DATABASE_ULR"] {
        let error = parse("", &[(misspelt, url)]).unwrap_err();
        assert!(error.contains(misspelt) && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn keys_are_read_with_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let issuer = TokenIssuer::generate("door", &SystemEntropy);
    std::fs::write(path("public.pem"), issuer.public_pem()).unwrap();
    std::fs::write(path("private.pem"), issuer.private_pem().expose()).unwrap();
    let file = format!(
        "issuer_keys = ['player+auditor={0}', '{0}']\nsigning_key = '{1}'",
        path("public.pem"),
        path("private.pem"),
    );
    let config = parse(&file, &[]).unwrap();
    let roles: Vec<Vec<Role>> = config
        .auth
        .issuers
        .iter()
        .map(|key: &IssuerKey| key.roles.iter().copied().collect())
        .collect();
    assert_eq!(roles, [vec![Role::Player, Role::Auditor], Role::ALL.to_vec()]);
    assert_eq!(config.auth.signing.unwrap().public_key(), issuer.public_key());

    let swapped = format!("signing_key = '{}'", path("public.pem"));
    complains(&swapped, &[], &["signing_key", "openssl genpkey"]);
    complains("", &[("SABACC_ISSUER_KEYS", &path("private.pem"))], &["openssl pkey"]);
    complains("issuer_keys = 'king=x.pem'", &[], &["issuer_keys", "player=door.pem"]);
    complains("signing_key = '/nonexistent'", &[], &["signing_key", "cannot be read"]);
    complains("[tls]\ncertificate = 'x.pem'", &[], &["tls.certificate", "needs its key"]);
}

#[test]
fn spans_leave_only_when_asked() {
    let otlp = |variables: &[(&str, &str)]| parse("", variables).unwrap().telemetry.otlp;
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317");
    assert_eq!(otlp(&[]), None);
    assert_eq!(otlp(&[endpoint]).as_deref(), Some("http://collector:4317"));
    let local = otlp(&[("OTEL_TRACES_EXPORTER", "otlp")]);
    assert_eq!(local.as_deref(), Some("http://localhost:4317"));
    assert_eq!(otlp(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]), None);
    assert_eq!(otlp(&[endpoint, ("OTEL_SDK_DISABLED", "TRUE")]), None);
}

#[test]
fn a_service_may_have_settings_of_its_own() {
    let mut settings = Settings::new(source("shards = 4", &[]));
    let _shared = ServiceConfig::read(Service::Dealer, &mut settings);
    assert_eq!(settings.number("shards", 1..=256, 16), 4);
    assert!(settings.finish().is_ok());
}

#[test]
fn limits_of_addresses_and_players_are_settings() {
    let text = "trusted_proxies = '10.0.0.7, fd00::/8'\n[limits]\nplayer_streams = 3\n\
                connection_grace_ms = 0\nexempt_loopback = true\naddress_calls = 0\naddress_streams = 9\n";
    let source = Source::new("room.toml", text, BTreeMap::new()).unwrap();
    let config = ServiceConfig::parse(Service::Gateway, source).unwrap();
    let limits = &config.limits;
    assert_eq!((limits.player_streams, limits.address_calls), (Some(3), None));
    assert_eq!(limits.address_streams, Some(9));
    assert!(limits.exempt_loopback && limits.connection_grace.is_none());
    let trusts = |address: &str| config.trusted_proxies.trust(address.parse().unwrap());
    assert!(trusts("10.0.0.7") && trusts("fd12::1") && !trusts("10.0.0.8"));
    complains("trusted_proxies = 'proxy.example'", &[], &["trusted_proxies", "10.1.0.0/16"]);
    complains("[limits]\nexempt_loopback = 'yes'", &[], &["limits.exempt_loopback", "true, false"]);
}

#[test]
fn a_program_learns_all_that_it_lacks_at_once() {
    let whole = |service, file: &str| {
        let parsed = ServiceConfig::parse_standalone(service, source(file, &[]));
        parsed.map(|_| ()).map_err(|error| error.to_string())
    };
    let log = ["SABACC_DATABASE_URL", "SABACC_ORIGIN", "SABACC_LOG_KEY", "SABACC_ISSUER_KEYS"];
    let table = ["SABACC_DEALER_URL", "SABACC_WALLET_URL", "SABACC_SIGNING_KEY"];
    let gateway = ["SABACC_TABLE_URL", "SABACC_WALLET_URL", "SABACC_ISSUER_KEYS"];
    for (service, lacks) in [
        (Service::Table, [&log[..], &table].concat()),
        (Service::Dealer, log.to_vec()),
        (Service::Wallet, log.to_vec()),
        (Service::Gateway, gateway.to_vec()),
    ] {
        let error = whole(service, "").unwrap_err();
        for name in lacks {
            assert_eq!(error.matches(name).count(), 1, "{service:?}, {name}: {error}");
        }
    }
    // A wrong setting is reported once, and not as missing.
    let error = whole(Service::Wallet, "issuer_keys = '/nowhere'\norigin = 'a b'").unwrap_err();
    assert_eq!(error.matches("issuer_keys").count(), 1, "{error}");
    assert!(error.contains("database_url (SABACC_DATABASE_URL): must be set"), "{error}");
    assert_eq!(error.matches("origin").count(), 1, "{error}");
}

/// ARCHITECTURE.md §2.11.
#[test]
fn archives_lie_in_a_folder_or_a_bucket() {
    assert!(parse("", &[]).unwrap().archives.location.is_none());
    let archives = parse("archives = '/var/lib/sabacc/archives'", &[]).unwrap().archives;
    let folder = ArchiveLocation::Folder("/var/lib/sabacc/archives".into());
    assert_eq!(archives.location, Some(folder));
    let key = [
        ("SABACC_ARCHIVE_STORAGE_ACCESS_KEY_ID", "id"),
        ("SABACC_ARCHIVE_STORAGE_SECRET_ACCESS_KEY", "hunter2"),
    ];
    let file = "archives = 's3://rooms/first/room/'\n[archive_storage]\nendpoint = 'http://s:9000'\n\
                region = 'eu-1'";
    let archives = parse(file, &key).unwrap().archives;
    let bucket = ArchiveLocation::Bucket { name: "rooms".into(), prefix: "first/room".into() };
    assert_eq!(archives.location, Some(bucket));
    let BucketAccess { endpoint, region, key: Some((id, secret)) } = archives.access else {
        panic!("no key");
    };
    assert_eq!(
        (endpoint.unwrap().to_string(), region),
        ("http://s:9000/".into(), Some("eu-1".into()))
    );
    assert_eq!((&*id, secret.expose()), ("id", "hunter2"));

    complains("archives = 's3://rooms'", &[], &["archives", "archive_storage.access_key_id"]);
    complains("archives = 's3:///x'", &key, &["s3://BUCKET/PREFIX"]);
    complains("archives = 'gs://rooms'", &key, &["s3://BUCKET/PREFIX"]);
    complains(
        "",
        &key[..1],
        &["archive_storage.secret_access_key", "a key has an id and a secret"],
    );
    let error = parse("", &key[1..]).unwrap_err();
    assert!(
        error.contains("archive_storage.access_key_id") && !error.contains("hunter2"),
        "{error}"
    );
    complains("[archive_storage]\nendpoint = 'ftp://x'", &[], &["endpoint", "http://HOST:PORT"]);
    // A gateway reads no archives, and shares an environment with those who do.
    let both = source("archives = 'x'", &[]);
    assert!(ServiceConfig::parse(Service::Gateway, both).is_ok());
    // For a program whose other settings are another's.
    let some = source("archives = 'x'", &[("SABACC_LIMITS_STREAMS", "5")]);
    assert!(ArchiveConfig::from_source(some).unwrap().location.is_some());
    let wrong = source("", &[("SABACC_ARCHIVES", "ftp://x")]);
    assert!(ArchiveConfig::from_source(wrong).is_err());
}
