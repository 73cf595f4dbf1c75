// The outcome of a call, as every client tells it: the code, a refusal's reason, and the answer's bytes.

import { type DescMethod, type Message, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { hex } from "../src/bytes.js";
import { reasonOf } from "../src/room.js";

// Time for the first message of a stream: one that says nothing stays open.
const STREAM_MS = 3000;

export interface Outcome {
  // In words, such as `invalid_argument`; `ok`.
  code: string;
  reason: string;
  // The answer, or the first message of a stream, in hexadecimal.
  answer: string;
}

// A client with a protocol.
export type Caller = (method: DescMethod, request: Message, token: string) => Promise<Outcome>;

export const codeName = (code: Code): string =>
  Code[code]!.replace(/[A-Z]/g, (letter, at) => (at > 0 ? "_" : "") + letter.toLowerCase());

export const answered = (method: DescMethod, message: Message | undefined): Outcome => ({
  code: "ok",
  reason: "",
  answer: message ? hex(toBinary(method.output, message)) : "nothing yet",
});

// Makes calls as a client of Connect's libraries makes them.
export function connectCaller(transport: Transport): Caller {
  return async (method, request, token) => {
    const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
    try {
      if (method.methodKind === "unary") {
        const answer = await transport.unary(method as never, undefined, undefined, headers, request as never);
        return answered(method, answer.message as Message);
      }
      return answered(method, await firstOf(transport, method, request, headers));
    } catch (error) {
      return { code: codeName(ConnectError.from(error).code), reason: reasonOf(error), answer: "" };
    }
  };
}

// The first message of a stream, which is ended then; nothing where none comes in time.
async function firstOf(transport: Transport, method: DescMethod, request: Message, headers: HeadersInit) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), STREAM_MS);
  async function* messages(): AsyncGenerator<Message> {
    yield request;
    // A caller that ends its side ends a conversation.
    if (method.methodKind === "bidi_streaming")
      await new Promise((done) => stop.signal.addEventListener("abort", done, { once: true }));
  }
  try {
    const stream = await transport.stream(method as never, stop.signal, undefined, headers, messages() as never);
    for await (const message of stream.message) return message as Message;
    return undefined;
  } catch (error) {
    if (stop.signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
