import { join } from "node:path";
import { unixSeconds } from "../ground/kit/clock.ts";
import type { EgressClient } from "../ground/kit/egress.ts";
import { createPasswords } from "../ground/kit/password.ts";
import type { Sealer } from "../ground/kit/sealer.ts";
import { hostedFiles } from "../hosted/files.ts";
import type { Pusher } from "../hosted/pusher.ts";
import type { Registry } from "../hosted/registry/registry.ts";
import { downSince, type Outage } from "../hosted/registry/uptime.ts";
import { tenantPages } from "../hosted/tenant-pages.ts";
import { filePlaces, type StartHosted } from "../hosted/tenant-places.ts";
import { TenantRegistry } from "../hosted/tenant-registry.ts";
import type { Renderer } from "../records/reports/renderer.ts";
import { startTenant, type Tenant } from "../tenant/tenant.ts";
import { createUpgrades } from "./box-upgrade.ts";
import { cidrs } from "./config.ts";
import type { HostedConfig } from "./hosted-config.ts";
import type { BoxDeps } from "./parts.ts";

/** Deliveries of one tenant under way at one time. */
const TENANT_SOCKETS = 32;
/** Lookups that one tenant may have under way, of some twenty in all. */
const TENANT_LOOKUPS = 6;

interface HostedTenantsParts {
  registry: Registry;
  /** This node's name. */
  node: string;
  /** Where other nodes send on what is for its tenants, HOST:PORT; null: nowhere. */
  address: string | null;
  sealer: Sealer;
  egress: EgressClient;
  pusher: Pusher;
  renderer: Renderer;
  outages: readonly Outage[];
}

/** The hosted tenants, whose stores lie in the data directory, and in the database where there is one. */
export async function hostedTenants(
  config: HostedConfig,
  deps: BoxDeps,
  parts: HostedTenantsParts,
): Promise<{ tenants: TenantRegistry; close(): void }> {
  const { clock, log } = deps;
  const { registry } = parts;
  const start = starter(config, deps, parts);
  const limits = { mostOpen: config.openTenants, warmMs: 600_000 };
  const shared = { registry, clock, log, limits };
  const { data, database: settings } = config;
  const upgrades = createUpgrades(deps);
  if (settings === null) {
    const path = (id: string) => join(data, hostedFiles.tenants, `${id}.db`);
    const places = filePlaces({ registry, path, prepare: upgrades.upgrade, start });
    return { tenants: new TenantRegistry({ ...shared, places }), close: upgrades.close };
  }
  const { recordPlaces } = await import("./hosted-records.ts");
  const { memberships } = registry;
  const { node, address } = parts;
  const { upgrade } = upgrades;
  const { places, close } = recordPlaces(
    { data, settings, node, address, start, memberships, upgrade },
    deps,
  );
  return {
    tenants: new TenantRegistry({ ...shared, places }),
    close() {
      close();
      upgrades.close();
    },
  };
}

function starter(
  config: HostedConfig,
  deps: BoxDeps,
  { registry, sealer, egress, pusher, renderer, outages }: HostedTenantsParts,
): StartHosted {
  const { clock, random, log } = deps;
  const startedMono = clock.mono();
  // Counted back from the present time, so the start moves with a clock that is corrected.
  const upSince = () => unixSeconds(clock) - Math.floor((clock.mono() - startedMono) / 1000);
  const shared = {
    clock,
    random,
    log,
    renderer,
    egress: () => egress.share({ lookups: TENANT_LOOKUPS }),
    devices: registry.devices,
    publicUrl: config.publicUrl,
    retention: config.retention,
    addresses: calledAddresses(config),
    passwords: createPasswords(random),
    durable: deps.durable,
  };
  const breaker = {
    minFailures: config.breaker.failures,
    minSpanMs: config.breaker.seconds * 1000,
  };
  return (id, path, { atClose, onFatal }, kept) => {
    const push = tenantPages({ registry, pusher, clock }, id, () => tenant.store);
    const { outages: own = null, ...keeping } = kept ?? {};
    const tenant: Tenant = startTenant({
      ...shared,
      ...keeping,
      path,
      role: "hosted",
      tenantId: id,
      sealer: ownSealer(sealer, id),
      service: { upSince, downSince: (from) => downSince(own ?? outages, from) },
      outbox: { channels: config.channels, breaker, sockets: TENANT_SOCKETS, push },
      atClose,
      onFatal: (error) => (isDiskFault(error) ? deps.onFatal(error) : onFatal(error)),
    });
    return tenant;
  };
}

/** Whom tenants may call. */
export function calledAddresses(config: HostedConfig) {
  return { allow: cidrs(config.egressAllow), deny: cidrs(config.egressDeny) };
}

/** One key for all tenants, but a value sealed for one tenant can't be opened for another. */
function ownSealer(sealer: Sealer, tenantId: string): Sealer {
  return {
    ...sealer,
    seal: (text, place) => sealer.seal(text, `${tenantId}|${place}`),
    open: (sealed, place) => sealer.open(sealed, `${tenantId}|${place}`),
  };
}

/** A failing disk affects every tenant, a damaged file only its own. */
function isDiskFault(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_IOERR");
}
