// What this browser keeps: the login, the numbers brought to chance with their keys, and the evidence of each hand. In
// IndexedDB; where there is none, in memory for as long as the page lives.

const NAME = "sabacc";
const VERSION = 1;

/**
 * Stores by name. `login`: one record. `pinned`: keys of rooms as they were first seen. `parts`: what a player has brought
 * to a hand, its Ed25519 key among it, which cannot be exported. `evidence`: lines of a hand, in the order they were kept.
 * @typedef {"login" | "pinned" | "parts" | "evidence"} StoreName
 */

/** @type {StoreName[]} */
const STORES = ["login", "pinned", "parts", "evidence"];

/** @type {Promise<IDBDatabase | null> | undefined} */
let opened;

// Of a browser that has no database here, as in some private windows. After any other error what was kept may be there still:
// to go on in memory would be to forget what was committed to, and which keys were seen first.
const HAS_NONE = ["InvalidStateError", "SecurityError", "NotSupportedError"];

function open() {
  opened ??= openOrNone().catch((error) => {
    opened = undefined;
    throw error;
  });
  return opened;
}

/** @returns {Promise<IDBDatabase | null>} */
async function openOrNone() {
  try {
    return globalThis.indexedDB ? await openDatabase() : null;
  } catch (error) {
    if (error instanceof DOMException && HAS_NONE.includes(error.name)) return null;
    throw error;
  }
}

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  return new Promise((done, failed) => {
    const request = indexedDB.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      for (const name of STORES)
        if (!request.result.objectStoreNames.contains(name)) request.result.createObjectStore(name);
    };
    request.onsuccess = () => {
      const database = request.result;
      const again = () => (opened = undefined);
      // A newer page may want another version, or all to be forgotten: it must not wait for this one.
      database.onversionchange = () => (database.close(), again());
      database.onclose = again;
      done(database);
    };
    request.onerror = () => failed(request.error);
  });
}

/** @type {Map<string, Map<string, any>>} */
const memory = new Map(STORES.map((name) => [name, new Map()]));

/** @param {StoreName} store @returns {Map<string, any>} */
const inMemory = (store) => memory.get(store) ?? new Map();

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const settled = (request) =>
  new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });

/**
 * Whether what is kept outlives the page.
 */
export const isDurable = async () => (await open()) !== null;

/** @param {StoreName} store @param {string} key @returns {Promise<any>} undefined where there is nothing */
export async function load(store, key) {
  const database = await open();
  if (!database) return inMemory(store).get(key);
  return settled(database.transaction(store).objectStore(store).get(key));
}

/**
 * Replaces a record by what `change` makes of it; undefined removes it. No other tab comes between. It is on disk when this
 * resolves.
 * @template T
 * @param {StoreName} store
 * @param {string} key
 * @param {(record: T | undefined) => T | undefined} change pure, and made at once
 * @returns {Promise<T | undefined>} the new record
 */
export async function update(store, key, change) {
  const database = await open();
  if (!database) return put(inMemory(store), key, change(inMemory(store).get(key)));
  return new Promise((done, failed) => {
    const transaction = database.transaction(store, "readwrite", { durability: "strict" });
    const records = transaction.objectStore(store);
    const found = records.get(key);
    /** @type {T | undefined} */
    let next;
    found.onsuccess = () => {
      try {
        next = change(found.result);
      } catch (error) {
        failed(error);
        return transaction.abort();
      }
      if (next === undefined) records.delete(key);
      else records.put(next, key);
    };
    transaction.oncomplete = () => done(next);
    // An error of a request ends the transaction too.
    transaction.onabort = () => failed(transaction.error ?? new Error("the database gave up"));
  });
}

/** @template T @param {Map<string, T>} records @param {string} key @param {T | undefined} record */
function put(records, key, record) {
  if (record === undefined) records.delete(key);
  else records.set(key, record);
  return record;
}

/** @template T @param {StoreName} store @param {string} key @param {T} record */
export const save = (store, key, record) => update(store, key, () => record);

/** @param {StoreName} store @param {string} key */
export const remove = (store, key) => update(store, key, () => undefined);

/** Keys that begin with a text, ascending. @param {StoreName} store @param {string} prefix @returns {Promise<string[]>} */
export async function keysOf(store, prefix) {
  const database = await open();
  if (!database)
    return [...inMemory(store).keys()].filter((key) => key.startsWith(prefix)).sort();
  const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
  const keys = await settled(database.transaction(store).objectStore(store).getAllKeys(range));
  return keys.map(String);
}
