import { StoreFault } from "../ground/store/faults.ts";
import { checkHeader } from "../ground/store/header.ts";
import { migrations } from "../ground/store/migrations.ts";
import type { MadeOf } from "../ground/store/record/keeper.ts";
import { failedUpgrade } from "../ground/store/record/mark.ts";
import { RecordFault } from "../ground/store/record/record.ts";
import type { StoreCopy } from "../hosted/record/copy.ts";
import type { postgresRecord } from "../hosted/record/postgres-record.ts";
import type { FoundStore, Owned } from "../hosted/record/taking.ts";
import type { Database } from "../hosted/registry/postgres/connect.ts";
import { DatabaseAway } from "../hosted/registry/postgres/database-faults.ts";
import { isKnownThere, type Lying, mustFit } from "./box-found.ts";
import { handOverTold } from "./box-handed.ts";
import type { BoxLink } from "./box-link.ts";
import { prepareTaken } from "./box-living.ts";
import type { Notes } from "./box-notes.ts";
import { isOfNewer, openCopyOf, replaceStore } from "./box-replace.ts";
import { type Followed, standBy } from "./box-standby.ts";
import { createUpgrades, isOlderStore } from "./box-upgrade.ts";
import type { BoxConfig } from "./config.ts";
import { onceItAnswers } from "./database-wait.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { BoxDeps } from "./parts.ts";
import type { StandbyDoors } from "./standby-doors.ts";

export interface TakenOver {
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
export async function takeBox(
  place: Place,
  { record, lifecycle, sees }: BoxTaker,
  deps: BoxDeps,
): Promise<TakenOver> {
  const { database, found, path, isOlder, lying, notes } = place;
  const forwarder = place.link?.forwarder ?? null;
  const isOwn = (of: FoundStore) => lying.mark?.runs.includes(of.run) ?? false;
  const { data } = place.config;
  const handOver = () => {
    const of = { database, tenantId: found.tenantId, epoch: lying.mark?.epoch ?? null };
    return onceItAnswers(deps, () => handOverTold(data, of, deps));
  };
  if (isOlder) await handOver();
  const open = () => {
    const { tenantId } = found;
    return openCopyOf(path, { database, tenantId, isKnown: isKnownThere(found, lying) });
  };
  let madeOf: MadeOf | null = null;
  const prepared = (of: StoreCopy | null, wasLost: boolean, first: () => Promise<void>) =>
    prepareTaken(record, { ...deps, lifecycle }, async (ending) => {
      await first();
      if (of !== null) madeOf = await replaceStore(path, { copy: of, wasLost }, deps);
      ending.throwIfAborted();
      notes.note({ isOlder: false, standsBy: null, ...(of !== null && { wasAlone: false }) });
      await upgradeNoted({ path, notes, ending }, deps);
    });
  // Only this disk has what was answered: that isn't given up for a copy.
  const hasMore = !isOlder && !isKnownThere(found, lying);
  // It stands by first, and says why. An end is no failure yet where another machine's turn would be of no use.
  const hasFailed =
    failedUpgrade(lying.mark) !== null && !(hasMore && lying.mark?.failed?.once === true);
  const mayBeFree = (isOwn(found) || found.clean) && !hasFailed;
  let copy = mayBeFree && isOlder ? await open() : null;
  const owned = mayBeFree ? await takeNow(record, copy, deps) : null;
  if (owned !== null) {
    const { epoch, wasLost } = owned;
    await prepared(copy, wasLost, async () => {});
    return { epoch, doors: null, madeOf };
  }
  const isNewer = hasFailed && hasMore;
  if (!isNewer) {
    if (!isOlder) await handOver();
    notes.note({ kept: true, isOlder: true });
    copy ??= await open();
  }
  const followed = copy ?? ownStore(path, found, () => deps.onFatal(takenMeanwhile()));
  const fits = (now: FoundStore) => mustFit(now, { local: null, mark: lying.mark, data });
  const standing = await standBy({ ...place, copy: followed, isOwn, fits, forwarder }, deps);
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
    const free = await standing.untilFree();
    if (isNewer && !isOwn(free) && free.run !== place.run) throw takenMeanwhile();
    sees(free);
    const taken = await record.take().catch(notNow);
    if (taken === null) continue;
    deps.log.warn({ epoch: taken.epoch }, "this machine takes the box over");
    await prepared(copy, taken.wasLost, () => standing.end());
    return { epoch: taken.epoch, doors: standing.doors, madeOf };
  }
}

/** In place of a copy where the directory's store is the newer one. `lost`: another machine has written to the box. */
const ownStore = (path: string, { seq }: FoundStore, lost: () => void): Followed => ({
  seq,
  schema: () => checkHeader(path, "box").userVersion,
  async follow() {
    lost();
    return 0;
  },
});

const takenMeanwhile = () =>
  new StoreFault(
    "unavailable",
    "Another machine has taken the box: started again, this one hands over what only its disk has.",
  );

export interface BoxTaker {
  record: ReturnType<typeof postgresRecord>;
  lifecycle: Lifecycle;
  /** What `record` is to find when it takes. */
  sees(found: FoundStore): void;
}

/** Whoever starts here next knows what couldn't be done, and says so. */
async function upgradeNoted(
  { path, notes, ending }: { path: string; notes: Notes; ending: AbortSignal },
  deps: BoxDeps,
): Promise<void> {
  const schema = migrations("box").length;
  const upgrades = createUpgrades(deps);
  const { failed } = notes.now();
  // It was told to end: that is no failure.
  const unnote = () => notes.note({ failed });
  try {
    // Where the process is killed meanwhile, another machine is to have its turn.
    if (isOlderStore(path)) {
      const why = "the program was ended while it upgraded the box";
      notes.note({ failed: { schema, why, once: failed === null } });
      ending.addEventListener("abort", unnote);
    }
    await upgrades.upgrade(path);
    notes.note({ failed: null });
  } catch (error) {
    const { kind, message: why } = StoreFault.from(error, path);
    notes.note({ failed: { schema, why } });
    // Also where it calls the data damaged it is to be started again: it stands by then, and says why.
    throw new StoreFault(kind === "io" ? kind : "unavailable", why, error);
  } finally {
    ending.removeEventListener("abort", unnote);
    upgrades.close();
  }
}

/** null where another process has it, or had it since it was found, or a newer program has changed what is copied. */
async function takeNow(
  record: BoxTaker["record"],
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
