// What the seats revealed of what the closing says they had committed to, and who did not. All of it stands in the table's
// log, so that order is order of positions.

import { equal } from "../bytes.js";
import { ABSENT, REVEALED, clientCommitment } from "../fair.js";
import { exactly, failed, hold } from "./case.js";

// By seat its row of the closing, and what it revealed: `late`, after the number was burnt.
export async function entropyOf(records, { context, commitment }) {
  const closing = records.find("EntropyClosed")?.event.closing;
  const rows = new Map((closing?.rows ?? []).map((row) => [row.seat, row]));
  const brought = { rows, revealed: new Map(), late: new Map() };
  const burnt = records.find("HandAborted")?.position;
  for (const { position, event } of records.all("EntropyRevealed")) {
    const list = burnt !== undefined && position > burnt ? brought.late : brought.revealed;
    await takeReveal(brought, list, event, { context, commitment });
  }
  return brought;
}

async function takeReveal({ rows, revealed, late }, list, { seat, entropy }, { context, commitment }) {
  const own = rows.get(seat);
  if (!own || own.commitment.length === 0)
    throw failed(`seat ${seat} revealed entropy that it had not committed to`);
  hold(seat <= 255, () => `there is no seat ${seat}`);
  exactly(16, own.player_id, "a player's id");
  exactly(32, entropy, "a seat's entropy");
  exactly(32, own.commitment, "a seat's commitment");
  const made = await clientCommitment(context, commitment, seat, own.player_id, entropy);
  hold(equal(made, own.commitment), () => `what seat ${seat} revealed does not open what it had committed to`);
  hold(!revealed.has(seat) && !late.has(seat), () => `seat ${seat} revealed its entropy twice`);
  list.set(seat, entropy);
}

// The seats that committed and have not revealed, ascending.
export const silentOf = ({ rows, revealed }) =>
  [...rows.values()]
    .filter(({ seat, commitment }) => commitment.length > 0 && !revealed.has(seat))
    .map(({ seat }) => seat)
    .sort((a, b) => a - b);

// The rows of a sealed hand are those of the closing, each with what its seat revealed; nobody withheld.
export function checkSealedRows(brought, sealed) {
  const rows = [...brought.rows.values()].sort((a, b) => a.seat - b.seat);
  const fits =
    rows.length === sealed.length &&
    rows.every(({ seat, player_id: player }, at) => seat === sealed[at].seat && equal(player, sealed[at].player_id));
  hold(fits, "the contributions are not one of each seat of the closing");
  const silent = silentOf(brought);
  hold(
    silent.length === 0,
    () => `the hand was sealed, and seats ${silent.join(", ")} had not revealed what they had committed to`,
  );
  for (const { seat, status, commitment, entropy } of sealed) {
    const own = brought.revealed.get(seat);
    const same = own
      ? status === REVEALED && equal(brought.rows.get(seat).commitment, commitment) && equal(own, entropy)
      : status === ABSENT;
    hold(same, () => `the hand was sealed with another part of seat ${seat} than it brought`);
  }
}
