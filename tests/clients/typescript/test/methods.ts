// Every public method, from the room's own description: a new one is called without a line of code here.

import {
  create,
  createFileRegistry,
  createRegistry,
  type DescField,
  type DescMessage,
  type DescMethod,
  fromJson,
  getOption,
  type JsonValue,
  type Message,
} from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { access, limits, Role } from "../gen/sabacc/common/v1/access_pb.js";

// The methods that `GET /api.json` describes, with their options.
export async function describe(url: string): Promise<DescMethod[]> {
  const json = (await (await fetch(`${url}/api.json`)).json()) as JsonValue;
  const set: FileDescriptorSet = fromJson(FileDescriptorSetSchema, json, { registry: createRegistry(access, limits) });
  const services = [...createFileRegistry(set)].filter((desc) => desc.kind === "service");
  return services.flatMap(({ methods }) => methods);
}

export const pathOf = (method: DescMethod): string => `${method.parent.typeName}/${method.name}`;

// A role that may call a method with a token; none where everybody calls it without one.
export const roleOf = (method: DescMethod): Role | undefined =>
  getOption(method, access).roles.find((role) => role !== Role.ANYBODY);

// Whether somebody besides the room's own services may call a method.
export const isPublic = (method: DescMethod): boolean =>
  getOption(method, access).roles.some((role) => role !== Role.SERVICE && role !== Role.UNSPECIFIED);

// Values for fields by their names, such as `table_id`.
export type Samples = Record<string, string | bigint>;

// A request with the fields that have a sample, in messages inside it too; of a oneof the first.
export function requestOf({ input }: DescMethod, samples: Samples): Message {
  const message = reflect(input, create(input));
  fill(message, samples);
  return message.message;
}

function fill(message: ReflectMessage, samples: Samples): void {
  const { fields, oneofs } = message.desc;
  const others = new Set(oneofs.flatMap((oneof) => oneof.fields.slice(1)));
  for (const field of fields.filter((field) => !others.has(field))) set(message, field, samples);
}

function set(message: ReflectMessage, field: DescField, samples: Samples): void {
  const sample = samples[field.name];
  if (field.fieldKind === "scalar" && sample !== undefined) message.set(field, sample);
  if (field.fieldKind !== "message" || isWellKnown(field.message)) return;
  const inner = reflect(field.message, create(field.message));
  fill(inner, samples);
  message.set(field, inner);
}

const isWellKnown = ({ typeName }: DescMessage): boolean => typeName.startsWith("google.protobuf.");

// Whether a method changes something: every command carries a request id, in its message or in one inside it.
export function isCommand({ input }: DescMethod): boolean {
  const has = (desc: DescMessage): boolean =>
    desc.fields.some((field) => field.name === "request_id" || (field.fieldKind === "message" && has(field.message)));
  return has(input);
}
