import { existsSync } from "node:fs";
import { join } from "node:path";
import { verifyBackup } from "../../src/backup/verify.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { fileSealer } from "../../src/kit/sealer.ts";
import { lockDirectory } from "../../src/store/lock.ts";
import { sealedKeyIds, unreadableRows } from "../../src/store/sealed.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import type { CrashState } from "./replay.ts";
import { places } from "./story.ts";

/** What a box finds wrong when it starts on a crash state; empty when every promise holds. */
export function wrongWith(state: CrashState): string[] {
  const data = join(state.directory, places.data);
  try {
    return [...wrongWithStore(data, state.acked), ...wrongWithBackup(state)];
  } catch (error) {
    return [`it does not start: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function wrongWithStore(data: string, acked: readonly string[]): string[] {
  const path = join(data, "box.db");
  if (!existsSync(path) && acked.length > 0) return ["the database is gone"];
  if (!existsSync(data)) return [];
  const release = lockDirectory(data);
  const store = openStore({ path, kind: "box", clock: systemClock, random: systemRandom });
  try {
    return [
      ...damage(store),
      ...missing(store, acked),
      ...halves(store),
      ...unreadable(store, data),
    ];
  } finally {
    store.close();
    release();
  }
}

function damage(store: Store): string[] {
  const found = store.db.pragma("integrity_check", { simple: true });
  const broken = store.db.pragma("foreign_key_check") as unknown[];
  return [
    ...(found === "ok" ? [] : [`integrity: ${found}`]),
    ...(broken.length === 0 ? [] : [`${broken.length} broken references`]),
  ];
}

function missing(store: Store, acked: readonly string[]): string[] {
  const stored = new Set(
    store.sql("SELECT json_extract(keys, '$.n') FROM log_lines").pluck().all() as string[],
  );
  const states = new Map(
    (store.sql("SELECT id, state FROM alerts").all() as { id: number; state: string }[]).map(
      ({ id, state }) => [String(id), state],
    ),
  );
  return acked.filter((what) => {
    const [kind, id = ""] = what.split(" ");
    if (kind === "event") return !stored.has(id);
    if (kind === "ack") return states.get(id) !== "acknowledged";
    if (kind === "resolve") return states.get(id) !== "resolved";
    if (kind === "project")
      return store.sql("SELECT 1 FROM projects WHERE name = 'shop'").get() === undefined;
    return false;
  });
}

/** A change without its messages, or a line that no alert has counted: a transaction in halves. */
function halves(store: Store): string[] {
  const count = (text: string) => store.sql(text).pluck().get() as number;
  const mute = count(`SELECT count(*) FROM alerts a WHERE NOT EXISTS (
    SELECT 1 FROM events e JOIN deliveries d ON d.event_row = e.id
    WHERE e.alert_id = a.id AND e.event = 'alert.opened')`);
  const lines = count("SELECT count(*) FROM log_lines");
  const counted = count("SELECT coalesce(sum(count), 0) FROM alerts");
  return [
    ...(mute === 0 ? [] : [`${mute} alerts without a message`]),
    ...(lines === counted ? [] : [`${lines} lines, ${counted} counted`]),
  ];
}

function unreadable(store: Store, data: string): string[] {
  const sealer = fileSealer({
    ...{ dir: data, name: "box.key", inUse: sealedKeyIds(store) },
    ...{ clock: systemClock, random: systemRandom },
  });
  return [
    ...sealer.faults.map(({ file, problem }) => `${file}: ${problem}`),
    ...unreadableRows(store, sealer).map(({ table, id }) => `${table} ${id} can't be opened`),
  ];
}

/** Once a backup was made there is one that can be trusted, whatever the next was doing. */
function wrongWithBackup({ directory, acked }: CrashState): string[] {
  if (!acked.includes("backup")) return [];
  try {
    verifyBackup(join(directory, places.backup));
    return [];
  } catch (error) {
    return [`backup: ${error instanceof Error ? error.message : String(error)}`];
  }
}
