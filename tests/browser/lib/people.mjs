// Knows the browser: people with a browser of their own, and what their pages complain about.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { PAGES, tokenOf } from "./room.mjs";

const require = createRequire(path.join(process.env.SABACC_TOOLS ?? ".", "package.json"));
const { chromium } = require("playwright-core");

/** Time for what takes none on a machine that is not busy. */
export const PATIENCE_MS = 30_000;

/** Commitments of one page that may come too late on a machine that is busy. */
const MAX_LATE = 3;

/** Source of axe-core. */
export const axeSource = () => fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Starts Chromium. */
export const launch = () => chromium.launch({ executablePath: process.env.SABACC_CHROMIUM, args: ["--no-sandbox"] });

/** Somebody with a browser of their own, at one page; `faults` are what that page complained about. */
export class Person {
  /** @param {import("playwright-core").Browser} browser @param {object} [options] of the context; `origin`: of the pages */
  static async with(browser, { origin = PAGES, ...options } = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    const person = new Person(context, await context.newPage(), origin);
    await person.listen();
    return person;
  }

  constructor(context, page, origin) {
    Object.assign(this, { context, page, origin, faults: [], refusals: [], lateCommitments: 0 });
  }

  async listen() {
    this.page.on("console", (message) => {
      // A busy room asks for a moment's patience: the pages ask again.
      const isBusy = /status of (429|503)/.test(message.text());
      // A hand may open without a seat, or close its window, or the seat may not be paid for yet, while the seat's
      // commitment to it is on its way: it is refused, and the page commits to the next number.
      const isLate = message.location().url.endsWith("/CommitEntropy") && /status of 40[03]/.test(message.text());
      if (isLate && this.lateCommitments++ < MAX_LATE) return;
      if (message.type() === "error" && !isBusy) this.faults.push(`${message.text()} (${message.location().url})`);
    });
    this.page.on("response", async (response) => {
      if (response.status() < 400) return;
      const refusal = await response.text().catch(() => "");
      this.refusals.push(`${new URL(response.url()).pathname}: ${refusal.slice(0, 300)}`);
    });
    this.page.on("pageerror", (error) => this.faults.push(error.stack ?? error.message));
    await this.page.exposeFunction("tellViolation", (text) => this.faults.push(text));
    await this.page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) =>
        window.tellViolation(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
    });
  }

  /** Opens a page by the path after `#`. @param {string} route */
  async open(route) {
    await this.page.goto(`${this.origin}/#${route}`);
    return this.page;
  }

  /** Signs in with a token, by the form of the page Room. @param {"operator" | "auditor"} role @param {string} [token] */
  async signInAs(role, token = tokenOf(role)) {
    const { page } = this;
    await this.open("/room");
    await page.getByText("Sign in as operator or auditor").click();
    await page.getByLabel("Token (needed)").fill(token);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText(`You are its ${role}`).waitFor();
  }

  /** Fails where the pages have complained. */
  isContent() {
    assert.deepEqual(this.faults, [], `the pages complained; refused were: ${this.refusals.join("; ")}`);
  }

  close() {
    return this.context.close();
  }
}
