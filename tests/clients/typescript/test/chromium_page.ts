// Debian's Chromium, driven by playwright-core.

import { execFileSync } from "node:child_process";
import { chromium, type Page } from "playwright-core";

export interface OpenPage {
  page: Page;
  close(): Promise<void>;
}

export async function open(url: string): Promise<OpenPage> {
  const executablePath = execFileSync("sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim();
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage();
  page.on("pageerror", (error) => console.log(`chromium: ${error}`));
  page.on("console", (line) => {
    // A refusal has an HTTP status, which Chromium reports as an error of loading.
    if (!line.text().startsWith("Failed to load resource")) console.log(`chromium: ${line.text()}`);
  });
  await page.goto(url);
  return { page, close: () => browser.close() };
}
