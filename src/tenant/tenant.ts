import { createSweep, type Sweep } from "../alerts/sweep.ts";
import { createIngest, type IngestHandle } from "../ingest/handle.ts";
import type { Clock } from "../kit/clock.ts";
import { hexId } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { createPasswords, type Passwords } from "../kit/password.ts";
import type { Random } from "../kit/random.ts";
import { steadyClock } from "../kit/steady-clock.ts";
import { type DeviceBook, devicesIn } from "../people/devices.ts";
import { createRenderer, type Renderer, workerSource } from "../reports/renderer.ts";
import { getMeta, setMeta } from "../store/meta.ts";
import { openStore, type Store } from "../store/store.ts";
import { type ClockWatch, startClockWatch } from "./clock-watch.ts";
import { type Disk, watchDisk } from "./disk.ts";
import { tenantJobs } from "./jobs.ts";
import { createRetention, defaultRetention, type RetentionLimits } from "./retention.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";
import { createWaiters, type Waiters } from "./waiters.ts";

/** One running data plane over one store (decisions §1): the box has one, hosted many. */
export interface Tenant {
  readonly id: string;
  readonly role: "box" | "hosted";
  readonly store: Store;
  /** Never jumps by itself: what is due has moved with it before it does. */
  readonly clock: Clock;
  readonly watch: ClockWatch;
  readonly sweep: Sweep;
  readonly disk: Disk;
  readonly log: Log;
  readonly ingest: IngestHandle;
  readonly waiters: Waiters;
  readonly scheduler: Scheduler;
  readonly devices: DeviceBook;
  readonly passwords: Passwords;
  readonly renderer: Renderer;
  /** What links are built from; empty when it isn't known. */
  readonly publicUrl: string;
  /** Remembers, at most once a minute for each key, that it was used. */
  keyUsed(keyId: string): void;
  /** Ends parked reads, writes what waits, finishes jobs, closes the store. */
  stop(): Promise<void>;
}

export interface TenantOptions {
  path: string;
  role: "box" | "hosted";
  clock: Clock;
  random: Random;
  log: Log;
  publicUrl: string;
  /** The id a new store gets; minted when absent. */
  tenantId?: string;
  /** How long things are kept; the defaults of decisions §4 when absent. */
  retention?: RetentionLimits;
  /** Where its accounts' devices are kept; its own store when absent. */
  devices?: DeviceBook;
  /** One for all tenants of a process, since its queue bounds memory; its own when absent. */
  passwords?: Passwords;
  /** One for all tenants of a process, since its thread costs memory; its own when absent. */
  renderer?: Renderer;
  onFatal(error: unknown): void;
}

/** Opens the store (making the tenant on an empty one) and starts its work. Throws StoreFault. */
export function startTenant(options: TenantOptions): Tenant {
  const { random, log } = options;
  const clock = steadyClock(options.clock);
  const disk = watchDisk(options.path, log);
  const store = openStore({
    path: options.path,
    kind: "box",
    clock,
    random,
    onFatal: options.onFatal,
    makeRoom: disk.makeRoom,
  });
  const id = ensureTenant(store, options.tenantId);
  const ingest = createIngest(store);
  const waiters = createWaiters(clock, { perKey: 1000, all: 5000 });
  const watch = startClockWatch({ store, clock, log });
  const sweep = createSweep(store, log);
  const retention = createRetention(store, options.retention ?? defaultRetention);
  const scheduler = createScheduler(
    clock,
    log,
    tenantJobs({ watch, sweep, disk, retention, ingest }),
  );
  const renderer = options.renderer ?? createRenderer({ source: workerSource(), clock });
  const used = new Map<string, number>();

  const unsubscribe = store.onCommit((notes) => {
    if (notes.some((note) => note.topic === "alert" && note.opened)) waiters.wake();
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
    waiters,
    scheduler,
    devices: options.devices ?? devicesIn(store),
    passwords: options.passwords ?? createPasswords(random),
    renderer,
    publicUrl: options.publicUrl,
    keyUsed(keyId) {
      const now = clock.mono();
      if ((used.get(keyId) ?? Number.NEGATIVE_INFINITY) > now - 60_000) return;
      if (used.size > 1000) used.clear();
      used.set(keyId, now);
      try {
        store.write((tx) =>
          tx.sql("UPDATE api_keys SET last_used_at = ? WHERE id = ?").run(tx.at, keyId),
        );
      } catch (error) {
        // A full disk must not keep anybody from reading or acknowledging.
        log.warn({ err: error, key: keyId }, "the key's last use could not be written");
      }
    },
    async stop() {
      unsubscribe();
      waiters.wake();
      ingest.drain();
      if (options.renderer === undefined) await renderer.close();
      await scheduler.stop();
      watch.stop();
      store.close();
    },
  };
}

/** The tenant's id, made with the store's first use. */
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
