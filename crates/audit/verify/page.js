// The page: files in, verdicts and stories out. What comes from files is only ever set as text.

import { shown } from "./bytes.js";
import { sha256 } from "./digest.js";
import { BadEvidence, MAX_EVIDENCE, readEvidence } from "./evidence.js";
import { judge, readFile } from "./judge.js";
import { keysText, readKeys, readWitnesses } from "./trust.js";
import { el, showFile } from "./view.js";

const LARGEST_KEYS = 100000;
const CLASSES = ["proved", "broken_off", "not_finished", "failed", "refused"];

// A field of keys, which can be filled from a file. The keys of one that is refused count for nothing.
class KeysField {
  constructor(id, read, none) {
    Object.assign(this, { read, none, told: [], text: "", given: false });
    this.field = document.getElementById(id);
    this.state = document.getElementById(`${id}-state`);
  }

  // Reads what is in the field. A file is read as its bytes are: a field has its own line ends.
  async take(text) {
    this.text = text;
    this.given = text !== "";
    try {
      const told = await this.read(text);
      if (text !== this.text) return;
      this.told = told;
      const names = told.map(({ name }) => name).join(", ");
      const count = told.length === 1 ? "One key" : `${told.length} keys`;
      this.say(told.length === 0 ? this.none : `${count}: ${names}`, false);
    } catch (error) {
      if (text === this.text) this.refuse(error.message);
    }
  }

  async open(file) {
    try {
      if (file.size > LARGEST_KEYS) throw new Error("the file is too large for one of keys");
      const text = keysText(new Uint8Array(await file.arrayBuffer()));
      this.field.value = text;
      await this.take(text);
    } catch (error) {
      this.field.value = "";
      this.text = "";
      this.given = true;
      this.refuse(error.message);
    }
  }

  refuse(why) {
    this.told = [];
    this.say(`Refused: ${why}. None of these keys is used.`, true);
  }

  say(text, bad) {
    this.state.classList.toggle("bad", bad);
    this.state.textContent = shown(text);
  }
}

class Page {
  constructor() {
    // Of each opened file its name, and the bundle or why it is none.
    this.files = [];
    this.shows = 0;
    this.results = document.getElementById("results");
    this.state = document.getElementById("state");
    const none = "No keys yet: without them no hand is checked.";
    this.logs = new KeysField("keys", readKeys, none);
    this.witnesses = new KeysField("witness-keys", readWitnesses, "");
    // What the reader's own program has kept, and whether it was refused.
    this.evidence = { told: null, refused: false };
    this.evidenceState = document.getElementById("evidence-state");
  }

  async start() {
    const choose = (id, act) => {
      const input = document.getElementById(id);
      input.addEventListener("change", () => {
        const files = [...input.files];
        input.value = "";
        return this.guarded(() => act(files));
      });
    };
    choose("hands-file", (files) => this.open(files));
    for (const [id, keys] of [
      ["keys", this.logs],
      ["witness-keys", this.witnesses],
    ]) {
      choose(`${id}-file`, async ([file]) => {
        if (file) await keys.open(file);
        await this.show();
      });
      let waiting;
      keys.field.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => this.guarded(() => this.readField(keys)), 250);
      });
    }
    choose("evidence-file", async ([file]) => {
      if (file) await this.openEvidence(file);
      await this.show();
    });
    this.takeDrops();
    try {
      await sha256(new Uint8Array());
    } catch (error) {
      this.alert(`${error.message[0].toUpperCase()}${error.message.slice(1)}.`);
    }
    await this.guarded(async () => {
      await this.witnesses.take(this.witnesses.field.value);
      await this.readField(this.logs);
    });
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
      const files = [...event.dataTransfer.files];
      this.guarded(() => this.open(files));
    });
    document.addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) document.body.classList.remove("dragging");
    });
  }

  // Whatever goes wrong, nothing that was shown before stays.
  async guarded(act) {
    try {
      await act();
    } catch (error) {
      this.shows += 1;
      this.results.replaceChildren();
      this.alert(`Failed, and nothing is proved: ${error}`);
    }
  }

  alert(text) {
    this.state.replaceChildren(el("span", { class: "alert" }, text));
  }

  async readField(keys) {
    await keys.take(keys.field.value);
    await this.show();
  }

  // Bundles, and files of keys where some are among them.
  async open(files) {
    this.shows += 1;
    this.clear(files.length);
    // A file is opened again in place of the one of its name.
    this.files = this.files.filter(({ name }) => !files.some((file) => file.name === name));
    for (const file of files) {
      if (!file.name.endsWith(".sabacc") && file.size < LARGEST_KEYS && /\.(txt|keys)$|^[^.]+$/.test(file.name)) {
        await (await this.fieldFor(file)).open(file);
        continue;
      }
      this.files.unshift(await readFile(file));
    }
    await this.show();
    this.results.querySelector("h2")?.focus();
  }

  // Evidence that is refused says nothing, and no hand is judged as if it had been read.
  async openEvidence(file) {
    this.evidence = { told: null, refused: true };
    const say = (text, bad) => {
      this.evidenceState.classList.toggle("bad", bad);
      this.evidenceState.textContent = shown(text);
    };
    try {
      if (file.size > MAX_EVIDENCE) throw new BadEvidence(`it is larger than ${MAX_EVIDENCE} bytes`);
      const told = await readEvidence(new Uint8Array(await file.arrayBuffer()));
      this.evidence = { told, refused: false };
      say(`${file.name}: ${told.signed.length} signed texts, ${told.numbers.length} numbers of your own.`, false);
    } catch (error) {
      say(`Refused: ${error.message}. No hand is checked until you open another file or load the page anew.`, true);
    }
  }

  // A file of nothing but witnesses' keys is one of witnesses.
  async fieldFor(file) {
    try {
      const told = await readKeys(keysText(new Uint8Array(await file.arrayBuffer())));
      return told.length > 0 && told.every(({ isLog }) => !isLog) ? this.witnesses : this.logs;
    } catch {
      return this.logs;
    }
  }

  clear(count) {
    this.results.replaceChildren();
    this.state.textContent = count === 1 ? "Checking\u2026" : `Checking ${count} files\u2026`;
  }

  async show() {
    this.shows += 1;
    const own = this.shows;
    const { files } = this;
    if (files.length === 0) {
      this.results.replaceChildren();
      return;
    }
    this.clear(files.length);
    const [keys, witnesses] = [this.logs.told, this.witnesses.told];
    // Keys were given and refused: what depends on them must not pass without.
    const wanted = this.witnesses.given ? 1 : 0;
    const { told: evidence, refused } = this.evidence;
    const judged = await judge(files, { keys: refused ? [] : keys, witnesses, wanted, evidence });
    // Keys or files have changed meanwhile: what shows them is on its way.
    if (own !== this.shows) return;
    this.results.replaceChildren(...judged.map(showFile));
    const counts = CLASSES.map((name) => [judged.filter(({ report }) => report.verdict === name).length, name]);
    const told = counts.filter(([count]) => count > 0).map(([count, name]) => `${count} ${name.replace("_", " ")}`);
    this.state.textContent = `${told.join(", ")}.`;
  }
}

export const start = () => new Page().start();

if (typeof document !== "undefined") start();
