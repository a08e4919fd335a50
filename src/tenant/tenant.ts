import { LRUCache } from "lru-cache";
import { createSweep, defaultSweepLimits, type Sweep } from "../core/alerts/sweep.ts";
import type { AddressRules } from "../ground/kit/addresses.ts";
import { type Ask, createAsk } from "../ground/kit/ask.ts";
import { version } from "../ground/kit/assets.ts";
import { type Clock, unixSeconds } from "../ground/kit/clock.ts";
import { createEgress, type EgressClient } from "../ground/kit/egress.ts";
import type { DurableGate } from "../ground/kit/gate.ts";
import { heldEgress } from "../ground/kit/held-egress.ts";
import { hexId } from "../ground/kit/ids.ts";
import { type Log, tenantLog } from "../ground/kit/log.ts";
import { createNames, type Resolve } from "../ground/kit/names.ts";
import { createPasswords, type Passwords } from "../ground/kit/password.ts";
import type { Random } from "../ground/kit/random.ts";
import type { Sealer } from "../ground/kit/sealer.ts";
import { createSlices, type Slices } from "../ground/kit/slices.ts";
import { steadyClock } from "../ground/kit/steady-clock.ts";
import { getMeta, setMeta } from "../ground/store/meta.ts";
import { openStore, type Store, type StoreOptions } from "../ground/store/store.ts";
import { createHeartbeatWatch, type HeartbeatWatch } from "../in/heartbeats/watch.ts";
import { createDryRunner, type DryRunner } from "../in/ingest/dry-run/runner.ts";
import { createIngest, type IngestHandle } from "../in/ingest/handle.ts";
import { createListeners } from "../in/listen/listeners.ts";
import { createRelayHeartbeat, type RelayHeartbeat } from "../out/outbox/relay-heartbeat.ts";
import { type ChannelList, channels } from "../out/services/list.ts";
import { markUsed } from "../people/actor.ts";
import { type DeviceBook, devicesIn } from "../people/devices.ts";
import { SEEN_TO, seenSession, type Visitor } from "../people/sessions.ts";
import { createTries, type Tries } from "../people/tries.ts";
import { createWaysIn, type WaysIn } from "../people/ways-in.ts";
import type { DigestSent } from "../records/numbers/digest.ts";
import { createRenderer, type Renderer, workerSource } from "../records/reports/renderer.ts";
import { type Adviser, createAdviser } from "./advice.ts";
import { awayJobs } from "./away-watch.ts";
import { type Changes, createChanges } from "./changes.ts";
import { type ClockWatch, type Service, startClockWatch } from "./clock-watch.ts";
import { digestJob, digestNow } from "./digest.ts";
import { type Disk, watchDisk } from "./disk.ts";
import type { TenantHost } from "./host.ts";
import { numbersJob, tenantJobs } from "./jobs.ts";
import { createOutbox, type Outbox, type OutboxSettings } from "./outbox.ts";
import { createRetention, defaultRetention, type RetentionLimits } from "./retention.ts";
import { createScheduler, type Job, type Scheduler } from "./scheduler.ts";
import { sealerBeside } from "./sealer-beside.ts";
import { shiftJob } from "./shift-watch.ts";
import { silenceJob } from "./silence-ends.ts";
import { createWaiters, type Waiters } from "./waiters.ts";

/** The running program for one store (contract §1). A box has one, the hosted service many. */
export interface Tenant {
  readonly id: string;
  readonly role: "box" | "hosted";
  readonly store: Store;
  /** When it jumps, all due times were moved before. */
  readonly clock: Clock;
  readonly watch: ClockWatch;
  readonly sweep: Sweep;
  readonly disk: Disk;
  readonly log: Log;
  readonly ingest: IngestHandle;
  readonly heartbeats: HeartbeatWatch;
  readonly waiters: Waiters;
  /** Tells listeners which things changed. */
  readonly changes: Changes;
  /** Makes long answers in slices, so that other requests don't wait for them. */
  readonly slices: Slices;
  readonly scheduler: Scheduler;
  readonly devices: DeviceBook;
  readonly passwords: Passwords;
  /** Counts wrong passwords of its accounts. */
  readonly tries: Tries;
  /** What ways to sign in remember between two requests. */
  readonly ways: WaysIn;
  readonly renderer: Renderer;
  /** Tries rules on stored lines. */
  readonly dryRuns: DryRunner;
  readonly advice: Adviser;
  /** Sends the weekly digest now. Throws 409 where it goes nowhere. */
  sendDigest(): Promise<DigestSent>;
  readonly outbox: Outbox;
  /** The box's own heartbeat to the relay; null on the hosted service. */
  readonly news: RelayHeartbeat | null;
  /** Fetches what is needed to check a request, over connections of its own. */
  readonly ask: Ask;
  readonly sealer: Sealer;
  /** The kinds of channel. */
  readonly channels: ChannelList;
  /** Which addresses may be called (contract §6, Egress). */
  readonly addressRules: AddressRules;
  /** The address that links begin with; "" when it isn't known. */
  readonly publicUrl: string;
  /** What the program around the tenant does for it; null on the hosted service, and before the program has started. */
  readonly host: TenantHost | null;
  /** Sets `host`. */
  standIn(host: TenantHost): void;
  /** Records that a key was used, at most once a minute for each key. */
  keyUsed(keyId: string): void;
  /** Records that a session was used, at most once a minute for each session. */
  sessionSeen(session: Pick<Visitor, "sessionId" | "seenAt">): void;
  /** Answers waiting readers, writes what is queued, finishes jobs and closes the store. `isAwaited`: another machine waits. */
  stop(isAwaited?: boolean): Promise<void>;
}

export interface TenantOptions {
  path: string;
  role: "box" | "hosted";
  clock: Clock;
  random: Random;
  log: Log;
  publicUrl: string;
  /** The id of a new store. Default: a random one. */
  tenantId?: string;
  /** Retention. Default: contract §4. */
  retention?: RetentionLimits;
  /** Where its accounts' devices are stored. Default: its own store. */
  devices?: DeviceBook;
  /** Shared by all tenants of a process, because its queue limits memory. Default: one of its own. */
  passwords?: Passwords;
  /** Shared by all tenants of a process, because its thread costs memory. Default: one of its own. */
  renderer?: Renderer;
  /** Encrypts stored secrets. Default: key files beside the store. */
  sealer?: Sealer;
  /** The operator's lists, beside the role's own rules. */
  addresses?: Omit<AddressRules, "role">;
  /** Makes the client for all its requests, which is closed with the tenant. Default: a client of its own. */
  egress?(): EgressClient;
  /** Resolves names in place of the operating system, for the tenant's own client. */
  resolve?: Resolve;
  outbox?: OutboxSettings;
  /** The kinds of channel. Default: the program's. */
  channels?: ChannelList;
  /** A second place where the store's commits have to be before anybody hears of them. Default: none. */
  durable?: DurableGate | undefined;
  /** What brings them there. */
  keeper?: StoreOptions["keeper"];
  /** The service that goes on while this store is closed. Missing where both start and stop together. */
  service?: Service;
  /** Jobs of the service around it that run in this tenant's loop. */
  jobs?: readonly Job[];
  /** Called when all work has ended, just before the store closes. */
  atClose?(closing: Pick<Tenant, "store" | "ingest">): void;
  /** Called once the store is closed. */
  closed?(): Promise<void>;
  onFatal(error: unknown): void;
}

/** Opens the store (makes the tenant in an empty one) and starts its work. Throws StoreFault. */
export function startTenant(options: TenantOptions): Tenant {
  const { random, tenantId, publicUrl } = options;
  const clock = steadyClock(options.clock);
  // A new box gets its id with its store.
  const early = tenantId === undefined ? options.log : tenantLog(options.log, tenantId);
  const disk = watchDisk(options.path, early);
  const store = openStore({
    path: options.path,
    kind: "box",
    clock,
    random,
    onFatal: options.onFatal,
    makeRoom: disk.makeRoom,
    durable: options.durable,
    keeper: options.keeper,
  });
  const id = ensureTenant(store, tenantId);
  const log = tenantLog(options.log, id);
  const failed = (err: unknown) =>
    log.error({ err }, "what waited could not be opened; it is tried again");
  const ingest = createIngest(store, { failed }, (batch) => changes.taken(batch));
  const heartbeats = createHeartbeatWatch({ store, ingest, log, tenantId: id });
  const waiters = createWaiters(clock, { perKey: 1000, all: 5000 });
  const changes = createChanges(store, clock, { perKey: 200, all: 400 });
  const watch = startClockWatch({ store, clock, log, service: options.service });
  const sweep = createSweep(store, log, defaultSweepLimits, ingest.laterReport);
  const retention = createRetention(store, options.retention ?? defaultRetention);
  const sealer = options.sealer ?? sealerBeside(store, options.path, log);
  const addressRules: AddressRules = { ...options.addresses, role: options.role };
  const client = options.egress?.() ?? egressOf(clock, addressRules, options.resolve);
  const egress = heldEgress(client, store.durable, clock);
  const kinds = options.channels ?? channels;
  const outbox = createOutbox({
    store,
    log,
    sealer,
    egress,
    channels: kinds,
    settings: options.outbox ?? {},
    publicUrl,
    oneOfMany: options.role === "hosted",
    wake: (job) => scheduler.wake(job),
  });
  const slices = createSlices({ slice: 20_000, works: 64 });
  const news =
    options.role === "box"
      ? createRelayHeartbeat({ store, sealer, egress, log, tenantId: id })
      : null;
  const listeners = createListeners({
    store,
    log,
    sealer,
    egress: egress.share(LISTENING),
    wake: (job) => scheduler.wake(job),
  });
  const dryRuns = createDryRunner(store);
  const advice = createAdviser({ store, slices, clock, dryRuns, ingest });
  const digest = { store, clock, log, slices, advice, outbox, publicUrl, ready: watch.ready };
  const scheduler = createScheduler(clock, log, [
    ...tenantJobs({ watch, sweep, disk, retention, ingest, heartbeats, store, log }),
    numbersJob({ store, slices, watch }),
    shiftJob({ store, log, ready: watch.ready }),
    ...outbox.jobs,
    ...awayJobs({
      store,
      log,
      sealer,
      egress: egress.share(ASKING),
      slices,
      contacts: outbox.contacts,
      publicUrl,
    }),
    silenceJob({ store, contacts: outbox.contacts, log, publicUrl }),
    digestJob(digest),
    ...listeners.jobs,
    ...(news === null ? [] : [newsJob(news)]),
    ...(options.jobs ?? []),
  ]);
  const ask = createAsk({ egress: egress.share(ASKING), clock });
  const renderer = options.renderer ?? createRenderer({ source: workerSource(), clock });
  let host: TenantHost | null = null;
  const used = new LRUCache<string, number>({ max: 1000 });

  const unsubscribe = store.onCommit((notes) => {
    if (notes.some((note) => note.topic === "alert" && note.opened)) waiters.wake();
    changes.told(notes);
    outbox.told(notes);
    listeners.told(notes);
    scheduler.told(notes);
  });
  scheduler.start();

  return {
    id,
    role: options.role,
    store,
    clock,
    watch,
    sweep,
    disk,
    log,
    ingest,
    heartbeats,
    waiters,
    changes,
    slices,
    scheduler,
    devices: options.devices ?? devicesIn(store),
    passwords: options.passwords ?? createPasswords(random),
    tries: createTries(store),
    ways: createWaysIn(store, egress.share(VOUCHING)),
    renderer,
    dryRuns,
    advice,
    sendDigest: () => digestNow(digest),
    outbox,
    news,
    ask,
    sealer,
    addressRules,
    channels: kinds,
    publicUrl,
    get host() {
      return host;
    },
    standIn(around) {
      host = around;
    },
    keyUsed(keyId) {
      const now = clock.mono();
      if ((used.get(keyId) ?? Number.NEGATIVE_INFINITY) > now - 60_000) return;
      used.set(keyId, now);
      try {
        store.write((tx) => markUsed(tx, keyId));
      } catch (error) {
        // A full disk must not stop people from reading or acknowledging.
        log.warn({ err: error, key: keyId }, "the key's last use could not be written");
      }
    },
    sessionSeen({ sessionId, seenAt }) {
      // Also written while the clock is behind: the session would otherwise end by mistake.
      if (unixSeconds(clock) - seenAt < SEEN_TO) return;
      try {
        store.write((tx) => seenSession(tx, sessionId), { expendable: true });
      } catch (error) {
        // A full disk must not sign anybody out.
        log.warn({ err: error, session: sessionId }, "the session's last use could not be written");
      }
    },
    async stop(isAwaited = false) {
      unsubscribe();
      waiters.wake();
      changes.stop();
      ingest.drain();
      const deaf = listeners.stop();
      if (options.renderer === undefined) await renderer.close();
      await dryRuns.close();
      // A box that goes on elsewhere says no goodbye: where it doesn't, somebody has to be told.
      await Promise.all([deaf, outbox.stop(isAwaited), news?.end(!isAwaited)]);
      await egress.close();
      await scheduler.stop();
      watch.stop();
      options.atClose?.({ store, ingest });
      store.close();
      await options.closed?.();
    },
  };
}

/** Connections for answers to pages: a few that hold a request open, and some for other calls. */
const LISTENING = { connections: 12, maxOrigins: 16 };

/** Connections for requests that senders cause. They must not delay pages. */
const ASKING = { connections: 2, maxOrigins: 8, lookups: 1 };

/** Connections to sign-in providers. They must not delay anything else. */
const VOUCHING = { connections: 2, maxOrigins: 8, lookups: 1 };

function newsJob(news: RelayHeartbeat): Job {
  return { name: "news", wokenBy: ["relay"], run: (now) => news.run(now) };
}

function egressOf(clock: Clock, rules: AddressRules, resolve?: Resolve) {
  return createEgress({
    clock,
    rules,
    userAgent: `box/${version}`,
    names: createNames({ clock, ...(resolve && { resolve }) }),
  });
}

/** The tenant's id; made when the store is first used. */
export function ensureTenant(store: Store, wanted?: string): string {
  const known = getMeta(store, "tenant_id");
  if (known !== undefined) return String(known);
  return store.write((tx) => {
    const id = wanted ?? hexId(tx.random);
    setMeta(tx, "tenant_id", id);
    setMeta(tx, "created_at", tx.at);
    return id;
  });
}
