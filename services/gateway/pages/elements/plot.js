// <sabacc-plot>: lines over time. Property `series`: `{name, points: [x, y][], tone?}[]`, where x are ms of time or plain numbers, y
// numbers; `format` writes a y, `from` is "zero" to let the scale begin at 0. `title` is the caption.

import { define, sheet } from "./sheet.js";

/** @typedef {{name: string, points: [number, number][], tone?: string}} Series */

const WIDTH = 600;
const HEIGHT = 200;
const LEFT = 8;
const RIGHT = 64;
const TOP = 12;
const BOTTOM = 26;

const SHEET = sheet(`
  :host { display: block; font: 500 .8125rem/1.3 var(--text, sans-serif); color: var(--ink-soft, #666); }
  svg { width: 100%; height: auto; display: block; overflow: visible; }
  .grid { stroke: var(--line, #ccc); stroke-width: 1; vector-effect: non-scaling-stroke; }
  text { fill: var(--ink-faint, #777); font: 500 12px var(--text, sans-serif); font-variant-numeric: tabular-nums; }
  .line { fill: none; stroke-width: 2.4; stroke-linejoin: round; stroke-linecap: round; vector-effect: non-scaling-stroke; }
  .area { opacity: .13; stroke: none; } .end { stroke: var(--surface, #fff); stroke-width: 2; }
  .t0 { stroke: var(--accent, #f80); fill: var(--accent, #f80); } .t1 { stroke: #4aa3a8; fill: #4aa3a8; } .t2 { stroke: var(--warn, #da0); fill: var(--warn, #da0); } .t3 { stroke: #8a6fd1; fill: #8a6fd1; }
  .line { fill: none !important; }
  ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; margin: .35rem 0 0; padding: 0; }
  li { display: flex; align-items: center; gap: .4rem; } i { width: .7rem; height: .7rem; border-radius: 3px; background: currentColor; }
  .k0 { color: var(--accent, #f80); } .k1 { color: #4aa3a8; } .k2 { color: var(--warn, #da0); } .k3 { color: #8a6fd1; } li span { color: var(--ink-soft, #666); }
  .empty { padding: 2.5rem 1rem; text-align: center; border: 1px dashed var(--line, #ccc); border-radius: .75rem; }
`);

/** Round numbers that divide a span into about `count` steps. @param {number} low @param {number} high @param {number} count */
function ticks(low, high, count) {
  const raw = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= raw) ?? raw;
  const all = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) all.push(at);
  return all;
}

/** Writes an x: a time of day where it is one. @param {number} x @param {number} span */
function when(x, span) {
  if (x < 1e11) return Math.round(x).toLocaleString("en-US");
  /** @type {Intl.DateTimeFormatOptions} */
  const options = span > 36e5 * 30 ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit", hour12: false };
  return new Date(x).toLocaleString("en-GB", options);
}

export class SabaccPlot extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({ mode: "open" }).adoptedStyleSheets = [SHEET];
    /** @type {Series[]} */
    this.lines = [];
    /** Writes a y. @type {(y: number) => string} */
    this.format = (y) => (Math.abs(y) >= 10_000 ? `${Math.round(y / 100) / 10}k` : String(Math.round(y * 100) / 100));
  }

  get series() { return this.lines; }
  set series(lines) {
    this.lines = lines ?? [];
    this.draw();
  }

  connectedCallback() { this.draw(); }

  draw() {
    const root = /** @type {ShadowRoot} */ (this.shadowRoot);
    const points = this.lines.flatMap((one) => one.points).filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
    this.setAttribute("role", "img");
    if (points.length < 2) {
      const empty = document.createElement("div");
      empty.className = "empty";
      empty.textContent = "Nothing to draw yet";
      this.setAttribute("aria-label", `${this.title || "Plot"}: nothing to draw yet`);
      return root.replaceChildren(empty);
    }
    const span = bounds(points.map(([x]) => x));
    const scale = bounds(points.map(([, y]) => y));
    if (this.getAttribute("from") === "zero") scale.low = Math.min(0, scale.low);
    const margin = (scale.high - scale.low) * 0.08 || 1;
    scale.high += margin;
    if (scale.low !== 0) scale.low -= margin;
    const x = (/** @type {number} */ at) => LEFT + ((at - span.low) / (span.high - span.low || 1)) * (WIDTH - LEFT - RIGHT);
    const y = (/** @type {number} */ at) => TOP + (1 - (at - scale.low) / (scale.high - scale.low)) * (HEIGHT - TOP - BOTTOM);
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    const rows = ticks(scale.low, scale.high, 4).map((at) => `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(at).toFixed(1)}" y2="${y(at).toFixed(1)}"/><text x="${WIDTH - RIGHT + 8}" y="${(y(at) + 4).toFixed(1)}" data-y="${at}"></text>`);
    const ends = [span.low, (span.low + span.high) / 2, span.high].map((at, i) => `<text x="${x(at).toFixed(1)}" y="${HEIGHT - 6}" text-anchor="${["start", "middle", "end"][i]}" data-x="${at}"></text>`);
    const drawn = this.lines.map((one, i) => {
      if (!one.points.length) return "";
      const path = one.points.map(([px, py]) => `${x(px).toFixed(1)} ${y(py).toFixed(1)}`).join("L");
      const [fx] = one.points[0] ?? [0];
      const [lx, ly] = one.points[one.points.length - 1] ?? [0, 0];
      return `<path class="area t${i % 4}" d="M${x(fx).toFixed(1)} ${HEIGHT - BOTTOM}L${path}L${x(lx).toFixed(1)} ${HEIGHT - BOTTOM}z"/><path class="line t${i % 4}" d="M${path}"/><circle class="end t${i % 4}" cx="${x(lx).toFixed(1)}" cy="${y(ly).toFixed(1)}" r="4.5"/>`;
    });
    svg.innerHTML = rows.join("") + ends.join("") + drawn.join("");
    for (const text of svg.querySelectorAll("text")) text.textContent = text.dataset["y"] === undefined ? when(Number(text.dataset["x"]), span.high - span.low) : this.format(Number(text.dataset["y"]));
    const key = document.createElement("ul");
    key.append(...this.lines.map((one, i) => {
      const item = document.createElement("li");
      item.className = `k${i % 4}`;
      const words = document.createElement("span");
      words.textContent = `${one.name} ${one.points.length ? this.format(one.points[one.points.length - 1]?.[1] ?? 0) : ""}`;
      item.append(document.createElement("i"), words);
      return item;
    }));
    this.setAttribute("aria-label", `${this.title || "Plot"}: ${this.lines.map((one) => `${one.name} last ${this.format(one.points[one.points.length - 1]?.[1] ?? 0)}`).join("; ")}`);
    root.replaceChildren(svg, key);
  }
}

/** Least and largest of numbers. @param {number[]} numbers */
function bounds(numbers) {
  return { low: numbers.reduce((a, b) => Math.min(a, b), Infinity), high: numbers.reduce((a, b) => Math.max(a, b), -Infinity) };
}

define("sabacc-plot", SabaccPlot);
