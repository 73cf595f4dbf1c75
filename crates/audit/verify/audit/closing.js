// What all seats had committed to, signed by the dealer before anybody revealed, and not before the seats' time was over.
// Times are those of the table's log.

import { equal, hex, same } from "../bytes.js";
import { verifyEd25519 } from "../digest.js";
import { closingOf, signedText } from "../fair.js";
import { scaled } from "../settings.js";
import { CLOCK_SKEW, MILLISECOND, exactly, hold, later, timeText } from "./case.js";
import { dealerKeyOf, promiseOf } from "./promise.js";

const EMPTY = new Uint8Array();

export async function checkClosing(records) {
  records.one("HandOpened");
  checkOnce(records);
  const counted = commitmentsOf(records);
  if (records.aborted && !records.find("EntropyClosed")) return;
  const closed = records.one("EntropyClosed");
  const signed = signedClosing(records);
  const { closing } = signed.event;
  hold(closing, "the dealer's closing has no content");
  hold(same(closed.event.closing, closing), "the table recorded another closing than the dealer signed");
  checkRows(records, closing, counted);
  await checkSignature(records, signed, closing);
  checkOrder(records, closed, signed, counted);
  checkWindow(records, closed, counted);
}

// By seat: the record of what its player of the roster committed to first.
export function commitmentsOf(records) {
  const players = new Map(records.one("HandOpened").event.roster.map((place) => [place.seat, place.player_id]));
  const found = new Map();
  for (const record of records.all("EntropyCommitted")) {
    const { seat, player_id: player } = record.event;
    if (!found.has(seat) && players.has(seat) && equal(players.get(seat), player)) found.set(seat, record);
  }
  return found;
}

// No player committed twice in a seat.
function checkOnce(records) {
  const seen = new Set();
  for (const { event } of records.all("EntropyCommitted")) {
    const who = `${event.seat} ${hex(event.player_id)}`;
    hold(!seen.has(who), () => `seat ${event.seat} committed to entropy twice`);
    seen.add(who);
  }
}

function signedClosing(records) {
  const every = records.all("CommitmentsClosed");
  hold(every.length <= 1, "the dealer signed a second closing");
  hold(every.length === 1, "the closing that the table recorded is not in the dealer's log");
  return every[0];
}

// A row for each seat dealt in, with what it committed to.
function checkRows(records, { rows }, counted) {
  const { roster } = records;
  const fits =
    rows.length === roster.length &&
    rows.every(({ seat, player_id: player }, at) => seat === roster[at].seat && equal(player, roster[at].player_id));
  hold(fits, "the closing has not one row for each player dealt in, by seat");
  for (const { seat, commitment } of rows) {
    const given = counted.get(seat)?.event.commitment ?? EMPTY;
    hold(equal(commitment, given), () => `the closing has another row than what seat ${seat} committed to`);
  }
}

async function checkSignature(records, signed, { closing, rows, key_id: keyId, signature }) {
  const { context, commitment } = await promiseOf(records);
  rows.forEach(({ seat, player_id: player, commitment: given }, at) => {
    hold(seat < 255 && (at === 0 || rows[at - 1].seat < seat), "the seats of the closing do not ascend");
    exactly(16, player, "a player's id");
    hold([0, 32].includes(given.length), () => `seat ${seat}'s commitment is no hash`);
  });
  const players = new Set(rows.map(({ player_id: player }) => hex(player)));
  hold(rows.length > 0 && players.size === rows.length, "one player has two seats of the hand, or there is none");
  const made = await closingOf(
    context,
    commitment,
    rows.map(({ seat, player_id: player, commitment: given }) => ({ seat, player, commitment: given })),
  );
  hold(equal(made, closing), "the hash of the closing is not that of its rows");
  const key = await dealerKeyOf(records, keyId, signed.position);
  exactly(64, signature, "the signature of the closing");
  const text = signedText("closing-sig", keyId, context, commitment, made);
  hold(await verifyEd25519(key, text, signature), "the closing is not signed by the dealer's key");
}

// After all commitments; the dealer's before the table's.
function checkOrder(records, closed, signed, counted) {
  for (const { position, event } of records.all("EntropyCommitted"))
    hold(position < closed.position, () => `seat ${event.seat} committed after the commitments were closed`);
  hold(
    signed.time <= closed.time + CLOCK_SKEW,
    () => `the table closed at ${timeText(closed.time)}, the dealer signed at ${timeText(signed.time)} only`,
  );
  for (const [seat, { time }] of counted)
    hold(time <= signed.time + CLOCK_SKEW, () => `the dealer signed the closing before seat ${seat} had committed`);
}

// The seats had their time, and enough of them committed.
function checkWindow(records, closed, counted) {
  const { settings, roster } = records;
  const least = settings.contributors_min;
  hold(counted.size >= least, () => `the commitments were closed with ${counted.size} numbers, of ${least} at least`);
  if (counted.size === roster.length) return;
  let since = records.one("HandCommitted").time;
  for (const { name, event, time, keptBack } of records.table) {
    if (name !== "SeatTaken" || keptBack) continue;
    const sits = roster.some(({ seat, player_id: player }) => seat === event.seat && equal(player, event.player_id));
    if (sits && time > since) since = time;
  }
  const until = later(since, scaled(settings, BigInt(settings.commit_ms) * MILLISECOND));
  hold(
    closed.time >= until,
    () => `the commitments were closed at ${timeText(closed.time)}, and seats had until ${timeText(until)}`,
  );
}
