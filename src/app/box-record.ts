import { join } from "node:path";
import { hexId } from "../ground/kit/ids.ts";
import { loadKeyRing } from "../ground/kit/key-ring.ts";
import { StoreFault } from "../ground/store/faults.ts";
import {
  createKeeper,
  type Keeper,
  type KeeperOptions,
  type MadeOf,
} from "../ground/store/record/keeper.ts";
import { newMark, readMark } from "../ground/store/record/mark.ts";
import { RecordFault } from "../ground/store/record/record.ts";
import { nodeNameOf } from "../hosted/nodes/name.ts";
import type { StoreCopy } from "../hosted/record/copy.ts";
import { postgresRecord } from "../hosted/record/postgres-record.ts";
import { type FoundStore, findStore, type Owned } from "../hosted/record/taking.ts";
import type { Database } from "../hosted/registry/postgres/connect.ts";
import { DatabaseAway } from "../hosted/registry/postgres/database-faults.ts";
import { databaseMigrations, migrateDatabase } from "../hosted/registry/postgres/migrate.ts";
import { inWords } from "../hosted/registry/postgres/open.ts";
import type { DatabaseSettings } from "../hosted/registry/postgres/settings.ts";
import { noteDeeds } from "../tenant/deeds.ts";
import type { Tenant } from "../tenant/tenant.ts";
import type { BoxRole } from "../web/http/role.ts";
import { isKnownThere, isLatest, type Lying, lyingAt, mustFit } from "./box-found.ts";
import { handOverTold, takeHanded, unconfirmedOf } from "./box-handed.ts";
import { untilFollowed } from "./box-leaving.ts";
import { type BoxLink, openBoxLink } from "./box-link.ts";
import { prepareTaken } from "./box-living.ts";
import { type Notes, notesIn } from "./box-notes.ts";
import { isOfNewer, openCopyOf, replaceStore } from "./box-replace.ts";
import { standBy } from "./box-standby.ts";
import { upgradeAside } from "./box-upgrade.ts";
import type { BoxConfig } from "./config.ts";
import { inTime, onceItAnswers } from "./database-wait.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { TakeSocket } from "./machine-link.ts";
import type { KeptBox } from "./operate/database-health.ts";
import type { BoxDeps } from "./parts.ts";
import { recordDatabase } from "./record-database.ts";
import type { StandbyDoors } from "./standby-doors.ts";

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
    const notes = notesIn(
      data,
      { ...(mark ?? newMark), runs: [...(mark?.runs ?? []), run], isOlder, standsBy: null },
      deps,
    );
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
      over = await takeOver(place, { record, lifecycle, sees }, deps);
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
        if (keeper.state().aloneSince !== null) return;
        over.epoch = (await record.take()).epoch;
        notes.note({ runs: [run], epoch: over.epoch, kept: true, isOlder: false, wasAlone: false });
      },
      role: () => roleOf(keeper, { owner: node, epoch: over.epoch }),
      isAwaited: () => notes.now().hasOthers,
      mayLeave(atOnce) {
        const isAlone = () => keeper.state().aloneSince !== null;
        return untilFollowed({ database, isAlone }, deps, atOnce);
      },
      handedAside: () => handed?.aside() ?? 0,
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

function roleOf(keeper: Keeper, of: Pick<BoxRole, "owner" | "epoch">): BoxRole {
  const { aloneSince, isStopped } = keeper.state();
  return { role: aloneSince === null ? "owner" : "alone", ...of, behind: 0, isStopped };
}

/** What is taken is noted before anything is kept under it: by that is known what another machine lacks. */
function notingTaken(kept: Taker["record"], notes: Notes): Taker["record"] {
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

interface TakenOver {
  epoch: number;
  doors: StandbyDoors | null;
  /** What the store in the directory was made of; null: it is compared. */
  madeOf: MadeOf | null;
}

interface Place {
  config: BoxConfig;
  database: Database;
  node: string;
  run: string;
  found: FoundStore;
  path: string;
  isOlder: boolean;
  lying: Lying;
  notes: Notes;
  link: BoxLink | null;
}

/** Takes a box that is in the database, now or when its owner is gone, and makes the directory's store like it. */
async function takeOver(
  place: Place,
  { record, lifecycle, sees }: Taker,
  deps: BoxDeps,
): Promise<TakenOver> {
  const { database, found, path, isOlder, lying, notes } = place;
  const forwarder = place.link?.forwarder ?? null;
  const isOwn = lying.mark?.runs.includes(found.run) ?? false;
  const { data } = place.config;
  if (isOlder) {
    const of = { database, tenantId: found.tenantId, epoch: lying.mark?.epoch ?? null };
    await onceItAnswers(deps, () => handOverTold(data, of, deps));
  }
  const open = () => {
    const { tenantId } = found;
    return openCopyOf(path, { database, tenantId, isKnown: isKnownThere(found, lying) });
  };
  let madeOf: MadeOf | null = null;
  const prepared = (of: StoreCopy | null, wasLost: boolean, first: () => Promise<void>) =>
    prepareTaken(record, deps, async () => {
      await first();
      if (of !== null) madeOf = await replaceStore(path, { copy: of, wasLost }, deps);
      notes.note({ isOlder: false, standsBy: null });
      await upgradeAside(path, deps);
    });
  const mayBeFree = isOwn || found.clean;
  let copy = mayBeFree && isOlder ? await open() : null;
  const owned = mayBeFree ? await takeNow(record, copy, deps) : null;
  if (owned !== null) {
    const { epoch, wasLost } = owned;
    await prepared(copy, wasLost, async () => {});
    return { epoch, doors: null, madeOf };
  }
  notes.note({ kept: true, isOlder: true });
  copy ??= await open();
  const fits = (now: FoundStore) => mustFit(now, { local: null, mark: lying.mark, data });
  const standing = await standBy({ ...place, copy, fits, forwarder }, deps);
  notes.note({ standsBy: standing.doors.url });
  lifecycle.onStop("standby", async () => {
    await standing.end();
    forwarder?.close();
    await standing.doors.close();
  });
  deps.onStandby?.({
    url: standing.doors.url,
    reload: standing.doors.reload,
    isWell: standing.isWell,
    stop: () => lifecycle.stop(),
  });
  for (;;) {
    sees(await standing.untilFree());
    const taken = await record.take().catch(notNow);
    if (taken === null) continue;
    deps.log.warn({ epoch: taken.epoch }, "this machine takes the box over");
    await prepared(copy, taken.wasLost, () => standing.end());
    return { epoch: taken.epoch, doors: standing.doors, madeOf };
  }
}

interface Taker {
  record: ReturnType<typeof postgresRecord>;
  lifecycle: Lifecycle;
  /** What `record` is to find when it takes. */
  sees(found: FoundStore): void;
}

/** null where another process has it, or had it since it was found, or a newer program has changed what is copied. */
async function takeNow(
  record: Taker["record"],
  copy: StoreCopy | null,
  deps: BoxDeps,
): Promise<Owned | null> {
  if (copy !== null) await onceItAnswers(deps, () => copy.follow());
  if (copy !== null && isOfNewer(copy)) return null;
  return onceItAnswers(deps, () => record.take()).catch((error: unknown) => {
    if (error instanceof RecordFault) return null;
    throw error;
  });
}

/** Another took it, or nobody knows: it is looked at again. */
function notNow(error: unknown): null {
  if (error instanceof RecordFault || error instanceof DatabaseAway) return null;
  throw error;
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
