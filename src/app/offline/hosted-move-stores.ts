import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hexId } from "../../ground/kit/ids.ts";
import { prepareDirectory } from "../../ground/store/directory.ts";
import { StoreFault } from "../../ground/store/faults.ts";
import { syncDirectory, syncFile } from "../../ground/store/files.ts";
import { createKeeper } from "../../ground/store/record/keeper.ts";
import { openStore } from "../../ground/store/store.ts";
import { hostedFiles } from "../../hosted/files.ts";
import { storesKept } from "../../hosted/record/all-stores.ts";
import { openCopy } from "../../hosted/record/copy.ts";
import { postgresRecord } from "../../hosted/record/postgres-record.ts";
import { findStoreOf } from "../../hosted/record/taking.ts";
import type { Database } from "../../hosted/registry/postgres/connect.ts";
import type { Directory } from "../operate/status.ts";

const filesOf = (data: string, id: string) => {
  const directory = join(data, hostedFiles.tenants);
  return { directory, path: join(directory, `${id}.db`), mark: join(directory, `${id}.database`) };
};

/**
 * Makes the database's stores of these tenants like the files of a stopped service. Again, it writes only what differs.
 * Resolves with how many there are.
 */
export async function storesThere(
  database: Database,
  ids: readonly string[],
  place: Directory,
): Promise<number> {
  let count = 0;
  for (const id of ids) {
    const { path, mark } = filesOf(place.data, id);
    if (!existsSync(path)) continue;
    // Of a database before this one.
    rmSync(mark, { force: true });
    await storeThere(database, id, { ...place, path });
    count++;
  }
  return count;
}

async function storeThere(
  database: Database,
  id: string,
  { path, clock, random }: Directory & { path: string },
): Promise<void> {
  const found = await findStoreOf(database, id);
  const record = postgresRecord({
    database,
    node: "move",
    run: hexId(random),
    // Of a try that was killed: nobody else is here before the registry is.
    earlier: found === null ? [] : [found.run],
    address: null,
    isOneOfMany: true,
    found: () => found,
    tenantId: () => id,
    keyId: () => null,
    onOthers() {},
  });
  const keeper = createKeeper({
    clock,
    record,
    unconfirmed: null,
    hasOthers: () => false,
    onLost() {},
    onAlone() {},
    onCompared() {},
    onRotten() {},
  });
  const store = openStore({ path, kind: "box", clock, random, keeper, durable: keeper.durable });
  try {
    await keeper.ready(false);
  } finally {
    store.close();
    await keeper.stop();
  }
}

/** Makes files of the database's stores, which no node serves. Resolves with how many there are. */
export async function storesBack(database: Database, { data }: Pick<Directory, "data">) {
  prepareDirectory(join(data, hostedFiles.tenants));
  const ids = await storesKept(database);
  for (const id of ids) {
    const { directory, path, mark } = filesOf(data, id);
    for (const file of [`${path}-wal`, `${path}-shm`, mark]) rmSync(file, { force: true });
    const copy = openCopy(database, id, path);
    try {
      await copy.follow();
      if (copy.seq === null)
        throw new StoreFault("damaged", `The database holds no page of tenant ${id}.`);
    } finally {
      copy.close();
    }
    syncFile(path);
    syncDirectory(directory);
  }
  return ids.length;
}
