// As much of a browser's document as the page needs.

class Node {
  constructor(name) {
    Object.assign(this, { name, attributes: {}, children: [], listeners: {}, value: "", files: [] });
    this.classes = new Set();
    this.classList = {
      add: (one) => this.classes.add(one),
      remove: (one) => this.classes.delete(one),
      toggle: (one, on = !this.classes.has(one)) => (on ? this.classes.add(one) : this.classes.delete(one)),
    };
  }

  setAttribute(key, value) {
    this.attributes[key] = value;
  }

  append(...nodes) {
    this.children.push(...nodes);
  }

  replaceChildren(...nodes) {
    this.children = nodes;
  }

  addEventListener(name, act) {
    this.listeners[name] = act;
  }

  querySelector() {
    return null;
  }

  get textContent() {
    return this.children.map((child) => (typeof child === "string" ? child : child.textContent)).join("");
  }

  set textContent(text) {
    this.children = [text];
  }
}

// A document of its own, also under `globalThis.document`.
export function newDocument() {
  const nodes = new Map();
  const made = {
    body: new Node("body"),
    listeners: {},
    createElement: (name) => new Node(name),
    getElementById(id) {
      if (!nodes.has(id)) nodes.set(id, new Node(id));
      return nodes.get(id);
    },
    addEventListener(name, act) {
      made.listeners[name] = act;
    },
  };
  globalThis.document = made;
  return made;
}

export const fileOf = (name, bytes) => ({
  name,
  size: bytes.length,
  arrayBuffer: async () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
});
