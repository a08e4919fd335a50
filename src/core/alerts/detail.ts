import * as z from "zod";
import type { Reader } from "../../ground/store/store.ts";
import { alertExecutions, executionAnswer } from "../../out/outbox/rows.ts";
import { findSilence } from "../quiet/rows.ts";
import { silenceAnswer } from "../quiet/silence.ts";
import { toSilence } from "../quiet/silences.ts";
import { type AlertRow, alertAnswer, getAlertRow } from "./alert.ts";
import { occurrencesOf } from "./buckets.ts";
import { reachAnswer } from "./reach-report.ts";
import { readReach } from "./reached.ts";
import { rungAhead, rungsAhead } from "./rungs-ahead.ts";
import { toAlert } from "./shown.ts";

/** All that somebody wants to know of an alert at three in the morning, in one read. */

const earlierAlert = z
  .object({
    id: z.string(),
    opened_at: z.int(),
    resolved_at: z.int().nullable(),
    resolved_by: z.string().nullable().meta({
      description: "An account; null: it ended by itself, or its sender ended it.",
    }),
    count: z.int(),
  })
  .meta({ id: "EarlierAlert" });
type EarlierAlert = z.output<typeof earlierAlert>;

export const detailAnswer = z
  .object({
    alert: alertAnswer,
    reach: z.array(reachAnswer),
    next: z.array(rungAhead).meta({
      description: "What the ladder does within a day if nobody takes it and nothing ends it.",
    }),
    buckets: z
      .object({
        seconds: z.int().meta({ description: "60, or 3600 if the alert began over 6 hours ago." }),
        from: z.int(),
        counts: z.array(z.int()).meta({ description: "Oldest first." }),
      })
      .meta({ id: "Occurrences" }),
    earlier: z.array(earlierAlert).meta({
      description: "Alerts of the same key before it, the latest first, twenty at most.",
    }),
    executions: z.array(executionAnswer).meta({ description: "Newest first, a hundred at most." }),
    silence: silenceAnswer.nullable().meta({
      description: "What holds its news back; null also where that is another alert.",
    }),
    now: z.int().meta({ description: "The box's clock." }),
  })
  .meta({ id: "AlertDetail" });
export type AlertDetail = z.output<typeof detailAnswer>;

const MOST_EXECUTIONS = 100;

/** `now` in Unix seconds. Throws 404. */
export function alertDetail(reader: Reader, id: number, now: number): AlertDetail {
  const row = getAlertRow(reader, id);
  const silence = row.silenced_by === null ? null : findSilence(reader, row.silenced_by);
  return {
    alert: toAlert(reader, row),
    reach: readReach(reader, id, now),
    next: rungsAhead(reader, row, now),
    buckets: occurrencesOf(reader, row, now),
    earlier: earlierAlerts(reader, row),
    executions: alertExecutions(reader, id, MOST_EXECUTIONS),
    silence: silence === null ? null : toSilence(reader, silence, now),
    now,
  };
}

const EARLIER = `SELECT CAST(id AS TEXT) AS id, opened_at, resolved_at,
    (SELECT t.account_id FROM timeline t WHERE t.alert_id = a.id AND t.kind = 'resolved' ORDER BY t.id DESC LIMIT 1)
      AS resolved_by, count
  FROM alerts a WHERE alert_key = ? AND a.id < ? ORDER BY a.id DESC LIMIT 20`;

/** Those of the same key before this one, the latest first. */
export function earlierAlerts(
  reader: Reader,
  { alert_key, id }: Pick<AlertRow, "alert_key" | "id">,
): EarlierAlert[] {
  return reader.sql<[key: string, id: number], EarlierAlert>(EARLIER).all(alert_key, id);
}
