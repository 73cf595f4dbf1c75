// The shell: header, routes by the path after `#/`, one page at a time. A page's module exports `show(main, parameters)`, which
// draws into `main` and returns a function that ends the page. Pages are loaded when they are first opened.

import { session } from "./api/session.js";

/** @typedef {(main: HTMLElement, parameters: Record<string, string>) => (void | (() => void) | Promise<void | (() => void)>)} Show */

/** Routes: the page's name, the pattern of the path, and the module. @type {{name: string, title: string, pattern: RegExp, load: () => Promise<{show: Show}>}[]} */
const ROUTES = [
  { name: "lobby", title: "Lobby", pattern: /^\/?$/, load: () => import("./pages/lobby.js") },
  { name: "table", title: "Table", pattern: /^\/table\/(?<id>[0-9a-f-]+)$/i, load: () => import("./pages/table.js") },
  { name: "hand", title: "Hand", pattern: /^\/hand(?:\/(?<id>[0-9a-f-]+))?$/i, load: () => import("./pages/hand.js") },
  { name: "me", title: "Me", pattern: /^\/me$/, load: () => import("./pages/me.js") },
  { name: "room", title: "Room", pattern: /^\/room$/, load: () => import("./pages/room.js") },
  { name: "rules", title: "Rules", pattern: /^\/rules(?:\/(?<game>[a-z]+))?$/, load: () => import("./pages/rules.js") },
  { name: "api", title: "API", pattern: /^\/api$/, load: () => import("./pages/api.js") },
];

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const who = /** @type {HTMLElement} */ (document.getElementById("who"));
const scheme = /** @type {HTMLButtonElement} */ (document.getElementById("scheme"));

/** Ends the page that is shown. @type {void | (() => void)} */
let end;
/** Counts navigations, so that a page that loads late is dropped. */
let navigation = 0;
let first = true;

/** Path after the `#`, without its query. */
function path() {
  return location.hash.replace(/^#/, "").split("?")[0] ?? "";
}

/** Parameters of the query after the path, such as `#/rules?table=ID`. @returns {Record<string, string>} */
function query() {
  return Object.fromEntries(new URLSearchParams(location.hash.split("?")[1] ?? ""));
}

/** Shows the page of the address. */
async function route() {
  if (location.hash === "#main") return;
  const mine = ++navigation;
  const found = ROUTES.map((one) => ({ one, match: one.pattern.exec(path()) })).find(({ match }) => match);
  for (const link of document.querySelectorAll(".masthead nav a")) {
    if (/** @type {HTMLElement} */ (link).dataset["route"] === found?.one.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (typeof end === "function") end();
  end = undefined;
  main.replaceChildren();
  main.className = found ? `at-${found.one.name}` : "";
  if (!found) return void failed("There is no such page.", "The address after # names no page of this room.");
  document.title = `${found.one.title} · Sabacc`;
  try {
    const page = await found.one.load();
    if (mine !== navigation) return;
    const ended = await page.show(main, { ...query(), ...partsOf(found.match?.groups) });
    if (mine !== navigation) return void (typeof ended === "function" && ended());
    end = ended;
    focusHeading();
  } catch (error) {
    console.error(error);
    if (mine === navigation) failed("This page could not be shown.", error instanceof Error ? error.message : String(error));
  }
}

/** Groups that took part in a match. Ids are lower-case everywhere else: a table has one name in all tabs. @param {Record<string, string | undefined> | undefined} groups @returns {Record<string, string>} */
function partsOf(groups) {
  return Object.fromEntries(Object.entries(groups ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [[name, value.toLowerCase()]])));
}

/** Moves the focus to the page's heading, except when the first page loads. */
function focusHeading() {
  if (!first) {
    const heading = main.querySelector("h1") ?? main;
    heading.setAttribute("tabindex", "-1");
    heading.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  first = false;
}

/** Shows a page that says what went wrong. @param {string} title @param {string} text */
function failed(title, text) {
  const page = document.createElement("section");
  page.className = "page";
  const heading = document.createElement("h1");
  heading.textContent = title;
  const words = document.createElement("p");
  words.className = "lead";
  words.textContent = text;
  const again = document.createElement("a");
  again.className = "button primary";
  again.href = "#/";
  again.textContent = "To the lobby";
  const row = document.createElement("p");
  row.append(again);
  page.append(heading, words, row);
  main.replaceChildren(page);
  focusHeading();
}

/** Draws who one is: the name, or the way in. */
function drawWho() {
  if (session.player) {
    const name = document.createElement("a");
    name.className = "name";
    name.href = "#/me";
    name.textContent = session.player.name || "Guest";
    who.replaceChildren(name);
    return;
  }
  const [role] = session.roles;
  if (role) {
    // A guest's sign-in would take the place of this login.
    const staff = document.createElement("a");
    staff.className = "name";
    staff.href = "#/room";
    staff.textContent = role;
    who.replaceChildren(staff);
    return;
  }
  const join = document.createElement("button");
  join.type = "button";
  join.className = "button primary small";
  const more = document.createElement("span");
  more.className = "wide-only";
  more.textContent = "\u00a0as guest";
  join.append("Join", more);
  join.classList.add("close");
  join.addEventListener("click", async () => {
    join.disabled = true;
    const words = import("./api/refusals.js").catch(() => null);
    try {
      await session.signInAsGuest("");
    } catch (error) {
      join.disabled = false;
      const told = (await words)?.wordsOf(error) ?? String(error);
      say(told);
      join.title = told;
    }
  });
  who.replaceChildren(join);
}

/** Tells a line to screen readers. @param {string} text */
function say(text) {
  const status = document.getElementById("status");
  if (status) status.textContent = text;
}

/** Sets light or dark, and remembers it. @param {string | null} name */
function setScheme(name) {
  if (name === "light" || name === "dark") document.documentElement.dataset["scheme"] = name;
  const dark = document.documentElement.dataset["scheme"]
    ? document.documentElement.dataset["scheme"] === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  scheme.setAttribute("aria-label", dark ? "Change to light" : "Change to dark");
  scheme.onclick = () => {
    const next = dark ? "light" : "dark";
    try { localStorage.setItem("scheme", next); } catch { /* The choice then lasts as long as the page. */ }
    setScheme(next);
  };
}

let kept = null;
try { kept = localStorage.getItem("scheme"); } catch { /* Storage may be denied. */ }
setScheme(kept);
session.addEventListener("change", drawWho);
addEventListener("hashchange", route);
drawWho();
route();
