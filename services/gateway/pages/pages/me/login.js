// Name, login as a file, and the ways out.

import { session } from "../../api/session.js";
import { el, panel } from "../parts/dom.js";
import { callForm } from "../parts/forms.js";
import { saveFile, shortId } from "../parts/words.js";

/** @param {{id: string, name: string}} player */
export function namePanel(player) {
  return panel(
    "Name",
    callForm({
      label: "Change the name",
      keep: true,
      fields: [{ name: "name", label: "Name that you are shown under", value: player.name, hint: "1 to 24 letters, digits, spaces and ' - _ . \u2013 or nothing.", attributes: { maxlength: 24 } }],
      call: async (values) => {
        const shown = await session.setName(values.name ?? "");
        return shown ? `You are shown as ${shown}.` : "You are shown without a name.";
      },
    }),
  );
}

/** Panel that saves the login as a file, and loads one. */
export function loginPanel() {
  return panel(
    "Login as a file",
    session.isGuest ? saveForms() : null,
    callForm({
      label: "Load a login",
      fields: [{ name: "file", label: "File of a login", type: "file", required: true }],
      call: async (values) => {
        await session.loadLogin(values.file);
        return "You are signed in.";
      },
    }),
  );
}

/** Saves the login, and forgets it here once the person has the file. */
function saveForms() {
  const forget = callForm({
    label: "Forget the login here",
    danger: true,
    fields: [],
    confirm: "I have the file, and have seen that it is there.",
    call: async () => void (await session.forgetLogin()),
  });
  forget.hidden = true;
  const save = callForm({
    label: "Save the login",
    fields: [],
    extra: [el("p", { class: "muted" }, "The file is as good as a password. A login has one user at a time: once you have the file, let this browser forget it, before you load it elsewhere. It goes on with it when you load the file again.")],
    call: async () => {
      saveFile(await session.loginFile(), "sabacc-login.json", "application/json");
      forget.hidden = false;
      return "The file is being saved. This browser keeps the login until you say that you have it.";
    },
  });
  return el("div", { class: "stack" }, save, forget);
}

/** @param {{id: string, name: string}} player */
export function outPanel(player) {
  return panel(
    "Leave, or be erased",
    el(
      "div",
      { class: "two" },
      el(
        "div",
        { class: "stack" },
        el("h3", {}, "Sign out"),
        el("p", { class: "muted" }, session.isGuest ? "A guest has no other way in: whoever signs out without a saved login does not come back to this player and their credits." : "This browser forgets the token."),
        callForm({
          label: "Sign out",
          danger: true,
          fields: [],
          confirm: session.isGuest ? "I do not want to come back as this player." : undefined,
          call: async () => void (await session.signOut()),
        }),
      ),
      el(
        "div",
        { class: "stack" },
        el("h3", {}, "Erase me"),
        el("p", { class: "muted" }, "Here you take your name away, forget all that this browser keeps, and sign out for good. What the room has of you, such as earlier names and what you wrote in disputes, an operator makes unreadable for ever: send them your pseudonym."),
        el("p", {}, el("code", { class: "hex" }, player.id)),
        callForm({
          label: "Erase me here",
          danger: true,
          fields: [],
          confirm: "I have left all tables, and want to lose this player and all evidence.",
          call: async () => {
            await refuseWhileSeated();
            if (player.name) await session.setName("");
            await session.signOut();
            await forgetBrowser();
          },
        }),
      ),
    ),
  );
}

/** Refuses a player who has a seat: credits lie at it, and a hand in play needs the keys and the evidence that this browser keeps. */
async function refuseWhileSeated() {
  /** @type {import("../../types.js").ListSeatsResponse} */
  const { seats = [] } = await session.call("sabacc.table.v1.TableService/ListSeats", {});
  if (seats.length === 0) return;
  const names = seats.map((one) => one.tableName || shortId(one.tableId)).join(", ");
  throw new Error(`You have a seat at ${names}: your credits lie there, and a hand in play needs what this browser keeps. Leave the table, and come back here when your seat is free.`);
}

/** Removes all that this browser keeps of the room. */
async function forgetBrowser() {
  try {
    localStorage.clear();
  } catch {
    // There was none.
  }
  await new Promise((done) => {
    const request = indexedDB.deleteDatabase("sabacc");
    request.onsuccess = request.onerror = request.onblocked = done;
  });
  location.hash = "#/";
  location.reload();
}
