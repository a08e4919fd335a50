/** What strangers can hold of the process; times in milliseconds. */
export interface ServerLimits {
  /** A request's head, from the connection's first moment or the last answer. */
  head: number;
  /** A whole request, body included. */
  request: number;
  /** A kept connection without a request. */
  keepAlive: number;
  /** No byte in either direction: longer than the longest pull. A client that never reads ends here. */
  silence: number;
  /** How often the first two are looked at. */
  check: number;
  /** Of all addresses together. */
  connections: number;
  /** Of one address (IPv6: /64), so that no one can hold all of them. Trusted proxies are exempt. */
  connectionsPerAddress: number;
  /** Bytes of ingest bodies that are being read, of all connections together. */
  bodyBytes: number;
  /**
   * Bytes of events whose second piece isn't there yet, of all connections together. Apart from the bodies, whose
   * senders are known: strangers must not use those up.
   */
  begunBytes: number;
}

export const serverLimits: ServerLimits = {
  head: 10_000,
  request: 30_000,
  keepAlive: 65_000,
  silence: 75_000,
  check: 1_000,
  connections: 4096,
  connectionsPerAddress: 2048,
  bodyBytes: 64 * 1024 * 1024,
  begunBytes: 8 * 1024 * 1024,
};

/** What Node takes at construction only. */
export function constructionLimits(limits: ServerLimits) {
  return {
    headersTimeout: limits.head,
    requestTimeout: limits.request,
    connectionsCheckingInterval: limits.check,
    keepAliveTimeout: limits.keepAlive,
    // A connection that never gets through its TLS handshake.
    handshakeTimeout: limits.head,
    // Asked for by `headFault`, whose answer has the shape of every other error.
    requireHostHeader: false,
  };
}
