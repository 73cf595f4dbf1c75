// The verdict on a bundle, by the code of the room's page verify.html (crates/audit/verify), which trusts nothing but
// the keys that it is given.

export interface Report {
  verdict: "proved" | "broken_off" | "not_finished" | "failed" | "refused";
  sentences: string[];
  checks: { check: string; verdict: string; why?: string }[];
}

interface Trust {
  keys: unknown[];
  witnesses: unknown[];
  wanted: number;
}

export class Verifier {
  readonly #keysText: string;
  // The folder of the page's modules.
  readonly #modules: URL;

  constructor(modules: URL, keysText: string) {
    this.#modules = modules;
    this.#keysText = keysText;
  }

  async report(bundle: Uint8Array): Promise<Report> {
    const { judge, readFile } = (await this.#import("judge.js")) as {
      readFile(file: File): Promise<unknown>;
      judge(files: unknown[], trust: Trust): Promise<{ report: Report }[]>;
    };
    const { readKeys } = (await this.#import("trust.js")) as { readKeys(text: string): Promise<unknown[]> };
    const trust = { keys: await readKeys(this.#keysText), witnesses: [], wanted: 0 };
    const file = await readFile(new File([new Uint8Array(bundle)], "hand.sabacc"));
    const [judged] = await judge([file], trust);
    if (!judged) throw new Error("the verifier has said nothing");
    return judged.report;
  }

  #import(name: string): Promise<unknown> {
    return import(new URL(name, this.#modules).href);
  }
}
