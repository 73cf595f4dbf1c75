// What shows that chance is not what it should be.

/** A rule of chance is broken. Whoever plays stops, and keeps the evidence. */
export class Fault extends Error {
  /** @param {"dealer" | "table"} party whose fault it is @param {string | undefined} handNo @param {string} what */
  constructor(party, handNo, what) {
    super(`The ${party} cannot be trusted in hand ${handNo ?? "?"}: ${what}.`);
    this.name = "Fault";
    this.party = party;
    this.handNo = handNo ?? "";
  }
}

/**
 * What an error shows: a room that writes no base64, no number, or a message of another form cannot be followed, which is as good
 * as saying nothing where something is due.
 * @param {unknown} error @param {string | undefined} handNo @returns {unknown}
 */
export function asFault(error, handNo) {
  const isUnreadable =
    [SyntaxError, RangeError, TypeError].some((kind) => error instanceof kind) ||
    (error instanceof DOMException && error.name === "InvalidCharacterError");
  return isUnreadable ? new Fault("table", handNo, "what is said of it cannot be read") : error;
}
