import { isDeepStrictEqual } from "node:util";
import { sweepAlerts } from "../../src/core/alerts/old-alerts.ts";
import { setMeta } from "../../src/ground/store/meta.ts";
import type { Store } from "../../src/ground/store/store.ts";
import { type Counter, counters, readFigures } from "../../src/records/numbers/figures.ts";
import { readUntil, reckonSome } from "../../src/records/numbers/reckon.ts";
import { seeded } from "./seeded.ts";

/** Numbers of a story: reckoned a few lines at a time as it goes, counted in another way at its end. */

type Counts = Partial<Record<Counter, number>>;
/** By the row that holds them: `all|day|{date}|`, `person|month|{month}|ann`. */
type Sums = Map<string, Counts>;

const ZONE = "America/St_Johns";

export interface StoryNumbers {
  /** Reads some lines of history, now and then. */
  read(store: Store): void;
  /** What differs from an independent count, also once retention has taken the alerts, and when all is reckoned anew. */
  faults(store: Store): string[];
}

export function numbersOfStory(seed: number): StoryNumbers {
  const random = seeded(seed + 0x5eed);
  const begin = (store: Store) =>
    store.write((tx) => {
      setMeta(tx, "numbers_timezone", ZONE);
      tx.sql("UPDATE accounts SET timezone = ?").run(ZONE);
    });
  let isBegun = false;
  return {
    read(store) {
      if (!isBegun) begin(store);
      isBegun = true;
      if (random.chance(0.3)) store.write((tx) => reckonSome(tx, 1 + random.below(40)));
    },
    faults(store) {
      if (!isBegun) begin(store);
      const must = countedOf(store);
      const all = (tx: Parameters<typeof reckonSome>[0]) => {
        while (reckonSome(tx, 1 + random.below(200)));
      };
      store.write(all);
      const faults = differing("as it went", must, keptIn(store));
      // What follows is undone: others look at the story as it was.
      class Undo extends Error {}
      try {
        store.write((tx) => {
          // Every day is forgotten, and reckoned again from what history is kept.
          tx.db.exec("DELETE FROM number_days; DELETE FROM number_people");
          setMeta(tx, "numbers_read", 0);
          all(tx);
          faults.push(...differing("anew", must, keptIn(tx)));
          const old = { before: Number.MAX_SAFE_INTEGER, counted: readUntil(tx), most: 100_000 };
          sweepAlerts(tx, old);
          all(tx);
          faults.push(...differing("after retention", must, keptIn(tx)));
          throw new Undo();
        });
      } catch (error) {
        if (!(error instanceof Undo)) throw error;
      }
      return faults;
    },
  };
}

type Reads = Pick<Store, "sql">;

function keptIn(store: Reads): Sums {
  const rows = store
    .sql(
      "SELECT by || '|' || span || '|' || at || '|' || project_id || '|' || key AS id, figures FROM number_days",
    )
    .all() as { id: string; figures: string }[];
  return new Map(rows.map(({ id, figures }) => [id, readFigures(figures).counts]));
}

function differing(when: string, must: Sums, is: Sums): string[] {
  const full = (counts: Counts = {}) => counters.map((name) => counts[name] ?? 0);
  const ids = new Set([...must.keys(), ...is.keys()]);
  return [...ids]
    .filter((id) => !isDeepStrictEqual(full(must.get(id)), full(is.get(id))))
    .slice(0, 3)
    .map(
      (id) =>
        `numbers ${when}: ${id} is ${JSON.stringify(full(is.get(id)))}, must be ${JSON.stringify(full(must.get(id)))}`,
    );
}

interface Line {
  id: number;
  alert: number;
  at: number;
  kind: string;
  who: string | null;
  said: Record<string, unknown>;
}

interface Alert {
  id: number;
  project: number;
  rule: number;
  opened_at: number;
  count: number;
}

const LOUD = ["web_push", "voice", "sms", "ntfy", "pushover", "telegram", "slack"];

/** Counts over the timelines: every fact by itself, on the clock that Temporal knows. */
function countedOf(store: Store): Sums {
  const sums: Sums = new Map();
  const there = new Set(store.sql("SELECT id FROM accounts").pluck().all());
  const alerts = store
    .sql(
      "SELECT id, project_id AS project, rule_id AS rule, opened_at, count FROM alerts WHERE drill = 0",
    )
    .all() as Alert[];
  const lines = (
    store
      .sql(
        "SELECT id, alert_id AS alert, at, kind, account_id AS who, detail FROM timeline ORDER BY id",
      )
      .all() as (Line & { detail: string })[]
  ).map((line) => ({ ...line, said: JSON.parse(line.detail) }));
  const of = Map.groupBy(lines, ({ alert }) => alert);
  const rung: { alert: Alert; level: number; line: Line; who: string }[] = [];

  const add = (
    { project, rule }: Alert,
    fact: { level: number; at: number; who?: string | null; what: Counter; n?: number },
  ) => {
    const { level, at, who = null, what, n = 1 } = fact;
    const wall = local(at);
    const spans = [
      ["day", Math.round(Date.UTC(wall.year, wall.month - 1, wall.day) / 86_400_000)],
      ["month", (wall.year - 1970) * 12 + wall.month - 1],
    ] as const;
    for (const [span, when] of spans)
      for (const id of [
        `all|${span}|${when}|0|`,
        `all|${span}|${when}|${project}|`,
        `level|${span}|${when}|0|${level}`,
        `level|${span}|${when}|${project}|${level}`,
        `rule|${span}|${when}|${project}|${rule}`,
        ...(who === null
          ? []
          : [`person|${span}|${when}|0|${who}`, `person|${span}|${when}|${project}|${who}`]),
      ]) {
        const sum = sums.get(id) ?? {};
        sums.set(id, sum);
        sum[what] = (sum[what] ?? 0) + n;
      }
  };

  for (const alert of alerts) {
    const own = of.get(alert.id) ?? [];
    const at = alert.opened_at;
    const level = own[0]?.said["level"] as number;
    add(alert, { level, at, what: "opened" });
    const last = own.findLast(({ kind }) => kind === "resolved" || kind === "reopened");
    const ack = own.find(({ kind }) => kind === "acknowledged");
    if (last?.kind === "resolved" && last.said["reason"] !== "merged") {
      add(alert, { level, at, what: "events", n: alert.count });
      if (last.who === null && ack === undefined && last.at - at <= 300)
        add(alert, { level, at, what: "ended_by_themselves" });
    }
    for (const { kind } of own)
      if (kind === "reopened") add(alert, { level, at, what: "reopened" });
    if (own.some(({ kind }) => kind === "unreachable" || kind === "reached_nobody"))
      add(alert, { level, at, what: "reached_nobody" });
    if (ack !== undefined) {
      add(alert, { level, at, who: ack.who, what: "acknowledged" });
      const before = own.slice(0, own.indexOf(ack));
      const n = before.filter(({ kind }) => kind === "escalated").length;
      add(alert, { level, at, who: ack.who, what: "steps", n });
    }
    const told = own.flatMap((line) => {
      if (line.kind === "page_sent" || line.kind === "shown")
        return [{ line, who: String(line.said["account"]) }];
      const phones = (line.kind === "delivered" && line.said["accounts"]) || [];
      return (phones as string[]).map((who) => ({ line, who }));
    });
    for (const page of Map.groupBy(
      told,
      ({ line, who }) => `${who} ${line.said["rung"]}`,
    ).values()) {
      const [first] = page;
      if (first === undefined) continue;
      add(alert, { level, at: first.line.at, who: first.who, what: "pages" });
      const loud = page.find(
        ({ line }) => line.kind === "delivered" || LOUD.includes(String(line.said["contact"])),
      );
      if (loud !== undefined) rung.push({ alert, level, ...loud });
    }
  }

  const before = new Map<string, number>();
  const broken = new Set<string>();
  for (const { alert, level, line, who } of rung.sort((a, b) => a.line.id - b.line.id)) {
    const { at } = line;
    const wall = local(at);
    const { hour } = wall;
    const isNight = hour < 7 || hour > 21 || wall.dayOfWeek > 5;
    const fact = { level, at, who };
    add(alert, { ...fact, what: "rings" });
    if (isNight) add(alert, { ...fact, what: "night_rings" });
    const rang = before.get(who);
    before.set(who, at);
    if (rang !== undefined && Math.abs(at - rang) < 600) continue;
    add(alert, { ...fact, what: "interruptions" });
    if (isNight) add(alert, { ...fact, what: "night_interruptions" });
    const night = `${who} ${wall.subtract({ hours: 6 }).toPlainDate()}`;
    if ((hour < 6 || hour > 22) && !broken.has(night)) {
      broken.add(night);
      add(alert, { ...fact, what: "nights_broken" });
    }
  }
  // What was a person's is gone with them.
  for (const id of sums.keys()) {
    const [by, , , , who] = id.split("|");
    if (by === "person" && !there.has(who)) sums.delete(id);
  }
  return sums;
}

const local = (at: number) =>
  Temporal.Instant.fromEpochMilliseconds(at * 1000)
    .toZonedDateTimeISO(ZONE)
    .toPlainDateTime();
