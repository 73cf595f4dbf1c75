// `buf curl`, which knows the services by reflection alone, in each protocol: it lists what the room describes, calls,
// and reads a stream.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { describe } from "./methods.js";

const { SABACC_URL = "" } = process.env;
const run = promisify(execFile);

for (const protocol of ["grpc", "grpcweb", "connect"]) {
  const curl = async (...rest: string[]): Promise<string> =>
    (await run("buf", ["curl", "--http2-prior-knowledge", "--protocol", protocol, ...rest])).stdout;

  test(`buf curl over ${protocol}`, async () => {
    const services = (await curl("--list-services", SABACC_URL)).trim().split("\n");
    const described = new Set((await describe(SABACC_URL)).map(({ parent }) => parent.typeName));
    assert.deepEqual(services.filter((name) => name.startsWith("sabacc.")).sort(), [...described].sort());
    const { tables } = JSON.parse(await curl("--data", "{}", `${SABACC_URL}/sabacc.table.v1.TableService/ListTables`));
    const [{ tableId }] = tables;
    const { snapshot } = await firstMessage(protocol, tableId);
    assert.equal(snapshot?.tableId, tableId);
  });
}

// The first message of a followed table, in JSON that ends with a brace on a line of its own. The stream has no end, so
// the program is stopped.
function firstMessage(protocol: string, tableId: string): Promise<{ snapshot?: { tableId: string } }> {
  const url = `${SABACC_URL}/sabacc.table.v1.TableService/WatchTable`;
  const data = JSON.stringify({ tableId });
  return new Promise((done, failed) => {
    const child = execFile("buf", ["curl", "--http2-prior-knowledge", "--protocol", protocol, "--data", data, url]);
    let written = "";
    child.stdout!.on("data", (text: string) => {
      written += text;
      if (written.includes("\n}\n")) child.kill();
    });
    child.on("error", failed);
    child.on("exit", () => done(JSON.parse(written.split(/(?<=\n\})\n/)[0] || "{}")));
  });
}
