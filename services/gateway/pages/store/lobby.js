// The open tables, followed: one stream for all tabs of this browser that have the same filter.

import { session } from "../api/session.js";
import { follow, share } from "./follow.js";

/** @typedef {import("../types.js").TableSummary} TableSummary */
/** @typedef {import("../types.js").LobbyFilter} LobbyFilter */
/** @typedef {import("../types.js").WatchLobbyResponse} WatchLobbyResponse */
/** @typedef {"live" | "catching up" | "stale"} Connection */

const METHOD = "sabacc.table.v1.TableService/WatchLobby";

/** Events: `change` (`detail`: `{tableId}`, null for a new list) and `connection`. */
export class LobbyStore extends EventTarget {
  /** @type {Map<string, TableSummary>} */
  #tables = new Map();
  /** @type {Connection} */
  connection = "catching up";
  /** This device's time at which the last message came, while the connection is stale. @type {number | null} */
  staleSince = null;
  /** What ended the following for good. @type {import("../api/connect.js").Refusal | null} */
  refusal = null;
  #lastMessageMs = Date.now();
  #resumeToken = "";
  #viewer = "";
  /** @type {import("./follow.js").Shared | undefined} */
  #shared;
  #reopen = () => this.#open();

  /** @param {LobbyFilter} filter */
  constructor(filter) {
    super();
    this.filter = filter;
    session.addEventListener("change", this.#reopen);
    void session.ready.then(() => this.#shared ?? this.#open());
  }

  /** In the order in which they were opened. @returns {TableSummary[]} */
  get tables() {
    return [...this.#tables.values()].sort((a, b) => ((a.tableId ?? "") < (b.tableId ?? "") ? -1 : 1));
  }

  close() {
    session.removeEventListener("change", this.#reopen);
    this.#shared?.close();
    this.#shared = { tell() {}, ask() {}, close() {} };
  }

  #open() {
    // Only the own tables are another list for another viewer.
    const viewer = this.filter.mine ? session.viewer : session.roles.join();
    if (this.#shared && this.#viewer === viewer) return;
    this.#shared?.close();
    [this.#shared, this.#viewer, this.#resumeToken] = [undefined, viewer, ""];
    this.#shared = share({
      name: `sabacc-lobby/${JSON.stringify(this.filter)}/${viewer}`,
      lead: (stop) => this.#lead(stop),
      state: () => (this.#resumeToken ? this.#state() : undefined),
      told: (message) => this.#told(message),
    });
  }

  #state() {
    return { tables: this.#tables, connection: this.connection, resumeToken: this.#resumeToken };
  }

  /** @param {AbortSignal} stop */
  async #lead(stop) {
    const ended = await follow({
      method: METHOD,
      request: () => ({ filter: this.filter, resumeToken: this.#resumeToken }),
      seen: (message) => this.#seen(message, true),
      connection: (connection) => this.#broke(connection),
      forget: () => (this.#resumeToken = ""),
      stop,
    });
    if (ended && !stop.aborted) {
      this.refusal = ended;
      this.#connect("stale", true);
    }
  }

  /** What the leading tab says. @param {any} message */
  #told(message) {
    if (message.state) {
      [this.#tables, this.#resumeToken] = [message.state.tables, message.state.resumeToken];
      this.#tellChange(null);
      this.#connect(message.state.connection, false);
    } else if (message.connection) this.#connect(message.connection, false);
    else if (message.seen) this.#seen(message.seen, false);
  }

  /** @param {WatchLobbyResponse} message @param {boolean} leads */
  #seen(message, leads) {
    this.#lastMessageMs = Date.now();
    if (this.connection === "stale") this.#connect("catching up", leads);
    if (message.resumeToken) this.#resumeToken = message.resumeToken;
    if (leads) this.#shared?.tell({ seen: message });
    const { started, table, delisted, caughtUp, heartbeat } = message;
    if (started) this.#tables.clear();
    if (table?.tableId) this.#tables.set(table.tableId, table);
    if (delisted?.tableId) this.#tables.delete(delisted.tableId);
    if (caughtUp || heartbeat) this.#connect("live", leads);
    if (started || caughtUp) this.#tellChange(null);
    else if (table || delisted) this.#tellChange((table ?? delisted)?.tableId ?? null);
  }

  /** A stream begins or has broken. Until its first message the list is as old as it was. @param {Connection} connection */
  #broke(connection) {
    if (connection === "stale" || this.connection !== "stale") this.#connect(connection, true);
  }

  /** @param {Connection} connection @param {boolean} leads */
  #connect(connection, leads) {
    if (connection === this.connection) return;
    this.connection = connection;
    this.staleSince = connection === "stale" ? this.#lastMessageMs : null;
    if (leads) this.#shared?.tell({ connection });
    this.dispatchEvent(new Event("connection"));
  }

  /** @param {string | null} tableId */
  #tellChange(tableId) {
    this.dispatchEvent(new CustomEvent("change", { detail: tableId === null ? null : { tableId } }));
  }
}

/** @param {LobbyFilter} [filter] */
export const followLobby = (filter = {}) => new LobbyStore(filter);
