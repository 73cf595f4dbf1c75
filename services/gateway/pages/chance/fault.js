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
