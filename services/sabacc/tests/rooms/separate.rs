//! The four services as separate programs: they find each other by address, play the same hands,
//! survive each other's deaths, and stop on a signal.

use std::process::Command;
use std::time::Duration;

use audit::bundle::{Bundle, TrustedKeys};
use bots::{BotEnd, BotOptions, BotReport, Thinking, strategy};
use chassis::auth::{Role, TokenIssuer};
use postgres_launcher::{Environment, Postgres};
use primitives::{Credits, TableId};
use proto::table::v1::TableConfig;
use rustix::process::Signal;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use system::entropy::SystemEntropy;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::database::kill_postmaster;
use crate::harness::{EXEMPT_LOOPBACK, PLAYER_CALLS, RoomHarness, RunningProgram, program, token};
use crate::matrix;
use crate::people::{Guest, close, operator, until_hand};

/// Services with a database, and the password of their roles.
const LOG_SERVICES: [&str; 3] = ["dealer", "wallet", "table"];
const PASSWORD: &str = "of-this-test";

/// Room of separate programs.
pub(crate) struct SeparateServices {
    pub(crate) harness: RoomHarness,
    pub(crate) postgres: Postgres,
    /// Ports of dealer, wallet, table and gateway.
    pub(crate) ports: [u16; 4],
    /// Address of the table's wallet, if it is not the wallet's port.
    pub(crate) wallet_of_table: Option<String>,
    /// Address and key of the witness that all logs are shown to.
    pub(crate) witness: Option<String>,
}

impl SeparateServices {
    /// Creates keys, a database with its schemas, and roles that may log in.
    pub(crate) async fn new() -> SeparateServices {
        let harness = RoomHarness::new();
        let keys = harness.data().join("keys");
        std::fs::create_dir_all(&keys).unwrap();
        // Keys of players' and services' tokens, of the gateway's own calls, of each log, and of a
        // measurement at the wallet.
        for name in ["issuer", "services", "edge", "bench", "dealer", "wallet", "table"] {
            let key = TokenIssuer::generate(name, &SystemEntropy);
            std::fs::write(keys.join(format!("{name}.pem")), key.private_pem().expose()).unwrap();
            std::fs::write(keys.join(format!("{name}.pub.pem")), key.public_pem()).unwrap();
        }
        // What guests know of the logs.
        let mut listed = harness.sabacc(&["keys"]);
        for name in ["dealer", "wallet", "table"] {
            let file = keys.join(format!("{name}.pem"));
            listed.arg("--log").arg(format!("test/{name}={}", file.display()));
        }
        let (status, listed) = harness.run(listed).await;
        assert!(status.success(), "{listed}");
        std::fs::write(harness.data().join("keys.txt"), listed).unwrap();
        std::fs::write(keys.join("seed.key"), "5a".repeat(32)).unwrap();
        std::fs::write(keys.join("people.key"), "a5".repeat(32)).unwrap();
        let options = postgres_launcher::Options {
            database_url: None,
            fsync: false,
            ..postgres_launcher::Options::new(harness.data(), Environment::read())
        };
        let postgres = postgres_launcher::obtain(&options).await.unwrap().supervise();
        let ports = std::array::from_fn(|_| testkit::free_port().unwrap());
        let apart =
            SeparateServices { harness, postgres, ports, wallet_of_table: None, witness: None };
        apart.migrate().await;
        apart
    }

    async fn migrate(&self) {
        let admin = self.postgres.admin_url();
        let mut command = self.harness.sabacc(&["migrate"]);
        // The command is no server, and refuses unknown settings.
        command
            .env_remove(PLAYER_CALLS)
            .env_remove(EXEMPT_LOOPBACK)
            .env("SABACC_DATABASE_URL", &admin);
        let (status, said) = self.harness.run(command).await;
        assert!(status.success() && said.contains("up to date"), "{status}:\n{said}");
        let mut connection = PgConnection::connect(&admin).await.unwrap();
        for owner in LOG_SERVICES {
            let alter = format!("ALTER ROLE sabacc_{owner} LOGIN PASSWORD '{PASSWORD}'");
            sqlx::query(AssertSqlSafe(alter)).execute(&mut connection).await.unwrap();
        }
    }

    pub(crate) fn url(&self, service: usize) -> String {
        format!("http://127.0.0.1:{}", self.ports[service])
    }

    /// The services with a database are configured by a file, the gateway by its environment.
    pub(crate) fn start(&self, service: usize) -> RunningProgram {
        self.start_at(service, self.ports[service])
    }

    /// Starts a service on another port than the one that the others call.
    pub(crate) fn start_at(&self, service: usize, port: u16) -> RunningProgram {
        let keys = self.harness.data().join("keys");
        let key = |name: &str| keys.join(name).display().to_string();
        let door = format!("player+operator+auditor={}", key("issuer.pub.pem"));
        let inside = format!("service={}", key("services.pub.pem"));
        let edge = format!("auditor={}", key("edge.pub.pem"));
        let listen = format!("127.0.0.1:{port}");
        let Some(name) = LOG_SERVICES.get(service) else {
            let mut command = program("sabacc-gateway");
            command.env("SABACC_LISTEN", listen).env("SABACC_ISSUER_KEYS", door);
            command.env("SABACC_DEALER_URL", self.url(0)).env("SABACC_WALLET_URL", self.url(1));
            command.env("SABACC_TABLE_URL", self.url(2)).env("SABACC_SIGNING_KEY", key("edge.pem"));
            return self.harness.spawn(command);
        };
        let database = self.postgres.url_for(&format!("sabacc_{name}"), PASSWORD);
        let mut file = format!(
            "listen = {listen:?}\ndatabase_url = {database:?}\norigin = \"test/{name}\"\n\
             log_key = {:?}\n",
            key(&format!("{name}.pem"))
        );
        file += &match *name {
            "dealer" => {
                let seeds = key("seed.key");
                format!("issuer_keys = [{door:?}, {inside:?}, {edge:?}]\nseed_key = {seeds:?}\n")
            }
            "wallet" => {
                let bench = format!("operator+service={}", key("bench.pub.pem"));
                format!("issuer_keys = [{door:?}, {inside:?}, {edge:?}, {bench:?}]\n")
            }
            _ => format!(
                "issuer_keys = [{door:?}, {edge:?}]\nsigning_key = {:?}\npeople_key = {:?}\n\
                 dealer_url = {:?}\nwallet_url = {:?}\n",
                key("services.pem"),
                key("people.key"),
                self.url(0),
                self.wallet_of_table.clone().unwrap_or_else(|| self.url(1))
            ),
        };
        if let Some(witness) = &self.witness {
            file += &format!("witnesses = {witness:?}\n");
        }
        let path = self.harness.path().join(format!("{name}-{port}.toml"));
        std::fs::write(&path, file).unwrap();
        let mut command: Command = program(&format!("sabacc-{name}"));
        command.arg("--config").arg(path);
        // The database does not wait for its disk.
        command.env("SABACC_ALLOW_UNSAFE_DATABASE", "true");
        self.harness.spawn(command)
    }
}

/// Bots at a new table of four programs.
pub(crate) struct BotTable {
    pub(crate) table: TableId,
    stop: CancellationToken,
    bots: JoinSet<Result<BotReport, client::Error>>,
}

impl BotTable {
    pub(crate) async fn start(apart: &SeparateServices) -> BotTable {
        let config = TableConfig {
            name: "apart".to_owned(),
            variant: "dice".to_owned(),
            // A busy machine burns no numbers.
            commit_ms: 10_000,
            reveal_ms: 10_000,
            ..TableConfig::default()
        };
        let operator = operator(&apart.harness, &apart.url(3));
        let table = operator.create_table(config).await.unwrap();
        let stop = CancellationToken::new();
        let mut bots = JoinSet::new();
        for seed in 0..3 {
            let guest = Guest::new(&apart.harness, &apart.url(3)).await;
            let steady = strategy::by_name("steady", seed).unwrap();
            let bot = BotOptions {
                seat: 0,
                buy_in: Credits::ZERO,
                thinking: Thinking::Fixed(Duration::from_millis(5)),
            };
            let stop = stop.clone();
            bots.spawn(async move { bots::run_bot(&guest.client, table, bot, steady, stop).await });
        }
        until_hand(&apart.harness, &apart.url(3), table, 3).await;
        BotTable { table, stop, bots }
    }

    /// Waits until two more hands have started.
    async fn plays_on(&self, apart: &SeparateServices) {
        let now = operator(&apart.harness, &apart.url(3)).get_table(self.table).await.unwrap();
        until_hand(&apart.harness, &apart.url(3), self.table, now.hand_no + 2).await;
    }

    pub(crate) async fn end(mut self, apart: &SeparateServices) {
        self.stop.cancel();
        while let Some(bot) = self.bots.join_next().await {
            let report = bot.unwrap().unwrap();
            assert_eq!((report.end, report.illegal_moves), (BotEnd::Stopped, 0), "{report:?}");
            assert!(report.hands >= 3, "{report:?}");
        }
        close(&apart.harness, &apart.url(3), self.table).await;
    }
}

/// Stops all programs and the database, and checks all records.
pub(crate) async fn stop_and_audit(apart: SeparateServices, running: Vec<RunningProgram>) {
    for mut service in running.into_iter().rev() {
        service.stop(Signal::TERM).await;
    }
    // The folder has the layout of a room's, so its records can be audited in the same way.
    let SeparateServices { harness, postgres, .. } = apart;
    postgres.stop().await.unwrap();
    for audit in [&["audit", "ledger"][..], &["audit", "hand", "latest"]] {
        let (status, said) = harness.run(harness.sabacc(audit)).await;
        assert!(status.success(), "{audit:?}:\n{said}");
    }
}

/// Fetches a finished hand from the gateway as a player, and verifies it with the keys of the logs.
async fn check_bundle(apart: &SeparateServices, table: TableId) {
    let guest = Guest::new(&apart.harness, &apart.url(3)).await;
    let bytes = guest.client.get_hand_bundle(table, 1).await.unwrap();
    let mut keys = apart.harness.sabacc(&["keys"]);
    for name in LOG_SERVICES {
        let file = apart.harness.data().join("keys").join(format!("{name}.pem"));
        keys.arg("--log").arg(format!("test/{name}={}", file.display()));
    }
    let (status, keys) = apart.harness.run(keys).await;
    assert!(status.success(), "{keys}");
    let report = audit::hand::audit(
        &Bundle::parse(&bytes).unwrap().records(&TrustedKeys::parse(&keys).unwrap()),
    );
    assert!(report.passed(), "{report:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn four_programs_play_and_outlive_each_other() {
    let apart = SeparateServices::new().await;
    // The gateway first: each program waits for those that it calls.
    let mut running: Vec<RunningProgram> = [3, 2, 1, 0].map(|service| apart.start(service)).into();
    running.reverse();
    let playing = BotTable::start(&apart).await;
    for (service, program) in running.iter_mut().enumerate().take(LOG_SERVICES.len()) {
        program.kill();
        // Long enough for the others to notice.
        tokio::time::sleep(Duration::from_millis(300)).await;
        *program = apart.start(service);
        playing.plays_on(&apart).await;
    }
    let table = playing.table;
    playing.end(&apart).await;
    check_bundle(&apart, table).await;
    stop_and_audit(apart, running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn four_programs_outlive_the_death_of_their_database() {
    let apart = SeparateServices::new().await;
    let mut running: Vec<RunningProgram> = [0, 1, 2, 3].map(|service| apart.start(service)).into();
    let playing = BotTable::start(&apart).await;
    for _ in 0..2 {
        kill_postmaster(&apart.harness.data());
        playing.plays_on(&apart).await;
    }
    for program in &mut running {
        assert!(program.is_running(), "{}", program.output());
    }
    playing.end(&apart).await;
    stop_and_audit(apart, running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn inside_nobody_is_let_in_but_whom_the_descriptors_name() {
    let apart = SeparateServices::new().await;
    let running: Vec<RunningProgram> = [0, 1, 2, 3].map(|service| apart.start(service)).into();
    operator(&apart.harness, &apart.url(3)).list_tables().await.unwrap();
    let key = |name: &str| {
        let pem = apart.harness.data().join("keys").join(name);
        TokenIssuer::from_pem(name, &std::fs::read_to_string(pem).unwrap()).unwrap()
    };
    let (people, services) = (key("issuer.pem"), key("services.pem"));
    let bearer = |role: Role, subject: &str| {
        let key = if role == Role::Service { &services } else { &people };
        token(key, role, subject, Duration::from_secs(600))
    };
    let dealer = ("sabacc.dealer.v1.DealerService", apart.url(0));
    let mut walked = matrix::walk(dealer.0, &dealer.1, bearer).await;
    for service in ["sabacc.wallet.v1.SettlementService", "sabacc.wallet.v1.WalletService"] {
        walked += matrix::walk(service, &apart.url(1), bearer).await;
    }
    assert!(walked > 150, "{walked} calls");
    for mut service in running.into_iter().rev() {
        service.stop(Signal::TERM).await;
    }
    apart.postgres.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_elsewhere_can_be_measured() {
    let apart = SeparateServices::new().await;
    let running: Vec<RunningProgram> = [0, 1, 2, 3].map(|service| apart.start(service)).into();
    let operator = operator(&apart.harness, &apart.url(3));
    operator.list_tables().await.unwrap();
    let key = |name: &str| apart.harness.data().join("keys").join(name).display().to_string();
    let (wallet, bench, gateway, issuer) =
        (apart.url(1), key("bench.pem"), apart.url(3), key("issuer.pem"));
    let ledger = ["bench", "ledger", "--seconds", "1", "--clients", "4", "--json"];
    let ledger = [&ledger[..], &["--server", &wallet, "--key", &bench]].concat();
    let table = ["bench", "table", "--tables", "1", "--players", "2", "--seconds", "3", "--json"];
    let table = [&table[..], &["--server", &gateway, "--key", &issuer]].concat();
    for (arguments, names) in [(ledger, 4), (table, 1)] {
        let mut command = program("sabacc");
        command.env_remove(PLAYER_CALLS).env_remove(EXEMPT_LOOPBACK).args(&arguments);
        let (status, said) = apart.harness.run(command).await;
        assert!(status.success(), "{said}");
        let json = said.lines().find(|line| line.starts_with('{')).unwrap();
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        let figures = json["figures"].as_array().unwrap();
        assert_eq!(figures.len(), names, "{json}");
        assert!(figures.iter().all(|figure| figure["rate"].as_f64().unwrap() > 0.0), "{json}");
        assert!(json["yardsticks"]["pgbench"].is_null(), "{json}");
    }
    for mut service in running.into_iter().rev() {
        service.stop(Signal::TERM).await;
    }
    apart.postgres.stop().await.unwrap();
}
