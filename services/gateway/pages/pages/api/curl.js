// Line for curl that makes a call.

/** Text between single quotes of a shell. @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * @param {string} origin
 * @param {import("./descriptors.js").Method} method
 * @param {any} request
 * @param {boolean} signedIn
 */
export function curlLine(origin, method, request, signedIn) {
  const body = JSON.stringify(request);
  const url = `${origin}/${method.path}`;
  const token = signedIn ? ` \\\n  -H "authorization: Bearer $TOKEN"` : "";
  if (method.clientStreaming) return "# Streams of requests go over gRPC: use grpcurl or buf curl.";
  if (!method.serverStreaming) return `curl -s ${quoted(url)} \\\n  -H 'content-type: application/json'${token} \\\n  -d ${quoted(body)}`;
  // Each message of a stream stands behind a byte of flags and its length in four bytes.
  const length = new TextEncoder().encode(body).length;
  const head = [0, length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  return `{ printf '${head}'; printf '%s' ${quoted(body)}; } | curl -sN ${quoted(url)} \\\n  -H 'content-type: application/connect+json' -H 'connect-protocol-version: 1'${token} \\\n  --data-binary @-`;
}
