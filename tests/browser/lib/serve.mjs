// Serves the pages from a folder as the room would, and hands everything else to the room:
// `node serve.mjs FOLDER ROOM [PORT]`. Prints its origin. For work on the pages without building the room anew.

import { createHash } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import zlib from "node:zlib";

const [folder = ".", room = "", port = "0"] = process.argv.slice(2);
const far = new URL(room);
/** Types of the files that are served; the folder has others that are not. @type {Record<string, string>} */
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml" };
/** What the room says of its own first page: its policy among it. */
const { headers } = await fetch(room);
const OF_DOCUMENTS = ["content-security-policy", "referrer-policy"].flatMap((name) => (headers.has(name) ? [[name, headers.get(name)]] : []));

/** File of a path; null: the folder has none that is served. @param {string} url */
function fileOf(url) {
  const name = decodeURIComponent(new URL(url, room).pathname.slice(1)) || "index.html";
  const file = path.resolve(folder, name);
  if (!TYPES[path.extname(file)] || !file.startsWith(path.resolve(folder) + path.sep) || !fs.existsSync(file)) return null;
  return file;
}

/** Sends a file. @param {string} file @param {http.IncomingMessage} asked @param {http.ServerResponse} answer */
function send(file, asked, answer) {
  const plain = fs.readFileSync(file);
  const type = TYPES[path.extname(file)];
  const tag = `"${createHash("sha256").update(plain).digest("hex").slice(0, 32)}"`;
  const common = { etag: tag, "cache-control": "no-cache", vary: "accept-encoding" };
  if (asked.headers["if-none-match"] === tag) return void answer.writeHead(304, common).end();
  const packs = /\bgzip\b/.test(String(asked.headers["accept-encoding"] ?? ""));
  answer.writeHead(200, {
    ...common, "content-type": type, "x-content-type-options": "nosniff",
    ...(type.startsWith("text/html") ? Object.fromEntries(OF_DOCUMENTS) : {}),
    ...(packs ? { "content-encoding": "gzip" } : {}),
  });
  answer.end(packs ? zlib.gzipSync(plain, { level: 9 }) : plain);
}

/** Hands a request to the room, and its answer back. @param {http.IncomingMessage} asked @param {http.ServerResponse} answer */
function pass(asked, answer) {
  const { hostname, port, host } = far;
  const to = http.request({ hostname, port, path: asked.url, method: asked.method, headers: { ...asked.headers, host, origin: far.origin } }, (from) => {
    answer.writeHead(from.statusCode ?? 502, from.headers);
    from.pipe(answer);
  });
  to.on("error", () => answer.destroy());
  answer.on("close", () => to.destroy());
  asked.pipe(to);
}

const server = http.createServer((asked, answer) => {
  const file = ["GET", "HEAD"].includes(asked.method ?? "") ? fileOf(asked.url ?? "/") : null;
  if (file) send(file, asked, answer);
  else pass(asked, answer);
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`));
