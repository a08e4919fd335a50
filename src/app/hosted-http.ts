import type { Clock } from "../ground/kit/clock.ts";
import type { TenantRegistry } from "../hosted/tenant-registry.ts";
import { tenantOfSegment } from "../out/paging/capability.ts";
import { clientAddress } from "../web/http/address.ts";
import { createDecoder } from "../web/http/inbound/decoder.ts";
import { createIngestHandler } from "../web/http/ingest.ts";
import { createLimits, type Limit, type Limits } from "../web/http/limits.ts";
import { createRefusals } from "../web/http/refusals.ts";
import type { Serving } from "../web/http/serve-route.ts";
import type { HostedConfig } from "./hosted-config.ts";
import type { BoxDeps, HostedParts } from "./parts.ts";
import { connectionsOf, counterIds, peerOf } from "./web.ts";

/** The HTTP side of the hosted service: ingest at once, the app with the first request that needs it (contract §1). */
export function hostedHttp(config: HostedConfig, deps: BoxDeps, parts: HostedParts) {
  const { registry, tenants, clock } = parts;
  const address = clientAddress(config.trustedProxies);
  const connections = connectionsOf(deps, address);
  const serving: Serving = {
    limits: planLimits(config, clock, tenants),
    refusals: createRefusals(deps.clock, deps.log),
    decoder: createDecoder(deps.clock),
    findTenant: (segment, token) => tenants.find(segment, token),
    findLinked: (hash) => tenants.findLinked("senderLinks", hash),
    findCalled(segment) {
      const id = segment === null ? null : tenantOfSegment(parts.sealer, segment);
      return id === null ? null : tenants.find(id);
    },
    ownTenant: () => null,
    findSession: (token) => registry.sessions.use(token),
    address: (c) => address(peerOf(c).remoteAddress ?? "", c.req.header("x-forwarded-for")),
    known: (c) => connections.know(peerOf(c)),
    sendOn: parts.sendOn,
  };
  const requestId = counterIds(deps.random);
  const ingest = createIngestHandler({ ...serving, log: deps.log, requestId });
  const app = async () => {
    const { hostedApp } = await import("./hosted-app.ts");
    return hostedApp(config, deps, { ...parts, serving, ingest });
  };
  const { sendOn, decoder } = serving;
  return { app, ingest, address, connections, decoder, sendOn };
}

/** The tenant's plan limits ingest (contract §9). */
function planLimits(config: HostedConfig, clock: Clock, tenants: TenantRegistry): Limits {
  const of = (ingest: number): Limits => createLimits(clock, { ...config.rates, ingest });
  const plans = { free: of(config.planRates.free), pro: of(config.planRates.pro) };
  const byPlan = (name: "ingest" | "ingestLast"): Limit => ({
    spend: (tenant, amount) => plans[tenants.plan(tenant)][name].spend(tenant, amount),
  });
  return {
    ...createLimits(clock, config.rates),
    ingest: byPlan("ingest"),
    ingestLast: byPlan("ingestLast"),
  };
}
