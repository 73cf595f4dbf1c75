//! A bot in fifty lines, but for its imports: it signs in as a guest, sits down at the first table
//! with a free seat, and plays what `LegalMove` lists, without knowing any game. It takes part in
//! chance, checks it, signs its decisions, and keeps evidence.
//!
//! `cargo run -p client --example bot -- http://127.0.0.1:7400 ROOM/keys.txt bot.json 3`

use std::{env, error, fs, path::Path, sync::Arc};

use client::{Client, Error, EvidenceDirectory, Guest, PlayMessage};
use client::{TableState, TokenSource, TrustedKeys};
use primitives::Credits;
use proto::common::v1::{ErrorReason, LegalMove, Move, MoveKind};
use system::entropy::{self, SystemEntropy};

type Outcome = Result<(), Box<dyn error::Error>>;

#[tokio::main]
#[expect(clippy::disallowed_methods, reason = "a program reads its own arguments")]
async fn main() -> Outcome {
    let [_, server, keys, login, hands] = <[String; 5]>::try_from(env::args().collect::<Vec<_>>())
        .map_err(|_| "write: bot SERVER KEYS LOGIN HANDS")?;
    play(&server, &fs::read_to_string(keys)?, login.as_ref(), hands.parse()?).await
}

/// Plays `hands` hands at the first table with a free seat, and leaves it.
pub(crate) async fn play(server: &str, keys: &str, login: &Path, hands: u64) -> Outcome {
    let room = Client::connect(server, TokenSource::none())?;
    let room = room.with_trusted_keys(TrustedKeys::parse(keys)?);
    let guest = Guest::open(&room, login, "Bot").await?;
    let evidence = Arc::new(EvidenceDirectory::open(login.with_extension("evidence"))?);
    let (client, me) = (guest.client().with_evidence(evidence), guest.player().await);
    let tables = client.list_tables().await?;
    let free = tables.iter().find(|table| table.seated < table.seats).ok_or("no seat is free")?;
    let table = free.table_id.parse()?;
    let buy_in = client.get_table(table).await?.min_buy_in_credits;
    let seated = client.sit_down(table, 0, Credits::try_new(buy_in)?).await;
    let was_seated = |error: &Error| error.reason() == Some(ErrorReason::AlreadySeated);
    seated.or_else(|error| if was_seated(&error) { Ok(0) } else { Err(error) })?;
    let mut play = client.play(table).contributing_entropy(me);
    let (mut state, mut played, mut decided) = (TableState::new(Some(me)), 0, None);
    while played < hands || state.is_hand_in_play() {
        let Some(message) = play.next().await? else { break };
        let PlayMessage::Watch(seen) = message else { continue };
        state.apply(&seen);
        played += u64::from(seen.is_hand_end() && state.my_hand_seat().is_some());
        let (hand_no, Some(turn)) = (state.view().hand_no, state.my_turn()) else { continue };
        if play.is_live() && decided.replace((hand_no, turn.turn)) != Some((hand_no, turn.turn)) {
            play.decide(hand_no, turn.turn, pick(&turn.legal).ok_or("no move is legal")?)?;
        }
    }
    play.stand_up().await?;
    Ok(())
}

/// One of the legal moves but for leaving, with the first choices that it may have.
fn pick(legal: &[LegalMove]) -> Option<Move> {
    let moves: Vec<_> = legal.iter().filter(|legal| legal.kind() != MoveKind::Leave).collect();
    let number = usize::from(entropy::bytes::<1>(&SystemEntropy)[0]);
    let legal = moves.get(number.checked_rem(moves.len())?)?;
    let some = |items: &[String], count: u32| {
        items.iter().zip(0..count).map(|(it, _)| it.clone()).collect()
    };
    Some(Move {
        kind: legal.kind,
        cards: some(&legal.cards, legal.min_cards),
        amount_credits: if legal.move_arguments.is_empty() { 0 } else { legal.min_credits },
        names: some(&legal.names, legal.names_count),
        target_seat: legal.target_seats.first().copied().unwrap_or_default(),
        value: legal.values.first().copied().unwrap_or_default(),
    })
}
