use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use chassis::auth::TokenIssuer;
use chassis::serve::Readiness;
use ed25519_dalek::SigningKey;
use keyring::KeyId;
use system::entropy::{Entropy, Fault, Generator};

use super::*;

const PEM: &str = "-----BEGIN PRIVATE KEY-----\n\
                   MC4CAQAwBQYDK2VwBCIEICIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIi\n\
                   -----END PRIVATE KEY-----\n";

fn parse(content: &str) -> Result<Config, String> {
    let source = Source::new("dealer.toml", content, BTreeMap::new()).unwrap();
    Config::parse(source).map_err(|error| error.to_string())
}

fn file(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path.display().to_string()
}

#[test]
fn keys_come_from_files_and_nothing_of_them_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let pem = file(folder.path(), "commitments.pem", PEM);
    let seeds = file(folder.path(), "seeds.hex", &format!("{}\n", "0f".repeat(32)));
    let issuer = TokenIssuer::generate("door", &SystemEntropy).public_pem();
    let issuer = file(folder.path(), "door.pub.pem", &issuer);
    let good = format!(
        "origin = 'room.example/dealer'\nlog_key = '{pem}'\nseed_key = '{seeds}'\nhands = 5\n\
         database_url = 'postgres://nobody/'\nissuer_keys = '{issuer}'"
    );
    let config = parse(&good).unwrap();
    let log = config.service.log.unwrap();
    assert_eq!((&*log.origin, log.key.to_bytes()), ("room.example/dealer", [0x22; 32]));
    assert_eq!(config.seed_keys.current(), KeyId::of(&[0x0f; 32].into()));
    assert_eq!(config.seed_keys.previous().count(), 0);
    let lines = format!("{}\n\n{}\n", "1f".repeat(32), "2f".repeat(32));
    let previous = file(folder.path(), "previous.hex", &lines);
    let rotating = parse(&format!("{good}\nseed_key_previous = '{previous}'")).unwrap();
    let previous: Vec<KeyId> = rotating.seed_keys.previous().collect();
    assert_eq!(previous, [0x1f, 0x2f].map(|byte| KeyId::of(&[byte; 32].into())));
    assert_eq!(config.max_cached_hands, 5);
    let older = parse(&good.replace("log_key", "commitment_key")).unwrap();
    assert_eq!(older.service.log.unwrap().key.to_bytes(), [0x22; 32]);

    let short = file(folder.path(), "short.hex", &"0f".repeat(31));
    let bad = format!(
        "origin = 'a b'\ncommitment_key = '{seeds}'\nseed_key = '{short}'\nseed_key_previous = '{pem}'"
    );
    let error = parse(&bad).err().unwrap();
    for part in [
        "origin",
        "not an Ed25519 private key",
        "not 64 hexadecimal digits",
        "on each of its lines",
    ] {
        assert!(error.contains(part), "{part} in {error}");
    }
    assert!(!error.contains("0f0f"), "{error}");
}

#[test]
fn what_is_missing_is_reported_all_at_once() {
    let error = parse("").err().unwrap();
    for key in ["seed_key", "database_url", "origin", "log_key", "issuer_keys"] {
        assert!(error.contains(key), "{key} in {error}");
    }
    let error = parse("origin = 'room.example/dealer'").err().unwrap();
    for key in ["log_key", "seed_key"] {
        assert!(error.contains(key), "{key} in {error}");
    }
}

/// Entropy that is good until it breaks.
struct Breaking(AtomicBool);

impl Entropy for Breaking {
    fn try_fill(&self, out: &mut [u8]) -> Result<(), EntropyError> {
        SystemEntropy.try_fill(out)?;
        self.test()
    }

    fn test(&self) -> Result<(), EntropyError> {
        let (generator, fault) = (Generator::OperatingSystem, Fault::NoBytes);
        let broken = self.0.load(Ordering::SeqCst);
        if broken { Err(EntropyError { generator, fault }) } else { Ok(()) }
    }
}

fn parts(entropy: Arc<dyn Entropy>) -> Dependencies {
    Dependencies {
        seeds: SecretStore::memory(),
        keyring: Keyring::new(&[3; 32].into(), &[]),
        entropy,
        key: SigningKey::from_bytes(&[4; 32]),
        origin: "test/dealer".into(),
        max_cached_hands: 1,
    }
}

/// fairness/SPEC.md §13.1.
#[tokio::test(start_paused = true)]
async fn entropy_is_tested_each_hour_and_a_failure_ends_readiness() {
    let entropy = Arc::new(Breaking(false.into()));
    let set = |broken| entropy.0.store(broken, Ordering::SeqCst);
    let dealer = Dealer::try_new(parts(Arc::clone(&entropy) as Arc<dyn Entropy>)).unwrap();
    let readiness = Readiness::default();
    let condition = readiness.condition("entropy", "it is not tested yet");
    let reported = tokio::spawn(entropy_failure::report(dealer.clone(), condition));
    let tests = tokio::spawn(test_entropy(dealer.clone()));
    tokio::time::sleep(Duration::from_mins(90)).await;
    assert_eq!(dealer.test_entropy(), Ok(()));
    assert!(*readiness.watch().borrow());
    set(true);
    tokio::time::sleep(Duration::from_hours(1)).await;
    set(false);
    // No other test of the entropy ran since it broke.
    assert!(dealer.test_entropy().is_err());
    tests.await.unwrap();
    reported.await.unwrap();
    assert_eq!(
        readiness.unmet_conditions(),
        [
            "entropy: no secret can be made on this machine: the operating system's generator gives no \
          bytes; look at its generators and start the dealer again"
        ]
    );
}
