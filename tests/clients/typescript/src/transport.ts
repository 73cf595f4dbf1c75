// The two protocols that a browser speaks to the public port, at the same address.

import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";

export const PROTOCOLS = ["gRPC-Web", "Connect"] as const;

export function transportOf(
  protocol: (typeof PROTOCOLS)[number],
  baseUrl: string,
  interceptors: Interceptor[],
): Transport {
  if (protocol === "gRPC-Web") return createGrpcWebTransport({ baseUrl, interceptors });
  // In JSON, as one reads it in the browser's tools; `useBinaryFormat: true` is the shorter form.
  return createConnectTransport({ baseUrl, interceptors });
}
