// Measures how long after its commit an update of a table is on the screen, with 49 more streams at the same table:
// `run PROGRAM --measure updates [UPDATES]`. The commit is the service's time in the update; both clocks are this machine's.

import { launch, Person } from "../lib/people.mjs";
import { ROOM, tableOfBots, until } from "../lib/room.mjs";
import { judge, print, quantile } from "./figures.mjs";

/** Milliseconds from commit to screen, for one in twenty at the most to be beyond. */
const MOST_MS = 50;
const STREAMS = 49;
const wanted = Number(process.argv[2] ?? 500);

/** Reads a table's stream and forgets it. @param {string} tableId @param {AbortSignal} signal */
async function readStream(tableId, signal) {
  const message = Buffer.from(JSON.stringify({ tableId }));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  const response = await fetch(`${ROOM}/sabacc.table.v1.TableService/WatchTable`, {
    method: "POST", headers: { "content-type": "application/connect+json" }, body: Buffer.concat([head, message]), signal,
  });
  if (!response.ok || !response.body) throw new Error(`a stream is refused: ${response.status}`);
  let bytes = 0;
  for await (const chunk of response.body) bytes += chunk.length;
  return bytes;
}

/** Notes for each update when its frame is done. Runs in the page before any of its code. */
function observe() {
  window.lags = [];
  const dispatch = EventTarget.prototype.dispatchEvent;
  EventTarget.prototype.dispatchEvent = function dispatchEvent(event) {
    const time = event.type === "change" && event instanceof CustomEvent ? event.detail?.update?.recordTime : null;
    const given = dispatch.call(this, event);
    if (time) {
      const [arrived, drawn] = [event.timeStamp + performance.timeOrigin, performance.timeOrigin + performance.now()];
      // A task after the frame's callbacks begins when the frame has been handed over.
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => window.lags.push({ commit: Date.parse(time), arrived, drawn, shown: performance.timeOrigin + performance.now() });
        channel.port2.postMessage(null);
      });
    }
    return given;
  };
}

const tableId = await until(async () => (await tableOfBots("dice")) ?? (await tableOfBots("spike")), "a table of bots");
const browser = await launch();
const person = await Person.with(browser);
await person.page.addInitScript(observe);
const page = await person.open(`/table/${tableId}`);
await page.locator(".connection.live").waitFor();
const ending = new AbortController();
const streams = Array.from({ length: STREAMS }, () => readStream(tableId, ending.signal).catch((error) => (ending.signal.aborted ? 0 : Promise.reject(error))));
await page.waitForFunction((count) => window.lags.length >= count, wanted + 20, { timeout: 900_000, polling: 500 });
const lags = (await page.evaluate(() => window.lags)).slice(20);
ending.abort();
await Promise.all(streams);
await browser.close();
print("from commit to the page's store", lags.map((one) => one.arrived - one.commit));
print("drawing", lags.map((one) => one.drawn - one.arrived));
print("from commit to the screen", lags.map((one) => one.shown - one.commit));
judge(quantile(lags.map((one) => one.shown - one.commit), 0.95) < MOST_MS, `an update is on the screen within ${MOST_MS} ms of its commit (p95), with ${STREAMS} more streams`);
