// A small server for pages of this folder: another origin than the room's. No bundler: the browser loads each module by
// itself, and an import map says where packages lie.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

// This folder, from dist/test.
const HERE = fileURLToPath(new URL("../../", import.meta.url));
const VERIFIER = join(HERE, "../../../crates/audit/verify");
const PACKAGES = ["@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-web"];

interface Exports {
  [path: string]: { import: string };
}

// Where the modules of a package lie, by its own word.
function importsOf(name: string): [string, string][] {
  const { exports } = JSON.parse(readFileSync(join(HERE, "node_modules", name, "package.json"), "utf8")) as {
    exports: Exports;
  };
  return Object.entries(exports).map(([path, { import: file }]) => [
    normalize(`${name}/${path}`).replace(/\/$/, ""),
    `/${normalize(`node_modules/${name}/${file}`)}`,
  ]);
}

function page(script: string): string {
  const imports = Object.fromEntries([
    ...PACKAGES.flatMap(importsOf),
    ["grpc-web", "/node_modules/grpc-web/index.esm.js"],
  ]);
  return `<!doctype html>
<meta charset="utf-8">
<title>A sabacc client</title>
<link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module" src="/dist/${script}"></script>
<output></output>
`;
}

// Serves the pages `/play`, `/methods`, and what they load, at the port of this origin.
export async function serve(origin: string, keys: string): Promise<Server> {
  const fixed = new Map([
    ["/play", { type: "text/html", text: page("src/page.js") }],
    ["/methods", { type: "text/html", text: page("test/browser_callers.js") }],
    ["/keys.txt", { type: "text/plain", text: keys }],
  ]);
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", origin).pathname);
    const found = fixed.get(path);
    if (found) {
      response.writeHead(200, { "content-type": found.type }).end(found.text);
      return;
    }
    const file = path.startsWith("/verify/") ? join(VERIFIER, path.slice(8)) : join(HERE, path);
    readFile(file).then(
      (content) => response.writeHead(200, { "content-type": "text/javascript" }).end(content),
      () => response.writeHead(404).end(),
    );
  });
  const { port, hostname } = new URL(origin);
  await new Promise<void>((done, failed) => server.on("error", failed).listen(Number(port), hostname, done));
  return server;
}
