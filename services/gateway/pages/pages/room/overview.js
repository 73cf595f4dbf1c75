// The room now: counts, rates and latencies, with plots over the last hour and day.

import { el, dataTable, figures, panel, plot, refill, tabs, tag } from "../parts/dom.js";
import { credits, dayTime, enumWord, figure, micros, span } from "../parts/words.js";
import { LogSamples } from "./samples.js";

/** Windows by their seconds. @type {Array<[number, string]>} */
const WINDOWS = [
  [60, "Last minute"],
  [3600, "Last hour"],
  [86400, "Last day"],
];
/** Most points that are kept of what the page has seen. */
const MOST_POINTS = 17_280;
/** Latencies that are plotted: step and words. @type {Array<[string, string]>} */
const STEPS = [
  ["LATENCY_STEP_FORWARD", "forward"],
  ["LATENCY_STEP_QUEUE", "queue"],
  ["LATENCY_STEP_APPEND", "append"],
  ["LATENCY_STEP_WALLET", "wallet"],
];

/** What this page has seen of the room since it was opened: a fold of its answers. */
export class RoomHistory {
  constructor() {
    /** @type {Map<string, Array<[number, number]>>} */
    this.points = new Map();
  }

  /** @param {any} room */
  take(room) {
    const { activity } = room;
    if (!activity) return;
    const time = Date.parse(room.readTime);
    const minute = windowOf(activity.table, 60);
    if (minute) this.add("hands", time, countOf(minute, "ACTIVITY_KIND_HANDS_PLAYED") * rate(minute, 60));
    if (minute) this.add("decisions", time, countOf(minute, "ACTIVITY_KIND_DECISIONS") * rate(minute, 1));
    const steps = [...(minute?.steps ?? []), ...(windowOf(activity.gateway, 60)?.steps ?? [])];
    for (const { step, p95Us } of steps) this.add(step, time, Number(p95Us ?? 0) / 1000);
    this.add("streams", time, Number(activity.openStreams ?? 0));
  }

  /**
   * @param {string} name
   * @param {number} time
   * @param {number} value
   */
  add(name, time, value) {
    const points = this.points.get(name) ?? [];
    points.push([time, value]);
    if (points.length > MOST_POINTS) points.splice(0, points.length - MOST_POINTS);
    this.points.set(name, points);
  }

  /**
   * Points of the last so many seconds.
   *
   * @param {string} name
   * @param {number} seconds
   */
  of(name, seconds) {
    const from = Date.now() - seconds * 1000;
    return (this.points.get(name) ?? []).filter(([time]) => time >= from);
  }
}

/**
 * @param {any} service ServiceActivity
 * @param {number} seconds
 */
const windowOf = (service, seconds) => service?.windows?.find((/** @type {any} */ one) => one.seconds === seconds);

/**
 * @param {any} one ActivityWindow
 * @param {string} kind
 */
const countOf = (one, kind) => Number(one?.counts?.find((/** @type {any} */ count) => count.kind === kind)?.count ?? 0);

/**
 * Factor from a count to one in so many seconds.
 *
 * @param {any} one ActivityWindow
 * @param {number} seconds
 */
const rate = (one, seconds) => (seconds * 1000) / Math.max(Number(one.coveredMs ?? 0), 1000);

/**
 * @param {Element} into
 * @param {import("../room.js").Followed} followed
 */
export function overviewTab(into, followed) {
  const numbers = el("div", { class: "tab-panel" });
  const plots = el("div", { class: "plots" });
  const counts = el("div", { class: "tab-panel" });
  let seconds = 3600;
  const samples = new LogSamples();
  const drawPlots = () => refill(plots, ...plotsOf(followed, samples, seconds));
  const choice = tabs("Span of the plots", [
    { id: "hour", name: "Last hour", make: (panel) => choose(panel, 3600) },
    { id: "day", name: "Last day", make: (panel) => choose(panel, 86400) },
  ]);
  /**
   * @param {Element} panel
   * @param {number} chosen
   */
  function choose(panel, chosen) {
    panel.append(plots);
    seconds = chosen;
    drawPlots();
    samples.read(seconds).then(drawPlots, drawPlots);
  }
  const draw = () => {
    refill(numbers, ...numbersOf(followed));
    refill(counts, ...countsOf(followed));
    drawPlots();
  };
  refill(into, numbers, choice.list, choice.into, counts);
  followed.events.addEventListener("room", draw);
  draw();
  return () => {
    followed.events.removeEventListener("room", draw);
    samples.end();
  };
}

/** @param {import("../room.js").Followed} followed */
function numbersOf({ room }) {
  if (!room) return [el("p", { class: "muted" }, "Asking the room \u2026")];
  const { activity } = room;
  const builds = room.builds ?? [];
  const silent = room.silent ?? [];
  const minute = windowOf(activity?.table, 60);
  const forward = windowOf(activity?.gateway, 60)?.steps?.find((/** @type {any} */ one) => one.step === "LATENCY_STEP_FORWARD");
  return [
    silent.length > 0 ? el("p", { class: "notice bad" }, `No answer from ${silent.join(" and ")}: what they say is missing here.`) : null,
    activity
      ? figures([
          ["Open tables", credits(activity.openTables)],
          ["Hands in play", credits(activity.handsInPlay)],
          ["Hands a second", minute ? figure(countOf(minute, "ACTIVITY_KIND_HANDS_PLAYED") * rate(minute, 1), 2) : "\u2013"],
          ["Open streams", credits(activity.openStreams)],
          ["Calls, p95", forward ? micros(forward.p95Us) : "\u2013"],
        ])
      : el("p", { class: "muted" }, "How busy the room is, operators and auditors see."),
    dataTable(
      "Programs",
      [
        { head: "Service", cell: (row) => row.service },
        { head: "Version", cell: (row) => row.version ?? "" },
        { head: "Commit", cell: (row) => (row.commit ? el("code", {}, row.commit.slice(0, 12)) : "not said") },
        { head: "SHA-256 of the program", cell: (row) => el("code", { class: "hex" }, row.programSha256 ?? "") },
      ],
      builds,
    ),
  ];
}

/**
 * @param {import("../room.js").Followed} followed
 * @param {LogSamples} samples
 * @param {number} seconds
 */
function plotsOf({ history, room }, samples, seconds) {
  const long = seconds > 3600;
  const hands = samples.rates("hands", seconds);
  const records = samples.rates("records", seconds);
  const live = history.of("hands", seconds);
  return [
    panel(
      long ? "Hands a minute, last day" : "Hands a minute, last hour",
      plot("Hands a minute", [{ name: "finished, by the log", points: hands }, ...(live.length > 1 ? [{ name: "played, as seen here", points: live }] : [])]),
      el("p", { class: "muted" }, samples.words(seconds)),
    ),
    panel(
      long ? "Records a second, last day" : "Records a second, last hour",
      plot("Records of the table's log a second", [{ name: "records", points: records }]),
    ),
    room?.activity
      ? panel(
          "Latency, p95 in ms",
          plot(
            "Latency of steps, 95th percentile in milliseconds",
            STEPS.map(([step, name]) => ({ name, points: history.of(step, seconds) })),
          ),
          el("p", { class: "muted" }, "Since this page was opened: the room keeps no older latencies but as means of the hour and the day, below."),
        )
      : null,
    room?.activity ? panel("Open streams", plot("Open streams", [{ name: "streams", points: history.of("streams", seconds) }])) : null,
  ];
}

/** @param {import("../room.js").Followed} followed */
function countsOf({ room }) {
  const { activity } = room ?? {};
  if (!activity) return [];
  const services = [
    ["table", activity.table],
    ["gateway", activity.gateway],
  ].filter(([, service]) => service);
  return [
    panel("What happened", dataTable("Counts of the last minute, hour and day", countColumns(), services.flatMap(([name, service]) => countRows(name, service)))),
    panel("How long it took", dataTable("Latencies of the last minute, hour and day", stepColumns(), services.flatMap(([, service]) => stepRows(service)))),
    el("p", { class: "muted" }, ...services.map(([name, service]) => `The ${name} has counted since ${dayTime(service.sinceTime)}. `)),
  ];
}

/** @returns {import("../parts/dom.js").Column[]} */
function countColumns() {
  return [
    { head: "What", cell: (row) => row.words },
    ...WINDOWS.map(([seconds, words]) => ({ head: words, number: true, cell: (/** @type {any} */ row) => credits(row[seconds]) })),
    { head: "An hour, by the last hour", number: true, cell: (row) => credits(row.perHour) },
  ];
}

/**
 * @param {string} name
 * @param {any} service
 */
function countRows(name, service) {
  const kinds = (windowOf(service, 60)?.counts ?? []).map((/** @type {any} */ one) => one.kind);
  return kinds.map((/** @type {string} */ kind) => ({
    words: enumWord(kind, "ACTIVITY_KIND_"),
    name,
    perHour: windowOf(service, 3600)?.counts?.find((/** @type {any} */ one) => one.kind === kind)?.perHour ?? 0,
    ...Object.fromEntries(WINDOWS.map(([seconds]) => [seconds, countOf(windowOf(service, seconds), kind)])),
  }));
}

/** @returns {import("../parts/dom.js").Column[]} */
function stepColumns() {
  return [
    { head: "Step", cell: (row) => enumWord(row.step, "LATENCY_STEP_") },
    { head: "Within", cell: (row) => row.words },
    { head: "Times", number: true, cell: (row) => credits(row.count) },
    { head: "Mean", number: true, cell: (row) => micros(row.meanUs) },
    { head: "p50", number: true, cell: (row) => micros(row.p50Us) },
    { head: "p95", number: true, cell: (row) => tag(micros(row.p95Us), Number(row.p95Us ?? 0) > 500_000 ? "warn" : "") },
    { head: "p99", number: true, cell: (row) => micros(row.p99Us) },
  ];
}

/** @param {any} service */
function stepRows(service) {
  return WINDOWS.flatMap(([seconds, words]) => {
    const one = windowOf(service, seconds);
    const short = Number(one?.coveredMs ?? 0) < seconds * 900 ? ` (${span(Number(one?.coveredMs ?? 0) / 1000)} so far)` : "";
    return (one?.steps ?? []).map((/** @type {any} */ step) => ({ ...step, words: `${words.toLowerCase()}${short}` }));
  }).sort((one, other) => (one.step < other.step ? -1 : one.step > other.step ? 1 : 0));
}
