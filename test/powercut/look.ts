import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { fileSealer } from "../../src/ground/kit/sealer.ts";
import { lockDirectory } from "../../src/ground/store/lock.ts";
import { readMark } from "../../src/ground/store/record/mark.ts";
import { sealedKeyIds, unreadableRows } from "../../src/ground/store/sealed.ts";
import { openStore, type Store } from "../../src/ground/store/store.ts";
import { verifyBackup } from "../../src/records/backup/verify.ts";
import { keptLines } from "../support/kept-lines.ts";
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
  const isKept = readMark(data)?.kept;
  if (process.env["DATABASE"] === "1" && acked.length > 0 && isKept !== true)
    return ["nothing says that a database has it, too"];
  const release = lockDirectory(data);
  const store = openStore({ path, kind: "box", clock: systemClock, random: systemRandom });
  try {
    return [
      ...damage(store),
      ...missing(store, acked),
      ...misnamed(store, acked),
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
    keptLines(store).map(({ keys }) => (JSON.parse(keys ?? "{}") as { n?: string }).n),
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

/**
 * Named alerts that aren't as their sender was told. The next word of a name may have been taken, too; a report may be
 * a minute old, which shows in nothing here.
 */
function misnamed(store: Store, acked: readonly string[]): string[] {
  const rows = store
    .sql(
      "SELECT dedup_key AS name, instance, state FROM alerts WHERE dedup_key IS NOT NULL ORDER BY id",
    )
    .all() as { name: string; instance: string; state: string }[];
  const alerts = Map.groupBy(rows, ({ name }) => name);
  const said = acked.flatMap((what) => {
    const [, status, instance = "", name = ""] = /^(firing|resolved) (\d+) (.*)$/.exec(what) ?? [];
    return status === undefined ? [] : [{ status, instance, name }];
  });
  const last = new Map(said.map((word) => [word.name, word]));
  const firings = new Set(said.map(({ name, instance }) => `${name} ${instance}`));
  return [...alerts.values()]
    .filter((own) => own.filter(({ state }) => state !== "resolved").length > 1)
    .map(([one]) => `two alerts of ${one?.name} stand`)
    .concat(
      [...firings]
        .filter((firing) => !rows.some(({ name, instance }) => firing === `${name} ${instance}`))
        .map((firing) => `firing ${firing} has no alert`),
      said
        .filter(({ status }) => status === "resolved")
        .filter(({ name, instance }) =>
          rows.some(
            (row) => row.name === name && row.instance === instance && row.state !== "resolved",
          ),
        )
        .map(({ name, instance }) => `the end of ${name} ${instance} is undone`),
      [...last.values()]
        .filter(({ status, name, instance }) => {
          const ended = rows.some(
            (row) => row.name === name && row.instance === instance && row.state === "resolved",
          );
          // Its third report may have been followed by an end that wasn't answered.
          const reports = said.filter((word) => word.name === name && word.instance === instance);
          return status === "firing" && reports.length < 3 && ended;
        })
        .map(({ name, instance }) => `firing ${instance} of ${name} was ended by nobody`),
    );
}

/** A change without its messages, or a line that no alert has counted: a transaction in halves. */
function halves(store: Store): string[] {
  const count = (text: string) => store.sql(text).pluck().get() as number;
  const mute = count(`SELECT count(*) FROM alerts a WHERE NOT EXISTS (
    SELECT 1 FROM events e JOIN deliveries d ON d.event_row = e.id
    WHERE e.alert_id = a.id AND e.event = 'alert.opened')`);
  const lines = count("SELECT count(*) FROM log_lines");
  const counted = count("SELECT coalesce(sum(count), 0) FROM alerts WHERE dedup_key IS NULL");
  const unpaged = count(`SELECT count(*) FROM events e WHERE e.event = 'alert.escalated'
    AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.event_row = e.id)`);
  const taken = count(`SELECT count(*) FROM pages p JOIN alerts a ON a.id = p.alert_id
    WHERE p.status = 'pending' AND p.event = 'alert.escalated' AND a.state <> 'open'`);
  return [
    ...(unpaged === 0 ? [] : [`${unpaged} escalations without their pages`]),
    ...(taken === 0 ? [] : [`${taken} pages wait for alerts that are taken`]),
    ...(mute === 0 ? [] : [`${mute} alerts without a message`]),
    ...(lines === counted ? [] : [`${lines} lines, ${counted} counted`]),
  ];
}

function unreadable(store: Store, data: string): string[] {
  const sealer = fileSealer({
    dir: data,
    name: "box.key",
    inUse: sealedKeyIds(store),
    clock: systemClock,
    random: systemRandom,
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
