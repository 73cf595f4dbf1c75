// Files that are given together get the verdicts that the list of their group says.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { modules, trusted } from "./built.mjs";

const { judge, readFile } = modules["judge.js"];
const FOLDER = new URL("../../../../tests/golden/several/", import.meta.url);
const groups = JSON.parse(readFileSync(new URL("expected.json", FOLDER), "utf8"));

const fileOf = (group, name) =>
  readFile(new File([readFileSync(new URL(`${group}/${name}`, FOLDER))], name));

async function judged(group, files) {
  const read = await Promise.all(files.map(({ file }) => fileOf(group, file)));
  const reports = await judge(read, await trusted());
  return reports.map(({ name, report }) => ({
    file: name,
    verdict: report.verdict,
    failed: report.checks.filter(({ verdict }) => verdict === "failed").map(({ check }) => check),
  }));
}

test("the groups of bundles are there", () => assert.ok(groups.length > 5));

for (const { group, files } of groups) {
  test(group, async () => {
    assert.deepEqual(await judged(group, files), files);
    const backwards = [...files].reverse();
    assert.deepEqual(await judged(group, backwards), backwards);
  });
}
