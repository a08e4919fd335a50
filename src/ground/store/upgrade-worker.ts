/**
 * The thread that brings an older store to this program's schema. It reports once when its code is loaded, and then
 * answers each store with why it wasn't done; null: it was.
 */
import { parentPort } from "node:worker_threads";
import { systemClock } from "../kit/clock.ts";
import { openSqlite } from "./database.ts";
import { upgrade } from "./upgrade.ts";

/** With the environment variables that locate SQLite's addon. */
export interface UpgradeWork {
  path: string;
  env: Record<string, string>;
}

function upgraded({ path, env }: UpgradeWork): string | null {
  try {
    Object.assign(process.env, env);
    const db = openSqlite(path);
    try {
      upgrade(db, { path, kind: "box", clock: systemClock });
    } finally {
      db.close();
    }
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

if (parentPort !== null) {
  const port = parentPort;
  port.on("message", (work: UpgradeWork) => port.postMessage(upgraded(work)));
  port.postMessage("ready");
}
