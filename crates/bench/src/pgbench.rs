//! `pgbench` as a common baseline: its simple transaction without the two hot rows (`-N`: an
//! update, a read, an insert, a synchronous commit), from 16 clients, on the PostgreSQL that is
//! measured.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, bail};
use postgres_launcher::Postgres;
use tokio::process::Command;

use crate::process;
use crate::repo::Database;

/// Name of its database.
const DATABASE: &str = "pgbench";
/// Scale factor: a million rows.
const SCALE: &str = "10";

/// The program and its database.
pub(crate) struct Pgbench {
    program: PathBuf,
    /// Without the password, which other users could see in a command line.
    url: String,
    password: String,
}

impl Pgbench {
    /// Creates and fills its database. None if the program is not in the server's folder.
    pub(crate) async fn prepare(
        postgres: &Postgres,
        postmaster: Option<u32>,
        admin: &mut Database,
    ) -> anyhow::Result<Option<Pgbench>> {
        let folder = postmaster.and_then(process::program_folder);
        let Some(program) = folder.map(|folder| folder.join("pgbench")).filter(|it| it.exists())
        else {
            return Ok(None);
        };
        admin.create_database(DATABASE).await.context("pgbench gets no database")?;
        let (url, password) = without_password(&postgres.url_of(DATABASE));
        let pgbench = Pgbench { program, url, password };
        pgbench.run(&["-i", "-q", "-s", SCALE]).await?;
        admin.checkpoint().await.context("no checkpoint")?;
        Ok(Some(pgbench))
    }

    /// Returns transactions per second over a run of `seconds`.
    pub(crate) async fn transactions(&self, seconds: u64) -> anyhow::Result<f64> {
        let seconds = seconds.to_string();
        let said = self.run(&["-N", "-n", "-c", "16", "-j", "2", "-T", &seconds]).await?;
        rate(&said).with_context(|| format!("pgbench says no rate: {}", said.trim()))
    }

    async fn run(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg(&self.url).env_clear().env("PGPASSWORD", &self.password);
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.context("pgbench cannot be run")?;
        if !output.status.success() {
            bail!("pgbench failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

fn rate(said: &str) -> Option<f64> {
    let line = said.lines().find_map(|line| line.strip_prefix("tps = "))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Splits the password from the address of a private cluster.
fn without_password(url: &str) -> (String, String) {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let is_password = |pair: &&str| pair.starts_with("password=");
    let rest: Vec<&str> = query.split('&').filter(|pair| !is_password(pair)).collect();
    let password = query
        .split('&')
        .find(is_password)
        .and_then(|pair| pair.split_once('='))
        .map_or("", |pair| pair.1);
    (format!("{base}?{}", rest.join("&")), password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_found_in_what_it_says() {
        let said = "number of failed transactions: 0 (0.000%)\nlatency average = 4.2 ms\n\
                    initial connection time = 30.1 ms\n\
                    tps = 3771.5 (without initial connection time)\n";
        assert_eq!(rate(said), Some(3771.5));
        assert_eq!(rate("pgbench: error"), None);
    }

    #[test]
    fn the_password_is_in_no_command_line() {
        let url = "postgres:///pgbench?host=%2Ftmp%2Fa&port=5432&user=owner&password=ab12";
        let (url, password) = without_password(url);
        assert_eq!(url, "postgres:///pgbench?host=%2Ftmp%2Fa&port=5432&user=owner");
        assert_eq!(password, "ab12");
    }
}
