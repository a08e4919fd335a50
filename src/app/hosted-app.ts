import { accountDeviceRoutes } from "../hosted/routes/devices.ts";
import { accountPairingRoutes } from "../hosted/routes/pairings.ts";
import { relayOperation, relayRoute } from "../hosted/routes/relay.ts";
import type { TenantHouse } from "../hosted/tenant-house.ts";
import { ackOperations, ackRoutes } from "../http/ack-page.ts";
import { alertPageOperation, alertPageRoute } from "../http/alert-page.ts";
import { type App, createApp } from "../http/app.ts";
import { calendarOperation, calendarRoute } from "../http/calendar.ts";
import { noMetrics, operatingRoutes } from "../http/health-routes.ts";
import type { IngestDoor } from "../http/ingest.ts";
import { ingestRoute } from "../http/ingest-routes.ts";
import { openapi } from "../http/openapi.ts";
import { publicOperations } from "../http/public-operations.ts";
import { type FoundReport, publicPageRoutes } from "../http/public-pages.ts";
import { pushSeenOperation, pushSeenRoute } from "../http/push-seen.ts";
import type { Route } from "../http/route.ts";
import { dataPlaneRoutes } from "../http/routes.ts";
import type { Serving } from "../http/serve-route.ts";
import { twilioOperations } from "../http/twilio.ts";
import { createBuckets } from "../kit/bucket.ts";
import { type Clock, unixSeconds } from "../kit/clock.ts";
import { hostedHealth } from "../operate/hosted-health.ts";
import { hostedMetrics } from "../operate/hosted-metrics.ts";
import { tenantOfCapability } from "../paging/capability.ts";
import { readShown } from "../paging/shown.ts";
import { findPublicReport } from "../reports/public.ts";
import type { HostedConfig } from "./hosted-config.ts";
import type { BoxDeps, HostedParts } from "./parts.ts";

/** A box that was away for an hour may send what has piled up at once. */
const RELAY_BURST_SECONDS = 60;

/** Every route of the hosted role: the account plane, the relay, and the data plane of many tenants (contract §1). */
export function hostedApp(
  config: HostedConfig,
  { log, random }: BoxDeps,
  parts: HostedParts & { serving: Serving; ingest: IngestDoor },
): App {
  const { registry, house, clock, serving, ingest } = parts;
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
        findReport: (uuid) => findReport(house, uuid),
        tries: limits.tries,
        address: serving.address,
        tls: config.tls !== null,
      }),
      alertPageRoute(config.tls !== null),
      calendarRoute(serving),
      ...ackRoutes({
        find(capability) {
          const id = tenantOfCapability(parts.sealer, capability, unixSeconds(clock));
          return id === null ? null : house.find(id);
        },
        ...{ tries: limits.tries, address: serving.address, known: serving.known },
        tls: config.tls !== null,
      }),
      pushSeenRoute({
        find(receipt) {
          const right = readShown(parts.sealer, receipt, unixSeconds(clock));
          return right === null ? null : house.find(right.tenantId);
        },
        ...{ tries: limits.tries, address: serving.address, known: serving.known },
      }),
      ...operatingRoutes({
        health: () => hostedHealth(parts.state),
        metrics: () => hostedMetrics(parts.state, serving.refusals),
        // No tenant's key may read what concerns all.
        mayReadMetrics: () => (config.metricsOpen ? undefined : noMetrics()),
        seesNames: () => false,
        openapi: () =>
          openapi(
            [...dataPlaneRoutes.filter((route) => !route.boxOnly), ...account],
            config.publicUrl,
            [
              ...publicOperations,
              ...ackOperations,
              pushSeenOperation,
              calendarOperation,
              ...twilioOperations,
              alertPageOperation,
              relayOperation,
            ],
          ),
      }),
    ],
    ...{ serving, log, random },
  });
}

/** The box's own routes are none here (404), but where a path has others they are refused by tenant. */
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

/** The address leads to the tenant; its store decides whether there is such a report. */
async function findReport(house: TenantHouse, uuid: string): Promise<FoundReport | null> {
  const tenant = await house.findLinked("reportLinks", uuid);
  const report = tenant === null ? null : findPublicReport(tenant.store, uuid);
  return tenant === null || report === null ? null : { tenant, report };
}
