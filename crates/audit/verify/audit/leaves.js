// Players who asked to leave while a hand was played.

// Leaves of the hand's players between its sealing and its end, in order, each with its line as the chain takes it.
export function askedLeaves(records) {
  const [opened, sealed] = [records.find("HandOpened"), records.find("HandSealed")];
  if (!opened || !sealed) return [];
  const end = records.find("HandSettled") ?? records.find("HandAborted");
  const seats = opened.event.roster.map(({ seat }) => seat);
  const found = [];
  for (const { name, position, event, keptBack } of records.table) {
    const during = sealed.position < position && (!end || position < end.position);
    if (!during || name !== "LeaveAsked" || keptBack) continue;
    const player = seats.indexOf(event.seat);
    if (event.why !== "asked" || player < 0) continue;
    const { seat, signature } = event;
    found.push({ position, player, seat, signature, line: `p${player + 1} leave` });
  }
  return found;
}
