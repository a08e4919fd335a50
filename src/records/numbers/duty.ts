import type { Asking } from "../../core/oncall/answers.ts";
import { gridOnCall } from "../../core/oncall/grid.ts";
import { Zone } from "../../core/oncall/zone.ts";
import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { Reader, Store, Tx } from "../../ground/store/store.ts";
import { tenantZone } from "../../people/reader-clock.ts";
import { beginOf, isNight, localDay } from "./days.ts";
import { EVERY_PROJECT } from "./rows.ts";

/**
 * Hours on call. A day that is over is reckoned once from the schedules as they stand then, and its rows replace whatever it
 * had; the day that runs is reckoned when somebody asks.
 */

/** Seconds of one day. */
export interface DutySeconds {
  day: number;
  /** 0: of any project, each second once. */
  projectId: number;
  account: string;
  seconds: number;
  /** Of these, at night in the person's zone. */
  night: number;
}

interface Span {
  from: number;
  until: number;
}

const ZONES = "SELECT id, timezone FROM accounts WHERE timezone IS NOT NULL";
const PROJECTS = "SELECT name, id FROM projects";
const REMOVED = "SELECT 1 FROM accounts WHERE id = ?";

/** Who was on call on this day, up to `now`. */
export async function dutyOf(asking: Asking, day: number, now: number): Promise<DutySeconds[]> {
  const { reader } = asking;
  const tenant = new Zone(tenantZone(reader));
  const range = { from: beginOf(tenant, day), until: Math.min(beginOf(tenant, day + 1), now) };
  if (range.until <= range.from) return [];
  const { schedules } = await gridOnCall(asking, range);
  const ids = new Map(reader.sql<[], [string, number]>(PROJECTS).raw().all() as [string, number][]);
  const zones = new Map(reader.sql<[], [string, string]>(ZONES).raw().all() as [string, string][]);
  const held = new Map<string, { projectId: number; account: string; spans: Span[] }>();
  for (const { project, shifts } of schedules)
    for (const { account_id: account, starts_at, ends_at } of shifts)
      for (const projectId of [EVERY_PROJECT, ids.get(project) ?? EVERY_PROJECT]) {
        const key = `${projectId} ${account}`;
        const one = held.getOrInsertComputed(key, () => ({ projectId, account, spans: [] }));
        const from = Math.max(starts_at, range.from);
        one.spans.push({ from, until: Math.min(ends_at, range.until) });
      }
  return [...held.values()].flatMap(({ projectId, account, spans }) => {
    if (reader.sql<[string]>(REMOVED).get(account) === undefined) return [];
    const zone = zones.get(account);
    const apart = joined(spans);
    const seconds = apart.reduce((sum, { from, until }) => sum + until - from, 0);
    const night = nightIn(zone === undefined ? tenant : new Zone(zone), apart);
    return seconds === 0 ? [] : [{ day, projectId, account, seconds, night }];
  });
}

/** Spans that meet or overlap are one. */
function joined(spans: readonly Span[]): Span[] {
  const apart: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = apart.at(-1);
    if (last === undefined || span.from > last.until) apart.push({ ...span });
    else last.until = Math.max(last.until, span.until);
  }
  return apart;
}

/** Every zone's clock shows full quarters when it changes, and nights begin and end at full hours. */
const QUARTER = 900;

function nightIn(zone: Zone, spans: readonly Span[]): number {
  let night = 0;
  for (const { from, until } of spans)
    for (let at = from; at < until; ) {
      const next = Math.min(until, at - (at % QUARTER) + QUARTER);
      if (isNight(zone, at)) night += next - at;
      at = next;
    }
  return night;
}

const FORGET = "DELETE FROM number_duty WHERE day = ?";
const KEEP =
  "INSERT INTO number_duty (day, project_id, account_id, seconds, night) VALUES (?, ?, ?, ?, ?)";

function keepDuty(tx: Tx, day: number, duties: readonly DutySeconds[]): void {
  tx.sql<[number]>(FORGET).run(day);
  for (const { projectId, account, seconds, night } of duties)
    tx.sql<[number, number, string, number, number]>(KEEP).run(
      day,
      projectId,
      account,
      seconds,
      night,
    );
  setMeta(tx, "numbers_duty", day);
}

/**
 * Reckons the next day that is over. Returns whether there are more. The first time it only notes the day: who was on call
 * before isn't known. A clock that was set back has its days again.
 */
export async function reckonDuty(
  asking: Asking & { reader: Store },
  now: number,
): Promise<boolean> {
  const { reader: store } = asking;
  const yesterday = localDay(new Zone(tenantZone(store)), now) - 1;
  const known = getMeta(store, "numbers_duty");
  const last = known === undefined ? null : Number(known);
  if (last === null || last > yesterday) {
    store.write((tx) => setMeta(tx, "numbers_duty", yesterday));
    return false;
  }
  if (last === yesterday) return false;
  const duties = await dutyOf(asking, last + 1, Number.POSITIVE_INFINITY);
  store.write((tx) => keepDuty(tx, last + 1, duties));
  return last + 1 < yesterday;
}

/** Sums of these days by one of their columns: of one project's (0: of any) or of each project's own. */
export function dutiesKept(
  reader: Reader,
  { from, to }: { from: number; to: number },
  { by, projectId }: { by: "day" | "account_id" | "project_id"; projectId: number | null },
): DutySeconds[] {
  const sums = `SELECT day, project_id AS projectId, account_id AS account, sum(seconds) AS seconds, sum(night) AS night
    FROM number_duty WHERE day BETWEEN ? AND ? AND project_id ${projectId === null ? "<>" : "="} ? GROUP BY ${by}`;
  return reader
    .sql<[number, number, number], DutySeconds>(sums)
    .all(from, to, projectId ?? EVERY_PROJECT);
}
