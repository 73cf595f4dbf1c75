// Page of the lobby: the open tables by game, as they change; filters; the way in as a guest; for operators a form that
// opens a table.

import { call, session } from "../api/session.js";
import "../elements/card.js";
import { followLobby } from "../store/lobby.js";
import { button, el, refill, setQuery, tag, useStyles } from "./parts/dom.js";
import { control } from "./parts/forms.js";
import { refused } from "./parts/refused.js";
import { credits } from "./parts/words.js";
import { openTableForm } from "./lobby/open.js";
import { Pots } from "./lobby/pots.js";

/** Cards that stand for a deck on the tables of a game. @type {Record<string, string[]>} */
const EMBLEMS = {
  S76: ["IdiotA", "S2", "F3"],
  K44: ["sY", "bY"],
  P42: ["5S", "6S"],
  C62: ["c+10", "t-10", "Y"],
};

/**
 * Shows the lobby.
 *
 * @param {HTMLElement} main
 * @param {Record<string, string>} parameters filters: `game`, `free`, `mine`, `most`
 */
export function show(main, parameters) {
  useStyles("pages.css", "lobby.css");
  const page = new Lobby(parameters);
  main.append(page.root);
  return () => page.end();
}

class Lobby {
  /** @param {Record<string, string>} parameters */
  constructor(parameters) {
    /** @type {Record<string, string>} */
    this.filter = { game: parameters.game ?? "", most: parameters.most ?? "", free: parameters.free ?? "", mine: parameters.mine ?? "" };
    /** @type {any[]} */
    this.variants = [];
    /** @type {Set<string>} tables where the player has a seat */
    this.mine = new Set();
    this.hero = el("header", { class: "hero" });
    this.filters = el("form", { class: "filters", "aria-label": "Filters", onsubmit: (/** @type {Event} */ event) => event.preventDefault() });
    this.count = el("p", { class: "muted", role: "status" });
    this.list = el("div", { class: "games" });
    this.operator = el("div", {});
    this.root = el("div", { class: "page lobby" }, this.hero, this.filters, this.count, this.list, this.operator);
    this.store = followLobby();
    this.pots = new Pots(() => this.draw());
    this.ending = new AbortController();
    const { signal } = this.ending;
    this.store.addEventListener("change", () => this.soon(), { signal });
    this.store.addEventListener("connection", () => this.soon(), { signal });
    session.addEventListener("change", () => this.who(), { signal });
    this.who();
    this.learn();
    this.draw();
  }

  end() {
    this.ending.abort();
    this.pots.end();
    this.store.close();
  }

  /** Learns the games; the tables are shown without their titles until then. */
  async learn() {
    try {
      this.variants = (await call("sabacc.table.v1.RulesService/ListVariants", {})).variants ?? [];
    } catch {
      // The games are then shown under their ids.
    }
    this.drawFilters();
    this.draw();
  }

  /** Draws all that depends on who looks. */
  async who() {
    this.drawHero();
    this.drawFilters();
    const operator = session.roles.includes("operator");
    refill(this.operator, operator ? openTableForm(() => this.variants) : null);
    this.mine = new Set();
    if (session.player) {
      try {
        const { seats = [] } = await call("sabacc.table.v1.TableService/ListSeats", {});
        this.mine = new Set(seats.map((/** @type {any} */ seat) => seat.tableId));
      } catch {
        // The marks of one's own tables are then left out.
      }
    }
    this.draw();
  }

  drawHero() {
    const player = session.player;
    const staff = session.roles.find((role) => role !== "player");
    refill(
      this.hero,
      el(
        "div",
        {},
        el("p", { class: "eyebrow" }, "A card room that anybody can check"),
        el("h1", { tabindex: "-1" }, staff ? "The lobby" : player ? `Welcome, ${player.name || "guest"}` : "Sit down. Nobody can cheat you here."),
        el(
          "p",
          { class: "lead" },
          "Eight games of sabacc. Your own random number is in every hand you play, every card is proved as it is dealt, and whoever doubts a hand can check all of it.",
        ),
        staff
          ? el("p", { class: "row" }, tag(`you are signed in as ${staff}`, "accent"), el("a", { href: "#/room" }, "To the room"))
          : player
            ? null
            : this.join(),
      ),
      el("div", { class: "fan", "aria-hidden": "true" }, ...["StarA", "S15", "IdiotB", "C11", "QueenA"].map((code) => el("sabacc-card", { code, deck: "S76", face: "up" }))),
    );
  }

  /** Form that makes a guest in one click; a name may be given. */
  join() {
    const said = el("div", { role: "status" });
    const press = el("button", { type: "submit", class: "button primary" }, "Join as guest");
    const name = control({ name: "name", label: "Your name, if you like", attributes: { maxlength: 24, placeholder: "Lando" } });
    return el(
      "form",
      {
        class: "join",
        onsubmit: async (/** @type {Event} */ event) => {
          event.preventDefault();
          press.disabled = true;
          try {
            await session.signInAsGuest(name.querySelector("input").value.trim());
          } catch (error) {
            refill(said, refused(error));
          }
          press.disabled = false;
        },
      },
      name,
      press,
      said,
    );
  }

  drawFilters() {
    const change = (/** @type {string} */ key) => (/** @type {any} */ event) => {
      this.filter[key] = event.target.type === "checkbox" ? (event.target.checked ? "1" : "") : event.target.value;
      setQuery({ [key]: this.filter[key] });
      this.draw();
    };
    const games = this.variants.map((one) => /** @type {[string, string]} */ ([one.variant, one.title]));
    const field = (/** @type {string} */ key, /** @type {any} */ more) =>
      control({ name: key, value: this.filter[key], ...more, attributes: { onchange: change(key), ...more.attributes } });
    refill(
      this.filters,
      field("game", { label: "Game", type: "select", options: [["", "All games"], ...games] }),
      field("most", {
        label: "Buy-in",
        type: "select",
        options: [["", "Any"], ["100", "up to 100"], ["500", "up to 500"], ["2000", "up to 2\u202f000"], ["10000", "up to 10\u202f000"]],
      }),
      field("free", { label: "With a free seat", type: "flag", value: this.filter.free === "1" }),
      session.player ? field("mine", { label: "Where I sit", type: "flag", value: this.filter.mine === "1" }) : null,
    );
  }

  /** Draws once for all changes of a moment. */
  soon() {
    if (this.waiting) return;
    this.waiting = setTimeout(() => {
      this.waiting = undefined;
      this.draw();
    }, 60);
  }

  /** Tables that pass the filters. */
  chosen() {
    const { game, most, free, mine } = this.filter;
    return tablesOf(this.store).filter(
      (table) =>
        (!game || table.variant === game) &&
        (!most || BigInt(table.minBuyInCredits ?? 0) <= BigInt(most)) &&
        (!free || (table.seated ?? 0) < table.seats) &&
        (!mine || this.mine.has(table.tableId)),
    );
  }

  draw() {
    const all = tablesOf(this.store);
    const tables = this.chosen();
    const players = all.reduce((sum, table) => sum + (table.seated ?? 0), 0);
    const stale = this.store.connection && this.store.connection !== "live" ? ` \u00b7 ${this.store.connection}` : "";
    refill(
      this.count,
      `${tables.length === all.length ? all.length : `${tables.length} of ${all.length}`} open table${all.length === 1 ? "" : "s"} \u00b7 ${players} seated${stale}`,
    );
    this.pots.follow(tables);
    const focused = /** @type {any} */ (document.activeElement)?.dataset?.table;
    const games = [...new Set(tables.map((table) => table.variant))].sort();
    refill(
      this.list,
      ...games.map((variant) => this.game(variant, tables.filter((table) => table.variant === variant))),
      tables.length === 0
        ? el(
            "p",
            { class: "notice" },
            all.length > 0
              ? "No open table passes these filters. Take one away to see more."
              : this.store.connection === "live"
                ? "No table is open just now. An operator can open one below."
                : "Waiting for the list of tables \u2026",
          )
        : null,
    );
    if (focused) /** @type {any} */ (this.list.querySelector(`[data-table="${CSS.escape(focused)}"]`))?.focus();
  }

  /**
   * @param {string} variant
   * @param {any[]} tables
   */
  game(variant, tables) {
    const summary = this.variants.find((one) => one.variant === variant) ?? {};
    return el(
      "section",
      { class: `game${tables.length > 1 ? " many" : ""}` },
      el(
        "header",
        { class: "row spread" },
        el("h2", {}, summary.title ?? variant),
        el("a", { href: `#/rules/${variant}` }, "How it is played"),
      ),
      el("div", { class: "grid" }, ...tables.map((table) => this.table(table, summary))),
    );
  }

  /**
   * @param {any} table TableSummary
   * @param {any} summary VariantSummary
   */
  table(table, summary) {
    const seated = table.seated ?? 0;
    const free = table.seats - seated;
    const sits = this.mine.has(table.tableId);
    const pot = this.pots.of(table.tableId);
    return el(
      "article",
      { class: `panel seat-card${sits ? " mine" : ""}` },
      el("div", { class: "emblem", "aria-hidden": "true" }, ...(EMBLEMS[summary.deck] ?? []).map((code) => el("sabacc-card", { code, deck: summary.deck, face: "up", small: true }))),
      el("h3", {}, el("a", { href: `#/table/${table.tableId}`, "data-table": table.tableId }, table.name || "Table")),
      el(
        "p",
        { class: "row tags" },
        sits ? tag("you sit here", "accent") : null,
        table.disabled ? tag("disabled", "warn") : free === 0 ? tag("full") : tag(`${free} free`, "good"),
        table.bots ? tag(table.bots === 1 ? "1 bot" : `${table.bots} bots`) : null,
        Number(table.handNo ?? 0) > 0 ? tag(`hand ${credits(table.handNo)}`) : tag("no hand yet"),
      ),
      el(
        "div",
        { class: "chairs", role: "img", "aria-label": `${seated} of ${table.seats} seats taken` },
        ...Array.from({ length: table.seats }, (_, at) => el("span", { class: at < seated ? "taken" : "" })),
      ),
      el(
        "dl",
        { class: "facts tight" },
        fact("Ante", credits(table.anteCredits)),
        fact("Buy-in", `${credits(table.minBuyInCredits)}\u2013${credits(table.maxBuyInCredits)}`),
        pot ? fact(pot.name, credits(pot.amount)) : null,
        pot?.sabacc ? fact("Sabacc Pot", credits(pot.sabacc)) : null,
      ),
      table.disabled ? el("p", { class: "muted" }, `No hand starts here: ${table.disabled.reason}`) : null,
      el(
        "p",
        { class: "row" },
        el("a", { class: `button small${sits || free > 0 ? " primary" : ""}`, href: `#/table/${table.tableId}` }, sits ? "Back to my seat" : free > 0 && !table.disabled ? "Look and sit down" : "Watch"),
        session.roles.length > 0 || free === 0 || table.disabled ? null : this.joinHere(table),
      ),
    );
  }

  /** @param {any} table */
  joinHere(table) {
    return button(
      "Join as guest",
      async (event) => {
        const press = /** @type {HTMLButtonElement} */ (event.currentTarget);
        press.disabled = true;
        try {
          await session.signInAsGuest("");
          location.hash = `#/table/${table.tableId}`;
        } catch (error) {
          press.disabled = false;
          press.parentElement?.after(refused(error));
        }
      },
      { class: "small quiet" },
    );
  }
}

/**
 * @param {string} term
 * @param {string} value
 */
function fact(term, value) {
  return el("div", {}, el("dt", {}, term), el("dd", { class: "number" }, value));
}

/**
 * Tables of the store, by name.
 *
 * @param {any} store
 * @returns {any[]}
 */
function tablesOf(store) {
  const tables = store.tables instanceof Map ? [...store.tables.values()] : [...(store.tables ?? [])];
  return tables.sort((one, other) => (one.tableId < other.tableId ? -1 : 1));
}
