// Knows a guest who plays by the pages' own modules, for tests in need of somebody to play against.

import { Person } from "./people.mjs";

/** Seats a guest at a table, who plays calmly until their browser is closed. */
export async function opponent(browser, tableId, name = "Opponent") {
  const person = await Person.with(browser);
  const page = await person.open("/rules");
  await page.evaluate(async ([id, name]) => {
    const [{ session }, { followTable }, { Seat }] = await Promise.all([import("/api/session.js"), import("/store/table.js"), import("/chance/seat.js")]);
    await session.ready;
    await session.signInAsGuest(name);
    const table = followTable(id);
    const seat = new Seat(table);
    let done = "";
    const play = async () => {
      const { view } = table;
      const turn = view?.hand?.turn;
      if (!turn || turn.seat !== view.yourSeat) return;
      const mark = `${view.hand.handNo}/${turn.turn}`;
      if (mark === done) return;
      done = mark;
      const calm = turn.legal?.find((one) => ["MOVE_KIND_CHECK", "MOVE_KIND_MATCH", "MOVE_KIND_STAND"].includes(one.kind));
      const legal = calm ?? turn.legal?.find((one) => one.kind === turn.defaultMove?.kind);
      await seat.act(calm ? { kind: calm.kind } : turn.defaultMove, legal).catch(() => {});
    };
    await new Promise((then) => table.addEventListener("change", then, { once: true }));
    table.addEventListener("change", () => void play());
    // A busy room gives no seat for a moment.
    for (let tries = 1; ; tries += 1) {
      try {
        return void (await seat.sitDown({ buyIn: String(Number(table.view.minBuyInCredits) * 2) }));
      } catch (error) {
        if (!error.isPassing || tries === 30) throw error;
        await new Promise((then) => setTimeout(then, 1000));
      }
    }
  }, [tableId, name]);
  return person;
}
