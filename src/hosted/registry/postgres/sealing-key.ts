import type { KeyRing } from "../../../ground/kit/key-ring.ts";
import { StoreFault } from "../../../ground/store/faults.ts";
import type { Database, DatabaseTx } from "./connect.ts";
import { namesAlive } from "./nodes.ts";
import { postgresSealedKeyIds } from "./relay-keys.ts";

/** A key file as a node has it. */
export interface NodeKeys {
  /** False for a command, which seals nothing but the APNs key, and may begin with another key. */
  serves: boolean;
  file: string;
  ring: KeyRing;
}

type Asker = Pick<DatabaseTx, "query">;

/** As many digits of a key's id as a number holds, which is what `meta` has. */
const DIGITS = 12;
const markOf = (id: string): number => Number.parseInt(id.slice(0, DIGITS), 16);

/**
 * The first node's key is the registry's from then on, also while nothing is sealed yet: of nodes with two keys each would
 * seal what the other can't read. Rejects with StoreFault `misconfigured` for another one.
 */
export async function mustHavePostgresKey(database: Database, keys: NodeKeys): Promise<void> {
  const { present } = keys.ring;
  const inUse = await postgresSealedKeyIds({ database });
  if (inUse.length > 0 && !inUse.includes(present.id)) throw anotherKey(keys);
  await database.query(
    "INSERT INTO meta (key, value) VALUES ('sealing_key', $1) ON CONFLICT DO NOTHING",
    [markOf(present.id)],
  );
  const mark = await keyMarkOn(database);
  if (mark === markOf(present.id)) return;
  // While keys are exchanged both are in everyone's file, and something is sealed under either.
  if (!hasMark(keys, mark) || !inUse.includes(present.id)) throw anotherKey(keys);
}

/**
 * Makes a key the registry's, before something is sealed under it: the one that it has, one whose file holds that one, too,
 * or any while no node serves. Rejects with StoreFault `misconfigured`.
 */
export async function beginPostgresKey(database: Database, keys: NodeKeys): Promise<void> {
  await database.transaction(
    async (tx) => {
      await tx.query("SELECT 1 FROM meta WHERE key = 'schema' FOR UPDATE");
      const mark = await keyMarkOn(tx);
      const alive = mark === null || hasMark(keys, mark) ? [] : await namesAlive(tx);
      if (alive.length > 0)
        throw new StoreFault(
          "misconfigured",
          `${keys.file} is not the key of the nodes that serve (${alive.join(", ")}), and they couldn't read what is sealed under it: ` +
            "name theirs with --hosted-key. Where theirs is lost, stop them first, and wait 10 s.",
        );
      await tx.query(
        `INSERT INTO meta (key, value) VALUES ('sealing_key', $1)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        [markOf(keys.ring.present.id)],
      );
    },
    { repeatable: true },
  );
}

async function keyMarkOn({ query }: Asker): Promise<number | null> {
  const rows = await query<{ value: number }>("SELECT value FROM meta WHERE key = 'sealing_key'");
  return rows[0]?.value ?? null;
}

const hasMark = ({ ring }: NodeKeys, mark: number | null): boolean =>
  [...ring.keys.keys()].some((id) => markOf(id) === mark);

function anotherKey({ file }: NodeKeys): StoreFault {
  return new StoreFault(
    "misconfigured",
    `${file} is not the key that the database's secrets are sealed under: give this node the file that the others have. ` +
      "Where that is lost, stop all nodes; then box hosted apns set begins with this one, and each box needs a fresh relay key.",
  );
}
