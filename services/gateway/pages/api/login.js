// A guest's login as a file. Specification: proto/README.md "A login as a file".

const FORMAT = "sabacc-login/1";
const LONGEST_FILE = 4096;
const LONGEST_NAME = 100;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * A login as this browser keeps it: a guest's, with a refresh token, or a token that somebody has pasted in.
 * @typedef {object} Login
 * @property {string} server The room's address: the tokens are shown to no other.
 * @property {string} playerId Empty: the bearer is no player.
 * @property {string} name
 * @property {string[]} roles
 * @property {string} refreshToken Empty: the access token is all there is.
 * @property {string} [refreshRequestId] Id of a `Refresh` that has no answer yet. It is repeated before anything else.
 * @property {string} accessToken
 * @property {number} accessEndMs When a new one is wanted, by this device's clock.
 */

/** @param {Login} login */
export function fileOf({ server, playerId, name, refreshToken, refreshRequestId }) {
  const fields = { format: FORMAT, server, player_id: playerId, name, refresh_token: refreshToken };
  const all = refreshRequestId ? { ...fields, refresh_request_id: refreshRequestId } : fields;
  return new Blob([`${JSON.stringify(all, null, 2)}\n`], { type: "application/json" });
}

/** @param {Blob} file @param {string} server @returns {Promise<Login>} */
export async function loginOf(file, server) {
  if (file.size > LONGEST_FILE) throw new Error("This is no login: it is too long.");
  const fields = fieldsOf(await file.text());
  if (fields?.format !== FORMAT) throw new Error("This is no login of a sabacc room.");
  if (fields.server !== server) throw new Error(`This login is for ${fields.server}. Open that room and load it there.`);
  const { player_id: playerId, name = "", refresh_token: refreshToken, refresh_request_id: refreshRequestId } = fields;
  const isText = [playerId, name, refreshToken, refreshRequestId ?? ""].every((field) => typeof field === "string");
  const isWhole = isText && UUID.test(playerId) && /^[!-~]{1,512}$/.test(refreshToken) && name.length <= LONGEST_NAME;
  if (!isWhole || (refreshRequestId !== undefined && !UUID.test(refreshRequestId)))
    throw new Error("This login is damaged.");
  return { server, playerId, name, roles: ["player"], refreshToken, refreshRequestId, accessToken: "", accessEndMs: 0 };
}

/** @param {string} text @returns {any} */
function fieldsOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
