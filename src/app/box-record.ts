import { existsSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "../ground/kit/clock.ts";
import { createEgress } from "../ground/kit/egress.ts";
import { hexId } from "../ground/kit/ids.ts";
import { loadKeyRing } from "../ground/kit/key-ring.ts";
import { StoreFault } from "../ground/store/faults.ts";
import { getMeta } from "../ground/store/meta.ts";
import { createKeeper, type Keeper } from "../ground/store/record/keeper.ts";
import { type DatabaseMark, readMark, writeMark } from "../ground/store/record/mark.ts";
import { RecordFault } from "../ground/store/record/record.ts";
import { openReader } from "../ground/store/store.ts";
import { nodeNameOf } from "../hosted/nodes/name.ts";
import { seenIn } from "../hosted/nodes/seen.ts";
import { postgresRecord } from "../hosted/record/postgres-record.ts";
import { type FoundStore, findStore } from "../hosted/record/taking.ts";
import { type Database, openDatabase } from "../hosted/registry/postgres/connect.ts";
import { databaseMigrations, migrateDatabase } from "../hosted/registry/postgres/migrate.ts";
import { inWords } from "../hosted/registry/postgres/open.ts";
import type { DatabaseSettings } from "../hosted/registry/postgres/settings.ts";
import { replaceStore } from "./box-replace.ts";
import { onceItAnswers } from "./database-wait.ts";
import type { BoxDeps } from "./parts.ts";

/** A box whose commits are in a database as well. */
export interface BoxRecord {
  keeper: Keeper;
  /** After the store was opened: waits until the database has everything, or doesn't answer. */
  begin(tenantId: string): Promise<void>;
  /** After the store was closed. */
  stop(): Promise<void>;
}

/** After so long without the database, a box that has served by it before starts by its own disk. */
const ALONE_MS = 30_000;
/** A little more than a process lives after its latest word. */
const LIFE_MS = 12_000;
/** A box's store in the data directory. */
interface Local {
  tenantId: string;
  commits: number;
}

/**
 * Takes the box of a database, and makes the store in the data directory like it where that is the older one. Rejects with
 * StoreFault where it mustn't be served.
 */
export async function openBoxRecord(
  { data, settings }: { data: string; settings: DatabaseSettings },
  deps: BoxDeps,
): Promise<BoxRecord> {
  const { clock, random, log } = deps;
  const path = join(data, "box.db");
  const mark = readMark(data);
  const local = lookAt(path, mark, deps);
  const { database, close } = connect(data, settings, deps);
  const run = hexId(random);
  try {
    const reached = reach(database, deps, settings);
    const maySkip = mark?.kept && !mark.isOlder && local !== null;
    const found = maySkip ? await inTime(reached, deps) : await reached;
    if (found !== "away") mustFit(found, { local, mark, data });
    const isOlder = found !== "away" && found !== null && !isLatest(found, { local, mark });
    const said = { runs: [...(mark?.runs ?? []), run], kept: mark?.kept ?? false };
    // Before it is taken: then the database knows this process, whatever it still has to do.
    writeMark(data, { ...said, isOlder });
    let tenantId = local?.tenantId ?? (found !== "away" ? found?.tenantId : undefined);
    const record = postgresRecord({
      database,
      node: nodeNameOf(data, random),
      run,
      earlier: mark?.runs ?? [],
      found: found === "away" ? null : found,
      tenantId() {
        if (tenantId === undefined) throw new Error("the box has no name yet");
        return tenantId;
      },
      keyId: () => loadKeyRing(data, "box.key").ring?.present.id ?? null,
    });
    if (found !== "away" && found !== null) {
      const { wasLost } = await untilItsLifeIsOver(() => record.take(), deps);
      const { tenantId } = found;
      if (isOlder) await replaceStore(path, { database, tenantId, wasLost }, deps);
      writeMark(data, { ...said, isOlder: false });
    }
    const keeper = createKeeper({
      clock,
      record,
      onLost: deps.onFatal,
      onAlone(why) {
        if (why === null) log.warn("the database has every commit again");
        else
          log.error({ why }, "the database doesn't answer: this disk alone has what is answered");
      },
      onRotten: (page, isBack) =>
        log.error(
          { page },
          isBack
            ? "the disk had changed a page of the store by itself: the database's is there again"
            : "the disk has changed a page of the store by itself, and the database hasn't got it: restore a backup",
        ),
      onCompared: (why, pages) => log.info({ why, pages }, "compared with the database"),
    });
    return {
      keeper,
      async begin(id) {
        tenantId = id;
        // A box that the database never had isn't served without it.
        await keeper.ready(mark?.kept === true);
        if (keeper.state().aloneSince === null)
          writeMark(data, { runs: [run], kept: true, isOlder: false });
      },
      async stop() {
        await keeper.stop();
        close();
      },
    };
  } catch (error) {
    close();
    throw asFault(error, settings);
  }
}

function asFault(error: unknown, settings: DatabaseSettings): unknown {
  if (error instanceof RecordFault) return new StoreFault("misconfigured", error.message, error);
  return inWords(error, settings);
}

function connect(data: string, settings: DatabaseSettings, { clock, random, log }: BoxDeps) {
  const egress = createEgress({ clock, rules: { role: "box" } });
  const database = openDatabase({
    ...settings,
    clock,
    random,
    pool: 2,
    onPlain: (why) => log.warn({ why }, "the connection to the database isn't encrypted"),
    seen: seenIn(data, (err) =>
      log.warn({ err }, "the record of this node's database can't be written"),
    ),
    dial: (request) => egress.dial(request),
  });
  const close = () => {
    database.close();
    void egress.close();
  };
  return { database, close };
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

async function inTime<T>(asked: Promise<T>, { clock, log }: BoxDeps): Promise<T | "away"> {
  const over = new AbortController();
  const late = sleep(clock, ALONE_MS, over.signal).then(() => "away" as const);
  const found = await Promise.race([asked, late]);
  over.abort();
  // Whoever keeps the commits asks again, and says what is wrong.
  if (found === "away") asked.catch(() => {});
  if (found === "away") log.error("the database doesn't answer: the box starts by its own disk");
  return found;
}

/** null also where the file is damaged, and the database has it whole. */
function lookAt(path: string, mark: DatabaseMark | null, { clock, random }: BoxDeps): Local | null {
  if (!existsSync(path)) return null;
  try {
    const reader = openReader({ path, kind: "box", clock, random });
    try {
      return {
        tenantId: String(getMeta(reader, "tenant_id") ?? ""),
        commits: Number(getMeta(reader, "commits") ?? 0),
      };
    } finally {
      reader.close();
    }
  } catch (error) {
    if (mark?.kept && error instanceof StoreFault && error.kind === "damaged") return null;
    throw error;
  }
}

/** Whether what lies in the directory is all that the database has, or more: nobody else has served since. */
function isLatest(
  found: FoundStore,
  { local, mark }: { local: Local | null; mark: DatabaseMark | null },
): boolean {
  if (local === null || mark === null || mark.isOlder) return false;
  return mark.runs.includes(found.run) && local.commits >= found.seq;
}

/** Throws StoreFault where the database and the directory aren't one box. */
function mustFit(
  found: FoundStore | null,
  { local, mark, data }: { local: Local | null; mark: DatabaseMark | null; data: string },
): void {
  const wrong = (why: string) => {
    throw new StoreFault("misconfigured", why);
  };
  if (found === null) {
    if (mark?.kept)
      wrong(
        `The box of ${data} is in a database, and this one holds none: is it the right one? If that one is lost, make a backup (box backup), restore it into an empty directory, and serve that with an empty database.`,
      );
    return;
  }
  if (local !== null && local.tenantId !== found.tenantId)
    wrong(`The database holds another box than ${data}: give each box a database of its own.`);
  const keys = loadKeyRing(data, "box.key").ring?.keys;
  if (found.keyId !== null && keys?.has(found.keyId) !== true)
    wrong(
      `The secrets of the database's box are sealed with the key ${found.keyId}, which isn't in ${data}: put its box.key and box.key.* there first.`,
    );
}

/** A process that was killed seems to live for some seconds. One that goes on living keeps the box. */
async function untilItsLifeIsOver<T>(take: () => Promise<T>, deps: BoxDeps): Promise<T> {
  const until = deps.clock.mono() + LIFE_MS;
  for (;;) {
    try {
      return await onceItAnswers(deps, take);
    } catch (error) {
      if (!(error instanceof RecordFault) || deps.clock.mono() > until) throw error;
      await sleep(deps.clock, 500);
    }
  }
}
