// Reading protobuf in its one spelling: fields in ascending order, each once, numbers as short as they go, nothing that
// is zero written out, nothing unknown, nothing behind. Numbers of 64 bits are BigInt.

import { textOf } from "./bytes.js";
import { MESSAGES } from "./schema.js";
import { step } from "./work.js";

export class Malformed extends Error {}

// Messages and items of lists that are read of one file: an empty one takes two bytes of the file and hundreds of memory.
const MAX_PARTS = 1000000;

export class Budget {
  constructor(parts = MAX_PARTS) {
    this.parts = parts;
  }

  take() {
    step();
    this.parts -= 1;
    if (this.parts < 0) throw new Malformed("there are too many parts in it");
  }
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  get done() {
    return this.at === this.bytes.length;
  }

  varint() {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.bytes[this.at];
      if (byte === undefined) throw new Malformed("the bytes end within a number");
      this.at += 1;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) {
        if (byte === 0 && shift > 0n) throw new Malformed("a number has a shorter spelling");
        if (value >> 64n) throw new Malformed("a number is too large");
        return value;
      }
    }
    throw new Malformed("a number is too long");
  }

  chunk(bytes = null) {
    const length = bytes ?? this.varint();
    if (length > BigInt(this.bytes.length - this.at)) throw new Malformed("the bytes end within a field");
    const from = this.at;
    this.at += Number(length);
    return this.bytes.subarray(from, this.at);
  }
}

// The first field of a message, where it is number 1 and a varint; else 0.
export function firstNumber(bytes) {
  const reader = new Reader(bytes);
  return !reader.done && reader.varint() === 8n ? reader.varint() : 0n;
}

const SCALARS = {
  u32: (value) => {
    if (value >> 32n) throw new Malformed("a number is too large");
    return Number(value);
  },
  u64: (value) => value,
  s64: (value) => (value & 1n ? -(value >> 1n) - 1n : value >> 1n),
  enum: (value) => {
    const signed = BigInt.asIntN(64, value);
    if (BigInt.asIntN(32, signed) !== signed) throw new Malformed("a number is too large");
    return Number(signed);
  },
  bool: (value) => {
    if (value > 1n) throw new Malformed("neither yes nor no");
    return value === 1n;
  },
};

const ZEROS = { double: 0, u32: 0, u64: 0n, s64: 0n, enum: 0, bool: false, string: "", bytes: new Uint8Array() };

function value(reader, { type }, wire, budget) {
  if (type in SCALARS) {
    if (wire !== 0) throw new Malformed("a field is not of its type");
    return SCALARS[type](reader.varint());
  }
  if (wire !== (type === "double" ? 1 : 2)) throw new Malformed("a field is not of its type");
  if (type === "double") return new DataView(reader.chunk(8n).slice().buffer).getFloat64(0, true);
  const bytes = reader.chunk();
  if (type === "bytes") return bytes.slice();
  if (type !== "string") return decode(type, bytes, budget);
  const text = textOf(bytes);
  if (text === null) throw new Malformed("a text is not UTF-8");
  return text;
}

// Lists of numbers stand together in one field.
function packed(reader, { type }, wire, budget) {
  if (wire !== 2) throw new Malformed("a list of numbers is not packed");
  const inside = new Reader(reader.chunk());
  const items = [];
  while (!inside.done) {
    budget.take();
    items.push(SCALARS[type](inside.varint()));
  }
  if (items.length === 0) throw new Malformed("an empty list is written out");
  return items;
}

const isZero = (found) => found === 0 || found === 0n || found === false || found.length === 0;

// A message as an object with all its fields; a message that is not there is null. Of a group the one that is there is
// named under the group's name.
export function decode(name, bytes, budget = new Budget()) {
  budget.take();
  const fields = MESSAGES.get(name);
  const message = {};
  for (const { name: key, type, list, optional, group } of fields) {
    message[key] = list ? [] : optional || group || !(type in ZEROS) ? null : ZEROS[type];
    if (group) message[group] = null;
  }
  const reader = new Reader(bytes);
  let last = 0;
  while (!reader.done) {
    step();
    const tag = reader.varint();
    const [number, wire] = [Number(tag >> 3n), Number(tag & 7n)];
    const field = fields.find((one) => one.number === number);
    if (!field) throw new Malformed(`${name} has no field ${number}`);
    const repeats = field.list && !(field.type in SCALARS);
    if (number < last || (number === last && !repeats))
      throw new Malformed(`field ${number} of ${name} is out of order`);
    last = number;
    if (field.list && !repeats) message[field.name] = packed(reader, field, wire, budget);
    else if (field.list) {
      budget.take();
      message[field.name].push(value(reader, field, wire, budget));
    } else {
      const found = value(reader, field, wire, budget);
      if (field.type in ZEROS && !field.optional && !field.group && isZero(found))
        throw new Malformed(`field ${number} of ${name} is zero and written out`);
      if (field.group) {
        if (message[field.group]) throw new Malformed(`${name} says two things at once`);
        message[field.group] = field.name;
      }
      message[field.name] = found;
    }
  }
  return message;
}
