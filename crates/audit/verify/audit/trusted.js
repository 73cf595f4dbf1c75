// Each log's key is one that the reader was told for this log, all are of one room, no two logs have the same, and none
// had ended.

import { LOGS } from "../bundle.js";
import { BadNote, openCheckpoint } from "../note.js";
import { MAX_UNTIL, roomOf } from "../trust.js";
import { failed, hold, missing } from "./case.js";

export async function checkKeys(bundle, trusted) {
  if (trusted.length === 0) throw missing("no keys were given to trust");
  const found = new Map(LOGS.map((name) => [name, keyOf(bundle[name].key, name, trusted)]));
  const rooms = new Set(LOGS.map((name) => roomOf(found.get(name).name, name)));
  const names = [...found.values()].map(({ name }) => name).join(", ");
  hold(rooms.size === 1, `the logs are of different rooms: ${names}`);
  hold(new Set(LOGS.map((name) => bundle[name].key)).size === LOGS.length, "two of the logs have the same key");
  for (const name of LOGS) await checkEnd(bundle[name], name, found.get(name));
}

// The trusted key that is the log's; of one that is given twice the lesser end.
function keyOf(text, log, trusted) {
  const found = trusted.filter((key) => key.text === text);
  hold(found.length > 0, () => `the key of the ${log}'s log, ${text}, is not among the trusted`);
  const [{ name }] = found;
  hold(roomOf(name, log) !== null, () => `the key of the ${log}'s log is called ${name}, not ROOM/${log}`);
  const endOf = ({ until }) => until ?? MAX_UNTIL;
  return found.reduce((least, key) => (endOf(key) < endOf(least) ? key : least));
}

// The checkpoint, and of the dealer each signed commitment, is of the key's time.
async function checkEnd({ records, checkpoint }, log, key) {
  if (key.until === null) return;
  const ended = `the key of the ${log}'s log speaks for ${key.until} records`;
  for (const { name, position } of records) {
    if (log === "dealer" && name === "SeedCommitted" && position >= key.until)
      throw failed(`${ended}, and a commitment stands at ${position}`);
  }
  let size;
  try {
    ({ size } = await openCheckpoint(checkpoint, key));
  } catch (error) {
    if (!(error instanceof BadNote)) throw error;
    throw missing(`${ended}, and the checkpoint cannot be read: ${error.message}`);
  }
  hold(size <= key.until, () => `${ended}, and the checkpoint has ${size}`);
}
