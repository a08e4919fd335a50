import { readCover } from "../core/oncall/cover-capability.ts";
import { createBuckets } from "../ground/kit/bucket.ts";
import { type Clock, unixSeconds } from "../ground/kit/clock.ts";
import { accountDeviceRoutes } from "../hosted/routes/devices.ts";
import { accountPairingRoutes } from "../hosted/routes/pairings.ts";
import { relayOperation, relayRoute } from "../hosted/routes/relay.ts";
import type { TenantRegistry } from "../hosted/tenant-registry.ts";
import { tenantOfCapability } from "../out/paging/capability.ts";
import { readShown } from "../out/paging/shown.ts";
import { findPublicReport } from "../records/reports/public.ts";
import { ackOperations, ackRoutes } from "../web/http/ack-page.ts";
import { alertPageOperation, alertPageRoute } from "../web/http/alert-page.ts";
import { type App, createApp } from "../web/http/app.ts";
import { calendarOperation, calendarRoute } from "../web/http/calendar.ts";
import { coverOperations, coverRoutes } from "../web/http/cover-page.ts";
import { noMetrics, operatingRoutes } from "../web/http/health-routes.ts";
import type { IngestHandler } from "../web/http/ingest.ts";
import { ingestRoute } from "../web/http/ingest-routes.ts";
import { openapi } from "../web/http/openapi.ts";
import { publicOperations } from "../web/http/public-operations.ts";
import { type FoundReport, publicPageRoutes } from "../web/http/public-pages.ts";
import { pushSeenOperation, pushSeenRoute } from "../web/http/push-seen.ts";
import type { Route } from "../web/http/route.ts";
import { dataPlaneRoutes } from "../web/http/routes.ts";
import type { Serving } from "../web/http/serve-route.ts";
import { twilioOperations } from "../web/http/twilio.ts";
import type { HostedConfig } from "./hosted-config.ts";
import { hostedHealth } from "./operate/hosted-health.ts";
import { hostedMetrics } from "./operate/hosted-metrics.ts";
import type { BoxDeps, HostedParts } from "./parts.ts";

/** A box that was offline for an hour may send everything that has collected at once. */
const RELAY_BURST_SECONDS = 60;

/** Every route of the hosted service: accounts, the relay, and the tenants' data (contract §1). */
export function hostedApp(
  config: HostedConfig,
  { log, random }: BoxDeps,
  parts: HostedParts & { serving: Serving; ingest: IngestHandler },
): App {
  const { registry, tenants, clock, serving, ingest } = parts;
  const { limits } = serving;
  const account = [...accountDeviceRoutes(registry.devices), ...accountPairingRoutes(parts)];
  return createApp({
    routes: [...hostedDataPlane(), ...account],
    raw: [
      ingestRoute(ingest, serving.address),
      relayRoute({
        ...parts,
        admit: relayBudget(config, clock),
        failed(from) {
          serving.refusals.auth("relay", undefined);
          limits.failures.spend(from);
        },
        address: serving.address,
        known: serving.known,
      }),
      ...publicPageRoutes({
        findReport: (uuid) => findReport(tenants, uuid),
        tries: limits.tries,
        address: serving.address,
        tls: config.tls !== null,
      }),
      alertPageRoute(config.tls !== null),
      calendarRoute(serving),
      ...ackRoutes({
        find(capability) {
          const id = tenantOfCapability(parts.sealer, capability, unixSeconds(clock));
          return id === null ? null : tenants.find(id);
        },
        tries: limits.tries,
        address: serving.address,
        known: serving.known,
        console: false,
        tls: config.tls !== null,
      }),
      ...coverRoutes({
        find(capability) {
          const right = readCover(parts.sealer, capability);
          return right === null ? null : tenants.find(right.tenantId);
        },
        tries: limits.tries,
        address: serving.address,
        known: serving.known,
        console: false,
        tls: config.tls !== null,
      }),
      pushSeenRoute({
        find(receipt) {
          const right = readShown(parts.sealer, receipt, unixSeconds(clock));
          return right === null ? null : tenants.find(right.tenantId);
        },
        tries: limits.tries,
        address: serving.address,
        known: serving.known,
      }),
      ...operatingRoutes({
        health: () => hostedHealth(parts.state),
        metrics: () => hostedMetrics(parts.state, serving.refusals),
        // A tenant's key may not read metrics of the whole service.
        mayReadMetrics: () => (config.metricsOpen ? undefined : noMetrics()),
        seesNames: () => false,
        openapi: () =>
          openapi(
            [...dataPlaneRoutes.filter((route) => !route.boxOnly), ...account],
            config.publicUrl,
            [
              ...publicOperations,
              ...ackOperations,
              ...coverOperations,
              pushSeenOperation,
              calendarOperation,
              ...twilioOperations,
              alertPageOperation,
              relayOperation,
            ],
          ),
      }),
    ],
    serving,
    log,
    random,
  });
}

/** A box's own routes don't exist here (404). Where the same path has other methods, the tenant refuses them. */
function hostedDataPlane(): Route[] {
  const paths = new Set(dataPlaneRoutes.filter(({ boxOnly }) => !boxOnly).map(({ path }) => path));
  return dataPlaneRoutes.filter(({ boxOnly, path }) => !boxOnly || paths.has(path));
}

function relayBudget({ relayRate: rate }: HostedConfig, clock: Clock) {
  const buckets = createBuckets(clock, { rate, burst: rate * RELAY_BURST_SECONDS });
  return (tenantId: string): number | null => {
    const { allowed, retryAfter } = buckets.take(tenantId);
    return allowed ? null : retryAfter;
  };
}

/** The address names the tenant. Its store decides whether the report exists. */
async function findReport(tenants: TenantRegistry, uuid: string): Promise<FoundReport | null> {
  const tenant = await tenants.findLinked("reportLinks", uuid);
  const report = tenant === null ? null : findPublicReport(tenant.store, uuid);
  return tenant === null || report === null ? null : { tenant, report };
}
