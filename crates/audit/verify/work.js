// Work that a file makes: steps taken (messages, fields and items read, hashes, signatures, moves and uses of chance), bytes
// read or hashed, and signatures checked.

export const NO_WORK = Object.freeze({ steps: 0, bytes: 0, signatures: 0 });

const count = { ...NO_WORK };

export function step(size = 0) {
  count.steps += 1;
  count.bytes += size;
}

// One step in which a signature over so many bytes is checked.
export function signatureStep(size) {
  step(size);
  count.signatures += 1;
}

// What was counted so far.
export const soFar = () => ({ ...count });

// What was counted since.
export const workSince = (before) =>
  Object.fromEntries(Object.entries(count).map(([what, made]) => [what, made - before[what]]));
