import { unixSeconds } from "../ground/kit/clock.ts";
import { turns } from "../ground/kit/turns.ts";
import { findActor } from "../people/actor.ts";
import { findPublicReport } from "../records/reports/public.ts";
import type { AssistantDeps } from "../web/assistants/route.ts";
import type { ConsoleDeps } from "../web/console/door.ts";
import { ackOperations, ackRoutes } from "../web/http/ack-page.ts";
import { alertPageOperation, alertPageRoute } from "../web/http/alert-page.ts";
import { type App, createApp, type PagesHandler } from "../web/http/app.ts";
import {
  type AssistantHandler,
  assistantOperation,
  assistantRoute,
} from "../web/http/assistants.ts";
import { bearer, unauthorized } from "../web/http/bearer.ts";
import { calendarOperation, calendarRoute } from "../web/http/calendar.ts";
import { coverOperations, coverRoutes } from "../web/http/cover-page.ts";
import { operatingRoutes } from "../web/http/health-routes.ts";
import type { SendersPort } from "../web/http/inbound/route.ts";
import type { IngestHandler } from "../web/http/ingest.ts";
import { ingestRoute } from "../web/http/ingest-routes.ts";
import { openapi } from "../web/http/openapi.ts";
import { pairOperations, pairPageRoutes } from "../web/http/pair-page.ts";
import { publicOperations } from "../web/http/public-operations.ts";
import { publicPageRoutes } from "../web/http/public-pages.ts";
import { pushSeenOperation, pushSeenRoute } from "../web/http/push-seen.ts";
import type { AppContext } from "../web/http/raw-route.ts";
import { type BoxRole, roleRoute } from "../web/http/role.ts";
import type { Route } from "../web/http/route.ts";
import { dataPlaneRoutesOf } from "../web/http/routes.ts";
import type { Serving } from "../web/http/serve-route.ts";
import { twilioOperations } from "../web/http/twilio.ts";
import type { BoxConfig } from "./config.ts";
import { backupCheck } from "./operate/backup-health.ts";
import { contactCheck, contactMetrics } from "./operate/contact-health.ts";
import { databaseCheck, databaseMetrics } from "./operate/database-health.ts";
import { boxHealth } from "./operate/health.ts";
import { ingestCheck } from "./operate/ingest-health.ts";
import { heldOf, loadOf } from "./operate/load.ts";
import { portMetric, refusalMetrics, renderMetrics, turnMetrics } from "./operate/metrics.ts";
import { createReachWatch, reachCheck, reachMetric } from "./operate/reach.ts";
import type { BoxDeps, BoxParts } from "./parts.ts";

/** Without a database, no other machine can be its owner. */
const ONLY: BoxRole = { role: "owner", owner: null, epoch: 0, behind: 0 };

/** Every route of a box. */
export function boxApp(
  config: BoxConfig,
  { log, random, clock }: BoxDeps,
  parts: BoxParts & { serving: Serving; ingest: IngestHandler },
): App {
  const { tenant, serving, ingest } = parts;
  const routes = dataPlaneRoutesOf(tenant.channels);
  const operate = operating(config, parts, routes);
  const pages = config.console
    ? consolePages({ tenant, serving, system: operate, tls: config.tls !== null })
    : undefined;
  const links = {
    find: () => tenant,
    tries: serving.limits.tries,
    address: serving.address,
    known: serving.known,
    console: config.console,
    tls: config.tls !== null,
  };
  const app: App = createApp({
    routes,
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
      ...pairPageRoutes({
        tenant,
        limit: serving.limits.pair,
        address: serving.address,
        tls: config.tls !== null,
        console: config.console,
      }),
      alertPageRoute(config.tls !== null, pages),
      calendarRoute(serving),
      ...ackRoutes(links),
      ...coverRoutes(links),
      pushSeenRoute(links),
      assistantRoute(
        serving,
        assistants({
          clock,
          random,
          acts: config.allowActs,
          app: (request, env) => app.fetch(request, env as object),
        }),
      ),
      ...operatingRoutes(operate),
      roleRoute(() => parts.record?.role() ?? ONLY),
    ],
    serving,
    log,
    random,
    fixedAddresses: config.adapters.here,
    ...(pages && { pages }),
  });
  return app;
}

/** What serves assistants. Its code is loaded with the first of them. */
function assistants(deps: AssistantDeps): AssistantHandler {
  let loading: Promise<AssistantHandler> | null = null;
  return async (c, keyId) => {
    loading ??= import("../web/assistants/route.ts").then((all) => all.createAssistants(deps));
    return (await loading)(c, keyId);
  };
}

/** The app of `--adapters-listen`: only the addresses for senders. */
export function adaptersApp({ log, random }: BoxDeps, serving: Serving): App {
  return createApp({ routes: [], raw: [], serving, log, random, fixedAddresses: true });
}

/** The app of a port for one kind of sender. */
export function sendersApp({ log, random }: BoxDeps, serving: Serving, only: SendersPort): App {
  return createApp({ routes: [], raw: [], serving, log, random, only });
}

/** The console. Its code is loaded with the first request that may be for it. */
function consolePages(deps: ConsoleDeps): PagesHandler {
  let loading: Promise<PagesHandler> | null = null;
  return async (c) => {
    loading ??= import("../web/console/door.ts").then(({ createConsole }) => createConsole(deps));
    return (await loading)(c);
  };
}

function operating(
  config: BoxConfig,
  { tenant, record, backups, doctor, ports, startedAt, serving }: BoxParts & { serving: Serving },
  routes: readonly Route[],
) {
  const scheduled = config.backups && backups ? { plan: config.backups, backups } : null;
  const reach = createReachWatch();
  const hasKey = (c: AppContext) => {
    const token = bearer(c.req.header("authorization"));
    return token !== null && findActor(tenant.store, token) !== null;
  };
  const health = () =>
    boxHealth(tenant, [
      () => reachCheck(reach, tenant.store),
      () => contactCheck(tenant.store),
      () => ingestCheck(tenant),
      () => backupCheck(tenant, scheduled),
      ...(record === null ? [] : [() => databaseCheck(record, tenant.clock)]),
    ]);
  const desk = scheduled && {
    ...scheduled.plan,
    list: scheduled.backups.list,
    failure: scheduled.backups.failure,
    isRunning: scheduled.backups.isRunning,
    make: () => scheduled.backups.makeNow(unixSeconds(tenant.clock)),
  };
  tenant.standIn({
    health,
    doctor,
    backups: desk,
    startedAt,
    keeping: config.retention,
    load: () => loadOf(tenant, serving.refusals),
    held: () => heldOf(tenant),
  });
  return {
    health,
    metrics: () =>
      renderMetrics(tenant, [
        ...refusalMetrics(serving.refusals),
        ...turnMetrics(turns),
        reachMetric(reach, tenant.store),
        ...contactMetrics(tenant.store),
        portMetric(ports()),
        ...(record === null ? [] : databaseMetrics(record, tenant.clock)),
      ]),
    mayReadMetrics(c: AppContext) {
      if (!config.metricsOpen && !hasKey(c)) throw unauthorized();
    },
    seesNames: hasKey,
    openapi: () =>
      openapi(routes, config.publicUrl, [
        ...publicOperations,
        ...pairOperations,
        ...ackOperations,
        ...coverOperations,
        pushSeenOperation,
        calendarOperation,
        ...twilioOperations,
        alertPageOperation,
        assistantOperation,
      ]),
  };
}
