import { clientAddress } from "../web/http/address.ts";
import { createDecoder } from "../web/http/inbound/decoder.ts";
import type { SendersPort } from "../web/http/inbound/route.ts";
import { createIngestHandler } from "../web/http/ingest.ts";
import { createLimits } from "../web/http/limits.ts";
import { createRefusals } from "../web/http/refusals.ts";
import type { Serving } from "../web/http/serve-route.ts";
import type { BoxConfig } from "./config.ts";
import type { BoxDeps, BoxParts } from "./parts.ts";
import { connectionsOf, counterIds, peerOf } from "./web.ts";

/** A box's HTTP side: ingest at once, the app with the first request that needs it. */
export function boxHttp(config: BoxConfig, deps: BoxDeps, parts: BoxParts) {
  const { tenant } = parts;
  const address = clientAddress(config.trustedProxies);
  const connections = connectionsOf(deps, address);
  const serving: Serving = {
    limits: createLimits(deps.clock, config.rates),
    refusals: createRefusals(deps.clock, deps.log),
    decoder: createDecoder(deps.clock),
    findTenant: (segment) => (segment === tenant.id ? tenant : null),
    findLinked: () => tenant,
    findCalled: (segment) => (segment === null ? tenant : null),
    ownTenant: () => tenant,
    address: (c) => address(peerOf(c).remoteAddress ?? "", c.req.header("x-forwarded-for")),
    known: (c) => connections.know(peerOf(c)),
  };
  const requestId = counterIds(deps.random);
  const ingest = createIngestHandler({ ...serving, log: deps.log, requestId });
  const app = async () => {
    const { boxApp } = await import("./box-app.ts");
    return boxApp(config, deps, { ...parts, serving, ingest });
  };
  const adapters = async () => {
    const { adaptersApp } = await import("./box-app.ts");
    return adaptersApp(deps, serving);
  };
  const senders = async (port: SendersPort) => {
    const { sendersApp } = await import("./box-app.ts");
    return sendersApp(deps, serving, port);
  };
  const { limits: rates, decoder } = serving;
  return { app, adapters, senders, ingest, address, connections, rates, decoder };
}
