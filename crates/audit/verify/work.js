// Work that a file makes: steps taken (messages, fields and items read, hashes, signatures, moves and uses of chance), and
// bytes read or hashed.

const count = { steps: 0, bytes: 0 };

export function step(size = 0) {
  count.steps += 1;
  count.bytes += size;
}

// What was counted so far.
export const soFar = () => ({ ...count });

// What was counted since.
export const workSince = ({ steps, bytes }) => ({ steps: count.steps - steps, bytes: count.bytes - bytes });
