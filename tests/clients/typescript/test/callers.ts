// The official clients for Node and for browsers, each with every protocol that it speaks.

import { type DescMethod, toBinary } from "@bufbuild/protobuf";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import * as web from "@connectrpc/connect-web";
import { type OpenPage, open } from "./chromium_page.js";
import { pathOf } from "./methods.js";
import { type Caller, connectCaller } from "./outcome.js";

export interface NamedCaller {
  name: string;
  call: Caller;
  // Whether it can call methods of a kind: browsers send one message, and read streams in text only with npm's
  // `grpc-web`.
  can(method: DescMethod): boolean;
}

const everything = (_: DescMethod): boolean => true;
const oneMessage = ({ methodKind }: DescMethod): boolean => methodKind === "unary" || methodKind === "server_streaming";
const noStream = ({ methodKind }: DescMethod): boolean => methodKind === "unary";

export function nodeCallers(baseUrl: string): NamedCaller[] {
  const over2 = { baseUrl, httpVersion: "2" as const };
  const over1 = { baseUrl, httpVersion: "1.1" as const };
  const named = (name: string, call: Caller, can = everything): NamedCaller => ({ name, call, can });
  return [
    named("connect-node, gRPC", connectCaller(createGrpcTransport({ baseUrl }))),
    named("connect-node, gRPC-Web over HTTP/2", connectCaller(createGrpcWebTransport(over2))),
    named("connect-node, gRPC-Web over HTTP/1.1", connectCaller(createGrpcWebTransport(over1)), oneMessage),
    named("connect-node, Connect over HTTP/2", connectCaller(createConnectTransport(over2))),
    named(
      "connect-node, Connect in JSON",
      connectCaller(createConnectTransport({ ...over1, useBinaryFormat: false })),
      oneMessage,
    ),
    named("connect-web in Node, gRPC-Web", connectCaller(web.createGrpcWebTransport({ baseUrl })), oneMessage),
    named(
      "connect-web in Node, Connect",
      connectCaller(web.createConnectTransport({ baseUrl, useBinaryFormat: true })),
      oneMessage,
    ),
  ];
}

// The clients of a page of another origin, in Chromium.
export async function chromiumCallers(
  origin: string,
  url: string,
): Promise<{ callers: NamedCaller[]; page: OpenPage }> {
  const page = await open(`${origin}/methods?${new URLSearchParams({ url })}`);
  await page.page.waitForFunction("window.callers");
  const names = await page.page.evaluate(() => window.callers);
  const callers = names.map((name): NamedCaller => {
    const can = name === "grpc-web, binary" ? noStream : oneMessage;
    const call: Caller = (method, request, token) => {
      const bytes = Array.from(toBinary(method.input, request));
      const told: [string, string, number[], string] = [name, pathOf(method), bytes, token];
      return page.page.evaluate((told) => window.call(...told), told);
    };
    return { name: `Chromium, ${name}`, call, can };
  });
  return { callers, page };
}
