import type { Pool } from "undici";
import type { AddressRules } from "./addresses.ts";
import { Attempt } from "./attempt.ts";
import type { Clock } from "./clock.ts";
import {
  type ConnectorOptions,
  guardedConnector,
  type Resolve,
  systemResolve,
} from "./connector.ts";
import { type EgressError, EgressFault } from "./egress-error.ts";
import { readUrl } from "./url.ts";

/** One request to send, as it is: no redirect is followed, nothing is decompressed or retried. */
export interface EgressRequest {
  method: string;
  url: string;
  /** Beat the defaults `accept-encoding: identity` and `user-agent`, whatever their case. */
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Limit for the whole attempt, body included. Default 10,000. */
  timeoutMs?: number;
  /** How much of the answer's body is read; the rest is dropped with its connection. Default 4,096. */
  maxBytes?: number;
  /** Gives the attempt up (`stopped`). */
  signal?: AbortSignal;
}

/** How an attempt ended. Nothing is thrown. */
export interface EgressResult {
  /** null: an answer was read to its end, or to `maxBytes` of it. */
  error: EgressError | null;
  /** The answer's status, also when its body failed later; null when none came. */
  status: number | null;
  /** The answer's headers, names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** What was read of the body, as UTF-8. */
  body: string;
  /** Whether the body went on past what was read. */
  truncated: boolean;
  /** Whether the request may have reached the other side. */
  sent: boolean;
  durationMs: number;
}

/** The one way out of the process. */
export interface Egress {
  send(request: EgressRequest): Promise<EgressResult>;
}

/** The client behind it. */
export interface EgressClient extends Egress {
  /** How many origins it holds pools for. */
  origins(): number;
  /** Ends every connection; attempts under way and later ones are `stopped`. */
  close(): Promise<void>;
}

export interface EgressOptions {
  clock: Clock;
  rules: AddressRules;
  /**
   * For calls that a stranger can aim (receipt checks): https alone, public addresses alone, and the
   * operator's allow list, meant for addresses he typed himself, doesn't count.
   */
  publicHttpsOnly?: boolean;
  /** Sockets for one origin. Default 4. */
  connections?: number;
  /** Origins with a pool at one time. Default 256; the idle longest unused goes first. */
  maxOrigins?: number;
  /** Limit for name, connection and TLS handshake. Default 5,000. */
  connectMs?: number;
  userAgent?: string;
  resolve?: Resolve;
  /** Certificates (PEM) trusted beside the usual ones. */
  ca?: readonly string[];
}

interface OriginPool {
  pool: Pool;
  inFlight: number;
}

/**
 * A client that keeps connections alive per origin. It is its own dispatcher, so that no proxy
 * variable has a say (decisions §6, Egress).
 */
export function createEgress(options: EgressOptions): EgressClient {
  const { rules, publicHttpsOnly = false, maxOrigins = 256 } = options;
  const makePool = poolMaker({
    rules: publicHttpsOnly ? { role: "hosted", deny: rules.deny ?? [] } : rules,
    connectMs: options.connectMs ?? 5_000,
    resolve: options.resolve ?? systemResolve,
    ca: options.ca ?? [],
  });
  /** By origin, longest unused first. */
  const pools = new Map<string, OriginPool>();
  let closed = false;

  function poolFor(origin: string, newPool: NewPool): OriginPool | null {
    const present = pools.get(origin);
    pools.delete(origin);
    if (present === undefined && pools.size >= maxOrigins && !dropIdle(pools)) return null;
    const held = present ?? { pool: newPool(origin, options.connections), inFlight: 0 };
    pools.set(origin, held);
    return held;
  }

  async function send(request: EgressRequest): Promise<EgressResult> {
    const url = readUrl(request.url);
    if (typeof url === "string") return unsent("bad_url");
    if (publicHttpsOnly && url.protocol !== "https:") return unsent("https_required");
    const newPool = await makePool();
    if (closed || request.signal?.aborted) return unsent("stopped");
    const held = poolFor(url.origin, newPool);
    if (held === null) return unsent("busy");
    held.inFlight++;
    const attempt = new Attempt(options.clock, request);
    held.pool.dispatch(
      {
        path: url.pathname + url.search,
        method: request.method,
        headers: withDefaults(request.headers ?? {}, options.userAgent ?? "box"),
        body: request.body ?? null,
      },
      attempt,
    );
    const result = await attempt.result;
    held.inFlight--;
    // undici waits for a drain that never comes on a connection that it refused a request on.
    if (result.error === "bad_request" && pools.get(url.origin) === held) {
      pools.delete(url.origin);
      void held.pool.close();
    }
    return result;
  }

  return {
    send,
    origins: () => pools.size,
    async close() {
      closed = true;
      const held = [...pools.values()];
      pools.clear();
      await Promise.all(held.map(({ pool }) => pool.destroy(new EgressFault("stopped"))));
    },
  };
}

type NewPool = (origin: string, connections?: number) => Pool;

/** undici is half of what the program would load to start, and none of it is needed before a first request. */
function poolMaker(options: Omit<ConnectorOptions, "build">): () => Promise<NewPool> {
  let maker: Promise<NewPool> | null = null;
  const load = async (): Promise<NewPool> => {
    const { Pool, buildConnector } = await import("undici");
    const connect = guardedConnector({ ...options, build: buildConnector });
    return (origin, connections = 4) =>
      new Pool(origin, {
        connect,
        connections,
        pipelining: 1,
        keepAliveTimeout: 4_000,
        keepAliveMaxTimeout: 30_000,
        maxHeaderSize: 16_384,
        // The attempt's own limit covers both.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
  };
  return () => {
    maker ??= load();
    return maker;
  };
}

/** Ends the pool that was idle longest; false when every one is in use. */
function dropIdle(pools: Map<string, OriginPool>): boolean {
  for (const [origin, { pool, inFlight }] of pools) {
    if (inFlight > 0) continue;
    pools.delete(origin);
    void pool.destroy(new EgressFault("stopped"));
    return true;
  }
  return false;
}

function withDefaults(headers: Readonly<Record<string, string>>, userAgent: string) {
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  return {
    ...(given.has("accept-encoding") ? {} : { "accept-encoding": "identity" }),
    ...(given.has("user-agent") ? {} : { "user-agent": userAgent }),
    ...headers,
  };
}

function unsent(error: EgressError): EgressResult {
  const nothing = { status: null, headers: {}, body: "", truncated: false, sent: false };
  return { error, ...nothing, durationMs: 0 };
}
