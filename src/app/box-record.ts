import { join } from "node:path";
import { hexId } from "../ground/kit/ids.ts";
import { loadKeyRing } from "../ground/kit/key-ring.ts";
import { StoreFault } from "../ground/store/faults.ts";
import { createKeeper, type Keeper, type KeeperOptions } from "../ground/store/record/keeper.ts";
import { newMark, readMark } from "../ground/store/record/mark.ts";
import { RecordFault } from "../ground/store/record/record.ts";
import { nodeNameOf } from "../hosted/nodes/name.ts";
import { postgresRecord } from "../hosted/record/postgres-record.ts";
import { type FailedUpgrade, type FoundStore, findStore } from "../hosted/record/taking.ts";
import type { Database } from "../hosted/registry/postgres/connect.ts";
import { databaseMigrations, migrateDatabase } from "../hosted/registry/postgres/migrate.ts";
import { inWords } from "../hosted/registry/postgres/open.ts";
import type { DatabaseSettings } from "../hosted/registry/postgres/settings.ts";
import { noteDeeds } from "../tenant/deeds.ts";
import type { Tenant } from "../tenant/tenant.ts";
import type { BoxRole } from "../web/http/role.ts";
import { isLatest, lyingAt, mustFit, withRun } from "./box-found.ts";
import { takeHanded, unconfirmedOf } from "./box-handed.ts";
import { untilFollowed } from "./box-leaving.ts";
import { type BoxLink, openBoxLink } from "./box-link.ts";
import { type Notes, notesIn } from "./box-notes.ts";
import { type BoxTaker, type TakenOver, takeBox } from "./box-taking.ts";
import type { BoxConfig } from "./config.ts";
import { inTime, onceItAnswers } from "./database-wait.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { TakeSocket } from "./machine-link.ts";
import type { KeptBox } from "./operate/database-health.ts";
import type { BoxDeps } from "./parts.ts";
import { recordDatabase } from "./record-database.ts";

/** A box whose commits are in a database as well. */
export interface BoxRecord extends KeptBox {
  /** Whether another machine stands by. */
  isAwaited(): boolean;
  /** Resolves once another machine could soon serve in this one's place, or none will. */
  mayLeave(atOnce: AbortSignal): Promise<void>;
  /** After the store was opened: waits until the database has everything, or doesn't answer. */
  begin(tenant: Pick<Tenant, "id" | "store" | "ingest">): Promise<void>;
  /** Closes a port of a machine that stood by, and keeps what came. Its number; null where there was none. */
  freePort(id: string): Promise<number | null>;
  /** From now on what other machines send on, and what was held, is these ports'. */
  serve(taker: (port: string) => TakeSocket | null): void;
  /** After the store was closed. */
  stop(): Promise<void>;
}

/**
 * Takes the box of a database, and makes the store in the data directory like it where that is the older one. Stands by
 * for as long as another machine serves it. Rejects with StoreFault where it mustn't be served.
 */
export async function openBoxRecord(
  given: Given,
  deps: BoxDeps,
  lifecycle: Lifecycle,
): Promise<BoxRecord> {
  const link = await openBoxLink(given.config, deps);
  try {
    const record = await openLinked(given, link, deps, lifecycle);
    return {
      ...record,
      serve: (taker) => link?.serve(taker),
      async stop() {
        await record.stop();
        await link?.close();
      },
    };
  } catch (error) {
    await link?.close();
    throw error;
  }
}

interface Given {
  config: BoxConfig;
  settings: DatabaseSettings;
}

async function openLinked(
  { config, settings }: Given,
  link: BoxLink | null,
  deps: BoxDeps,
  lifecycle: Lifecycle,
): Promise<Omit<BoxRecord, "serve">> {
  const { data } = config;
  const path = join(data, "box.db");
  const mark = readMark(data);
  const lying = { local: lyingAt(path, mark, deps), mark };
  const { database, close } = recordDatabase(data, settings, deps);
  const run = hexId(deps.random);
  const node = nodeNameOf(data, deps.random);
  try {
    const reached = reach(database, deps, settings);
    const mayStop = config.databaseAway === "stop";
    const maySkip = !mayStop && mark?.kept && !mark.isOlder && lying.local !== null;
    let found = maySkip ? await inTime(reached, deps) : await reached;
    if (found !== "away") mustFit(found, { ...lying, data });
    const isOlder = found !== "away" && found !== null && !isLatest(found, lying);
    const runs = withRun(mark?.runs ?? [], run);
    const notes = notesIn(data, { ...(mark ?? newMark), runs, isOlder, standsBy: null }, deps);
    let tenantId = lying.local?.tenantId ?? (found !== "away" ? found?.tenantId : undefined);
    let over: TakenOver = { epoch: 0, doors: null, madeOf: null };
    const kept = postgresRecord({
      database,
      node,
      run,
      address: link?.address ?? null,
      flags: config.given,
      earlier: mark?.runs ?? [],
      found: () => (found === "away" ? null : found),
      tenantId() {
        if (tenantId === undefined) throw new Error("the box has no name yet");
        return tenantId;
      },
      keyId: () => loadKeyRing(data, "box.key").ring?.present.id ?? null,
      onOthers: (hasOthers) => notes.note({ hasOthers }),
    });
    const record = notingTaken(kept, notes);
    if (found !== "away" && found !== null) {
      const place = { config, database, node, run, found, path, isOlder, lying, notes, link };
      const sees = (now: FoundStore) => {
        found = now;
      };
      over = await takeBox(place, { record, lifecycle, sees }, deps);
    }
    const whose = () => ({ tenant: tenantId ?? null, epoch: notes.now().epoch });
    const unconfirmed = unconfirmedOf(data, whose, deps);
    const how = { unconfirmed, waits: mayStop, madeOf: () => over.madeOf };
    const keeper = keeperOf(record, { ...how, notes }, deps);
    let handed: ReturnType<typeof takeHanded> | null = null;
    return {
      keeper,
      async begin(tenant) {
        tenantId = tenant.id;
        noteDeeds(tenant.store);
        // A box that the database never had isn't served without it.
        await keeper.ready(mark?.kept === true);
        handed = takeHanded({ database, tenant, keeper }, deps);
        if (keeper.state().aloneSince !== null) return notes.note({ failed: null });
        over.epoch = (await record.take()).epoch;
        notes.note({ runs: [run], epoch: over.epoch, ...SERVED });
      },
      role: () => roleOf(keeper, { owner: node, epoch: over.epoch }, handed?.failed()),
      isAwaited: () => notes.now().hasOthers,
      mayLeave(atOnce) {
        const isAlone = () => keeper.state().aloneSince !== null;
        return untilFollowed({ database, isAlone }, deps, atOnce);
      },
      handedAside: () => handed?.aside() ?? 0,
      failedElsewhere: () => handed?.failed() ?? [],
      freePort: async (id) => (await over.doors?.free(id)) ?? null,
      async stop() {
        await handed?.stop();
        await keeper.stop();
        close();
      },
    };
  } catch (error) {
    close();
    throw asFault(error, settings);
  }
}

/** What a directory's mark says once its box is served. */
const SERVED = { kept: true, isOlder: false, wasAlone: false, failed: null };

function roleOf(
  keeper: Keeper,
  of: Pick<BoxRole, "owner" | "epoch">,
  failed: readonly FailedUpgrade[] = [],
): BoxRole {
  const { aloneSince, isStopped } = keeper.state();
  const role = { role: aloneSince === null ? ("owner" as const) : ("alone" as const), ...of };
  return { ...role, behind: 0, isStopped, ...(failed.length > 0 && { upgrade_failed: true }) };
}

/** What is taken is noted before anything is kept under it: by that is known what another machine lacks. */
function notingTaken(kept: BoxTaker["record"], notes: Notes): BoxTaker["record"] {
  return {
    ...kept,
    async take() {
      const owned = await kept.take();
      notes.mustNote({ epoch: owned.epoch });
      return owned;
    },
  };
}

function keeperOf(
  record: ReturnType<typeof postgresRecord>,
  { notes, ...how }: Pick<KeeperOptions, "unconfirmed" | "waits" | "madeOf"> & { notes: Notes },
  deps: BoxDeps,
): Keeper {
  const { clock, log } = deps;
  return createKeeper({
    clock,
    record,
    onLost: deps.onFatal,
    onAlone(why) {
      notes.note({ wasAlone: why !== null });
      if (why === null) log.warn("the database has every commit again");
      else log.error({ why }, "the database doesn't answer: this disk alone has what is answered");
    },
    onRotten: (page, isBack) =>
      log.error(
        { page },
        isBack
          ? "the disk had changed a page of the store by itself: the database's is there again"
          : "the disk has changed a page of the store by itself, and the database hasn't got it: restore a backup",
      ),
    onCompared: (why, pages) => log.info({ why, pages }, "compared with the database"),
    hasOthers: () => notes.now().hasOthers,
    ...how,
  });
}

function asFault(error: unknown, settings: DatabaseSettings): unknown {
  if (!(error instanceof RecordFault)) return inWords(error, settings);
  // Started again, it finds who has the store.
  const kind = error.kind === "taken" ? "unavailable" : "misconfigured";
  return new StoreFault(kind, error.message, error);
}

/** The database's box, once it answers. */
function reach(
  database: Database,
  deps: BoxDeps,
  settings: DatabaseSettings,
): Promise<FoundStore | null> {
  return onceItAnswers(deps, async () => {
    try {
      await migrateDatabase(database, databaseMigrations(), "box");
      return await findStore(database);
    } catch (error) {
      throw inWords(error, settings);
    }
  });
}
