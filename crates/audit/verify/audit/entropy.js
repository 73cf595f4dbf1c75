// What the seats brought to chance, and who withheld what he had committed to. All of it stands in the table's log, so
// that order is order of positions.

import { equal } from "../bytes.js";
import { ABSENT, REVEALED, clientCommitment } from "../fair.js";
import { exactly, failed, hold, timeText } from "./case.js";

const SEAT = 1;
const OPERATOR = 3;

// By seat what was committed to in time, and what was revealed; each step in its order and time.
export async function entropyOf(records, { context, commitment }) {
  const opened = records.one("HandOpened").event;
  const given = new Map();
  for (const record of records.table.filter(({ name }) => name === "EntropyCommitted")) {
    hold(!given.has(record.event.seat), () => `seat ${record.event.seat} committed to entropy twice`);
    given.set(record.event.seat, record);
  }
  const closed = records.find("EntropyClosed");
  const brought = { committed: new Map(), revealed: new Map(), closed };
  hold(records.hasEntropy, "the table gave the seats no part in the chance of this hand");
  if (!closed) return brought;
  const roster = new Map(opened.roster.map(({ seat, player_id: player }) => [seat, player]));
  for (const [seat, record] of [...given].sort(([a], [b]) => a - b)) {
    hold(record.position < closed.position, () => `seat ${seat} committed after the commitments were closed`);
    const player = roster.get(seat);
    if (player && equal(player, record.event.player_id)) brought.committed.set(seat, record.event);
  }
  const seats = [...brought.committed.keys()];
  hold(
    closed.event.seats.join() === seats.join(),
    () => `the table closed with the commitments of other seats than ${seats.join(", ") || "none"}`,
  );
  const everybody = seats.length === opened.roster.length;
  hold(
    everybody || closed.time >= opened.entropy_deadline_micros,
    () => `the commitments were closed at ${timeText(closed.time)}, before the seats' time was over`,
  );
  for (const { event } of records.hand.filter(({ name }) => name === "EntropyRevealed")) {
    await takeReveal(brought, event, { context, commitment });
  }
  return brought;
}

async function takeReveal(brought, { seat, entropy }, { context, commitment }) {
  const own = brought.committed.get(seat);
  if (!own) throw failed(`seat ${seat} revealed entropy that it had not committed to`);
  if (seat > 255) throw failed(`there is no seat ${seat}`);
  exactly(16, own.player_id, "a player's id");
  exactly(32, entropy, "a seat's entropy");
  exactly(32, own.commitment, "a seat's commitment");
  const made = await clientCommitment(context, commitment, seat, own.player_id, entropy);
  hold(equal(made, own.commitment), () => `what seat ${seat} revealed does not open what it had committed to`);
  hold(!brought.revealed.has(seat), () => `seat ${seat} revealed its entropy twice`);
  brought.revealed.set(seat, entropy);
}

// A row of a sealed hand is what its seat brought; such a hand has nobody who withheld.
export function checkRow(brought, row) {
  const [own, entropy] = [brought.committed.get(row.seat), brought.revealed.get(row.seat)];
  if (!own) {
    hold(row.status === ABSENT, () => `the hand was sealed with entropy of seat ${row.seat}, which had brought none`);
    return;
  }
  if (!entropy) throw failed(`the hand was sealed, and seat ${row.seat} had not revealed what it had committed to`);
  const fits = row.status === REVEALED && equal(own.commitment, row.commitment) && equal(entropy, row.entropy);
  hold(fits, () => `the hand was sealed with another part of seat ${row.seat} than it brought`);
}

// Whether the hand may have been aborted as it was.
export function checkGrounds(records, brought) {
  const { aborted } = records;
  if (!aborted) return;
  const { at_fault: fault, seats } = aborted.event;
  hold(fault >= SEAT && fault <= OPERATOR, "the hand was aborted, and nobody is at fault");
  if (fault !== SEAT) {
    hold(seats.length === 0, "the hand was aborted for two faults at once");
    return;
  }
  const silent = [...brought.committed.keys()].filter((seat) => !brought.revealed.has(seat));
  hold(
    silent.length > 0 && silent.join() === seats.join(),
    () =>
      `the hand was burnt for the seats ${seats.join(", ")}, those that withheld are ${silent.join(", ") || "none"}`,
  );
  hold(!records.find("HandSealed"), "the hand was burnt after everybody's entropy was bound");
  const until = brought.closed?.event.deadline_micros;
  hold(
    until !== undefined && aborted.time >= until,
    () => `the hand was burnt at ${timeText(aborted.time)}, before the seats' time to reveal was over`,
  );
}
