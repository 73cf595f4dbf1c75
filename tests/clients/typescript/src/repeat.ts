// Commands that are sent twice, as after a lost answer: the same request_id with the same content changes nothing.

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import { equal } from "./bytes.js";

export let repeats = 0;

// Sends a command twice. The second answer must be the first one, byte for byte.
export async function twice<Desc extends DescMessage>(schema: Desc, send: () => Promise<MessageShape<Desc>>) {
  const first = await send();
  const second = await send();
  if (!equal(toBinary(schema, first), toBinary(schema, second)))
    throw new Error(`a repeated command got another ${schema.typeName}`);
  repeats += 1;
  return first;
}
