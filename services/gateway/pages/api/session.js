// Who is signed in at this room, in all tabs of this browser.
//
// The login lies in the database; a tab that needs a new access token takes the browser's lock, looks whether another tab has
// got one meanwhile, and refreshes under an id that it has written down before. So a refresh token is used once, whatever
// breaks; two uses look like theft and end the sign-in.

import * as database from "../keep/database.js";
import { call as callRoom, Refusal, roomAddress, stream as streamRoom } from "./connect.js";
import { base64, random, requestId } from "./ids.js";

/** @typedef {import("./connect.js").CallOptions} CallOptions */
/** @typedef {import("./login.js").Login} Login */

const PEOPLE = "sabacc.table.v1.PeopleService";
const REFRESH_BEFORE_MS = 60_000;
const RECORD = "login";
// A guest's login while somebody uses a token in its place: it is the only way back to that player.
const LAID_ASIDE = "guest";
const LOCK = "sabacc-login";
const ENDED = ["TOKEN_REVOKED", "TOKEN_EXPIRED", "TOKEN_FORGED", "TOKEN_MALFORMED"];

class Session extends EventTarget {
  /** @type {Login | undefined} */
  #login;
  /** @type {Promise<string> | undefined} */
  #renewing;
  /** @type {Map<string, string>} names that sign-ins without an answer were sent under, and what to repeat them with */
  #unanswered = new Map();
  /** The login as it was given in a file. @type {Login | undefined} */
  #given;
  #tabs = typeof BroadcastChannel === "function" ? new BroadcastChannel(LOCK) : undefined;
  /** Why the room ended the last sign-in; empty: it did not. */
  endedBy = "";
  /** Resolves when the kept login is known. @type {Promise<void>} */
  ready;

  constructor() {
    super();
    this.#tabs?.addEventListener("message", () => void this.#reload());
    // In Node a channel keeps the program alive.
    /** @type {any} */ (this.#tabs)?.unref?.();
    // Where the login cannot be read nobody is signed in; it is not given up for that.
    this.ready = this.#reload().catch(() => undefined);
  }

  /** @returns {{id: string, name: string} | null} */
  get player() {
    return this.#login?.playerId ? { id: this.#login.playerId, name: this.#login.name } : null;
  }

  /** Roles in the room: "player", "operator", "auditor". @returns {string[]} */
  get roles() {
    return this.#login?.roles ?? [];
  }

  /** Whether this page can take part in chance: browsers have cryptography only for pages from a safe origin. */
  get canSign() {
    return (globalThis.isSecureContext ?? true) && globalThis.crypto?.subtle !== undefined;
  }

  /** Names whose view this is, so that nothing seen by one is shown to another. */
  get viewer() {
    return this.#login ? `${this.roles.join()}:${this.#login.playerId}` : "";
  }

  /** Whether the login is a guest's, which can be saved as a file. */
  get isGuest() {
    return (this.#login?.refreshToken ?? "") !== "";
  }

  /** Becomes a new player. Called again after a lost answer it is the same one. @param {string} name */
  async signInAsGuest(name) {
    if (!this.canSign)
      throw new Error("This page can only look: it was not loaded over HTTPS or from this very machine. Open the room's https address to play.");
    this.#refuseToReplace();
    const request = this.#unanswered.get(name) ?? JSON.stringify({ requestId: requestId(), name, signInSecret: base64(random(32)) });
    this.#unanswered.set(name, request);
    /** @type {import("../types.js").SignInAsGuestResponse} */
    const guest = await callRoom(`${PEOPLE}/SignInAsGuest`, JSON.parse(request));
    const { playerId = "", tokens = {} } = guest;
    const fields = { server: roomAddress(), playerId, name: guest.name ?? "", roles: ["player"] };
    const login = { ...fields, ...heldTokens(tokens) };
    await this.#replace(async (kept) => newUnlessGuest(kept, login));
    this.#unanswered.delete(name);
    return guest;
  }

  /** Signs in with a token that the room's operator has given. @param {string} token */
  async signInWithToken(token) {
    const accessToken = token.trim();
    const { subject, role, endMs } = claimsOf(accessToken);
    const isPlayer = role === "player";
    const probe = isPlayer ? `${PEOPLE}/GetPlayer` : "sabacc.table.v1.TableService/ListTables";
    const found = await callRoom(probe, isPlayer ? {} : { pageSize: 1 }, { token: accessToken });
    const name = isPlayer ? (found.name ?? "") : subject;
    const fields = { server: roomAddress(), playerId: isPlayer ? subject : "", name, roles: [role] };
    await this.#replace(async (kept) => {
      if (kept?.refreshToken) await database.save("login", LAID_ASIDE, kept);
      return { ...fields, refreshToken: "", accessToken, accessEndMs: endMs };
    });
  }

  /** Signs out. A guest's tokens are revoked: there is no way back to that player. Who used a token is the guest from before again. */
  async signOut() {
    const own = this.#login;
    if (this.isGuest) await this.call(`${PEOPLE}/SignOut`, { requestId: requestId() });
    await this.#replace(async (kept) => {
      // Another tab may have signed in as somebody else.
      const isOwn = !kept || kept.playerId === own?.playerId;
      return isOwn ? laidAside(own) : kept;
    });
    await forgetAside([this.#login, own]);
  }

  /** A guest's login is not lost for another one. */
  #refuseToReplace() {
    if (this.isGuest) throw new Error("You are signed in as a guest. Save that login as a file, or sign out, first.");
  }

  /** The login as a file, for another program or browser. It is good until this one renews its tokens, and kept here until `forgetLogin`. */
  async loginFile() {
    if (!this.isGuest) throw new Error("There is no guest's login to save.");
    const { fileOf } = await import("./login.js");
    return locked(async () => {
      /** @type {Login | undefined} */
      const login = await database.load("login", RECORD);
      if (!login?.refreshToken) throw new Error("Another tab has just signed out.");
      this.#given = login;
      return fileOf(login);
    });
  }

  /** Forgets the login that was given as a file last: the file has it, and a login has one user at a time. */
  async forgetLogin() {
    const given = this.#given;
    if (!given) throw new Error("The login is in no file yet. Save it first.");
    await locked(async () => {
      await database.update("login", RECORD, (/** @type {Login | undefined} */ kept) => {
        const isSame = kept?.refreshToken === given.refreshToken && kept.refreshRequestId === given.refreshRequestId;
        if (kept && !isSame) throw new Error("The login was renewed since the file was written, which is of no use any more. Save it again.");
        return undefined;
      });
    });
    this.#given = undefined;
    this.#changed(undefined);
    this.#tabs?.postMessage("changed");
  }

  /** Goes on as the player of a file. @param {Blob} file */
  async loadLogin(file) {
    this.#refuseToReplace();
    const { loginOf } = await import("./login.js");
    const login = await loginOf(file, roomAddress());
    await this.#replace(async (kept) => newUnlessGuest(kept, login));
    if ((await this.token()) === "") throw new Error("The room does not take this login: it has ended, or is another player's.");
  }

  /** Choose the name that one is shown under. @param {string} name */
  async setName(name) {
    /** @type {import("../types.js").SetNameResponse} */
    const { name: shown = "" } = await this.call(`${PEOPLE}/SetName`, { requestId: requestId(), name });
    await database.update("login", RECORD, (/** @type {Login | undefined} */ login) => login && { ...login, name: shown });
    await this.#reload();
    this.#tabs?.postMessage("changed");
    return shown;
  }

  /** A good access token; empty: nobody is signed in. @param {string} [stale] one that the room has refused */
  async token(stale) {
    await this.ready;
    const login = this.#login;
    if (!login) return "";
    if (isGood(login, stale)) return login.accessToken;
    if (!login.refreshToken) return this.#ended("TOKEN_EXPIRED", login);
    this.#renewing ??= locked(() => this.#renew(stale)).finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  /** @param {string} [stale] @param {boolean} [isAgain] under another id than the room has refused @returns {Promise<string>} */
  async #renew(stale, isAgain = false) {
    // Written before it is sent: whoever comes next, in this tab or another, repeats the same call.
    const login = await database.update("login", RECORD, (/** @type {Login | undefined} */ kept) =>
      kept?.refreshToken && !isGood(kept, stale) ? { ...kept, refreshRequestId: kept.refreshRequestId ?? requestId() } : kept,
    );
    if (!login || isGood(login, stale)) {
      this.#changed(login);
      return login?.accessToken ?? "";
    }
    if (!login.refreshToken) return this.#ended("TOKEN_EXPIRED", login);
    const { refreshToken, refreshRequestId } = login;
    try {
      const { tokens } = await callRoom(`${PEOPLE}/Refresh`, { requestId: refreshRequestId, refreshToken });
      // A file may name one player and hold the token of another.
      if (claimsOf(tokens?.accessToken ?? "").subject !== login.playerId) return this.#ended("TOKEN_FORGED", login);
      const renewed = await database.update("login", RECORD, (/** @type {Login | undefined} */ kept) =>
        kept?.refreshToken === refreshToken ? { ...kept, ...heldTokens(tokens), refreshRequestId: undefined } : kept,
      );
      this.#login = renewed;
      this.#tabs?.postMessage("changed");
      return renewed?.accessToken ?? "";
    } catch (error) {
      if (error instanceof Refusal && ENDED.includes(error.reason)) return this.#ended(error.reason, login);
      if (!isIdRefused(error)) throw error;
      await this.#forgetId(login);
      if (isAgain) throw error;
      return this.#renew(stale, true);
    }
  }

  /** Takes another id for the next `Refresh`: nothing was done under one that the room refuses. @param {Login} login */
  async #forgetId({ refreshToken, refreshRequestId }) {
    await database.update("login", RECORD, (/** @type {Login | undefined} */ kept) =>
      kept?.refreshToken === refreshToken && kept.refreshRequestId === refreshRequestId ? { ...kept, refreshRequestId: undefined } : kept,
    );
  }

  /** The room takes this login no more. @param {string} reason @param {Login} login */
  async #ended(reason, login) {
    this.endedBy = reason;
    await database.update("login", RECORD, (/** @type {Login | undefined} */ kept) =>
      kept?.refreshToken === login.refreshToken && kept.accessToken === login.accessToken ? undefined : kept,
    );
    const guest = await laidAside(login);
    await database.update("login", RECORD, (/** @type {Login | undefined} */ kept) => kept ?? guest);
    await this.#reload();
    await forgetAside([this.#login, login]);
    this.#tabs?.postMessage("changed");
    return "";
  }

  /**
   * Keeps a login in place of the one that is kept, which no tab changes meanwhile.
   * @param {(kept: Login | undefined) => Promise<Login | undefined>} make
   */
  async #replace(make) {
    await this.ready;
    const login = await locked(async () => {
      const next = await make(await database.load("login", RECORD));
      return database.update("login", RECORD, () => next);
    });
    if (login) this.endedBy = "";
    this.#changed(login);
    this.#tabs?.postMessage("changed");
  }

  async #reload() {
    /** @type {Login | undefined} */
    const login = await database.load("login", RECORD);
    // Tokens are shown to no other room.
    this.#changed(login?.server === roomAddress() ? login : undefined);
  }

  /** @param {Login | undefined} login */
  #changed(login) {
    const before = `${this.viewer} ${this.player?.name}`;
    this.#login = login;
    if (`${this.viewer} ${this.player?.name}` !== before) this.dispatchEvent(new Event("change"));
  }

  /**
   * As `call` of connect.js, with the token.
   * @param {string} method @param {object} request @param {CallOptions} [options] @returns {Promise<any>}
   */
  async call(method, request, options = {}) {
    const { token, viewer } = await this.#bearer(options);
    try {
      return await callRoom(method, request, { ...options, token });
    } catch (error) {
      const fresh = await this.#afterRefusal(error, token, viewer, options);
      return callRoom(method, request, { ...options, token: fresh });
    }
  }

  /**
   * As `stream` of connect.js, with the token.
   * @param {string} method @param {object} request @param {CallOptions} [options] @returns {AsyncGenerator<any, void, void>}
   */
  async *stream(method, request, options = {}) {
    const { token, viewer } = await this.#bearer(options);
    let isEmpty = true;
    try {
      for await (const message of streamRoom(method, request, { ...options, token })) {
        isEmpty = false;
        yield message;
      }
    } catch (error) {
      if (!isEmpty) throw error;
      const fresh = await this.#afterRefusal(error, token, viewer, options);
      yield* streamRoom(method, request, { ...options, token: fresh });
    }
  }

  /** The token of who is signed in as a call begins: what one player asked for is not done as another. @param {CallOptions} options */
  async #bearer({ token }) {
    if (token !== undefined) return { token, viewer: "" };
    await this.ready;
    const viewer = this.viewer;
    const own = await this.token();
    if (own && this.viewer !== viewer) throw new Refusal("somebody else has signed in meanwhile", { code: "aborted" });
    return { token: own, viewer };
  }

  /**
   * A new token where the room has refused the last one; else throws on.
   * @param {unknown} error @param {string | null | undefined} token @param {string} viewer @param {CallOptions} options
   */
  async #afterRefusal(error, token, viewer, options) {
    if (!(error instanceof Refusal) || !ENDED.includes(error.reason) || options.token !== undefined || !token) throw error;
    const login = this.#login;
    if (login && !login.refreshToken && login.accessToken === token) await this.#ended(error.reason, login);
    const fresh = await this.token(token);
    if (!fresh || this.viewer !== viewer) throw error;
    return fresh;
  }
}

/** The guest's login that was laid aside, unless it is one that ends itself. @param {Login | undefined} ending @returns {Promise<Login | undefined>} */
async function laidAside(ending) {
  /** @type {Login | undefined} */
  const guest = await database.load("login", LAID_ASIDE);
  const isOther = ending?.refreshToken === "" || guest?.playerId !== ending?.playerId;
  return guest?.server === roomAddress() && isOther ? guest : undefined;
}

/** Forgets the login that was laid aside once it is in use again, or its sign-in has ended. @param {(Login | undefined)[]} logins */
async function forgetAside(logins) {
  const guests = logins.filter((login) => login?.refreshToken).map((login) => login?.playerId);
  await database.update("login", LAID_ASIDE, (/** @type {Login | undefined} */ kept) =>
    kept && guests.includes(kept.playerId) ? undefined : kept,
  );
}

/** A new login, where no guest's would be lost for it. @param {Login | undefined} kept @param {Login} login @returns {Login} */
function newUnlessGuest(kept, login) {
  if (!kept?.refreshToken) return login;
  // It was kept before, and its tokens may be newer.
  if (kept.playerId === login.playerId) return kept;
  throw new Error("Another tab has signed in as a guest meanwhile. Save that login as a file, or sign out, first.");
}

/** Whether a call was refused for its own id: it is of a wrong clock or too old, or stands for another call. @param {unknown} error */
const isIdRefused = (error) =>
  error instanceof Refusal &&
  (error.reason === "REQUEST_ID_REUSED" || error.reason === "REQUEST_ID_TOO_OLD" || (error.reason === "BAD_FIELD" && error.violations.some(({ field }) => /^request_?id$/i.test(field))));

/** @param {Login} login @param {string} [stale] */
const isGood = (login, stale) =>
  login.accessToken !== "" && login.accessToken !== stale && Date.now() < login.accessEndMs && !login.refreshRequestId;

/**
 * What a token says of its bearer. Nothing of it is checked here: the room does.
 * @param {string} token
 * @returns {{subject: string, role: string, lifeMs: number, endMs: number}}
 */
export function claimsOf(token) {
  const body = token.split(".")[1]?.replaceAll("-", "+").replaceAll("_", "/");
  const claims = readClaims(body ?? "");
  if (typeof claims?.sub !== "string" || typeof claims.role !== "string")
    throw new Error("This is no token: copy the whole of it, from its first letter to its last.");
  const [from, end] = [Number(claims.iat ?? 0), Number(claims.exp ?? 0)];
  return { subject: claims.sub, role: claims.role, lifeMs: (end - from) * 1000, endMs: end * 1000 };
}

/** @param {string} body of a token, in base64 @returns {any} null: it is none */
function readClaims(body) {
  try {
    return JSON.parse(atob(body));
  } catch {
    return null;
  }
}

/** Tokens as they are kept: their life counts from now, by this device's clock. @param {import("../types.js").Tokens} tokens */
function heldTokens({ accessToken = "", refreshToken = "" }) {
  const lifeMs = claimsOf(accessToken).lifeMs;
  return { accessToken, refreshToken, accessEndMs: Date.now() + Math.max(lifeMs - REFRESH_BEFORE_MS, lifeMs / 2) };
}

/** Work that one tab does at a time. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
async function locked(work) {
  const locks = globalThis.navigator?.locks;
  // Without locks the id that was written down makes two refreshes one.
  return locks ? locks.request(LOCK, work) : work();
}

export const session = new Session();

/** @type {(method: string, request: object, options?: CallOptions) => Promise<any>} */
export const call = (method, request, options) => session.call(method, request, options);

/** @type {(method: string, request: object, options?: CallOptions) => AsyncGenerator<any, void, void>} */
export const stream = (method, request, options) => session.stream(method, request, options);
