// What a house may try with the chance of a hand, and what the page says and sends then.

import assert from "node:assert/strict";
import test from "node:test";
import { Chance } from "../chance/chance.js";
import { Fault } from "../chance/fault.js";
import { rootOfShuffle } from "../chance/order.js";
import { PlayerChance } from "../chance/player.js";
import { RoomKeys } from "../chance/roomkeys.js";
import { House, RULES } from "./house.mjs";

const HOUR_MS = 3_600_000;
const fault = (words) => (error) => error instanceof Fault && words.test(error.message);

async function seated(more = {}) {
  const house = await House.open();
  const chance = await chanceOf(house, more);
  return { house, chance, take: (what) => chance.take(...house.tell(what)) };
}

async function chanceOf(house, more = {}) {
  const chance = new PlayerChance(house.table, { playerId: house.player, call: house.call, keys: house.keys, ...more }, house.view);
  chance.isActing = true;
  await chance.begin(house.view);
  return chance;
}

/** Up to a step of hand 1. */
async function upTo(step, more) {
  const all = await seated(more);
  const { house, take } = all;
  await take({ nextHand: await house.promise("1") });
  if (step === "promised") return all;
  await take({ entropy: await house.open("1") });
  if (step === "open") return all;
  await take({ entropy: await house.closed("1") });
  if (step === "closed") return all;
  await take({ handStarted: await house.started("1") });
  return all;
}

test("a hand goes from its promise to its seed, and everything that was signed is kept", async () => {
  const { house, chance, take } = await upTo("started");
  assert.deepEqual(house.sent.map(({ method }) => method), ["CommitEntropy", "RevealEntropy"]);
  assert.ok(chance.hand.isSigned);
  await take({ nextHand: await house.promise("2") });
  await take({ handEnded: { handNo: "1" } });
  await take({ seed: await house.seed("1") });
  const tags = (await chance.evidence.statements("1")).map(({ tag }) => tag);
  assert.deepEqual(tags, ["dealer-commit-sig", "receipt-sig", "closing-sig", "reveal-receipt-sig"]);
  assert.equal(chance.committedTo, 2n);
});

test("a hand that was not closed, or not dealt from what was, is none", async () => {
  const open = await upTo("open");
  await assert.rejects(open.take({ handStarted: await open.house.started("1") }), fault(/before it was closed/));
  const changes = {
    "is not the one that it had committed to": ([one, two]) => [one, { ...two, entropy: btoa("\x07".repeat(32)) }],
    "was not dealt from what was closed": ([{ seat, playerId }, two]) => [{ seat, playerId, status: "ENTROPY_STATUS_ABSENT" }, two],
    "without the number of seat 2": ([one, two]) => [one, { ...two, status: "ENTROPY_STATUS_WITHHELD" }],
    "once and ascending": ([one, two]) => [two, one],
  };
  for (const [words, change] of Object.entries(changes)) {
    const { house, take } = await upTo("closed");
    await assert.rejects(take({ handStarted: await house.started("1", change) }), fault(new RegExp(words)));
  }
});

test("a number of the house's that was changed after the closing is seen", async () => {
  const { house, take } = await upTo("closed");
  const other = await house.own("1", 4);
  const started = await house.started("1", ([one, two]) => [one, { ...two, ...other }]);
  await assert.rejects(take({ handStarted: started }), fault(/not dealt from what was closed/));
});

test("a hand without its transcript is none, and nothing is decided in it", async () => {
  const { house, take } = await upTo("closed");
  const { rows, transcript, ...bare } = await house.started("1");
  await assert.rejects(take({ handStarted: bare }), fault(/transcript is missing/));
  const { house: other, chance } = await seated();
  other.view = { ...other.view, sequence: "9", handNo: "4", hand: { ...bare, handNo: "4" } };
  await assert.rejects(chance.begin(other.view), fault(/promise is missing/));
  await assert.rejects(chance.take(...other.tell({ action: { handNo: "4", seat: 2, chainLine: "p1 check" } })), fault(/missing/));
});

test("a hand has the seats that it was made of, and one transcript", async () => {
  const { house, take } = await upTo("closed");
  const started = await house.started("1");
  const seats = [...started.seats, { seat: 3, playerId: house.table }];
  await assert.rejects(take({ handStarted: { ...started, seats } }), fault(/other seats than are dealt in/));
  const dealt = await upTo("started");
  const hand = { ...dealt.house.view.hand, transcript: btoa("?".repeat(32)) };
  await assert.rejects(dealt.chance.begin({ ...dealt.house.view, hand }), fault(/another one than before/));
});

test("a key is one log's", async () => {
  const { house } = await seated();
  const [dealer] = house.keysFile.split("\n");
  await assert.rejects(RoomKeys.parse(`${dealer}\n${dealer.replace("room/dealer", "room/table")}`), /under two names/);
  const ended = await RoomKeys.parse(`${dealer} until 7\n`);
  assert.equal(ended.has("dealer"), false);
});

test("a number that is over is not revealed, whatever view is at hand", async () => {
  const { house, chance, take } = await upTo("open");
  house.answers.RevealEntropy = () => Promise.reject(new Error("the line is dead"));
  await assert.rejects(take({ entropy: await house.closed("1") }), /the line is dead/);
  const { view } = house;
  await take({ voided: { handNo: "1", cause: "ABORT_CAUSE_WITHHELD", seats: [2] } });
  house.answers = {};
  house.sent.length = 0;
  await chance.catchUp(view);
  assert.deepEqual(house.revealed(), []);
});

test("a number that was burnt for want of one's own is opened all the same", async () => {
  const { house, take } = await upTo("open");
  house.answers.RevealEntropy = () => Promise.reject(new Error("the line is dead"));
  await assert.rejects(take({ entropy: await house.closed("1") }), /the line is dead/);
  house.answers = {};
  house.sent.length = 0;
  await take({ voided: { handNo: "1", cause: "ABORT_CAUSE_WITHHELD", seats: [1] } });
  assert.deepEqual(house.revealed(), ["1"]);
});

test("who withheld sits out", async () => {
  for (const [ms, fits] of [[19_999, /seat 2 has withheld/], [20_000, null]]) {
    const { house, take } = await upTo("closed");
    await take({ voided: { handNo: "1", cause: "ABORT_CAUSE_WITHHELD", seats: [2] } });
    await take({ nextHand: await house.promise("2") });
    house.ms += ms;
    const next = take({ entropy: await house.open("2") });
    await (fits ? assert.rejects(next, fault(fits)) : next);
  }
  // A snapshot has no time to hold anybody to.
  const { house, chance, take } = await upTo("closed");
  await take({ voided: { handNo: "1", cause: "ABORT_CAUSE_WITHHELD", seats: [2] } });
  await chance.begin({ ...house.view, handNo: "2", entropy: await house.open("2") });
});

test("rules that cannot be read, or lie outside their bounds, are not played by", async () => {
  const others = [{ settings: "" }, { settings: RULES.settings.replace("reveal_ms = 2000", "reveal_ms = 1") }, { settings: `${RULES.settings}x = 1\n` }, { ruleSet: 'variant = "poker"\n' }];
  for (const other of others) {
    const house = await House.open();
    Object.assign(house.view, other);
    await assert.rejects(chanceOf(house), fault(/outside their bounds/));
  }
  const house = await House.open();
  house.view.settings = `${RULES.settings}time_scale = 20\n`;
  assert.equal((await chanceOf(house)).agreed.suspendMs, (2 * 3_600_000) / 20);
});

test("what cannot be read is as good as not said", async () => {
  const { house, take } = await upTo("closed");
  await assert.rejects(take({ handStarted: { ...(await house.started("1")), transcript: "?" } }), fault(/cannot be read/));
});

test("nothing is revealed while the hand before goes on, whatever a snapshot shows", async () => {
  const { house, chance, take } = await upTo("started");
  await take({ nextHand: await house.promise("2") });
  house.sent.length = 0;
  const view = { ...house.view, entropy: await house.closed("2"), nextHand: undefined, handNo: "2" };
  await assert.rejects(chance.begin(view), fault(/before hand 1 had ended/));
  await assert.rejects(take({ entropy: await house.closed("2") }), fault(/before hand 1 had ended/));
  await chance.catchUp(house.view);
  assert.deepEqual(house.revealed(), []);
});

test("nothing is revealed under two closings, in one sitting or another", async () => {
  const { house, chance, take } = await upTo("open");
  house.answers.RevealEntropy = () => Promise.reject(new Error("the line is dead"));
  await assert.rejects(take({ entropy: await house.closed("1") }), /the line is dead/);
  const second = await house.closed("1", await house.rows("1", 4));
  await assert.rejects(take({ entropy: second }), fault(/closed it twice/));
  house.answers = {};
  house.sent.length = 0;
  await take({ entropy: await house.closed("1") }).catch(() => undefined);
  await chance.catchUp(house.view);
  const again = await chanceOf({ ...house, view: { ...house.view, entropy: undefined, handNo: "0" }, call: house.call });
  await assert.rejects(again.take(...house.tell({ entropy: await house.closed("1") })), fault(/closed it twice/));
  assert.deepEqual(house.revealed(), []);
  const kept = (await chance.evidence.statements("1")).filter(({ tag }) => tag === "closing-sig");
  assert.equal(kept.length, 2, "both are kept");
});

test("a second promise is one also after the page was loaded again", async () => {
  const { house, take } = await upTo("promised");
  await assert.rejects(take({ nextHand: await house.promise("1", 5) }), fault(/promised it twice/));
  house.view = { ...house.view, nextHand: undefined };
  const again = await chanceOf(house);
  await assert.rejects(again.take(...house.tell({ nextHand: await house.promise("1", 6) })), fault(/promised it twice/));
});

test("numbers are not skipped, and do not come again", async () => {
  const { house, chance, take } = await seated();
  await assert.rejects(take({ nextHand: await house.promise("90") }), fault(/in place of hand 1/));
  assert.equal(chance.committedTo, 0n);
  assert.deepEqual(house.sent, []);
  const { house: late, take: takeLate } = await upTo("started");
  await takeLate({ handEnded: { handNo: "1" } });
  await assert.rejects(takeLate({ handEnded: { handNo: "1" } }), fault(/comes again/));
  await assert.rejects(takeLate({ entropy: await late.closed("1") }), fault(/comes again/));
  await assert.rejects(takeLate({ voided: { handNo: "2", cause: "ABORT_CAUSE_WITHHELD" } }), fault(/never opened/));
});

test("a number has one name", async () => {
  for (const handNo of ["0x1", "01", " 1", "1e0", 1]) {
    const { house, take } = await seated();
    await assert.rejects(take({ nextHand: { ...(await house.promise("1")), handNo } }), fault(/number is none/));
  }
});

test("other rules than were shown are no hand of this table", async () => {
  const { house, chance, take } = await seated();
  await assert.rejects(take({ nextHand: { ...(await house.promise("1")), settings: `${RULES.settings}x` } }), fault(/other settings/));
  await assert.rejects(chance.begin({ ...house.view, ruleSet: 'variant = "new"\n' }), fault(/another rule set/));
  assert.deepEqual(house.sent, []);
});

test("a closing has the seats and players dealt in, and one's own row is one's own", async () => {
  const told = {
    "other seats": (rows) => rows.slice(1),
    "other players": ([one, two], house) => [one, { ...two, playerId: house.table }],
    "for which you have a receipt": ([{ commitment, ...one }, two]) => [one, two],
    "that is not yours": ([one, two]) => [{ ...one, commitment: two.commitment }, two],
    "cannot be one": ([one, two]) => [one, { ...two, commitment: btoa("short") }],
  };
  for (const [words, change] of Object.entries(told)) {
    const { house, take } = await upTo("open");
    const closed = await house.closed("1", change(await house.rows("1"), house));
    await assert.rejects(take({ entropy: closed }), fault(new RegExp(words)));
    assert.deepEqual(house.revealed(), []);
  }
  const { house, take } = await upTo("open");
  const closed = await house.closed("1");
  await assert.rejects(take({ entropy: { ...closed, closing: { ...closed.closing, signature: btoa("?".repeat(64)) } } }), fault(/not signed/));
  await assert.rejects(take({ entropy: { ...closed, closing: undefined } }), fault(/not told/));
  assert.deepEqual(house.revealed(), []);
});

test("a hand without one's own number is known as such", async () => {
  const { house, chance, take } = await seated();
  house.answers.CommitEntropy = () => Promise.reject(Object.assign(new Error("away"), {}));
  await take({ nextHand: await house.promise("1") }).catch(() => undefined);
  await take({ entropy: await house.open("1") }).catch(() => undefined);
  await take({ entropy: await house.closed("1") });
  assert.ok(chance.blindHands.has("1"));
  assert.deepEqual(house.revealed(), []);
  const again = await seated();
  again.house.answers = house.answers;
  again.house.view = { ...again.house.view, handNo: "1", hand: { ...(await again.house.started("1")), dealer: (await again.house.promise("1")).commitment, ...RULES } };
  await again.chance.begin(again.house.view);
  assert.ok(again.chance.blindHands.has("1") && !again.chance.hand.isSigned);
});

test("a receipt for another's number is none, and no receipt is one of a burnt number alone", async () => {
  const { house, take } = await upTo("open");
  house.answers.RevealEntropy = async ({ entropy }) => ({ receipt: await house.revealReceipt("1", { entropy, seat: 2 }) });
  await assert.rejects(take({ entropy: await house.closed("1") }), fault(/another number than yours/));
  const burnt = { handNo: "1", cause: "ABORT_CAUSE_WITHHELD", seats: [1] };
  for (const [what, words] of [
    [async () => ({ voided: burnt }), null],
    [async () => ({ voided: { ...burnt, seats: [2] } }), /no receipt/],
    [async (other) => ({ handStarted: await other.started("1") }), /no receipt/],
  ]) {
    const { house: other, take: takeOther } = await upTo("open");
    other.answers.RevealEntropy = async ({ handNo, entropy }) => (other.parts.set(handNo, { ...other.parts.get(handNo), entropy }), {});
    await takeOther({ entropy: await other.closed("1") });
    if (words) await assert.rejects(takeOther(await what(other)), fault(words));
    else await takeOther(await what(other));
  }
});

test("a blame that a receipt refutes, and an end without its reason, are faults", async () => {
  const burnt = { handNo: "1", cause: "ABORT_CAUSE_WITHHELD", seats: [1] };
  const blamed = await upTo("closed");
  await assert.rejects(blamed.take({ voided: burnt }), fault(/receipt for/));
  const dealt = await upTo("started");
  await assert.rejects(dealt.take({ voided: { ...burnt, seats: [2] } }), fault(/after it had been dealt/));
  for (const [cause, words] of [["ABORT_CAUSE_AGREED", /not told/], ["ABORT_CAUSE_SUSPENDED", /not told/], [undefined, /does not say why/]]) {
    const { take } = await upTo("started");
    await assert.rejects(take({ voided: { handNo: "1", cause } }), fault(words));
  }
  for (const [cause, words] of [["ABORT_CAUSE_AGREED", /have not agreed/], ["ABORT_CAUSE_SUSPENDED", /before its suspension/]]) {
    const { house, take } = await upTo("started");
    await take({ suspension: { handNo: "1", suspension: { startTime: new Date(house.ms).toISOString() } } });
    await assert.rejects(take({ voided: { handNo: "1", cause } }), fault(words));
  }
  const { house, take } = await upTo("started");
  await take({ suspension: { handNo: "1", suspension: { startTime: new Date(house.ms).toISOString() } } });
  house.ms += 2 * HOUR_MS;
  await take({ voided: { handNo: "1", cause: "ABORT_CAUSE_SUSPENDED" } });
});

test("a seed is opened after its hand, as it was promised, and in time", async () => {
  const early = await upTo("started");
  await assert.rejects(early.take({ seed: await early.house.seed("1") }), fault(/before it had ended/));
  const other = await upTo("started");
  await other.take({ handEnded: { handNo: "1" } });
  await assert.rejects(other.take({ seed: { ...(await other.house.seed("2")), handNo: "1" } }), fault(/not the one that was promised/));
  let own = 0;
  const shut = await upTo("started", { own: () => own });
  await shut.take({ handEnded: { handNo: "1" } });
  await shut.chance.checkTime();
  own = HOUR_MS + 1;
  await assert.rejects(shut.chance.checkTime(), fault(/still shut/));
  const told = await upTo("started");
  await told.take({ handEnded: { handNo: "1" } });
  told.house.ms += HOUR_MS + 1;
  await assert.rejects(told.take({ seat: { seat: told.house.seat(2) } }), fault(/still shut/));
});

test("the first order of the cards is the seed's", async () => {
  for (const isRight of [true, false]) {
    const { house, chance, take } = await upTo("started");
    const cards = Array.from({ length: 76 }, (_, at) => at);
    if (!isRight) cards.reverse();
    const { seed } = await house.binding("1");
    const root = btoa(String.fromCharCode(...(await rootOfShuffle(chance.hand.transcript, seed, 0, 0, cards))));
    await take({ action: { handNo: "1", root: { cards: 76, root }, phase: "HAND_PHASE_BETTING" } });
    await take({ handEnded: { handNo: "1" } });
    const opened = take({ seed: await house.seed("1") });
    if (isRight) await opened;
    else await assert.rejects(opened, fault(/another order/));
  }
});

test("a decision that has a receipt is in the chain", async () => {
  const { house, chance, take } = await upTo("started");
  const before = chance.hand.decisions.chain;
  const { chain } = await chance.hand.own.sign(before, "p2 check", "p2 check");
  const receipt = await house.decisionReceipt("1", btoa(String.fromCharCode(...chain)));
  await chance.hand.own.accept(receipt, chain);
  chance.hand.decisions.receive(before, chain);
  await assert.rejects(take({ action: await house.action("1", 2, "bet 20") }), fault(/for which you have a receipt/));
});

test("a decision in one's name that one has not signed is a fault", async () => {
  const { house, take } = await upTo("started");
  await assert.rejects(take({ action: await house.action("1", 1, "bet 20") }), fault(/have not signed/));
});

test("one shuffle has one root, whatever a later snapshot shows, and every card its proof", async () => {
  const { house, chance, take } = await upTo("started");
  const root = (byte) => ({ op: 0, cards: 3, root: btoa(byte.repeat(32)) });
  await take({ action: { handNo: "1", root: root("a"), phase: "HAND_PHASE_BETTING" } });
  const view = { ...house.view, hand: { ...house.view.hand, roots: [root("b")] } };
  await assert.rejects(chance.begin(view), fault(/two commitments to shuffle 0/));
  await assert.rejects(take({ action: { handNo: "1", cards: ["S1"], phase: "HAND_PHASE_BETTING" } }), fault(/without proof/));
});

test("what a full disk has kept from being taken in is taken in with the next view", async () => {
  const { house, chance, take } = await upTo("closed");
  const { keep } = chance.evidence;
  chance.evidence.keep = () => Promise.reject(new DOMException("full", "QuotaExceededError"));
  await assert.rejects(take({ handStarted: await house.started("1") }), /full/);
  assert.equal(chance.hand, null);
  chance.evidence.keep = keep;
  await take({ action: await house.action("1", 2, "check") });
  assert.ok(chance.hand.isSigned);
});

test("a number that has passed is not committed to anew", async () => {
  const { house, chance } = await seated();
  await chance.evidence.keep("90", "note 1 of long ago");
  await chance.take(...house.tell({ nextHand: await house.promise("1") }));
  assert.deepEqual(house.sent, []);
});

test("who has taken another seat commits anew, for a number counts in its seat alone", async () => {
  const { house, take } = await upTo("promised");
  await take({ seat: { seat: house.seat(1), vacated: true } });
  await take({ seat: { seat: { ...house.seat(1), seat: 3 } } }).catch(() => undefined);
  const commitments = house.sent.map(({ request }) => request.commitment);
  assert.equal(new Set(commitments).size, 2);
});
