// A database that fails, of which a browser's is a part of the test's own making.

import assert from "node:assert/strict";
import test from "node:test";

/** A browser whose database cannot be opened for these reasons, one after the other. */
function browser(...names) {
  const asked = [];
  globalThis.indexedDB = {
    open() {
      const request = { error: new DOMException("no", names[Math.min(asked.length, names.length - 1)]) };
      asked.push(request);
      queueMicrotask(() => request.onerror());
      return request;
    },
  };
  return asked;
}

test("where there is no database, things are kept as long as the page lives", async () => {
  browser("InvalidStateError");
  const { isDurable, load, save } = await import("../keep/database.js?none");
  assert.equal(await isDurable(), false);
  await save("parts", "a", 1);
  assert.equal(await load("parts", "a"), 1);
});

test("a database that cannot be opened is not taken for none, and is tried again", async () => {
  const asked = browser("UnknownError");
  const { load, save } = await import("../keep/database.js?broken");
  await assert.rejects(load("parts", "a"), { name: "UnknownError" });
  await assert.rejects(save("parts", "a", 1), { name: "UnknownError" });
  assert.equal(asked.length, 2);
});
