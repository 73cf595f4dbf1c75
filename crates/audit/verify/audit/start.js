// Whether the hand began with what the last one that was played had left, but for what the table's stream says in between.

import { equal } from "../bytes.js";
import { BadSettings, readSettings } from "../settings.js";
import { failed, hold, missing } from "./case.js";
import { checkExclusions } from "./exclusions.js";
import { isFirst } from "./table-stream.js";

// The table before the hand, as far as the records say: taken seats by number, pots, the seat that had the button, numbers
// that came to nothing. `whole`: a seat of which they say nothing is free.
export function tableBefore(records) {
  const opened = records.one("HandOpened");
  const whole = records.table.length > 0 && isFirst(records.table[0]);
  const pots = whole ? [0n, 0n] : null;
  const table = { whole, pots, seats: new Map(), button: null, burnt: [], refunded: false, disabled: false };
  for (const { position, name, event, keptBack } of records.table)
    if (position < opened.position && !keptBack) TAKE[name]?.(table, event);
  return table;
}

const change = (what) => (table, event) => {
  const seat = table.seats.get(event.seat);
  if (seat) Object.assign(seat, what);
};

const TAKE = {
  SeatTaken(table, { seat, player_id: player, buy_in: stack, house }) {
    table.seats.set(seat, { player, stack, missed: 0, funded: false, house });
  },
  SeatVacated: (table, { seat }) => table.seats.delete(seat),
  SeatRefused: (table, { seat }) => table.seats.delete(seat),
  SeatFunded: change({ funded: true }),
  CashOutDue: change({ funded: false }),
  // A burnt number changes no missed clocks, nor does what follows from it.
  SitOutChanged: (table, event) => event.why === "excluded" || change({ missed: 0 })(table, event),
  PotRefundDue(table) {
    table.refunded = true;
  },
  TableDisabled(table) {
    table.disabled = true;
  },
  TableEnabled(table) {
    table.disabled = false;
  },
  HandStarted(table) {
    hold(!table.refunded, "a hand was started after the pots had been paid back");
    hold(!table.disabled, "a hand was started while the table was disabled");
  },
  HandFinished: (table, event) => (event.aborted ? takeBurnt : takePlayed)(table, event),
};

function takePlayed(table, { seats, misses, sabacc_pot: sabacc, carried_pot: carried }) {
  seats.forEach(({ seat, player_id: player, stack, house }, at) => {
    table.seats.set(seat, { player, stack, missed: misses[at] ?? 0, funded: true, house });
  });
  table.pots = [sabacc, carried];
  table.button = seats.at(-1)?.seat ?? null;
  table.burnt = [];
}

// The end of a hand that came to nothing changes nothing.
function takeBurnt(table, { hand_no: number, seats, misses, sabacc_pot: sabacc, carried_pot: carried }) {
  table.burnt.push(number);
  const { pots } = table;
  let same = pots === null || (pots[0] === sabacc && pots[1] === carried);
  seats.slice(0, misses.length).forEach(({ seat, player_id: player, stack }, at) => {
    const own = table.seats.get(seat);
    same &&= !own || (equal(own.player, player) && own.stack === stack && own.missed === misses[at]);
  });
  hold(same, () => `hand ${number} came to nothing, and changed stacks, pots or missed clocks`);
}

// Clocks missed in a row by each player of the roster before the hand; null where the records do not say.
export const missedBefore = (table, roster) => roster.map(({ seat }) => table.seats.get(seat)?.missed ?? null);

export function checkStart(records) {
  const opened = records.one("HandOpened").event;
  checkSettings(records, opened);
  checkExclusions(records);
  checkCountsOfMisses(records);
  const table = tableBefore(records);
  if (table.pots === null) throw missing("the end of the last hand that was played is not among the records");
  hold(
    table.pots[0] === opened.sabacc_pot && table.pots[1] === opened.carried_pot,
    () =>
      `the hand began with pots of ${opened.sabacc_pot} and ${opened.carried_pot}, the last one had left ${table.pots.join(" and ")}`,
  );
  opened.roster.forEach((place) => checkSeat(table, place));
  checkButton(
    table,
    opened.roster.map(({ seat }) => seat),
  );
  const finished = records.find("HandFinished");
  if (!finished || !records.aborted) return;
  const { misses } = finished.event;
  const known = missedBefore(table, opened.roster);
  const same = known.length === misses.length && known.every((missed, at) => missed === null || missed === misses[at]);
  hold(same, "the hand came to nothing, and clocks are counted as missed in it");
}

// Each end of a hand before this one has one number of missed clocks for each seat.
function checkCountsOfMisses(records) {
  const opened = records.one("HandOpened");
  for (const { name, position, event, keptBack } of records.table) {
    if (name !== "HandFinished" || position >= opened.position || keptBack) continue;
    const same = event.misses.length === event.seats.length;
    hold(same, () => `the end of hand ${event.hand_no} has not one number of misses a seat`);
  }
}

// Within their bounds, and those that the table was made with.
function checkSettings(records, { rule_set: rules, settings }) {
  try {
    readSettings(settings);
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error;
    throw failed(`the settings: ${error.message}`);
  }
  const created = records.table.find(({ name }) => name === "TableCreated");
  if (!created?.event) return;
  const same = created.event.rule_set === rules && created.event.settings === settings;
  hold(same, "the hand has other rules or settings than its table");
}

function checkSeat(table, { seat, player_id: player, stack, house }) {
  const own = table.seats.get(seat);
  if (!own) {
    // Whoever sat out the last hand took the seat before the first of these records.
    hold(!table.whole, () => `seat ${seat} is dealt in, and is free`);
    return;
  }
  hold(equal(own.player, player), () => `seat ${seat} is dealt in with another player than sits there`);
  hold(own.house === house, () => `seat ${seat} is dealt in with another house mark`);
  hold(own.funded, () => `seat ${seat} is dealt in, and its credits are not there`);
  hold(own.stack === stack, () => `seat ${seat} began with ${stack} credits, and had ${own.stack}`);
}

// The last of the roster has the button, which goes on to the next of the seats dealt in; at first the lowest has it.
function checkButton(table, dealt) {
  const seats = [...dealt].sort((a, b) => a - b);
  const later = table.button === null ? [] : seats.filter((seat) => seat > table.button);
  const button = later[0] ?? seats[0] ?? 0;
  const expected = [...seats.filter((seat) => seat > button), ...seats.filter((seat) => seat <= button)];
  hold(
    expected.join() === dealt.join(),
    () => `the seats are dealt in as ${dealt.join(", ")}, and the button makes it ${expected.join(", ")}`,
  );
}
