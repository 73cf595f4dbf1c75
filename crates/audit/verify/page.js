// The page: files in, verdicts and stories out. What comes from files is only ever set as text.

import { audit } from "./audit.js";
import { NotABundle, parseBundle } from "./bundle.js";
import { NoCrypto, sha256 } from "./digest.js";
import { BadNote, parseKeys } from "./note.js";
import { el, showHand, showRefusal } from "./view.js";

const LARGEST = 64 * 1024 * 1024;

class Page {
  constructor() {
    this.keys = [];
    this.keysWrong = false;
    // Of each opened file its name, and the bundle or why it is none.
    this.files = [];
    this.results = document.getElementById("results");
    this.state = document.getElementById("state");
    this.keysField = document.getElementById("keys");
  }

  async start() {
    const choose = (id, act) => {
      const input = document.getElementById(id);
      input.addEventListener("change", async () => {
        const files = [...input.files];
        input.value = "";
        await act(files);
      });
    };
    choose("keys-file", ([file]) => file && this.openKeys(file));
    choose("hands-file", (files) => this.open(files));
    let waiting;
    this.keysField.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.readKeys(), 250);
    });
    this.takeDrops();
    try {
      await sha256(new Uint8Array());
    } catch (error) {
      this.state.replaceChildren(el("span", { class: "alert" }, `${error.message}. Open the page in another browser.`));
    }
    await this.readKeys();
  }

  takeDrops() {
    const on = (name, act) =>
      document.addEventListener(name, (event) => {
        if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
        event.preventDefault();
        act(event);
      });
    on("dragover", () => document.body.classList.add("dragging"));
    on("drop", (event) => {
      document.body.classList.remove("dragging");
      this.open([...event.dataTransfer.files]);
    });
    document.addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) document.body.classList.remove("dragging");
    });
  }

  async openKeys(file) {
    this.keysField.value = await file.text();
    await this.readKeys();
  }

  async readKeys() {
    const state = document.getElementById("keys-state");
    state.classList.remove("bad");
    try {
      this.keys = await parseKeys(this.keysField.value);
      const names = this.keys.map(({ name }) => name).join(", ");
      state.textContent =
        this.keys.length === 0
          ? "No keys yet: hands can be checked, but not whose they are."
          : `${this.keys.length === 1 ? "One key" : `${this.keys.length} keys`}: ${names}`;
    } catch (error) {
      if (!(error instanceof BadNote) && !(error instanceof NoCrypto)) throw error;
      this.keys = [];
      state.classList.add("bad");
      state.textContent = `${error.message}. None of these keys is used.`;
    }
    await this.show();
  }

  // Bundles, and a file of keys where one is among them.
  async open(files) {
    this.state.textContent = files.length === 1 ? "Checking\u2026" : `Checking ${files.length} files\u2026`;
    for (const file of files) {
      if (!file.name.endsWith(".sabacc") && file.size < 100000 && /\.(txt|keys)$|^[^.]+$/.test(file.name)) {
        await this.openKeys(file);
        continue;
      }
      this.files = this.files.filter(({ name }) => name !== file.name);
      this.files.unshift(await readFile(file));
    }
    await this.show();
    this.results.querySelector("h2")?.focus();
  }

  async show() {
    const shown = [];
    const counts = { passed: 0, other: 0 };
    for (const { name, bundle, why } of this.files) {
      if (!bundle) {
        shown.push(showRefusal(name, why));
        counts.other += 1;
        continue;
      }
      const found = await audit(bundle, this.keys);
      counts[found.report.passed ? "passed" : "other"] += 1;
      shown.push(showHand(name, found));
    }
    this.results.replaceChildren(...shown);
    if (shown.length > 0) this.state.textContent = `${counts.passed} passed, ${counts.other} did not.`;
  }
}

async function readFile(file) {
  try {
    if (file.size > LARGEST) throw new NotABundle("the file is too large to be one hand");
    return { name: file.name, bundle: await parseBundle(new Uint8Array(await file.arrayBuffer())) };
  } catch (error) {
    if (error instanceof NotABundle || error instanceof NoCrypto) return { name: file.name, why: error.message };
    throw error;
  }
}

export const start = () => new Page().start();

if (typeof document !== "undefined") start();
