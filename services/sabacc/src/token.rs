//! `sabacc token`: makes a token from an issuer's private key, without a server.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use chassis::auth::{Claims, Identity, MAX_LIFETIME, Role, TokenIssuer};
use clap::Args;
use postgres_launcher::{Environment, default_data_dir};
use primitives::PlayerId;
use system::clock::SystemClock;
use system::entropy::SystemEntropy;
use zeroize::Zeroizing;

use crate::data_directory::DataDirectory;
use crate::output;

#[derive(Args)]
pub(crate) struct Options {
    /// The bearer's role: player, operator, auditor or service.
    #[arg(long, value_parser = parse_role)]
    role: Role,
    /// The bearer: a player's id as a UUID, or a name of 1 to 64 visible ASCII characters.
    #[arg(long, value_name = "ID or NAME")]
    sub: String,
    /// Lifetime of the token, from now on: a number with s, m, h or d, at most 31d.
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = parse_lifetime)]
    ttl: Duration,
    /// The issuer's private key: Ed25519 in PKCS#8 PEM [default: the key of the data folder's room].
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The issuer's name, in the token's `iss`.
    #[arg(long, value_name = "NAME", default_value = "sabacc")]
    issuer: String,
}

/// Prints the token. Whether a room believes it, its `SABACC_ISSUER_KEYS` say.
pub(crate) fn run(data: Option<PathBuf>, json: bool, options: Options) -> anyhow::Result<bool> {
    let Options { role, sub, ttl, key, issuer: name } = options;
    let issuer = match key {
        Some(path) => {
            let named = path.display();
            let pem = std::fs::read_to_string(&path).map(Zeroizing::new);
            let pem = pem.with_context(|| format!("{named} cannot be read"))?;
            TokenIssuer::from_pem(&name, &pem).with_context(|| format!("{named} cannot be used"))?
        }
        None => {
            let folder = data.unwrap_or_else(|| default_data_dir(&Environment::read()));
            DataDirectory::open(&folder)?.issuer()?
        }
    };
    let identity = Identity::new(role, subject(role, &sub)?);
    let clock = SystemClock::new();
    let claims = Claims::new(issuer.name(), &identity, ttl, &clock, &SystemEntropy);
    let token = issuer.issue(&claims);
    if json {
        let answer = serde_json::json!({ "token": token, "jti": claims.jti, "exp": claims.exp });
        output::line(&answer.to_string());
    } else {
        output::line(&token);
    }
    Ok(true)
}

/// Subject as a token names it.
fn subject(role: Role, sub: &str) -> anyhow::Result<String> {
    match role {
        Role::Player => {
            let player = sub.parse::<PlayerId>().context("--sub: a player is a UUID")?;
            Ok(player.to_string())
        }
        Role::Operator | Role::Auditor | Role::Service => {
            let fits = (1..=64).contains(&sub.len()) && sub.bytes().all(|b| b.is_ascii_graphic());
            if !fits {
                bail!("--sub: 1 to 64 visible ASCII characters")
            }
            Ok(sub.to_owned())
        }
    }
}

fn parse_role(text: &str) -> Result<Role, String> {
    let names = || Role::ALL.map(Role::name).join(", ");
    Role::from_name(text).ok_or_else(|| format!("one of {}", names()))
}

/// Parses a time such as `15m`.
fn parse_lifetime(text: &str) -> Result<Duration, String> {
    let wrong = || "a whole number above 0 with s, m, h or d, at most 31d, such as 15m".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    let lifetime = number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)?;
    if lifetime.is_zero() || lifetime > MAX_LIFETIME { Err(wrong()) } else { Ok(lifetime) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_has_a_unit_and_a_bound() {
        assert_eq!(parse_lifetime("15m"), Ok(Duration::from_secs(900)));
        assert_eq!(parse_lifetime("31d"), Ok(MAX_LIFETIME));
        for bad in ["", "m", "15", "0s", "-1s", "1.5h", "32d", "1w", "18446744073709551615d", "1é"]
        {
            assert!(parse_lifetime(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_subject_fits_its_role() {
        let player = "0190C2F0-7D3A-4B6E-8A52-6D1F2E3C4B5A";
        assert_eq!(subject(Role::Player, player).unwrap(), player.to_lowercase());
        assert!(subject(Role::Player, "lando").is_err());
        assert_eq!(subject(Role::Operator, "till-1").unwrap(), "till-1");
        for bad in ["", "a b", "é", &"a".repeat(65)] {
            assert!(subject(Role::Auditor, bad).is_err(), "{bad}");
        }
    }
}
