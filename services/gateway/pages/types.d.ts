// Messages of the public services, for the types in JSDoc: `@typedef {import("../types.js").TableView} TableView`.

export type * from "./types/audit.js";
export type * from "./types/common.js";
export type * from "./types/history.js";
export type * from "./types/table.js";
export type * from "./types/wallet.js";
