import type { KeyRing } from "../../../ground/kit/key-ring.ts";
import { StoreFault } from "../../../ground/store/faults.ts";
import type { Database, DatabaseTx } from "./connect.ts";
import { namesAlive } from "./nodes.ts";
import { postgresSealedKeyIds } from "./relay-keys.ts";

/** A node's key file. */
export interface NodeKeys {
  /** False for a command, which seals only the APNs key and may begin with another key. */
  serves: boolean;
  file: string;
  ring: KeyRing;
}

type Asker = Pick<DatabaseTx, "query">;

/** The digits of a key's id that fit into a number, because `meta` holds numbers. */
const DIGITS = 12;
const markOf = (id: string): number => Number.parseInt(id.slice(0, DIGITS), 16);

/**
 * The first node's key becomes the registry's, even before anything is sealed: nodes with two keys couldn't read each
 * other's secrets. Rejects with StoreFault `misconfigured` for another key.
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
  // During a key change both keys are in everybody's file, and secrets are sealed with either.
  if (!hasMark(keys, mark) || !inUse.includes(present.id)) throw anotherKey(keys);
}

/**
 * Makes a key the registry's before something is sealed with it. Allowed are the present key, a key from a file that
 * holds the present one, and any key while no node serves. Rejects with StoreFault `misconfigured`.
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
      "If they lost it, stop all nodes: box hosted apns set then begins with this one, and each box needs a new relay key.",
  );
}
