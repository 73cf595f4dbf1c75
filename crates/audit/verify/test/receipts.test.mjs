// What receipts in a reader's evidence say to a hand: of it, and of other numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { modules, parseBundle } from "./built.mjs";
import { ROOM, TRUST, forged, recordsOf } from "./forge.mjs";
import { ZEROS, against, committed, decided, known, revealed, told } from "./keeper.mjs";

const { examine } = modules["audit.js"];
const { contextOf } = modules["fair.js"];
const { openCheckpoint } = modules["note.js"];
const NO_COMMITMENT = "the position of the receipt for a commitment holds something else";
const NO_REVEAL = "the receipt for a revealed number is for no record of this hand";
const NO_DECISION = "the position of the receipt for a decision holds something else";
const OTHER_CHAIN = "the chain of decisions is another than the receipt for a decision has";
const OTHER_NUMBER = "the position of a receipt for another number holds something else";
const FAR = 1000000n;

const tableOf = ({ hand }) => hand.logs[0].records;
const placesOf = (one, ...kinds) =>
  tableOf(one).filter(({ kind }) => kinds.includes(kind)).map(({ position }) => position);

// A position that the records reach, of which the file has none.
function gapOf(one, from) {
  const taken = new Set(tableOf(one).map(({ position }) => position));
  for (let at = from; at < tableOf(one).at(-1).position; at += 1n) if (!taken.has(at)) return at;
  throw new Error("every position is taken");
}

test("every decision and every leave has its chain", async () => {
  for (const name of ["coruscant-long", "left-and-agreed", "suspended-leave-asked-again", "zero-net-of-all"]) {
    const one = await known(name);
    const bytes = await forged(one.hand);
    const { walk } = await examine(await parseBundle(bytes), TRUST);
    const places = placesOf(one, "MoveDecided", "LeaveAsked");
    assert.deepEqual([...walk.chain.keys()], places, name);
    const fits = await Promise.all(places.map((place) => decided(one, place, walk.chain.get(place))));
    assert.deepEqual(await against(bytes, fits), []);
    for (const place of placesOf(one, "LeaveAsked"))
      assert.deepEqual(await against(bytes, [await decided(one, place)]), [OTHER_CHAIN]);
  }
});

test("a leave is judged before its signature, and has no chain before the sealing", async () => {
  const one = await known("coruscant-long");
  const [leave] = recordsOf(one.hand, "LeaveAsked");
  leave.event.signature = new Uint8Array(64);
  assert.deepEqual(await against(await forged(one.hand), [await decided(one, leave.position)]), [OTHER_CHAIN]);
  const other = await known("left-before-antes");
  const [place] = placesOf(other, "LeaveAsked");
  assert.deepEqual(await against(await forged(other.hand), [await decided(other, place)]), [NO_DECISION]);
});

test("receipts of a hand that goes on", async () => {
  const one = await known("suspended-in-play");
  const bytes = await forged(one.hand);
  const last = tableOf(one).at(-1).position;
  const [opened] = placesOf(one, "HandOpened");
  for (const place of [opened, last]) {
    assert.deepEqual(await against(bytes, [await committed(one, place)]), [NO_COMMITMENT]);
    assert.deepEqual(await against(bytes, [await revealed(one, place)]), [NO_REVEAL]);
    assert.deepEqual(await against(bytes, [await decided(one, place)]), [NO_DECISION]);
  }
  for (const place of [last + 1n, FAR]) {
    for (const receipt of [committed, decided])
      assert.deepEqual(await against(bytes, [await receipt(one, place)]), [], `${place}`);
    // It was sealed: all that was revealed is there.
    assert.deepEqual(await against(bytes, [await revealed(one, place)]), [NO_REVEAL]);
  }
  const [decision] = placesOf(one, "MoveDecided");
  assert.equal((await told(one, [await decided(one, decision)])).verdict, "not_finished");
});

test("a position that nothing of the file has", async () => {
  const one = await known("suspended-in-play");
  const taken = recordsOf(one.hand, "MoveDecided")[0];
  // The record of another hand stands there now.
  one.hand.logs[0].records = tableOf(one).filter((record) => record !== taken);
  const place = gapOf(one, taken.position);
  const bytes = await forged(one.hand);
  assert.deepEqual(await against(bytes, [await committed(one, place)]), [NO_COMMITMENT]);
  assert.deepEqual(await against(bytes, [await revealed(one, place)]), [NO_REVEAL]);
  assert.deepEqual(await against(bytes, [await decided(one, place)]), [NO_DECISION]);
  one.bound = [ZEROS, ZEROS];
  for (const receipt of [committed, revealed, decided])
    assert.deepEqual(await against(bytes, [await receipt(one, place)]), []);
});

test("a record that is kept back decides nothing", async () => {
  const one = await known("suspended-with-secrets");
  const bytes = await forged(one.hand);
  const hidden = tableOf(one).filter(({ event }) => event === null);
  assert.ok(hidden.length > 0);
  for (const { position } of hidden.slice(0, 2)) {
    for (const bound of [one.bound, [ZEROS, ZEROS]]) {
      for (const receipt of [committed, revealed, decided])
        assert.deepEqual(await against(bytes, [await receipt({ ...one, bound }, position)]), []);
    }
  }
});

test("a burn that a receipt refutes", async () => {
  for (const name of ["burnt-by-one", "burnt-and-opened-late"]) {
    const one = await known(name);
    const [{ event, position }] = recordsOf(one.hand, "HandAborted");
    const [seat] = event.seats;
    one.given = recordsOf(one.hand, "EntropyCommitted").find((other) => other.event.seat === seat);
    const burnt = `the number was burnt for seat ${seat}, which has a receipt for its number`;
    const bytes = await forged(one.hand);
    const late = placesOf(one, "EntropyRevealed").at(-1);
    for (const place of [position - 1n, position, late, FAR])
      assert.deepEqual(await against(bytes, [await revealed(one, place)]), [burnt]);
    const report = await told(one, [await revealed(one, late)]);
    assert.equal(report.verdict, "failed");
    assert.ok(report.sentences[0].includes(burnt));
  }
});

test("receipts of another number", async () => {
  const one = await known("after-burnt-numbers");
  const bytes = await forged(one.hand);
  const [finished] = placesOf(one, "HandFinished");
  const [opened] = placesOf(one, "EntropyRevealed");
  const [decision] = placesOf(one, "MoveDecided");
  const [leave] = placesOf(one, "LeaveAsked");
  const given = one.given.position;
  const before = tableOf(one)[0].position - 1n;
  const unknown = (place) => [committed, revealed, decided].map((receipt) => receipt(one, place));
  const [, dealer] = one.bound;
  for (const bound of [[ZEROS, dealer], [ZEROS, ZEROS]]) {
    one.bound = bound;
    for (const line of [
      await committed(one, finished),
      await revealed(one, finished),
      await decided(one, finished),
      await revealed(one, opened),
      await decided(one, decision),
      await decided(one, given),
      await revealed(one, leave),
      await committed(one, given, { key: ZEROS }),
    ])
      assert.deepEqual(await against(bytes, [line]), [OTHER_NUMBER]);
    for (const line of [
      await committed(one, given),
      await decided(one, leave),
      ...(await Promise.all([FAR, before].flatMap(unknown))),
    ])
      assert.deepEqual(await against(bytes, [line]), []);
  }
  one.bound = [one.context, ZEROS];
  assert.deepEqual(await against(bytes, [await revealed(one, opened)]), [OTHER_NUMBER]);
  assert.deepEqual(await against(bytes, [await committed(one, finished)]), [OTHER_NUMBER]);
  one.bound = [one.context, dealer];
  // The hand has ended, and has no such reveal or decision anywhere.
  const expected = [[], [NO_REVEAL], [OTHER_CHAIN]];
  for (const [at, line] of (await Promise.all(unknown(before))).entries()) assert.deepEqual(await against(bytes, [line]), expected[at]);
});

test("a commitment to the next number", async () => {
  const one = await known();
  const records = tableOf(one);
  const last = records.at(-1);
  const event = { ...one.given.event, hand_no: one.given.event.hand_no + 1n };
  const { version } = records.filter(({ stream }) => Buffer.compare(stream, one.given.stream) === 0).at(-1);
  const position = last.position + 1n;
  records.push({ ...one.given, event, position, version: version + 1n, recorded_at_micros: last.recorded_at_micros });
  const bytes = await forged(one.hand);
  assert.deepEqual(await against(bytes, [await committed(one, position)]), [NO_COMMITMENT]);
  one.bound = [ZEROS, one.bound[1]];
  assert.deepEqual(await against(bytes, [await committed(one, position)]), []);
});

test("an exclusion that a receipt refutes", async () => {
  const one = await known("after-burnt-numbers");
  const bytes = await forged(one.hand);
  const [{ event }] = recordsOf(one.hand, "SeatExcluded");
  const { seat, player_id: player, burnt_hand_no: burnt } = event;
  const contextIn = (number) => contextOf(ROOM.dealer.name, one.table, number, one.rules);
  const of = (context, who) => ({ bound: [context, ZEROS], given: { event: { seat, player_id: who } } });
  const line = await revealed(of(await contextIn(burnt), player), FAR);
  const words = `number ${burnt} was burnt for seat ${seat}, which has a receipt for its number`;
  assert.deepEqual(await against(bytes, [line]), [words]);
  assert.equal((await told(one, [line])).verdict, "failed");
  for (const other of [of(await contextIn(burnt + 70n), player), of(await contextIn(burnt), ZEROS.slice(16))])
    assert.deepEqual(await against(bytes, [await revealed(other, FAR)]), []);
});

test("a receipt under a key that had ended", async () => {
  const one = await known("burnt-by-one");
  const [{ event }] = recordsOf(one.hand, "HandAborted");
  one.given = recordsOf(one.hand, "EntropyCommitted").find((other) => other.event.seat === event.seats[0]);
  const bytes = await forged(one.hand);
  const { size } = await openCheckpoint((await parseBundle(bytes)).table.checkpoint, ROOM.table);
  const lines = [await revealed(one, size)];
  for (const [ends, count] of [[[null], 1], [[size], 0], [[size + 1n], 1], [[null, size], 0]]) {
    const keys = [...ends.map((until) => ({ ...ROOM.table, until })), ROOM.dealer, ROOM.wallet];
    assert.equal((await against(bytes, lines, { ...TRUST, keys })).length, count, `${ends}`);
  }
});
