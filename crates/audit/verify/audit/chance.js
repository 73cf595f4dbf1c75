// Whether two logs tell the same uses of chance.

import { same } from "../bytes.js";
import { hold } from "./case.js";

export function chanceOfBoth(records, walk) {
  const used = records.all("ChanceUsed").map(({ event }) => event);
  const performed = records.all("OperationPerformed").map(({ event }) => event);
  used.forEach(({ operation, result }, at) => {
    const theirs = performed[at];
    hold(theirs, `operation ${at} is in the table's log and not in the dealer's`);
    hold(
      same(operation, theirs.operation) && same(result, theirs.result),
      `the table's and the dealer's logs tell operation ${at} differently`,
    );
  });
  // The dealer is asked first: of a hand in play it may know more, and of an aborted one what was due then.
  if (records.find("HandSettled") || records.aborted) {
    performed.slice(used.length).forEach(({ operation, result }, at) => {
      const due = walk.ahead[at];
      const fits = due && same(due.operation, operation) && same(due.result, result);
      hold(fits, `the dealer performed operation ${used.length + at}, which the hand did not use`);
    });
  }
  walk.judge("operations");
}
