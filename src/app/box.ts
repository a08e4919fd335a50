import { join } from "node:path";
import { type ScheduledBackups, scheduledBackups } from "../backup/scheduled.ts";
import { clientAddress } from "../http/address.ts";
import type { AppContext } from "../http/app.ts";
import { createApp } from "../http/app.ts";
import { operatingRoutes } from "../http/health-routes.ts";
import { createIngestDoor } from "../http/ingest.ts";
import { ingestRoute } from "../http/ingest-routes.ts";
import { createLimits } from "../http/limits.ts";
import { openapi } from "../http/openapi.ts";
import { publicOperations } from "../http/public-operations.ts";
import { publicPageRoutes } from "../http/public-pages.ts";
import { dataPlaneRoutes } from "../http/routes.ts";
import { bearer, type Serving, unauthorized } from "../http/serve-route.ts";
import type { ServerLimits } from "../http/server-limits.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import type { Random } from "../kit/random.ts";
import { rememberBaseUrl } from "../people/codes.ts";
import { findActor } from "../people/keys.ts";
import { findPublicReport } from "../reports/public.ts";
import { lockDirectory } from "../store/lock.ts";
import { setMeta } from "../store/meta.ts";
import { startTenant, type Tenant } from "../tenant/tenant.ts";
import { backupCheck } from "./backup-health.ts";
import { type BoxConfig, cidrs } from "./config.ts";
import { prepareDirectory } from "./data-directory.ts";
import { boxHealth, isAlive } from "./health.ts";
import { ingestCheck } from "./ingest-health.ts";
import { createLifecycle } from "./lifecycle.ts";
import { renderMetrics } from "./metrics.ts";
import { counterIds, listen, peerOf } from "./web.ts";

export interface BoxDeps {
  clock: Clock;
  random: Random;
  log: Log;
  /** Called once for an error after which the process must end (decisions §11: exit 74 or 65). */
  onFatal(error: unknown): void;
  /** Other limits of its connections than the usual ones. */
  limits?: Partial<ServerLimits>;
}

export interface RunningBox {
  /** With the real port. */
  url: string;
  /** No account exists yet: nobody can use the API. */
  isNew: boolean;
  tenant: Tenant;
  /** Re-reads the TLS files (SIGHUP). */
  reload(): void;
  /** Due work is looked at and the store answers. */
  isWell(): boolean;
  stop(): Promise<void>;
}

/** Starts the box role: lock, store, tenant, HTTP, in this order; stopping runs backwards. Throws StoreFault or a listen error. */
export async function startBox(config: BoxConfig, deps: BoxDeps): Promise<RunningBox> {
  const { clock, log, random } = deps;
  const lifecycle = createLifecycle(clock, log);
  try {
    prepareDirectory(config.data);
    lifecycle.onStop("lock", lockDirectory(config.data));
    const backups = config.backups && scheduledBackups(config.backups, { data: config.data, log });
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
      ...(backups && { jobs: [backups.job] }),
      onFatal: deps.onFatal,
    });
    lifecycle.onStop("tenant", () => tenant.stop());
    lifecycle.onStop("backup", () => backups?.stop());
    const web = await listen(config, {
      ...httpSide(config, deps, { tenant, backups }),
      ...{ clock, log },
      ...(deps.limits ? { limits: deps.limits } : {}),
    });
    lifecycle.onStop("http", () =>
      web.close(() => {
        tenant.waiters.wake();
        tenant.ingest.drain();
      }),
    );
    const { url, reload } = web;
    tenant.store.write((tx) => {
      rememberBaseUrl(tx, config.publicUrl || url);
      setMeta(tx, "listen_url", url);
    });
    const isNew = tenant.store.sql("SELECT 1 FROM accounts").get() === undefined;
    const isWell = () => isAlive(tenant);
    return { url, isNew, tenant, reload, isWell, stop: () => lifecycle.stop() };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** What answers are made from. */
interface Parts {
  tenant: Tenant;
  backups: ScheduledBackups | null;
}

function httpSide(config: BoxConfig, deps: BoxDeps, parts: Parts) {
  const { tenant } = parts;
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
      ...operatingRoutes(operating(config, parts)),
    ],
    serving,
    log: deps.log,
    random: deps.random,
  });
  return { app, ingest, address };
}

function operating(config: BoxConfig, { tenant, backups }: Parts) {
  const scheduled = config.backups && backups ? { plan: config.backups, backups } : null;
  return {
    health: () =>
      boxHealth(tenant, [() => ingestCheck(tenant), () => backupCheck(tenant, scheduled)]),
    metrics: () => renderMetrics(tenant),
    mayReadMetrics(c: AppContext) {
      const token = bearer(c.req.header("authorization"));
      if (!config.metricsOpen && (token === null || findActor(tenant.store, token) === null))
        throw unauthorized();
    },
    openapi: () => openapi(dataPlaneRoutes, config.publicUrl, publicOperations),
  };
}
