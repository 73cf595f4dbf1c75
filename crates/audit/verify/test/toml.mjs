// As much TOML as the golden hands are written in: strings, numbers, flags, arrays, inline tables, `[[hand]]`.

export function parseToml(text) {
  let at = 0;
  const fail = (what) => {
    throw new Error(`${what} at ${JSON.stringify(text.slice(at, at + 30))}`);
  };
  const blank = (lines) => {
    for (;;) {
      if (text[at] === " " || text[at] === "\t" || (lines && /[\r\n]/.test(text[at] ?? ""))) at += 1;
      else if (text[at] === "#") while (at < text.length && text[at] !== "\n") at += 1;
      else return;
    }
  };
  const key = () => {
    const found = /^[A-Za-z0-9_-]+/.exec(text.slice(at, at + 80));
    if (!found) fail("a key is missing");
    at += found[0].length;
    return found[0];
  };
  const sign = (char) => {
    blank(false);
    if (text[at] !== char) fail(`${char} is missing`);
    at += 1;
  };
  const value = () => {
    blank(true);
    if (text[at] === '"') {
      const end = text.indexOf('"', at + 1);
      const found = text.slice(at + 1, end);
      at = end + 1;
      return found;
    }
    if (text[at] === "[") return list("]", value);
    if (text[at] === "{") return Object.fromEntries(list("}", pair));
    const word = /^[A-Za-z0-9_.:-]+/.exec(text.slice(at, at + 80))?.[0] ?? fail("a value is missing");
    at += word.length;
    return word === "true" ? true : word === "false" ? false : Number(word.replaceAll("_", ""));
  };
  const list = (end, item) => {
    const items = [];
    at += 1;
    for (;;) {
      blank(true);
      if (text[at] === end) break;
      items.push(item());
      blank(true);
      if (text[at] === ",") at += 1;
      else if (text[at] !== end) fail(`, or ${end} is missing`);
    }
    at += 1;
    return items;
  };
  const pair = () => {
    const name = key();
    if (text[at] === ".") {
      at += 1;
      return [name, Object.fromEntries([pair()])];
    }
    sign("=");
    return [name, value()];
  };
  const top = {};
  let table = top;
  for (blank(true); at < text.length; blank(true)) {
    if (text.startsWith("[[hand]]", at)) {
      at += "[[hand]]".length;
      table = {};
      (top.hand ??= []).push(table);
    } else {
      const [name, found] = pair();
      table[name] = name in table ? { ...table[name], ...found } : found;
    }
  }
  return top;
}
