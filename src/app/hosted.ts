import { join } from "node:path";
import { version } from "../ground/kit/assets.ts";
import { createEgress, type EgressClient } from "../ground/kit/egress.ts";
import { createNames, type Names } from "../ground/kit/names.ts";
import { prepareDirectory } from "../ground/store/directory.ts";
import { dropLeftovers } from "../ground/store/files.ts";
import { lockDirectory } from "../ground/store/lock.ts";
import { hostedFiles } from "../hosted/files.ts";
import { createPageCounts } from "../hosted/page-counts.ts";
import { createPushCounts } from "../hosted/push-counts.ts";
import { openPusher } from "../hosted/pusher.ts";
import { receiptRedeemer } from "../hosted/redeem-receipt.ts";
import { createRenderer, workerSource } from "../records/reports/renderer.ts";
import { createScheduler } from "../tenant/scheduler.ts";
import { onceItAnswers } from "./database-wait.ts";
import type { HostedConfig } from "./hosted-config.ts";
import { hostedHttp } from "./hosted-http.ts";
import { hostedJobs } from "./hosted-jobs.ts";
import { openHostedLink } from "./hosted-link.ts";
import { nameOfNode, startHostedNode } from "./hosted-node.ts";
import { openHostedRegistry } from "./hosted-registry.ts";
import { calledAddresses, hostedTenants } from "./hosted-tenants.ts";
import { createLifecycle } from "./lifecycle.ts";
import { linkUrl } from "./link-url.ts";
import { type HostedState, isHostedAlive, type SeenState } from "./operate/hosted-health.ts";
import type { BoxDeps } from "./parts.ts";
import { listen } from "./web.ts";

export type RunningHosted = Awaited<ReturnType<typeof startHosted>>;

/** Lookups that all receipt checks together may have under way, because strangers choose the names. */
const RECEIPT_LOOKUPS = 4;

/** Starts lock, registry, tenants, HTTP. Stopping runs backwards. Throws StoreFault or a listen error. */
export async function startHosted(config: HostedConfig, deps: BoxDeps) {
  const { clock, log } = deps;
  const lifecycle = createLifecycle(clock, log);
  try {
    prepareDirectory(config.data);
    prepareDirectory(join(config.data, hostedFiles.tenants));
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
    const link = await openHostedLink(config, deps);
    lifecycle.onStop("link", () => link?.close());
    const address = link?.address ?? null;
    const parts = { registry, node: name, address, sealer, egress, pusher, renderer, outages };
    const { tenants, close } = await hostedTenants(config, deps, parts);
    lifecycle.onStop("records", close);
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
      sent: () => link?.counts ?? null,
    };
    const http = hostedHttp(config, deps, {
      ...page,
      tenants,
      state,
      sealer,
      paged: pages.add,
      redeemReceipt: receiptRedeemer(receipts),
      publicUrl: () => base,
      sendOn: link?.sendOn,
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
    link?.serve(web.take);
    lifecycle.onStop("sent on", () => link?.serve(null));
    scheduler.start();
    if (config.lab) log.warn("--lab: receipts are checked over http and at private addresses too");
    const { url, reload } = web;
    const isWell = () => isHostedAlive(state);
    return {
      /** With the real port. */
      url,
      registry,
      tenants,
      scheduler,
      /** Reads the TLS files again (SIGHUP). */
      reload,
      /** Whether jobs run. */
      isWell,
      /** Makes readiness fail and waits while requests are still served. Call it before `stop`. */
      drain: node.drain,
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
    rules: { role: "hosted", ...calledAddresses(config) },
    userAgent: `box/${version}`,
  });
}

/** A stranger's box says where a receipt is checked, so only public addresses are allowed; --lab allows others. */
function receiptEgress(config: HostedConfig, { clock }: BoxDeps, names: Names): EgressClient {
  return createEgress({
    clock,
    names,
    rules: { role: config.lab ? "box" : "hosted", ...calledAddresses(config) },
    publicHttpsOnly: !config.lab,
    userAgent: `box/${version}`,
  });
}
