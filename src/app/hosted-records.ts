import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { sleep, unixSeconds } from "../ground/kit/clock.ts";
import { ElsewhereError } from "../ground/kit/elsewhere.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import { hexId } from "../ground/kit/ids.ts";
import { StoreFault } from "../ground/store/faults.ts";
import { createKeeper, type Keeper, type MadeOf } from "../ground/store/record/keeper.ts";
import { newMark, readMark, writeMark } from "../ground/store/record/mark.ts";
import { RecordFault } from "../ground/store/record/record.ts";
import { hostedFiles } from "../hosted/files.ts";
import { mayLackAddresses } from "../hosted/record/all-stores.ts";
import { tenantsHanded } from "../hosted/record/handed.ts";
import { postgresRecord } from "../hosted/record/postgres-record.ts";
import { type FoundStore, findStoreOf } from "../hosted/record/taking.ts";
import { type Together, together } from "../hosted/record/together.ts";
import type { Database } from "../hosted/registry/postgres/connect.ts";
import type { DatabaseSettings } from "../hosted/registry/postgres/settings.ts";
import type { Memberships } from "../hosted/registry/tenants.ts";
import type { StartHooks, StartHosted, TenantPlaces } from "../hosted/tenant-places.ts";
import { ABSENT, IN_USE } from "../hosted/tenant-seal.ts";
import { addedSeat, takeSeat } from "../people/seats.ts";
import type { Tenant } from "../tenant/tenant.ts";
import { takeLeftRows } from "./box-handed.ts";
import { livingOn, unlessAborted } from "./box-living.ts";
import { openCopyOf, replaceStore } from "./box-replace.ts";
import type { BoxDeps } from "./parts.ts";
import { recordDatabase } from "./record-database.ts";

/** Connections for the commits and lives of all tenants. `leases` is for many pages at once: of those that are opened, or compared. */
const POOL = 4;
const KNOWN_MS = 1_000;
const MOST_KNOWN = 10_000;
const AGAIN_SECONDS = 2;
/** What is for a node that leaves waits so long until it has left, and looks so often. */
const HELD_MS = 3_000;
const LOOK_MS = 100;

interface RecordPlacesOptions {
  data: string;
  settings: DatabaseSettings;
  /** This node's name: no other node that lives has it. */
  node: string;
  /** Where other nodes send on what is for its tenants, HOST:PORT; null: nowhere. */
  address: string | null;
  start: StartHosted;
  memberships: Pick<Memberships, "put">;
  /** Brings a store to this program's schema, beside those that are served. */
  upgrade(path: string): Promise<void>;
}

interface Records extends RecordPlacesOptions {
  database: Database;
  together: Together;
  /** When tenants that are being closed have to be opened again. */
  resting: Map<string, number>;
  /** Takes what was left for a tenant that is open here. */
  takers: Map<string, () => Promise<void>>;
  /** Whose files are made here, also after another node has taken the tenant. */
  preparing: Set<string>;
  /** Aborted when this node ends: what is still prepared is given back. */
  ending: AbortSignal;
}

/** Stores whose commits are in the database. What is there has the last word; the files are copies of it. */
export function recordPlaces(options: RecordPlacesOptions, deps: BoxDeps) {
  const { data, settings, node } = options;
  const { database, close } = recordDatabase(data, settings, deps, POOL);
  const ending = new AbortController();
  const opening = new Set<Promise<Tenant>>();
  const records: Records = {
    ...options,
    ending: ending.signal,
    database,
    together: together(database, deps.clock),
    resting: new Map(),
    takers: new Map(),
    preparing: new Set<string>(),
  };
  const elsewhere = new LRUCache<string, ElsewhereError>({
    max: MOST_KNOWN,
    ttl: KNOWN_MS,
    perf: { now: () => deps.clock.mono() },
  });
  const following = new Map<string, Promise<string | null>>();
  /** Who has a tenant after the process that doesn't take what is for it; this node where nobody has. */
  const nextOf = (id: string, run: string) => {
    elsewhere.delete(id);
    const asked = following.get(id) ?? nextOwner(records, { id, run }, deps);
    following.set(id, asked);
    return asked.finally(() => following.delete(id));
  };
  const find = async (id: string): Promise<FoundStore | null> => {
    const found = await findStoreOf(database, id);
    if (found?.isAlive !== true || found.node === node) return found;
    const fault = new ElsewhereError(found.address, () => nextOf(id, found.run));
    elsewhere.set(id, fault);
    throw fault;
  };
  const places: TenantPlaces = {
    async mustBeFree(id) {
      const known = elsewhere.get(id);
      if (known !== undefined) throw known;
      await find(id);
    },
    async stamp(id) {
      const found = await findStoreOf(database, id);
      if (found === null) return ABSENT;
      return found.clean ? `${found.epoch}:${found.seq}` : IN_USE;
    },
    // What wasn't left is due.
    async *changed() {},
    async start(id, hooks) {
      const opened = openKept(records, { id, found: await find(id), hooks }, deps);
      opening.add(opened);
      return opened.finally(() => opening.delete(opened));
    },
    async giveBack() {
      ending.abort();
      await Promise.allSettled(opening);
    },
    async rest(id, atMs) {
      records.resting.set(id, atMs);
    },
    async takeLeft(isOpen) {
      for (const id of await tenantsHanded(database))
        if (isOpen(id)) await records.takers.get(id)?.();
    },
    hasUnknown: () => mayLackAddresses(database),
  };
  return { places, close };
}

async function nextOwner(
  { database, node, address }: Records,
  { id, run }: { id: string; run: string },
  { clock }: BoxDeps,
): Promise<string | null> {
  const until = clock.mono() + HELD_MS;
  for (;;) {
    const found = await findStoreOf(database, id);
    if (found?.isAlive !== true || found.node === node) return address;
    if (found.run !== run) return found.address;
    if (clock.mono() >= until) return null;
    await sleep(clock, LOOK_MS);
  }
}

interface Opening {
  id: string;
  found: FoundStore | null;
  hooks: StartHooks;
}

async function openKept(records: Records, opening: Opening, deps: BoxDeps): Promise<Tenant> {
  const { id, found, hooks } = opening;
  const { database, resting, takers, preparing, ending, upgrade } = records;
  if (preparing.has(id)) throw notNow();
  const directory = join(records.data, hostedFiles.tenants);
  const path = join(directory, `${id}.db`);
  const mark = `${id}.database`;
  mustBeKnown(found, { path, epoch: readMark(directory, mark)?.epoch ?? 0 });
  const record = recordOf(records, opening, deps);
  const { epoch, seq } = await record.take().catch(elsewhere);
  let isLost = false;
  let madeOf: MadeOf | null = null;
  const lost = (why: string) => {
    isLost = true;
    hooks.onLost(why);
  };
  const keeper = keeperOf(record, id, deps, { lost, madeOf: () => madeOf });
  const over = new AbortController();
  const closed = async () => {
    over.abort();
    takers.delete(id);
    await keeper.stop();
    resting.delete(id);
  };
  let tenant: Tenant | null = null;
  try {
    // Before anything is kept under it: a database that was set back is known by that.
    writeMark(directory, { ...newMark, kept: true, epoch }, mark);
    if (seq === 0) for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
    else {
      const replace = async () => {
        const of = { database: database.leases, tenantId: id, isKnown: true };
        const copy = await openCopyOf(path, of);
        madeOf = await replaceStore(path, { copy, wasLost: false }, deps);
        ending.throwIfAborted();
        await upgrade(path);
      };
      const prepare = () => {
        preparing.add(id);
        const replaced = replace().finally(() => preparing.delete(id));
        // What is changed here after that is a copy's: the next one to open it compares it with the database.
        return unlessAborted(replaced, ending, notNow);
      };
      await livingOn(record, deps, prepare).catch(elsewhere);
    }
    const outages = outageOf(found, unixSeconds(deps.clock));
    const { durable } = keeper;
    tenant = records.start(id, path, hooks, { keeper, durable, closed, outages });
    await keeper.ready(false);
    const left = { tenant, keeper, signal: over.signal };
    takers.set(id, () => takeSeats(records, left, deps));
    await takers.get(id)?.();
    return tenant;
  } catch (error) {
    await (tenant?.stop() ?? closed());
    throw isLost ? notNow() : error;
  }
}

function recordOf(
  { database, together: shared, node, address, resting }: Records,
  { id, found }: Opening,
  { random }: BoxDeps,
): ReturnType<typeof postgresRecord> {
  return postgresRecord({
    database,
    node,
    // One of its own for each opening: a late word of the one before changes nothing.
    run: hexId(random),
    earlier: found?.node === node ? [found.run] : [],
    address,
    isOneOfMany: true,
    together: shared,
    found: () => found,
    tenantId: () => id,
    keyId: () => null,
    onOthers() {},
    dueAt: () => resting.get(id) ?? null,
  });
}

/** Adds the accounts and keys that an operator left for a tenant. */
function takeSeats(
  { database, memberships }: Records,
  { tenant, keeper, signal }: { tenant: Tenant; keeper: Keeper; signal: AbortSignal },
  { clock, log }: BoxDeps,
): Promise<void> {
  const take = async (_id: string, rows: readonly { what: string }[]) => {
    for (const { what } of rows) {
      const seat = addedSeat(what);
      const role = takeSeat(tenant.store, seat);
      await memberships.put({ tenantId: tenant.id, accountId: seat.account.id, role });
    }
  };
  return takeLeftRows({ database, tenant, keeper, take }, { clock, signal }).catch((err: unknown) =>
    log.warn({ err, tenant: tenant.id }, "a key can't be added"),
  );
}

/** While its owner was gone, and hadn't left it, it was down, whoever else served. null: it wasn't. */
function outageOf(found: FoundStore | null, now: number) {
  return found === null || found.clean ? null : [{ from: now - found.unheard, to: now }];
}

function keeperOf(
  record: ReturnType<typeof postgresRecord>,
  tenant: string,
  { clock, log }: BoxDeps,
  { lost, madeOf }: { lost(why: string): void; madeOf(): MadeOf | null },
): Keeper {
  return createKeeper({
    clock,
    record,
    unconfirmed: null,
    inStep: true,
    hasOthers: () => false,
    madeOf,
    onLost: ({ message }) => lost(message),
    onAlone() {},
    onCompared: (why, pages) => log.debug({ tenant, why, pages }, "compared with the database"),
    onRotten: (page, isBack) =>
      log.error(
        { tenant, page },
        isBack
          ? "the disk had changed a page of a tenant's store: the database's is there again"
          : "the disk has changed a page of a tenant's store, and the database hasn't got it",
      ),
  });
}

/** Throws StoreFault where the database lacks what this node's file may have. */
function mustBeKnown(
  found: FoundStore | null,
  { path, epoch }: { path: string; epoch: number },
): void {
  if (found === null && epoch === 0 && existsSync(path))
    throw new StoreFault(
      "misconfigured",
      `${path} isn't in the database: box hosted move brings tenants' stores there.`,
    );
  if ((found?.epoch ?? 0) >= epoch) return;
  throw new StoreFault(
    "misconfigured",
    `The database was set back, as by a restored backup of its own: it may lack what ${path} has. To go on with the ` +
      "database's, move the tenant's files aside on every node.",
  );
}

const elsewhere = (error: unknown): never => {
  throw error instanceof RecordFault ? new ElsewhereError(null) : error;
};

const notNow = () =>
  new ServiceError("not_ready", "This tenant's data isn't reached at this moment: try again.", {
    retryAfter: AGAIN_SECONDS,
  });
