// A stranger's afternoon: from nothing to a finished, verified hand of each game. The same code runs in Node and in a
// browser.

import type { MoveKind } from "../gen/sabacc/common/v1/game_pb.js";
import { random, requestId } from "./bytes.js";
import { RoomKeys } from "./keys.js";
import { fetchBundle, findTable, HandPlayer } from "./play.js";
import { Room } from "./room.js";
import { PROTOCOLS, transportOf } from "./transport.js";
import { type Report, Verifier } from "./verify.js";

export interface Options {
  // The room's public port.
  url: string;
  games: string[];
  // The text of a file with the keys of the room's logs, from a source that the player trusts.
  keys: string;
  // The folder of the verifier's modules.
  verifier: URL;
  say: (line: string) => void;
}

export interface Result {
  game: string;
  seat: number;
  bundle: Uint8Array;
  sentences: string[];
}

// Plays one hand of each game, in one protocol after the other; each hand is proved, or this fails.
export async function playGames(options: Options): Promise<Result[]> {
  const results = [];
  for (const [at, game] of options.games.entries()) {
    const protocol = PROTOCOLS[at % PROTOCOLS.length]!;
    results.push(await playGame(options, game, protocol));
  }
  return results;
}

async function playGame(options: Options, game: string, protocol: (typeof PROTOCOLS)[number]): Promise<Result> {
  const { url, say } = options;
  const room = new Room((interceptors) => transportOf(protocol, url, interceptors));
  const playerId = await signIn(room);
  say(`${game}: signed in as ${playerId} over ${protocol}`);
  const { moves } = await room.rules.listVariants({});
  const verbs = new Map<MoveKind, string>(moves.map(({ kind, verb }) => [kind, verb]));
  const { tableId } = await findTable(room, game);
  const player = new HandPlayer(room, playerId, tableId, await RoomKeys.parse(options.keys), verbs);
  const hand = await player.play();
  const { handNo, seat, decisions, streams } = hand;
  say(`${game}: hand ${handNo} in seat ${seat}: ${decisions} signed decisions over ${streams} streams`);
  const verifier = new Verifier(options.verifier, options.keys);
  let report: Report | undefined;
  const bundle = await fetchBundle(room, hand, async (bytes) => {
    report = await verifier.report(bytes);
    return report.verdict !== "not_finished";
  });
  checkReport(report, game, hand.seat);
  await signOut(room);
  say(`${game}: ${report?.sentences.join(" ")}`);
  return { game, seat: hand.seat, bundle, sentences: report?.sentences ?? [] };
}

// Signs in twice under one id and secret, as after a lost answer: it is the same player, with the same credits. Then goes on with
// new tokens, as every 15 minutes.
async function signIn(room: Room): Promise<string> {
  const [id, secret] = [requestId(), random(32)];
  const first = await room.signInAsGuest("TypeScript", id, secret);
  const second = await room.signInAsGuest("TypeScript", id, secret);
  if (first.playerId !== second.playerId) throw new Error("a repeated sign-in made another player");
  await room.refresh();
  const { name } = await room.people.getPlayer({});
  if (name !== "TypeScript") throw new Error(`the player is called ${name}`);
  return first.playerId;
}

function checkReport(report: Report | undefined, game: string, seat: number): void {
  const failed = report?.checks.filter(({ verdict }) => verdict !== "passed") ?? [];
  if (report?.verdict !== "proved") {
    const why = failed.map(({ check, verdict, why }) => `${check} ${verdict}: ${why}`).join("; ");
    throw new Error(`the hand of ${game} is ${report?.verdict}: ${report?.sentences.join(" ")} ${why}`);
  }
  // The second sentence names the seats whose numbers are in the hand.
  if (!report.sentences[1]?.includes(String(seat))) throw new Error(`seat ${seat} is not in: ${report.sentences[1]}`);
}

async function signOut(room: Room): Promise<void> {
  await room.people.signOut({ requestId: requestId() });
}
