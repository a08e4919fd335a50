import { basename, dirname } from "node:path";
import type { Clock } from "../../../ground/kit/clock.ts";
import { createEgress } from "../../../ground/kit/egress.ts";
import { loadKeyRing } from "../../../ground/kit/key-ring.ts";
import type { Names } from "../../../ground/kit/names.ts";
import type { Random } from "../../../ground/kit/random.ts";
import { type FileSealer, fileSealer } from "../../../ground/kit/sealer.ts";
import { StoreFault } from "../../../ground/store/faults.ts";
import type { SeenGeneration } from "../generation.ts";
import { DatabaseAway } from "./database-faults.ts";
import { shownDatabaseUrl } from "./database-url.ts";
import { openPostgresRegistry } from "./registry.ts";
import type { NodeKeys } from "./sealing-key.ts";
import type { DatabaseSettings } from "./settings.ts";

interface OpenDatabaseOptions {
  settings: DatabaseSettings;
  /** Connections for work. */
  pool?: number;
  /** File of the sealing key that all nodes share. */
  keyFile: string;
  /** False for a command. */
  serves: boolean;
  /** This node's name. */
  node: string;
  clock: Clock;
  random: Random;
  names?: Names;
  /** Called once, where the connection to the database isn't encrypted. */
  onPlain(why: string): void;
  /** The latest generation that this data directory has seen. */
  seen: SeenGeneration;
  onMigrating?(): void;
}

/**
 * Opens the registry on its database through the guarded egress. The operator names the database, so any address is
 * allowed. Rejects with StoreFault: `misconfigured` for another key file than the nodes', and for a database that
 * refuses; `unavailable` for one that doesn't answer.
 */
export async function openDatabaseRegistry(options: OpenDatabaseOptions) {
  const { settings, pool, keyFile, serves, node, clock, random, names, onPlain } = options;
  const { seen, onMigrating } = options;
  const egress = createEgress({ clock, rules: { role: "box" }, ...(names && { names }) });
  const made: { sealer?: FileSealer } = {};
  try {
    const keys = { serves, ...keysIn(keyFile) };
    const registry = await openPostgresRegistry({
      ...settings,
      clock,
      random,
      node,
      onPlain,
      seen,
      ...(pool === undefined ? {} : { pool }),
      dial: (request) => egress.dial(request),
      keys,
      ...(onMigrating && { onMigrating }),
      sealer(inUse) {
        const [dir, name] = [dirname(keyFile), basename(keyFile)];
        made.sealer = fileSealer({ dir, name, inUse, clock, random });
        return made.sealer;
      },
    });
    const close = () => {
      registry.close();
      void egress.close();
    };
    if (made.sealer === undefined) throw new Error("the registry was opened without a sealer");
    return { registry: { ...registry, close }, sealer: made.sealer };
  } catch (error) {
    void egress.close();
    throw inWords(error, settings);
  }
}

/** Reads the key file and creates none: nodes with different keys couldn't read each other's secrets. */
function keysIn(file: string): Omit<NodeKeys, "serves"> {
  const ring = ringIn(dirname(file), basename(file));
  if (ring !== null) return { file, ring };
  throw new StoreFault(
    "misconfigured",
    `${file} holds no key that can be used (32 bytes, readable by its owner alone): make it once, with ` +
      `(umask 077; head -c 32 /dev/urandom > ${file}), and give each node the same one.`,
  );
}

function ringIn(dir: string, name: string) {
  try {
    return loadKeyRing(dir, name).ring;
  } catch {
    return null;
  }
}

/** The error for an operator if the database doesn't answer; other errors unchanged. */
export function inWords(error: unknown, { url }: DatabaseSettings): unknown {
  if (!(error instanceof DatabaseAway)) return error;
  const kind = error.isRefusal ? "misconfigured" : "unavailable";
  const what = error.isRefusal ? "refuses this node" : "doesn't answer";
  return new StoreFault(kind, `${shownDatabaseUrl(url)} ${what}: ${error.why}`, error);
}
