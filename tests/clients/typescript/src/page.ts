// In a browser: plays as soon as the page is open, and keeps what came of it for whoever opened the page.

import { playGames, type Result } from "./main.js";

declare global {
  interface Window {
    outcome: Promise<Result[]>;
  }
}

const query = new URLSearchParams(location.search);
const say = (line: string): void => {
  console.log(line);
  document.querySelector("output")!.append(line, "\n");
};

async function main(): Promise<Result[]> {
  // The keys come from this page's own server, which its reader trusts, not from the room.
  const keys = await (await fetch("keys.txt")).text();
  return playGames({
    url: query.get("url") ?? "http://127.0.0.1:7400",
    games: (query.get("games") ?? "dice").split(" "),
    keys,
    verifier: new URL("/verify/", location.href),
    say,
  });
}

window.outcome = main();
window.outcome.catch((error: unknown) => say(`failed: ${error}`));
