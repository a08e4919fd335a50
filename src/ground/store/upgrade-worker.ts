/**
 * The thread that brings an older store to this program's schema. It reports once when its code is loaded, and then
 * answers each store with why it wasn't done; null: it was.
 */
import { parentPort } from "node:worker_threads";
import { systemClock } from "../kit/clock.ts";
import { openSqlite } from "./database.ts";
import { StoreFault } from "./faults.ts";
import { inspect } from "./inspect.ts";
import { upgrade } from "./upgrade.ts";

/** With the environment variables that locate SQLite's addon. */
export interface UpgradeWork {
  path: string;
  env: Record<string, string>;
}

/** Why a store stays as it was. */
export type UpgradeRefused = Pick<StoreFault, "kind" | "message">;

function upgraded({ path, env }: UpgradeWork): UpgradeRefused | null {
  Object.assign(process.env, env);
  try {
    inspect({ path, kind: "box" });
    const db = openSqlite(path);
    try {
      upgrade(db, { path, kind: "box", clock: systemClock });
    } finally {
      db.close();
    }
    return null;
  } catch (error) {
    const { kind, message } = StoreFault.from(error, path);
    return { kind, message };
  }
}

if (parentPort !== null) {
  const port = parentPort;
  port.on("message", (work: UpgradeWork) => port.postMessage(upgraded(work)));
  port.postMessage("ready");
}
