import * as z from "zod";
import { notFound } from "../../ground/kit/errors.ts";
import type { Reader } from "../../ground/store/store.ts";
import { getAlertRow } from "./alert.ts";
import { type ReachEntry, reachAnswer } from "./reach-report.ts";
import { readReach } from "./reached.ts";

/** What a drill came to: which messages arrived and when, which are under way, and which didn't arrive and why. */

const way = reachAnswer.extend({
  after_seconds: z.int().nullable().meta({ description: "From the drill's beginning to `at`." }),
});
type Way = z.output<typeof way>;

export const drillAnswer = z
  .object({
    id: z.string().meta({ description: "Of the drill's alert." }),
    project: z.string(),
    rule: z.string(),
    state: z.enum(["running", "over"]),
    began_at: z.int(),
    ended_at: z.int().nullable(),
    acknowledged_by: z.string().nullable(),
    acknowledged_at: z.int().nullable(),
    arrived: z.array(way).meta({
      description: "Shown, delivered, or accepted by a service that reports no more.",
    }),
    waiting: z.array(way).meta({ description: "Under way, held back, or on a later rung." }),
    missed: z.array(way).meta({ description: "Who and what wasn't reached, and why." }),
    verdict: z.object({
      level: z.enum(["good", "warn", "error"]).nullable().meta({
        description:
          "error: no person was reached. warn: somebody or something wasn't. null: not known yet.",
      }),
      sentence: z.string(),
    }),
  })
  .meta({ id: "DrillReport" });
export type DrillReport = z.output<typeof drillAnswer>;

type Sorted = "arrived" | "waiting" | "missed" | null;

/** How an entry counts; null: nothing was to arrive there, somebody else had duty or it was taken back in time. */
function sortOf({ reason, attempts }: Pick<ReachEntry, "reason" | "attempts">): Sorted {
  switch (reason) {
    case "shown":
    case "delivered":
    case "accepted_not_confirmed":
      return "arrived";
    case "delayed":
    case "silenced":
    case "step_not_reached":
      return "waiting";
    // It failed until somebody had it by another way, or until the end.
    case "withdrawn":
      return attempts > 0 ? "missed" : null;
    case "failed":
    case "no_channel":
    case "no_device":
    case "channel_disabled":
    case "no_ladder":
    case "account_removed":
      return "missed";
    case "not_on_call":
    case "covered_by_override":
    case "event_filtered":
    case "repeat_is_silent":
      return null;
  }
}

/** Pure. A step that wasn't due before the end is nothing that is missing. */
function sortWays(
  entries: readonly ReachEntry[],
  { beganAt, isOver }: { beganAt: number; isOver: boolean },
): Pick<DrillReport, "arrived" | "waiting" | "missed"> {
  const sorted = { arrived: [] as Way[], waiting: [] as Way[], missed: [] as Way[] };
  for (const entry of entries) {
    const sort = sortOf(entry);
    if (sort === null || (isOver && entry.reason === "step_not_reached")) continue;
    const after = entry.at === null ? null : Math.max(0, entry.at - beganAt);
    sorted[sort].push({ ...entry, after_seconds: after });
  }
  return sorted;
}

/** Throws 404, also for an alert that is no drill of this project. */
export function readDrill(
  reader: Reader,
  { projectId, id, now }: { projectId: number; id: number; now: number },
): DrillReport {
  const row = getAlertRow(reader, id);
  if (row.drill === 0 || row.project_id !== projectId) throw notFound("drill");
  const isOver = row.state === "resolved";
  const sorted = sortWays(readReach(reader, id, now), { beganAt: row.opened_at, isOver });
  const acked = reader.sql<[id: number], { by: string | null; at: number }>(ACKED).get(id);
  return {
    id: String(row.id),
    project: row.project,
    rule: row.rule,
    state: isOver ? "over" : "running",
    began_at: row.opened_at,
    ended_at: row.resolved_at,
    acknowledged_by: acked?.by ?? null,
    acknowledged_at: acked?.at ?? null,
    ...sorted,
    verdict: verdictOf(sorted),
  };
}

const ACKED = `SELECT account_id AS by, at FROM timeline WHERE alert_id = ? AND kind = 'acknowledged'
  ORDER BY id LIMIT 1`;

function verdictOf(sorted: Pick<DrillReport, "arrived" | "waiting" | "missed">) {
  const { arrived, waiting, missed } = sorted;
  const people = new Set(arrived.flatMap(({ account_id }) => account_id ?? []));
  const first = Math.min(...arrived.flatMap(({ after_seconds }) => after_seconds ?? []));
  const said = [
    people.size === 0 ? "Nobody was reached" : `${counted(people.size, "person")} reached`,
    ...(Number.isFinite(first) ? [`the first message after ${first} s`] : []),
    ...(missed.length > 0 ? [`${missed.length} didn't arrive`] : []),
    ...(waiting.length > 0 ? [`${waiting.length} still to come`] : []),
  ];
  const isOpen = waiting.length > 0;
  const worst = people.size === 0 ? "error" : missed.length > 0 ? "warn" : "good";
  const level = isOpen && worst !== "warn" ? null : worst;
  return { level, sentence: `${said.join(", ")}.` } as const;
}

const counted = (n: number, one: string) => `${n} ${n === 1 ? one : "people"}`;
