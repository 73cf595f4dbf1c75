// Writes verify.html, the one file that people open: every module, the style and the page in one, with a content security
// policy that lets nothing else in. `--check` says whether the file is what it would write.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const OUT = join(HERE, "..", "verify.html");
const read = (name) => readFileSync(join(HERE, name), "utf8");

// Modules in the order in which they need each other.
function collect(name, found = new Map(), open = []) {
  if (found.has(name)) return found;
  if (open.includes(name)) throw new Error(`modules need each other in a circle: ${[...open, name].join(" > ")}`);
  const needs = [];
  const body = read(name).replace(/^import \{([^}]*)\} from "([^"]+)";\n/gm, (_, names, path) => {
    const other = normalize(join(dirname(name), path));
    collect(other, found, [...open, name]);
    needs.push(
      `const {${names.trim().replace(/,$/, "").replace(/ as /g, ": ").replace(/\s+/g, " ").replace(/^|$/g, " ")}} = modules[${JSON.stringify(other)}];`,
    );
    return "";
  });
  if (/^import|^export (default|\{|\*)/m.test(body))
    throw new Error(`${name}: only named imports and exports of declarations are bundled`);
  const exported = [...body.matchAll(/^export (?:async )?(?:function\*?|class|const|let) (\w+)/gm)].map(
    ([, one]) => one,
  );
  const code = body.replace(/^export /gm, "").trim();
  found.set(
    name,
    `// ${name}\nmodules[${JSON.stringify(name)}] = (() => {\n${[...needs, code, `return { ${exported.join(", ")} };`].join("\n")}\n})();\n`,
  );
  return found;
}

export function build() {
  const modules = [...collect("page.js").values()].join("\n");
  const script = `"use strict";\n(() => {\nconst modules = {};\n\n${modules}\nglobalThis.sabaccVerify = modules;\n})();\n`;
  if (/<\/script|<!--/i.test(script)) throw new Error("the script would end its element");
  const style = read("page.css");
  const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "connect-src 'none'",
    "img-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
  const fill = { POLICY: policy, STYLE: style, SCRIPT: script };
  return read("page.html").replace(/\{\{(\w+)\}\}/g, (_, name) => fill[name]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const html = build();
  if (process.argv.includes("--check")) {
    let old = null;
    try {
      old = readFileSync(OUT, "utf8");
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
    if (old !== html) {
      console.error("crates/audit/verify.html is not what its sources make: run node crates/audit/verify/build.mjs");
      process.exit(1);
    }
    console.log("crates/audit/verify.html is fresh");
  } else {
    writeFileSync(OUT, html);
    console.log(`crates/audit/verify.html: ${Buffer.byteLength(html)} bytes`);
  }
}
