// The clients of a browser, for a program outside to call with: each message is given and told in bytes.

import { fromBinary } from "@bufbuild/protobuf";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { grpcWebCaller } from "./grpc_web_caller.js";
import { describe, pathOf } from "./methods.js";
import { type Caller, connectCaller, type Outcome } from "./outcome.js";

declare global {
  interface Window {
    callers: string[];
    call(caller: string, path: string, request: number[], token: string): Promise<Outcome>;
  }
}

const baseUrl = new URLSearchParams(location.search).get("url")!;
const methods = new Map((await describe(baseUrl)).map((method) => [pathOf(method), method]));
const callers: Record<string, Caller> = {
  "connect-web, gRPC-Web": connectCaller(createGrpcWebTransport({ baseUrl })),
  "connect-web, Connect in JSON": connectCaller(createConnectTransport({ baseUrl })),
  "grpc-web, text": grpcWebCaller(baseUrl, "text"),
  "grpc-web, binary": grpcWebCaller(baseUrl, "binary"),
};

window.call = (caller, path, request, token) => {
  const method = methods.get(path)!;
  return callers[caller]!(method, fromBinary(method.input, Uint8Array.from(request)), token);
};
window.callers = Object.keys(callers);
