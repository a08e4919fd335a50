import type { AddressInfo, Socket } from "node:net";
import type { Clock } from "../ground/kit/clock.ts";
import { hexId } from "../ground/kit/ids.ts";
import type { Log } from "../ground/kit/log.ts";
import type { Random } from "../ground/kit/random.ts";
import type { ClientAddress } from "../web/http/address.ts";
import type { App } from "../web/http/app.ts";
import { createAppHandler } from "../web/http/app-door.ts";
import { type Connections, createConnections, type Peer } from "../web/http/connections.ts";
import type { AppContext } from "../web/http/raw-route.ts";
import { createServer, type HttpServer, type ServerOptions } from "../web/http/server.ts";
import { type ServerLimits, serverLimits } from "../web/http/server-limits.ts";
import { isLoopback } from "./listen-address.ts";
import { listenFault, readTls } from "./listen-fault.ts";

const CLOSE_MS = 5_000;

/** The addresses of a role's HTTP server. */
interface ListenConfig {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

export interface Listening {
  /** With the real port. */
  url: string;
  /** Reads the TLS files again (SIGHUP). */
  reload(): void;
  /** Serves a connection that was accepted elsewhere. */
  take(socket: Socket): void;
  /**
   * Accepts no new connections, lets `wake` answer waiting readers, finishes requests, for `limitMs` at most, and closes
   * idle connections.
   */
  close(wake: () => void, limitMs?: number): Promise<void>;
}

/** Opens a role's HTTP server. Throws UsageError for unusable TLS files, and an Error that says why it can't listen. */
export async function listen(
  config: ListenConfig,
  {
    app: load,
    log,
    ...serve
  }: Omit<ServerOptions, "app" | "tls"> & {
    /** Makes the app; called once, after it listens. */
    app(): Promise<App>;
    log: Log;
  },
): Promise<Listening> {
  const app = createAppHandler(load, serve.ingest);
  const tls = () => (config.tls ? readTls(config.tls) : undefined);
  const files = tls();
  const http = createServer({ ...serve, app, ...(files && { tls: files }) });
  const { server } = http;
  await bound(server, config);
  setImmediate(() => void app.load());
  const { port } = server.address() as AddressInfo;
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const url = `${config.tls ? "https" : "http"}://${host}:${port}`;
  if (!isLoopback(config.host) && config.tls === null)
    log.warn({ listen: url }, "listening without TLS beyond this machine");
  return {
    url,
    reload() {
      const fresh = tls();
      if (fresh && "setSecureContext" in server)
        (server as unknown as { setSecureContext(o: object): void }).setSecureContext(fresh);
    },
    take: http.take,
    close: (wake, limitMs = CLOSE_MS) => closed(http, serve.clock, { wake, limitMs }),
  };
}

/** The other end of the request's connection; unknown where the request came without one. */
export function peerOf(c: AppContext | { env: unknown }): Peer {
  const env = c.env as { incoming?: { socket?: Peer } } | undefined;
  return env?.incoming?.socket ?? { remoteAddress: undefined, remotePort: undefined };
}

/** The connections of a role. Too many of them are logged. */
export function connectionsOf(
  { clock, log, limits }: { clock: Clock; log: Log; limits?: Partial<ServerLimits> },
  address: ClientAddress,
): Connections {
  return createConnections({
    address,
    clock,
    limits: { ...serverLimits, ...limits },
    crowded: (crowd) =>
      log.warn(crowd, "too many connections: the oldest unauthenticated ones are closed"),
  });
}

/** Ids of answers outside the app: a random part for the process, and a counter. */
export function counterIds(random: Random): () => string {
  const prefix = hexId(random).slice(0, 8);
  let n = 0;
  return () => prefix + (++n % 0x1_0000_0000).toString(16).padStart(8, "0");
}

function bound(server: HttpServer["server"], config: ListenConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(listenFault(error, config));
    server.once("error", fail);
    server.listen({ port: config.port, host: config.host, backlog: 1024 }, () => {
      server.removeListener("error", fail);
      resolve();
    });
  });
}

function closed(
  http: HttpServer,
  clock: Clock,
  { wake, limitMs }: { wake(): void; limitMs: number },
): Promise<void> {
  return new Promise((resolve) => {
    let cancel = () => {};
    const cancelHard = clock.after(limitMs, () => {
      cancel();
      http.closeAll();
    });
    http.close(() => {
      cancel();
      cancelHard();
      resolve();
    });
    wake();
    // Connections that finish an answer during the drain become idle only afterwards.
    const closeIdle = () => {
      http.closeIdle();
      cancel = clock.after(100, closeIdle);
    };
    closeIdle();
  });
}
