// Descriptors of the API, as GET /api.json has them, looked up by name.

/** @typedef {{json: string, type: string, typeName: string, repeated: boolean, map: boolean, oneof: string, words: string}} ApiField */
/** @typedef {{name: string, fields: ApiField[]}} Message */
/** @typedef {{name: string, path: string, service: string, input: string, output: string, clientStreaming: boolean, serverStreaming: boolean}} Method */

export class Api {
  /** @param {{file: any[]}} set `FileDescriptorSet` */
  constructor(set) {
    /** @type {Map<string, Message>} */
    this.messages = new Map();
    /** @type {Map<string, string[]>} */
    this.enums = new Map();
    /** @type {Array<{name: string, methods: Method[]}>} */
    this.services = [];
    for (const file of set.file) this.take(file);
    this.services.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** @param {any} file */
  take(file) {
    const prefix = file.package ? `.${file.package}` : "";
    for (const message of file.messageType ?? []) this.takeMessage(message, prefix);
    for (const one of file.enumType ?? []) this.takeEnum(one, prefix);
    for (const service of file.service ?? []) {
      const name = `${file.package}.${service.name}`;
      const methods = (service.method ?? []).map((/** @type {any} */ method) => ({
        name: method.name,
        path: `${name}/${method.name}`,
        service: name,
        input: method.inputType,
        output: method.outputType,
        clientStreaming: method.clientStreaming === true,
        serverStreaming: method.serverStreaming === true,
      }));
      this.services.push({ name, methods });
    }
  }

  /**
   * @param {any} message
   * @param {string} prefix
   */
  takeMessage(message, prefix) {
    const name = `${prefix}.${message.name}`;
    const maps = new Set((message.nestedType ?? []).filter((/** @type {any} */ one) => one.options?.mapEntry).map((/** @type {any} */ one) => `${name}.${one.name}`));
    const fields = (message.field ?? []).map((/** @type {any} */ field) => ({
      json: field.jsonName ?? field.name,
      type: String(field.type).replace("TYPE_", "").toLowerCase(),
      typeName: field.typeName ?? "",
      repeated: field.label === "LABEL_REPEATED" && !maps.has(field.typeName),
      map: maps.has(field.typeName),
      oneof: field.oneofIndex !== undefined && !field.proto3Optional ? (message.oneofDecl?.[field.oneofIndex]?.name ?? "") : "",
      words: field.typeName ? field.typeName.split(".").pop() : String(field.type).replace("TYPE_", "").toLowerCase(),
    }));
    this.messages.set(name, { name, fields });
    for (const nested of message.nestedType ?? []) this.takeMessage(nested, name);
    for (const one of message.enumType ?? []) this.takeEnum(one, name);
  }

  /**
   * @param {any} one
   * @param {string} prefix
   */
  takeEnum(one, prefix) {
    this.enums.set(
      `${prefix}.${one.name}`,
      (one.value ?? []).map((/** @type {any} */ value) => value.name),
    );
  }

  /** @param {string} name with its leading point */
  message(name) {
    return this.messages.get(name);
  }

  /**
   * @param {string} path
   * @returns {Method | undefined}
   */
  method(path) {
    return this.services.flatMap((service) => service.methods).find((one) => one.path === path);
  }
}
