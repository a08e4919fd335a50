import { basename, dirname, join } from "node:path";
import type { Names } from "../ground/kit/names.ts";
import { type FileSealer, fileSealer, type Sealer } from "../ground/kit/sealer.ts";
import { hostedFiles } from "../hosted/files.ts";
import { seenIn } from "../hosted/nodes/seen.ts";
import type { Registry } from "../hosted/registry/registry.ts";
import { openSqliteRegistry } from "../hosted/registry/sqlite/registry.ts";
import { onceItAnswers } from "./database-wait.ts";
import type { HostedConfig } from "./hosted-config.ts";
import type { BoxDeps } from "./parts.ts";

interface OpenedRegistry {
  registry: Registry;
  sealer: Sealer;
}

/** Opens the registry: a file of the data directory, or a database as node `node`. Rejects with StoreFault. */
export async function openHostedRegistry(
  config: HostedConfig,
  deps: BoxDeps,
  { node, names }: { node: string; names: Names },
): Promise<OpenedRegistry> {
  const { database } = config;
  if (database === null) return openFile(config, deps);
  const { clock, random, log } = deps;
  // Loaded only where a database is used.
  const { openDatabaseRegistry } = await import("../hosted/registry/postgres/open.ts");
  const seen = seenIn(config.data, (error) =>
    log.warn({ err: error }, "the record of this node's database can't be written"),
  );
  const opened = await onceItAnswers(deps, () =>
    openDatabaseRegistry({
      settings: database,
      pool: database.pool,
      keyFile: config.keyFile,
      serves: true,
      node,
      clock,
      random,
      names,
      seen,
      onMigrating: () => log.info("this node or another one is migrating the database's schema"),
      onPlain: (why) => log.warn({ why }, "the connection to the database isn't encrypted"),
    }),
  );
  tellKeys(opened.sealer, deps);
  return opened;
}

function openFile(config: HostedConfig, deps: BoxDeps): OpenedRegistry {
  const { clock, random, onFatal } = deps;
  const made: { sealer?: Sealer } = {};
  const registry = openSqliteRegistry({
    path: join(config.data, hostedFiles.registry),
    clock,
    random,
    onFatal,
    sealer(inUse) {
      const { keyFile } = config;
      const files = fileSealer({
        dir: dirname(keyFile),
        name: basename(keyFile),
        inUse,
        clock,
        random,
      });
      tellKeys(files, deps);
      made.sealer = files;
      return files;
    },
  });
  if (made.sealer === undefined) throw new Error("the registry was opened without a sealer");
  return { registry, sealer: made.sealer };
}

function tellKeys({ faults, missing }: FileSealer, { log }: BoxDeps): void {
  for (const { file, problem } of faults) log.error({ file, problem }, "key file unusable");
  if (missing.length > 0)
    log.error({ keys: missing }, "relay keys or the APNs key can't be opened");
}
