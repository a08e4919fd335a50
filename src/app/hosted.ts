import { join } from "node:path";
import { version } from "../ground/kit/assets.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import { createEgress, type EgressClient } from "../ground/kit/egress.ts";
import { createNames, type Names } from "../ground/kit/names.ts";
import { createPasswords } from "../ground/kit/password.ts";
import type { Sealer } from "../ground/kit/sealer.ts";
import { prepareDirectory } from "../ground/store/directory.ts";
import { dropLeftovers } from "../ground/store/files.ts";
import { lockDirectory } from "../ground/store/lock.ts";
import { hostedFiles } from "../hosted/files.ts";
import { noTenants } from "../hosted/no-tenants.ts";
import { createPageCounts } from "../hosted/page-counts.ts";
import { createPushCounts } from "../hosted/push-counts.ts";
import { openPusher, type Pusher } from "../hosted/pusher.ts";
import { receiptRedeemer } from "../hosted/redeem-receipt.ts";
import type { Registry } from "../hosted/registry/registry.ts";
import { downSince, type Outage } from "../hosted/registry/uptime.ts";
import { tenantPages } from "../hosted/tenant-pages.ts";
import { createTenantRegistry, type TenantRegistry } from "../hosted/tenant-registry.ts";
import { createRenderer, type Renderer, workerSource } from "../records/reports/renderer.ts";
import { createScheduler, type Scheduler } from "../tenant/scheduler.ts";
import { startTenant, type Tenant } from "../tenant/tenant.ts";
import { cidrs } from "./config.ts";
import { onceItAnswers } from "./database-wait.ts";
import type { HostedConfig } from "./hosted-config.ts";
import { hostedHttp } from "./hosted-http.ts";
import { hostedJobs } from "./hosted-jobs.ts";
import { nameOfNode, startHostedNode } from "./hosted-node.ts";
import { openHostedRegistry } from "./hosted-registry.ts";
import { createLifecycle } from "./lifecycle.ts";
import { linkUrl } from "./link-url.ts";
import { type HostedState, isHostedAlive, type SeenState } from "./operate/hosted-health.ts";
import type { BoxDeps } from "./parts.ts";
import { listen } from "./web.ts";

export interface RunningHosted {
  /** With the real port. */
  url: string;
  registry: Registry;
  tenants: TenantRegistry;
  scheduler: Scheduler;
  /** Reads the TLS files again (SIGHUP). */
  reload(): void;
  /** Whether jobs run. */
  isWell(): boolean;
  /** Makes readiness fail and waits while requests are still served. Call it before `stop`. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

/** Deliveries of one tenant under way at one time. */
const TENANT_SOCKETS = 32;
/** Lookups that one tenant may have under way, of some twenty in all. */
const TENANT_LOOKUPS = 6;
/** Lookups that all receipt checks together may have under way, because strangers choose the names. */
const RECEIPT_LOOKUPS = 4;

/** Starts lock, registry, tenants, HTTP. Stopping runs backwards. Throws StoreFault or a listen error. */
export async function startHosted(config: HostedConfig, deps: BoxDeps): Promise<RunningHosted> {
  const { clock, log } = deps;
  const lifecycle = createLifecycle(clock, log);
  try {
    prepareDirectory(config.data);
    if (config.database === null) prepareDirectory(join(config.data, hostedFiles.tenants));
    lifecycle.onStop("lock", lockDirectory(config.data));
    dropLeftovers(config.data, (name) => /^hosted\.(db|key)/.test(name));
    const names = createNames({ clock, ...(deps.resolve && { resolve: deps.resolve }) });
    const name = nameOfNode(config, deps);
    const { registry, sealer } = await openHostedRegistry(config, deps, { node: name, names });
    lifecycle.onStop("registry", () => registry.close());
    let base = config.publicUrl;
    const node = await startHostedNode(config, deps, {
      registry,
      name,
      url: () => base,
      stop: () => lifecycle.stop(),
    });
    lifecycle.onStop("node", () => node.stop());
    // No other process can have these claims, because the directory and the name are ours.
    await onceItAnswers(deps, () => registry.claims.releaseMine());
    const pushes = createPushCounts();
    const pusher = openPusher({ apns: registry.apns, clock, counted: pushes.add });
    lifecycle.onStop("pusher", () => pusher.close());
    const egress = egressOf(config, deps, names);
    lifecycle.onStop("egress", () => egress.close());
    const receipts = receiptEgress(config, deps, names.share(RECEIPT_LOOKUPS));
    lifecycle.onStop("receipts", () => receipts.close());

    const renderer = createRenderer({ source: workerSource(), clock });
    lifecycle.onStop("renderer", () => renderer.close());
    const outages = await onceItAnswers(deps, () => registry.uptime.begin());
    const parts = { registry, sealer, egress, pusher, renderer, outages };
    const tenants = config.database === null ? tenantRegistry(config, deps, parts) : noTenants;
    lifecycle.onStop("tenants", () => tenants.stop());
    await tenants.survey();
    const page = { registry, pusher, clock };
    const seen: SeenState = { apns: "unknown", boxes: null, leads: {} };
    const pages = createPageCounts();
    const jobs = hostedJobs({
      ...page,
      tenants,
      log,
      sawApns: (apns) => void Object.assign(seen, { apns }),
      sawBoxes: (boxes) => void Object.assign(seen, { boxes }),
      sawOutage: (outage) => void outages.push(outage),
      sawLead: (job, leads) => void Object.assign(seen.leads, { [job]: leads }),
    });
    const scheduler = createScheduler(clock, log, jobs);
    lifecycle.onStop("jobs", () => scheduler.stop());
    const state: HostedState = {
      clock,
      scheduler,
      seen: () => seen,
      tenants: () => tenants.stats(),
      node: () => node.state(),
      pages: () => pages.all(),
      pushes: () => pushes.all(),
    };
    const http = hostedHttp(config, deps, {
      ...page,
      tenants,
      state,
      sealer,
      paged: pages.add,
      redeemReceipt: receiptRedeemer(receipts),
      publicUrl: () => base,
    });
    lifecycle.onStop("decoder", () => http.decoder.close());
    const web = await listen(config, {
      ...http,
      clock,
      log,
      ...(deps.limits ? { limits: deps.limits } : {}),
    });
    base ||= linkUrl(web.url);
    lifecycle.onStop("http", () => web.close(() => tenants.wake()));
    scheduler.start();
    if (config.lab) log.warn("--lab: receipts are checked over http and at private addresses too");
    const { url, reload } = web;
    const isWell = () => isHostedAlive(state);
    const drain = () => node.drain();
    return {
      url,
      registry,
      tenants,
      scheduler,
      reload,
      isWell,
      drain,
      stop: () => lifecycle.stop(),
    };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

function egressOf(config: HostedConfig, { clock }: BoxDeps, names: Names): EgressClient {
  return createEgress({
    clock,
    names,
    rules: { role: "hosted", ...addressesOf(config) },
    userAgent: `box/${version}`,
  });
}

/** A stranger's box says where a receipt is checked, so only public addresses are allowed; --lab allows others. */
function receiptEgress(config: HostedConfig, { clock }: BoxDeps, names: Names): EgressClient {
  return createEgress({
    clock,
    names,
    rules: { role: config.lab ? "box" : "hosted", ...addressesOf(config) },
    publicHttpsOnly: !config.lab,
    userAgent: `box/${version}`,
  });
}

function addressesOf(config: HostedConfig) {
  return { allow: cidrs(config.egressAllow), deny: cidrs(config.egressDeny) };
}

interface TenantRegistryParts {
  registry: Registry;
  sealer: Sealer;
  egress: EgressClient;
  pusher: Pusher;
  renderer: Renderer;
  outages: readonly Outage[];
}

function tenantRegistry(
  config: HostedConfig,
  deps: BoxDeps,
  { registry, sealer, egress, pusher, renderer, outages }: TenantRegistryParts,
): TenantRegistry {
  const { clock, random, log } = deps;
  const startedMono = clock.mono();
  // Counted back from the present time, so the start moves with a clock that is corrected.
  const upSince = () => unixSeconds(clock) - Math.floor((clock.mono() - startedMono) / 1000);
  const service = { upSince, downSince: (from: number) => downSince(outages, from) };
  const shared = {
    clock,
    random,
    log,
    renderer,
    service,
    egress: () => egress.share({ lookups: TENANT_LOOKUPS }),
    devices: registry.devices,
    publicUrl: config.publicUrl,
    retention: config.retention,
    addresses: addressesOf(config),
    passwords: createPasswords(random),
    durable: deps.durable,
  };
  const breaker = {
    minFailures: config.breaker.failures,
    minSpanMs: config.breaker.seconds * 1000,
  };
  const path = (id: string) => join(config.data, hostedFiles.tenants, `${id}.db`);
  return createTenantRegistry({
    registry,
    clock,
    log,
    path,
    limits: { mostOpen: config.openTenants, warmMs: 600_000 },
    start(id, { atClose, onFatal }) {
      const push = tenantPages({ registry, pusher, clock }, id, () => tenant.store);
      const tenant: Tenant = startTenant({
        ...shared,
        path: path(id),
        role: "hosted",
        tenantId: id,
        sealer: ownSealer(sealer, id),
        outbox: { channels: config.channels, breaker, sockets: TENANT_SOCKETS, push },
        atClose,
        onFatal: (error) => (isDiskFault(error) ? deps.onFatal(error) : onFatal(error)),
      });
      return tenant;
    },
  });
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
