// Verdicts, the sentences before them, keys, witnesses, and several files at once.

import assert from "node:assert/strict";
import { test } from "node:test";

import { judge, modules, parseBundle, readKeys, reportOn } from "./built.mjs";
import { ROOM, TRUST, cosigned, drop, forged, logKey, opened, recordsOf, signed, witnessKey } from "./forge.mjs";

const { keysText, readWitnesses, roomOf } = modules["trust.js"];
const { seatWords, timeWords } = modules["sentences.js"];
const { openCheckpoint } = modules["note.js"];
const { readSettings } = modules["settings.js"];

const NOBODY = "nobody but the room has seen this log: it could show somebody else another";
const HOUR = 3600000000n;
const HAND = "everybody-reveals";
const UNOPENED = ["SeedOpened", "HandRevealed", "SettlementPosted", "TransferPosted"];
const failedOf = ({ checks }) => checks.filter(({ verdict }) => verdict === "failed").map(({ check }) => check);
const whyOf = ({ checks }, name) => checks.find(({ check }) => check === name).why;

// The report on a hand that `bend` changes.
async function told(name, bend = () => {}, trust = TRUST, how = {}) {
  const hand = opened(name);
  bend(hand);
  return reportOn(await forged(hand, how), trust);
}

const change = (hand, kind, fields) => Object.assign(recordsOf(hand, kind)[0].event, fields);

test("a hand is proved", async () => {
  const { verdict, sentences } = await told(HAND);
  assert.equal(verdict, "proved");
  assert.deepEqual(sentences, [
    "Hand 1 was played to its end: seat 1 wins 4090.",
    `Whose word it is: that of specimen.example, by the keys you gave; ${NOBODY}; the numbers of seats 1, 2 and 3 are ` +
      "in it: enough if one of them is honest; the house marks no seat as its own: a house that cheats marks none; " +
      "those decisions of seats 1, 2 and 3 which its player made are signed, others are the clock's or the table's word.",
    "Your part: only you can know whether your own number is in it.",
  ]);
});

test("seats of the house are marked", async () => {
  const marked = async (...seats) => {
    const { verdict, sentences } = await told(HAND, (hand) => {
      for (const { event } of recordsOf(hand, "SeatTaken")) event.house = seats.includes(event.seat);
      for (const kind of ["HandOpened", "HandFinished"]) {
        const [{ event }] = recordsOf(hand, kind);
        for (const place of event.roster ?? event.seats) place.house = seats.includes(place.seat);
      }
    });
    assert.equal(verdict, "proved");
    return sentences[1];
  };
  assert.match(await marked(2), /; the house marks seat 2 as its own: a house that cheats marks none; /);
  assert.match(await marked(3, 1), /; the house marks seats 1 and 3 as its own: /);
});

test("a hand is broken off, by whom and when", async () => {
  for (const [name, words] of [
    ["burnt-by-one", "before its antes by seat 1, which withheld its number, at "],
    ["burnt-by-all", ", which withheld their numbers, at "],
    ["left-before-antes", "before its antes by the dealer, which was silent, at "],
    ["agreed", "in play by the dealer, which was silent, and all players who were left agreed, at "],
  ]) {
    const { verdict, sentences } = await told(name);
    assert.equal(verdict, "broken_off", name);
    assert.ok(sentences[0].startsWith("Hand 1 was broken off ") && sentences[0].includes(words), sentences[0]);
  }
});

test("a hand that the dealer let die fails", async () => {
  const made = await told("suspended-too-long");
  assert.deepEqual([made.verdict, failedOf(made)], ["failed", []]);
  assert.match(made.sentences[0], /the dealer was silent until the time of the hand was over/);
});

test("a suspended hand is not finished for an hour more than it may last", async () => {
  const until = recordsOf(opened("suspended-in-play"), "HandSuspended")[0].event.until_micros;
  for (const [late, verdict] of [
    [0n, "not_finished"],
    [1n, "failed"],
  ]) {
    const made = await told("suspended-in-play", (hand) => {
      const [{ records }] = hand.logs;
      records.at(-1).recorded_at_micros = until + HOUR + late;
    });
    assert.equal(made.verdict, verdict, made.sentences[0]);
    assert.ok(made.sentences[0].includes(timeWords(until)), made.sentences[0]);
  }
});

test("numbers that came to nothing before are told", async () => {
  const { sentences } = await told("after-burnt-numbers");
  assert.match(sentences[0], /; before it numbers \d+ \(the table excluded seat \d+ for it\), \d+ \(the table excluded seat \d+ for it\) came to nothing/);
});

test("a hand without anybody's number fails", async () => {
  const made = await told("nobody-takes-part");
  assert.equal(made.verdict, "failed");
  assert.deepEqual(failedOf(made), []);
  assert.match(made.sentences[0], /no seat's number is in it/);
});

test("every verdict on a room for developers says so first", async () => {
  const mark =
    "For developers alone: an option fixed the dealer's seeds, so whoever knows it knew every card beforehand. " +
    "Clocks of this table run 2 times as fast as its settings say. ";
  const made = await told("room-for-developers");
  assert.equal(made.verdict, "proved");
  assert.ok(made.sentences[0].startsWith(`${mark}Hand `), made.sentences[0]);
  const failed = await told("room-for-developers", (hand) => drop(hand, "TransferPosted"));
  assert.ok(failed.sentences[0].startsWith(`${mark}This hand is not proved: `), failed.sentences[0]);
  assert.doesNotMatch((await told(HAND)).sentences[0], /developers|Clocks/);
});

test("what fails does not sound like a pass", async () => {
  const made = await told(HAND, (hand) => change(hand, "HandSettled", { rake: 7n }));
  assert.equal(made.verdict, "failed");
  assert.equal(made.sentences[0], "This hand is not proved: failed checks: settlement, conserved.");
  assert.doesNotMatch(made.sentences.join(" "), /wins|nobody but the room|numbers of/);
  const missing = await told(HAND, (hand) => drop(hand, "TransferPosted"));
  assert.equal(missing.verdict, "failed");
  assert.equal(missing.sentences[0], "This hand is not proved: checks that could not be made: transfer.");
});

test("a seed that is owed is not finished for an hour", async () => {
  for (const [name, end, delay] of [
    [HAND, "HandSettled", 0n],
    ["delayed-reveal", "HandSettled", null],
    ["agreed", "HandAborted", 0n],
  ]) {
    for (const late of [0n, 1n]) {
      let due;
      const made = await told(name, (hand) => {
        drop(hand, ...UNOPENED);
        const [ended] = recordsOf(hand, end);
        const [{ event }] = recordsOf(hand, "HandOpened");
        due = ended.recorded_at_micros + (delay ?? BigInt(readSettings(event.settings).delay_seconds) * 1000000n);
        recordsOf(hand, "HandFinished").at(-1).recorded_at_micros = due + HOUR + late;
      });
      assert.deepEqual(failedOf(made), []);
      assert.equal(made.verdict, late ? "failed" : "not_finished", name);
      assert.ok(made.sentences[0].includes(`${late ? "was" : "is"} due at ${timeWords(due)}`), made.sentences[0]);
    }
  }
});

test("a trusted cosignature is a time too", async () => {
  const [one, stranger] = [await witnessKey("one.example"), await witnessKey("three.example")];
  const trust = { ...TRUST, witnesses: [one], wanted: 1 };
  const due = Number(recordsOf(opened(HAND), "HandSettled")[0].recorded_at_micros / 1000000n);
  for (const [key, late, verdict] of [
    [one, 3600, "not_finished"],
    [one, 3602, "failed"],
    [stranger, 3602, "not_finished"],
  ]) {
    const under = (_, note) => cosigned(note, key, due + late);
    const made = await told(HAND, (hand) => drop(hand, ...UNOPENED), trust, { under });
    assert.equal(made.verdict, verdict);
  }
});

test("a hand in play is not finished, and one with a check that fails is failed", async () => {
  const open = await told(HAND, (hand) =>
    drop(hand, ...UNOPENED, "HandSettled", "HandFinished", "CardsShown", "MoveDecided", "ChanceUsed", "CardsMoved"),
  );
  assert.equal(open.verdict, "not_finished");
  assert.match(open.sentences[0], /it is in play, and its last record is of/);
  const bent = await told(HAND, (hand) => {
    drop(hand, ...UNOPENED);
    change(hand, "HandFinished", { carried_pot: 77n });
  });
  assert.equal(bent.verdict, "failed");
});

test("words", () => {
  assert.equal(seatWords([1]), "seat 1");
  assert.equal(seatWords([1, 3]), "seats 1 and 3");
  assert.equal(seatWords([1, 3, 5]), "seats 1, 3 and 5");
  assert.equal(timeWords(1700000000900000n), "2023-11-14 22:13:20 UTC");
  assert.equal(timeWords(253402300799999999n), "9999-12-31 23:59:59 UTC");
  assert.equal(timeWords((1n << 64n) - 1n), `${(1n << 64n) - 1n} microseconds after 1970`);
});

test("a file of keys", async () => {
  const { text } = ROOM.table;
  const told = await readKeys(`# mine\r\n\n${text}\r\n${ROOM.dealer.text} until 18446744073709551615`);
  assert.deepEqual(
    told.map(({ name, until }) => [name, until]),
    [
      ["specimen.example/table", null],
      ["specimen.example/dealer", (1n << 64n) - 1n],
    ],
  );
  assert.deepEqual(await readKeys(""), []);
  assert.deepEqual(await readKeys(`# \u2028${text}\n`), []);
  const other = await logKey("other.example/table", ROOM.table.name);
  for (const bad of [
    ...[` ${text}\n`, `${text} \n`, `${text}\t\n`, `\t\n${text}`, " # no comment", "nonsense", `\ufeff${text}\n`],
    ...[`${text}\r`, `${text}\r\r\n`, `${text}\r${text}\n`, `${text}\u2028${text}\n`, `${text}\u0085\n`, `${text}\f\n`],
    ...[`${text} until \n`, `${text} until 01\n`, `${text} until -1\n`, `${text} until 1 \n`, `${text}  until 1\n`],
    ...[`${text} until 18446744073709551616\n`, `${text} until \u0661\n`, `${text} Until 1\n`],
    `${text}\n${other.text}\n`,
  ])
    await assert.rejects(readKeys(bad), JSON.stringify(bad));
  assert.throws(() => keysText(Uint8Array.of(0x23, 0xff)));
  await assert.rejects(readKeys(keysText(Uint8Array.of(0xef, 0xbb, 0xbf))));
  await assert.rejects(readWitnesses(text));
  assert.equal((await readWitnesses((await witnessKey("one.example")).text)).length, 1);
});

test("rooms", () => {
  for (const [name, log, room] of [
    ["room.example/table", "table", "room.example"],
    ["room.example/3/table", "table", "room.example"],
    ["room.example/rooms/blue/dealer", "dealer", "room.example/rooms/blue"],
    ["room.example/03/table", "table", "room.example/03"],
    ["room.example/dealer", "table", null],
    ["table", "table", null],
    ["/table", "table", null],
    ["room.example/vegetable", "table", null],
  ])
    assert.equal(roomOf(name, log), room, name);
});

test("a key counts for its own log only", async () => {
  for (const [log, name] of [
    ["table", "specimen.example/dealer2"],
    ["table", "specimen.example"],
    ["wallet", "other.example/wallet"],
  ]) {
    const room = { ...ROOM, [log]: await logKey(name) };
    const made = await told(HAND, () => {}, { ...TRUST, keys: Object.values(room) }, { room });
    assert.deepEqual([made.verdict, failedOf(made)], ["failed", ["keys"]], name);
  }
  const room = { ...ROOM, table: await logKey("specimen.example/3/table") };
  assert.equal((await told(HAND, () => {}, { ...TRUST, keys: Object.values(room) }, { room })).verdict, "proved");
});

test("a key has an end", async () => {
  const bundle = await parseBundle(await forged(opened(HAND)));
  const { audit } = modules["audit.js"];
  const withEnd = async (log, until, more = []) => {
    const keys = Object.entries(ROOM).map(([name, key]) => (name === log ? { ...key, until } : key));
    return (await audit(bundle, { ...TRUST, keys: [...more, ...keys] })).report;
  };
  for (const log of ["table", "dealer", "wallet"]) {
    const { size } = await openCheckpoint(bundle[log].checkpoint, ROOM[log]);
    assert.equal((await withEnd(log, size)).verdict, "proved");
    for (const until of [size - 1n, 0n]) {
      const wrong = log === "dealer" && until === 0n ? ["keys", "commitment", "closing"] : ["keys"];
      assert.deepEqual(failedOf(await withEnd(log, until)), wrong);
      assert.deepEqual(failedOf(await withEnd(log, until, [ROOM[log]])), wrong);
    }
  }
  const { position } = bundle.dealer.records.find(({ name }) => name === "SeedCommitted");
  assert.match(whyOf(await withEnd("dealer", position), "keys"), /a commitment stands at/);
});

test("witnesses count where they signed table and dealer", async () => {
  const [one, two, three] = await Promise.all(["one", "two", "three"].map((name) => witnessKey(`${name}.example`)));
  const twin = await witnessKey("one.example", "another secret");
  const impostor = { ...one, secret: twin.secret };
  const trust = { ...TRUST, witnesses: [one, two], wanted: 1 };
  const seen = async (under, wanted = 1) => told(HAND, () => {}, { ...trust, wanted }, { under });
  const both = await seen((_, note) => cosigned(cosigned(note, one, 5), two, 6));
  assert.equal(both.verdict, "proved");
  assert.match(both.sentences[1], /; 2 of 2 trusted witnesses signed the checkpoints of table and dealer: one\.example at /);
  const only = (name, note) => (name === "wallet" ? note : cosigned(note, one, 5));
  assert.match((await seen(only)).sentences[1], /; 1 of 2 trusted/);
  assert.equal((await seen(only, 2)).verdict, "not_finished");
  assert.equal((await seen((_, note) => cosigned(cosigned(note, impostor, 5), one, 5))).verdict, "proved");
  for (const under of [
    (_, note) => note,
    (name, note) => (name === "table" ? cosigned(note, one, 5) : note),
    (name, note) => cosigned(note, name === "table" ? one : two, 5),
    (_, note) => cosigned(note, three, 5),
    (_, note) => cosigned(note, impostor, 5),
    (_, note) => cosigned(note, one, 1n << 63n),
  ]) {
    const made = await seen(under);
    assert.deepEqual([made.verdict, failedOf(made)], ["not_finished", []]);
    assert.ok(made.sentences[1].includes(NOBODY));
  }
  const ended = { ...trust, witnesses: [{ ...one, until: 5n }] };
  const under = (_, note) => cosigned(note, one, 5);
  assert.equal((await told(HAND, () => {}, ended, { under })).verdict, "not_finished");
  const bent = await told(HAND, (hand) => change(hand, "HandSettled", { rake: 7n }), trust, { under });
  assert.doesNotMatch(bent.sentences.join(" "), /trusted witnesses/);
});

test("files that contradict each other fail", async () => {
  const file = async (name, bend = () => {}, how = {}) => {
    const hand = opened(HAND);
    bend(hand);
    return { name, bundle: await parseBundle(await forged(hand, how)) };
  };
  const later = (hand) => (recordsOf(hand, "HandFinished")[0].recorded_at_micros += 1n);
  const one = await file("one");
  const same = await judge([one, await file("two")], TRUST);
  assert.deepEqual(
    same.map(({ report }) => report.verdict),
    ["proved", "proved"],
  );
  const forks = await judge([one, await file("two", later)], TRUST);
  for (const { report } of forks) assert.deepEqual([report.verdict, failedOf(report)], ["failed", ["inclusion"]]);
  assert.match(whyOf(forks[0].report, "inclusion"), /^two contradicts it: checkpoints of \d+ records/);
  const thief = { ...ROOM.table, secret: ROOM.wallet.secret };
  const forgery = await file("two", later, { room: { ...ROOM, table: thief } });
  assert.deepEqual(
    (await judge([one, forgery], TRUST)).map(({ report }) => report.verdict),
    ["proved", "failed"],
  );
});

test("each contradiction", async () => {
  const { contradictionsOf } = modules["several.js"];
  const bundle = await parseBundle(await forged(opened(HAND)));
  const { size } = await openCheckpoint(bundle.table.checkpoint, ROOM.table);
  const [record] = bundle.table.records;
  const root = Buffer.alloc(32).toString("base64");
  const other = (records, length) => {
    const checkpoint = signed(`${ROOM.table.name}\n${length}\n${root}\n`, ROOM.table);
    return { ...bundle, table: { ...bundle.table, records, checkpoint } };
  };
  const leaf = new Uint8Array(149);
  const found = (changed) =>
    contradictionsOf([
      ["a", bundle],
      ["b", changed],
    ]);
  for (const [what, changed] of [
    ["different records at position", other([{ ...record, leaf, version: 900n }], size + 1n)],
    ["different records of version", other([{ ...record, leaf, position: 1000000n }], size + 1n)],
    ["checkpoints of", other([], size)],
  ]) {
    const told = await found(changed);
    assert.equal(told.size, 2);
    assert.ok(told.get(bundle).startsWith(`b contradicts it: ${what}`), told.get(bundle));
    assert.ok(told.get(changed).startsWith(`a contradicts it: ${what}`), told.get(changed));
  }
  assert.equal((await found(other([{ ...record, leaf, position: 1000000n, version: 900n }], size + 1n))).size, 0);
});
