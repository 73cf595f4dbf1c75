// Tokens of any role, signed with the room's own key, as whoever runs a room makes them: an Ed25519-signed JWT.

import { createPrivateKey, randomUUID, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Role } from "../gen/sabacc/common/v1/access_pb.js";

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

export class Issuer {
  readonly #key;

  // The folder is that of `sabacc up`; the key is PKCS#8 in PEM.
  constructor(dataFolder: string) {
    this.#key = createPrivateKey(readFileSync(join(dataFolder, "keys/issuer.pem")));
  }

  token(role: Role, subject: string): string {
    const iat = Math.floor(Date.now() / 1000);
    const bearer = { sub: subject, role: Role[role]!.toLowerCase() };
    const claims = { iss: "sabacc", aud: "sabacc", ...bearer, iat, exp: iat + 600, jti: randomUUID() };
    const body = `${encode({ alg: "EdDSA", typ: "JWT" })}.${encode(claims)}`;
    return `${body}.${sign(null, Buffer.from(body), this.#key).toString("base64url")}`;
  }
}
