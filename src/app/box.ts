import { join } from "node:path";
import { unixSeconds } from "../ground/kit/clock.ts";
import { prepareDirectory } from "../ground/store/directory.ts";
import { dropLeftovers } from "../ground/store/files.ts";
import { lockDirectory } from "../ground/store/lock.ts";
import { setMeta } from "../ground/store/meta.ts";
import { mustBeAlone } from "../ground/store/record/mark.ts";
import { hasAccounts } from "../people/accounts.ts";
import { issueFirstCode, pairLink, rememberBaseUrl } from "../people/codes.ts";
import { scheduledBackups } from "../records/backup/scheduled.ts";
import { startTenant } from "../tenant/tenant.ts";
import { clientAddress } from "../web/http/address.ts";
import { createDecoder } from "../web/http/inbound/decoder.ts";
import type { SendersPort } from "../web/http/inbound/route.ts";
import { createIngestHandler } from "../web/http/ingest.ts";
import { createLimits } from "../web/http/limits.ts";
import { createRefusals } from "../web/http/refusals.ts";
import type { Serving } from "../web/http/serve-route.ts";
import type { Intake } from "../web/intake/intake.ts";
import { portId } from "../web/intake/port.ts";
import type { BoxRecord } from "./box-record.ts";
import { type BoxConfig, cidrs } from "./config.ts";
import { linkKeyFile } from "./key-link.ts";
import { createLifecycle, type Lifecycle } from "./lifecycle.ts";
import { linkUrl } from "./link-url.ts";
import { readTls } from "./listen-fault.ts";
import { serveDesk } from "./offline/serve-sock.ts";
import { doctorService } from "./operate/doctor-desk.ts";
import { isAlive } from "./operate/health.ts";
import type { BoxDeps, BoxParts } from "./parts.ts";
import { type FreePort, openPorts, openWebPorts } from "./ports.ts";
import { connectionsOf, counterIds, type Listening, listen, peerOf } from "./web.ts";

export type RunningBox = Awaited<ReturnType<typeof startBox>>;

/** For requests under way, where another machine waits to serve. */
const AWAITED_MS = 1_000;

/** null without a database, whose code is then not loaded. */
async function recordOf(
  config: BoxConfig,
  deps: BoxDeps,
  lifecycle: Lifecycle,
): Promise<BoxRecord | null> {
  if (config.database !== null) {
    const { openBoxRecord } = await import("./box-record.ts");
    return openBoxRecord({ config, settings: config.database }, deps, lifecycle);
  }
  mustBeAlone(config.data, "is served with it: name it, --database URL");
  return null;
}

/** Starts a box: lock, store, tenant, HTTP. Stopping runs backwards. Throws StoreFault or a listen error. */
export async function startBox(config: BoxConfig, deps: BoxDeps) {
  const { clock, log, random } = deps;
  const lifecycle = createLifecycle(clock, log);
  try {
    prepareDirectory(config.data);
    lifecycle.onStop("lock", lockDirectory(config.data));
    dropLeftovers(config.data, (name) => /^box\.(db|key)/.test(name));
    if (config.keyFile !== null) linkKeyFile(config.data, config.keyFile);
    const record = await recordOf(config, deps, lifecycle);
    lifecycle.onStop("database", () => record?.stop());
    const ended = () => tenant.changes.told([{ topic: "host" }]);
    const isTimeKnown = () => tenant.watch.state().sane;
    const about = { data: config.data, clock, log, ended, isTimeKnown };
    const backups = config.backups && scheduledBackups(config.backups, about);
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
        channels: config.channels,
        breaker: {
          minFailures: config.breaker.failures,
          minSpanMs: config.breaker.seconds * 1000,
        },
      },
      ...(backups && { jobs: [backups.job] }),
      ...(deps.egress && { egress: deps.egress }),
      ...(deps.resolve && { resolve: deps.resolve }),
      durable: record?.keeper.durable ?? deps.durable,
      keeper: record?.keeper,
      ...(deps.channels && { channels: deps.channels }),
      onFatal: deps.onFatal,
    });
    const isAwaited = () => record?.isAwaited() ?? false;
    lifecycle.onStop("tenant", () => tenant.stop(isAwaited()));
    await record?.begin(tenant);
    const desk = serveDesk(config.data, log, async (line) => {
      const { answerDesk } = await import("./offline/desk.ts");
      return answerDesk(tenant, line);
    });
    lifecycle.onStop("desk", () => desk?.close());
    lifecycle.onStop("backup", () => backups?.stop());
    const startedAt = unixSeconds(clock);
    const doctor = doctorService(tenant, config.data);
    lifecycle.onStop("doctor", () => doctor.stop());
    let intake: Intake | null = null;
    const ports = () => intake?.counts() ?? [];
    const http = boxHttp(config, deps, {
      tenant,
      record,
      backups,
      doctor,
      ports,
      startedAt,
    });
    lifecycle.onStop("decoder", () => http.decoder.close());
    // Whoever came by a port of a standby goes on by it.
    const free: FreePort = async (port) => ({
      ...port,
      port: (await record?.freePort(portId(port))) ?? port.port,
    });
    intake = await openPorts(config, { tenant, clock, limits: http.rates, free });
    lifecycle.onStop("ports", () => intake?.stop());
    const { adapters, senders, ...doors } = http;
    const serve = {
      ...doors,
      clock,
      log,
      ...(deps.limits ? { limits: deps.limits } : {}),
    };
    const { tls } = config;
    const at = config.adapters.listen;
    const beside = at && (await free({ ...at, name: "adapters", bound: null }));
    const side = beside && (await listen({ ...beside, tls }, { ...serve, app: adapters }));
    const limitMs = () => (isAwaited() ? AWAITED_MS : undefined);
    const drain = () => tenant.ingest.drain();
    lifecycle.onStop("adapters", () => side?.close(drain, limitMs()));
    const webPorts = await openWebPorts(config, { tenant, serve, senders, free });
    lifecycle.onStop("senders", () => webPorts.close(drain, limitMs()));
    const own = await free({ ...config, name: "http", bound: null });
    const web = await listen({ host: own.host, port: own.port, tls }, serve);
    lifecycle.onStop("http", () =>
      web.close(() => {
        tenant.waiters.wake();
        tenant.changes.stop();
        drain();
      }, limitMs()),
    );
    const doorsOf: Record<string, Pick<Listening, "take"> | null> = {
      http: web,
      adapters: side,
      desk,
    };
    record?.serve((id) => doorsOf[id]?.take ?? webPorts.taker(id) ?? intake?.taker(id) ?? null);
    lifecycle.onStop("link", () => record?.serve(() => null));
    const { url } = web;
    const linksTo = config.publicUrl || linkUrl(url);
    const adaptersUrl = side?.url ?? null;
    if (adaptersUrl !== null) log.info({ listen: adaptersUrl }, "listening for senders");
    const reload = () => {
      web.reload();
      side?.reload();
      webPorts.reload();
      if (config.tls !== null) intake?.renew(readTls(config.tls));
    };
    tenant.store.write((tx) => {
      rememberBaseUrl(tx, linksTo);
      setMeta(tx, "listen_url", url);
    });
    const isNew = !hasAccounts(tenant.store);
    const isWell = () => isAlive(tenant);
    const opened = [...(intake?.ports ?? []), ...webPorts.ports];
    return {
      /** With the real port. */
      url,
      /** The beginning of links to it: the public address, else one that other machines may reach. */
      linksTo,
      /** The listener for senders, with the real port; null where there is none. */
      adaptersUrl,
      /** The ports for senders, with their real numbers. */
      ports: opened,
      /** No account exists yet, so nobody can use the API. */
      isNew,
      /** A link that makes an owner's account, once, for an hour: whoever starts the box has the machine. */
      ownerLink: () =>
        tenant.store.write((tx) => pairLink(tx, config.publicUrl, issueFirstCode(tx))),
      tenant,
      /** Reads the TLS files again (SIGHUP). */
      reload,
      /** Whether jobs run and the store answers. */
      isWell,
      /** Goes on serving until another machine could take the box. */
      drain: async (atOnce: AbortSignal) => record?.mayLeave(atOnce),
      stop: () => lifecycle.stop(),
    };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** A box's HTTP side: ingest at once, the app with the first request that needs it. */
function boxHttp(config: BoxConfig, deps: BoxDeps, parts: BoxParts) {
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
