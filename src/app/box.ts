import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { clientAddress } from "../http/address.ts";
import type { AppContext } from "../http/app.ts";
import { createApp } from "../http/app.ts";
import { operatingRoutes } from "../http/health-routes.ts";
import { createIngestDoor } from "../http/ingest.ts";
import { ingestRoute } from "../http/ingest-routes.ts";
import { createLimits } from "../http/limits.ts";
import { openapi } from "../http/openapi.ts";
import { publicPageRoutes } from "../http/public-pages.ts";
import { dataPlaneRoutes } from "../http/routes.ts";
import { bearer, type Serving, unauthorized } from "../http/serve-route.ts";
import { createServer } from "../http/server.ts";
import { type Cidr, parseCidr } from "../kit/addresses.ts";
import type { Clock } from "../kit/clock.ts";
import { hexId } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import type { Random } from "../kit/random.ts";
import { rememberBaseUrl } from "../people/codes.ts";
import { findActor } from "../people/keys.ts";
import { findPublicReport } from "../reports/public.ts";
import { startTenant, type Tenant } from "../tenant/tenant.ts";
import { type BoxConfig, isLoopback } from "./config.ts";
import { lockDirectory, prepareDirectory } from "./data-directory.ts";
import { boxHealth } from "./health.ts";
import { createLifecycle } from "./lifecycle.ts";
import { renderMetrics } from "./metrics.ts";

export interface BoxDeps {
  clock: Clock;
  random: Random;
  log: Log;
  /** Called once for an error after which the process must end (decisions §11: exit 74 or 65). */
  onFatal(error: unknown): void;
}

export interface RunningBox {
  /** With the real port. */
  url: string;
  /** No account exists yet: nobody can use the API. */
  isNew: boolean;
  tenant: Tenant;
  /** Re-reads the TLS files (SIGHUP). */
  reload(): void;
  stop(): Promise<void>;
}

/** Starts the box role: lock, store, tenant, HTTP, in this order; stopping runs backwards. Throws StoreFault or a listen error. */
export async function startBox(config: BoxConfig, deps: BoxDeps): Promise<RunningBox> {
  const { clock, log, random } = deps;
  const lifecycle = createLifecycle(clock, log);
  try {
    prepareDirectory(config.data);
    lifecycle.onStop("lock", lockDirectory(config.data));
    const tenant = startTenant({
      path: join(config.data, "box.db"),
      role: "box",
      clock,
      random,
      log,
      publicUrl: config.publicUrl,
      retention: config.retention,
      addresses: { allow: cidrs(config.egressAllow), deny: cidrs(config.egressDeny) },
      outbox: {
        telegramApi: config.telegramApi,
        breaker: {
          minFailures: config.breaker.failures,
          minSpanMs: config.breaker.seconds * 1000,
        },
      },
      onFatal: deps.onFatal,
    });
    lifecycle.onStop("tenant", () => tenant.stop());
    const { server, reload } = httpServer(config, deps, tenant);
    await listen(server, config);
    lifecycle.onStop("http", () => closeServer(server, tenant));
    const { port } = server.address() as AddressInfo;
    const url = `${config.tls ? "https" : "http"}://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`;
    tenant.store.write((tx) => rememberBaseUrl(tx, config.publicUrl || url));
    if (!isLoopback(config.host) && config.tls === null)
      log.warn({ listen: url }, "listening without TLS beyond this machine");
    const isNew = tenant.store.sql("SELECT 1 FROM accounts").get() === undefined;
    return { url, isNew, tenant, reload, stop: () => lifecycle.stop() };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** The configuration has checked them. */
function cidrs(texts: readonly string[]): Cidr[] {
  return texts.map(parseCidr).filter((cidr) => cidr !== null);
}

function httpServer(config: BoxConfig, deps: BoxDeps, tenant: Tenant) {
  const address = clientAddress(config.trustedProxies);
  const serving: Serving = {
    limits: createLimits(deps.clock, config.rates),
    findTenant: (segment) => (segment === tenant.id ? tenant : null),
    ownTenant: () => tenant,
    address: (c) => address(peerOf(c), c.req.header("x-forwarded-for")),
  };
  const requestIds = counterIds(deps.random);
  const ingest = createIngestDoor({ ...serving, log: deps.log, requestId: requestIds });
  const app = createApp({
    routes: dataPlaneRoutes,
    raw: [
      ingestRoute(ingest, serving.address),
      ...publicPageRoutes({
        async findReport(uuid) {
          const report = findPublicReport(tenant.store, uuid);
          return report === null ? null : { tenant, report };
        },
        tries: serving.limits.tries,
        address: serving.address,
        tls: config.tls !== null,
      }),
      ...operatingRoutes(operating(config, tenant)),
    ],
    serving,
    log: deps.log,
    random: deps.random,
  });
  const tls = () =>
    config.tls
      ? { cert: readFileSync(config.tls.cert, "utf8"), key: readFileSync(config.tls.key, "utf8") }
      : undefined;
  const files = tls();
  const server = createServer({ app, ingest, address, ...(files ? { tls: files } : {}) });
  const reload = () => {
    const fresh = tls();
    if (fresh && "setSecureContext" in server)
      (server as unknown as { setSecureContext(o: object): void }).setSecureContext(fresh);
  };
  return { server, reload };
}

function operating(config: BoxConfig, tenant: Tenant) {
  return {
    health: () => boxHealth(tenant),
    metrics: () => renderMetrics(tenant),
    mayReadMetrics(c: AppContext) {
      const token = bearer(c.req.header("authorization"));
      if (!config.metricsOpen && (token === null || findActor(tenant.store, token) === null))
        throw unauthorized();
    },
    openapi: () => openapi(dataPlaneRoutes, config.publicUrl),
  };
}

function peerOf(c: AppContext | { env: unknown }): string {
  const env = c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined;
  return env?.incoming?.socket?.remoteAddress ?? "";
}

/** Ids for answers outside the app: one random part for the process and a counter. */
function counterIds(random: Random): () => string {
  const prefix = hexId(random).slice(0, 8);
  let n = 0;
  return () => prefix + (++n % 0x1_0000_0000).toString(16).padStart(8, "0");
}

function listen(server: ReturnType<typeof createServer>, config: BoxConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: config.port, host: config.host, backlog: 1024 }, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
}

/** No new connections, parked readers answered, requests under way finished, idle connections closed. */
function closeServer(server: ReturnType<typeof createServer>, tenant: Tenant): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    tenant.waiters.wake();
    tenant.ingest.drain();
    server.closeIdleConnections();
    // Connections that finish their answer during the drain are idle only after it.
    const again = () => {
      if (!server.listening) server.closeIdleConnections();
    };
    tenant.clock.after(100, again);
    tenant.clock.after(5000, () => server.closeAllConnections());
  });
}
