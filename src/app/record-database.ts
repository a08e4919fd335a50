import { createEgress } from "../ground/kit/egress.ts";
import { seenIn } from "../hosted/nodes/seen.ts";
import { type Database, openDatabase } from "../hosted/registry/postgres/connect.ts";
import type { DatabaseSettings } from "../hosted/registry/postgres/settings.ts";
import type { BoxDeps } from "./parts.ts";

/** Connections to the database that stores are kept in. */
export function recordDatabase(
  data: string,
  settings: DatabaseSettings,
  { clock, random, log }: BoxDeps,
  pool = 2,
): { database: Database; close(): void } {
  const egress = createEgress({ clock, rules: { role: "box" } });
  const database = openDatabase({
    ...settings,
    clock,
    random,
    pool,
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
