// The credits of a hand: by the rules, at the table, in the wallet.

import { equal, same, uuid } from "../bytes.js";
import { CLOCK_SKEW, exactly, failed, hold, missing } from "./case.js";

const SETTLEMENT = 5;
const MOST_SIGNED = (1n << 63n) - 1n;

const ofRules = ({ stacks, sabaccPot, carriedPot, rake }) => ({
  stacks: stacks.map(BigInt),
  sabaccPot: BigInt(sabaccPot),
  carriedPot: BigInt(carriedPot),
  rake: BigInt(rake),
});

const ofRecord = (settled) => ({
  stacks: settled.finishing_stacks,
  sabaccPot: settled.finishing_sabacc_pot,
  carriedPot: settled.finishing_carried_pot,
  rake: settled.rake,
});

// The table recorded what the rules make of the hand, line by line.
export function checkSettlement(records, walk) {
  if (records.aborted) return;
  walk.judge("settlement");
  const settled = records.one("HandSettled").event;
  if (!walk.end) throw missing("the hand is not over");
  const { settlement, sabaccPaid, sabaccWon } = walk.end;
  const lines = settled.lines.map(({ text }) => text);
  for (let at = 0; at < Math.max(lines.length, settlement.text.length); at += 1) {
    const [recorded, ruled] = [lines[at], settlement.text[at]].map((line) =>
      line === undefined ? "nothing" : `\u201c${line}\u201d`,
    );
    hold(recorded === ruled, () => `line ${at + 1}: on record is ${recorded}, the rules say ${ruled}`);
  }
  const [record, rules] = [ofRecord(settled), ofRules(settlement)];
  const differs = (what) => `${what}: the record and the rules differ`;
  hold(same(record.stacks, rules.stacks), differs("the finishing stacks"));
  hold(record.sabaccPot === rules.sabaccPot, differs("the Sabacc Pot"));
  hold(record.carriedPot === rules.carriedPot, differs("the carried pot"));
  hold(record.rake === rules.rake, differs("the rake"));
  hold(same(settled.sabacc_paid, sabaccPaid.map(BigInt)), differs("who paid into the Sabacc Pot"));
  hold(settled.sabacc_won === sabaccWon, differs("whether the Sabacc Pot was won"));
}

// What each account gained or lost; pots and the house are left out where they did neither.
function legsOf(opened, after) {
  const table = uuid(exactly(16, opened.table_id, "the hand's table"));
  hold(opened.roster.length === after.stacks.length, "not one stack a player");
  const legs = new Map();
  const leg = (account, before, now) => {
    const moved = now - before;
    hold(moved <= MOST_SIGNED && moved >= -MOST_SIGNED - 1n, "a stack is out of range");
    if (moved !== 0n || account.startsWith("seat/")) legs.set(account, moved);
  };
  opened.roster.forEach(({ player_id: player, stack }, at) =>
    leg(`seat/${table}/${uuid(exactly(16, player, "a player's id"))}`, stack, after.stacks[at]),
  );
  leg(`pot/${table}/sabacc`, opened.sabacc_pot, after.sabaccPot);
  leg(`pot/${table}/carried`, opened.carried_pot, after.carriedPot);
  leg("house/rake", 0n, after.rake);
  return legs;
}

// One transfer, of the right name and kind, with a leg for each account that the hand moved. Seats that it did not move
// have legs of 0 credits all together or none of them: earlier tables wrote none, so such legs are not demanded.
export function checkTransfer(records, walk) {
  const opened = records.one("HandOpened").event;
  if (records.aborted) {
    hold(
      records.wallet.length === 0 && !records.find("SettlementPosted"),
      "the hand came to nothing, and credits were moved for it",
    );
    return;
  }
  const settled = records.one("HandSettled");
  const expected = legsOf(opened, walk.end ? ofRules(walk.end.settlement) : ofRecord(settled.event));
  const transfers = records.all("TransferPosted");
  if (transfers.length === 0) throw missing("the wallet's transfer is not among the records");
  hold(transfers.length === 1, "the wallet posted more than one transfer");
  const [{ event: posted, time, position }] = transfers;
  hold(equal(posted.transfer_id, records.handId), "the transfer is not called by the hand's id");
  const own =
    posted.kind === SETTLEMENT && equal(posted.table_id, opened.table_id) && equal(posted.hand_id, records.handId);
  const others =
    posted.hold_id.length + posted.adjustment_id.length + posted.approved_by.length > 0 || posted.keep_rest;
  hold(own && !others, "the transfer is not this table's settlement of this hand");
  const found = new Map(posted.legs.map(({ account, amount }) => [account, amount]));
  hold(found.size === posted.legs.length, "an account has two legs");
  const namesAll = [...found.values()].includes(0n);
  const wanted = new Map([...expected].filter(([, amount]) => namesAll || amount !== 0n));
  for (const account of new Set([...wanted.keys(), ...found.keys()])) {
    const [wallet, hand] = [found.get(account), wanted.get(account)];
    if (wallet === hand) continue;
    if (hand === undefined) throw failed(`${account}: the wallet has a leg of ${wallet} credits, the hand has none`);
    if (wallet === undefined) throw failed(`${account}: the wallet has no leg, the hand one of ${hand} credits`);
    throw failed(`${account}: the wallet moved ${wallet} credits, the hand ${hand}`);
  }
  hold(time + CLOCK_SKEW >= settled.time, "the wallet posted the transfer before the hand was settled");
  const noted = records.one("SettlementPosted").event.position;
  hold(
    noted === position,
    () => `the table names position ${noted} of the wallet's log, the transfer is at ${position}`,
  );
}

const sum = (amounts) => amounts.reduce((all, amount) => all + amount, 0n);

// Before = after + rake; the legs sum to zero; the table's own books go on with the same.
export function checkConserved(records) {
  const opened = records.one("HandOpened").event;
  if (records.aborted) {
    checkGivenBack(records, opened);
    return;
  }
  const settled = records.one("HandSettled").event;
  const { stacks, sabaccPot, carriedPot, rake } = ofRecord(settled);
  const before = sum([...opened.roster.map(({ stack }) => stack), opened.sabacc_pot, opened.carried_pot]);
  const after = sum([...stacks, sabaccPot, carriedPot, rake]);
  hold(before === after, () => `${before} credits came into the hand, ${after} came out of it`);
  for (const { event } of records.all("TransferPosted")) {
    const legs = sum(event.legs.map(({ amount }) => amount));
    hold(legs === 0n, () => `the legs of the transfer sum to ${legs} credits`);
  }
  const finished = records.one("HandFinished").event;
  const seats = opened.roster.slice(0, stacks.length).map((place, at) => ({ ...place, stack: stacks[at] }));
  const goesOn =
    same(finished.seats, seats) &&
    finished.sabacc_pot === sabaccPot &&
    finished.carried_pot === carriedPot &&
    same(finished.sabacc_paid, settled.sabacc_paid) &&
    finished.sabacc_won === settled.sabacc_won;
  hold(goesOn, "the table goes on with other credits than the settlement says");
  hold(!finished.aborted, "the table goes on as if the hand had come to nothing, and it was settled");
}

// Every ante and bet is back where it came from.
function checkGivenBack(records, opened) {
  const finished = records.one("HandFinished").event;
  const back =
    same(finished.seats, opened.roster) &&
    finished.sabacc_pot === opened.sabacc_pot &&
    finished.carried_pot === opened.carried_pot &&
    finished.sabacc_paid.every((paid) => paid === 0n) &&
    !finished.sabacc_won;
  hold(back, "the hand came to nothing, and the table goes on with other credits than before it");
  hold(finished.aborted, "the hand came to nothing, and the table goes on as if it had been played");
}
