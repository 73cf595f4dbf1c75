//! `sabacc up`: a whole room on one machine, with demo tables.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chassis::auth::Role;
use chassis::config::{LogWitnesses, Settings, Source};
use chassis::drain::Drain;
use chassis::telemetry::{self, TelemetryConfig};
use clap::Args;
use client::Client;
use merkle::note::VerifierKey;
use postgres_launcher::{Environment, PostgresError, default_data_dir};
use tonic::transport::Uri;
use zeroize::Zeroizing;

use crate::audits;
use crate::data_directory::DataDirectory;
use crate::demo::{Demo, DemoOptions, DemoTable};
use crate::output::{self, Progress};
use crate::room::{self, Room, RoomOptions};
use crate::seed_tables::SeedTables;

#[derive(Args)]
pub(crate) struct Options {
    /// The public port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7400")]
    listen: SocketAddr,
    /// Play this number of hands as fast as possible, audit each, and stop.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    hands: Option<u64>,
    /// Start no demo table and no bots.
    #[arg(long, conflicts_with = "hands")]
    no_bots: bool,
    /// Number of demo tables, 1 to 8, each of another game: three bots, and a free seat.
    #[arg(long, value_name = "N", default_value_t = 2, conflicts_with_all = ["hands", "no_bots"],
        value_parser = clap::value_parser!(u8).range(1..=8))]
    demo_tables: u8,
    /// The game of the first demo table.
    #[arg(long, value_name = "VARIANT", default_value = "dice")]
    game: String,
    /// Milliseconds that a bot thinks before each decision, and a fifth of the pause between hands
    /// of a new demo table [default: times like people's, or 0 with --hands].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(..=10_000))]
    thinking: Option<u64>,
    /// A witness that follows every log of this room: its address and its key, as `sabacc witness`
    /// prints them. May be given more than once.
    #[arg(long, value_name = "URL KEY", value_parser = parse_witness)]
    witness: Vec<(Uri, VerifierKey)>,
    /// Folder in which the bots keep what the room signed for them and what they revealed
    /// [default: in memory].
    #[arg(long, value_name = "DIR")]
    evidence: Option<PathBuf>,
    /// Let nobody in without a token of the room's key.
    #[arg(long)]
    no_guests: bool,
    /// Run the clocks of tables N times as fast, 1 to 100: decisions, time banks, windows for entropy,
    /// pauses between hands, idle seats, suspension, delayed seeds. It holds for tables that are opened
    /// while it is given, stands in their settings, and is told in every verdict. Real time stays for
    /// tokens, request ids, limits and days, exclusions, checkpoints, witnesses and the ten seconds
    /// of a silent dealer.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    time_scale: u32,
    /// Open the tables of this file, TOML or JSON, each once: a list `tables` of what
    /// `sabacc.table.v1.TableConfig` has.
    #[arg(long, value_name = "FILE")]
    seed_tables: Option<PathBuf>,
    /// For tests of clients alone: make the dealer's seeds, and the ids of tables, follow from this
    /// number, 64 hexadecimal digits, so that a run can be repeated. Whoever knows it knows every
    /// card. Only for a fresh data folder, which stays so; the room's name, every hand and every
    /// verdict say it.
    #[arg(long, value_name = "HEX", value_parser = parse_seed)]
    insecure_fixed_seed: Option<Zeroizing<[u8; 32]>>,
    /// Fetch PostgreSQL if none is installed, without asking.
    #[arg(long, env = "SABACC_FETCH_POSTGRES")]
    fetch_postgres: bool,
}

/// Runs a room until it is stopped, or its hands are played.
pub(crate) async fn run(
    data: Option<PathBuf>,
    json: bool,
    options: Options,
) -> anyhow::Result<bool> {
    let progress = Progress::start();
    let telemetry = telemetry::start("sabacc", &telemetry_config()?)?;
    let signals = Drain::new(Duration::from_secs(10));
    signals.on_signals()?;
    chassis::memory::protect();
    // Wrong settings are reported before anything is made.
    room::public_port_config(options.listen)?;
    let environment = Environment::read();
    let seed_tables = options.seed_tables.as_deref().map(SeedTables::read).transpose()?;
    let folder = DataDirectory::create(&data.unwrap_or_else(|| default_data_dir(&environment)))?;
    let folder = folder.with_fixed_seed(options.insecure_fixed_seed.as_deref().copied())?;
    if options.insecure_fixed_seed.is_some() {
        progress.print(
            "INSECURE: this room's seeds are fixed, and whoever knows them knows every card",
        );
    }
    let mut postgres = postgres_launcher::Options::new(folder.path(), environment);
    postgres.fetch = options.fetch_postgres;
    postgres.interactive = std::io::IsTerminal::is_terminal(&std::io::stdin());
    let unpaced = options.hands.is_some();
    let witnesses = options.witness.clone();
    let listen = options.listen;
    let plan = RoomOptions {
        folder,
        listen,
        postgres,
        min_streams: None,
        no_player_limits: unpaced,
        witnesses,
        guests: !options.no_guests,
        time_scale: options.time_scale,
    };
    let mut room = Room::start(plan, &progress).await?;
    if let Some(tables) = &seed_tables
        && let Err(error) = open_seed_tables(&room, tables, &progress).await
    {
        room.stop().await?;
        return Err(error);
    }
    let outcome = tokio::select! {
        outcome = serve(&room, json, &options, &progress, &signals) => outcome,
        () = signals.stopping().cancelled() => Ok(true),
        () = room.until_service_ends() => Err(anyhow::anyhow!("a service ended")),
        gone = room.until_database_gone() => Err(anyhow::Error::new(gone)),
        () = room.until_database_taken() => Err(anyhow::anyhow!(
            "another room has this database for itself since it was away. Stop that one, or name another \
             database with DATABASE_URL"
        )),
    };
    // The error of a service says more than the failure that followed from it, and the database's
    // error more than either.
    let outcome = match outcome {
        Err(error) if error.is::<Arc<PostgresError>>() => Err(error),
        Err(error) => Err(room.take_failure().await.unwrap_or(error)),
        fine => fine,
    };
    progress.print("stopping: the edge first, the database last");
    room.stop().await?;
    progress.print("stopped");
    telemetry.flush().await;
    outcome
}

/// Opens the tables of a file that are not on record yet.
async fn open_seed_tables(
    room: &Room,
    tables: &SeedTables,
    progress: &Progress,
) -> anyhow::Result<()> {
    let operator = Client::connect(&room.local_url(), room.token(Role::Operator, "up"))?;
    let opened = tables.open(&operator).await?;
    progress.print(&format!("{opened} tables of --seed-tables are on record"));
    Ok(())
}

async fn serve(
    room: &Room,
    json: bool,
    options: &Options,
    progress: &Progress,
    signals: &Drain,
) -> anyhow::Result<bool> {
    let plan = DemoOptions {
        game: options.game.clone(),
        tables: options.demo_tables.into(),
        hands: options.hands,
        think_time: options.thinking.map(Duration::from_millis),
        evidence: options.evidence.clone(),
    };
    if let Some(hands) = options.hands {
        let demo = Demo::open(room, &plan).await?;
        for DemoTable { id, game, .. } in &demo.tables {
            progress.print(&format!("{hands} hands of {game} on table {id}"));
        }
        let played = demo.play_out(hands, progress).await?;
        return audits::audit_run(room, &played, json, progress).await;
    }
    if !options.no_bots {
        let demo = Demo::open(room, &plan).await?;
        for DemoTable { id, name, game } in &demo.tables {
            progress.print(&format!("{name}: three bots play {game}, a seat is free: table {id}"));
        }
        print_hints(room);
        demo.keep_playing(signals.stopping(), progress).await?;
        return Ok(true);
    }
    progress.print("no demo tables: this room waits");
    signals.stopping().cancelled().await;
    Ok(true)
}

fn parse_seed(text: &str) -> Result<Zeroizing<[u8; 32]>, String> {
    let mut seed = Zeroizing::new([0; 32]);
    hex::decode_to_slice(text, &mut seed[..])
        .map_err(|_| "write 64 hexadecimal digits".to_owned())?;
    Ok(seed)
}

fn parse_witness(text: &str) -> Result<(Uri, VerifierKey), String> {
    LogWitnesses::parse_witness(text).ok_or_else(|| {
        "write an http:// or https:// address, a space, and the witness's key".to_owned()
    })
}

/// Prints the next commands to try.
fn print_hints(room: &Room) {
    let data = room.folder.path().display();
    let url = room.public_url();
    output::line("");
    output::line(&format!("To play, open {url} in a browser. Or try, in another terminal:"));
    output::line(&format!("  cargo run --release -- --data {data} watch demo"));
    output::line(&format!("  cargo run --release -- --data {data} audit hand latest"));
    output::line(&format!("  cargo run --release -- --data {data} audit ledger"));
    output::line(&format!(
        "Programs speak gRPC, gRPC-Web or Connect there: {url}/api.json has the methods. Ctrl-C stops the room."
    ));
    output::line(&format!(
        "Tokens, good for a day, are in {data}/keys: player.token, operator.token, auditor.token."
    ));
    output::line(&format!(
        "Another: cargo run --release -- --data {data} token --role player --sub ID"
    ));
    output::line("");
}

/// Returns telemetry settings of the environment; by default only warnings reach the terminal.
pub(crate) fn telemetry_config() -> anyhow::Result<TelemetryConfig> {
    let mut settings = Settings::new(Source::from_process(None)?);
    let asked = settings.variable("RUST_LOG").is_some();
    let mut config = TelemetryConfig::read(&mut settings);
    if !asked {
        "warn".clone_into(&mut config.log);
    }
    Ok(config)
}
