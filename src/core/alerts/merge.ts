import type { Tx } from "../../ground/store/store.ts";
import { handOverPages } from "../../out/outbox/stand-down.ts";
import { handOverPersonal } from "../../out/paging/pages.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change } from "./apply.ts";
import { takeOccurrences } from "./buckets.ts";
import { forgetStanding } from "./inhibitor.ts";
import { joinedLabels, labelColumns, labelsOf, namesOfRule } from "./labels.ts";
import { happen } from "./life/happen.ts";
import { recheckHeldBy } from "./many.ts";
import { tellWorse } from "./raise-level.ts";
import { findRule } from "./rule-of.ts";
import { writeTimeline } from "./timeline.ts";
import { resolve } from "./verbs.ts";

/** What an alert is counted under: its key, and the root of its template. */
interface AlertPlace {
  alertKey: string;
  templateId: string;
}

/** An alert goes on under another key, which no other standing alert has. */
export function moveAlert(tx: Tx, id: number, { alertKey, templateId }: AlertPlace): AlertRow {
  return change(tx, getAlertRow(tx, id), { alert_key: alertKey, template_id: templateId });
}

/**
 * Makes one of two standing alerts of one rule whose keys turned out to be one; returns the id of the one that
 * lives, now under `place`. The other is resolved and says into which.
 *
 * An acknowledgement holds for what somebody saw, so where one is open and one acknowledged, the open one lives. Of two
 * in one state the first lives. Nothing that either owes ends, comes later or is withdrawn with it.
 */
export function mergeAlerts(tx: Tx, ids: readonly [number, number], place: AlertPlace): number {
  const [first, second] = ids.toSorted((a, b) => a - b).map((id) => getAlertRow(tx, id)) as [
    AlertRow,
    AlertRow,
  ];
  const [kept, ended] =
    first.state === "open" || second.state !== "open" ? [first, second] : [second, first];
  if (ended.state === "open") {
    handOverPages(tx, { from: ended.id, to: kept.id });
    handOverPersonal(tx, { from: ended.id, to: kept.id });
  }
  resolve(tx, ended.id, { reason: "merged", detail: { into: String(kept.id) } });
  take(tx, moveAlert(tx, kept.id, place), ended);
  writeTimeline(tx, kept.id, {
    kind: "merged",
    detail: { alert: String(ended.id), state: ended.state, count: ended.count },
  });
  return kept.id;
}

/** What `kept` becomes with all that was counted into `ended`, and all that it owed. */
function take(tx: Tx, kept: AlertRow, ended: AlertRow): void {
  const [earlier, later] = ended.last_seen > kept.last_seen ? [kept, ended] : [ended, kept];
  const rule = findRule(tx, kept.rule_id);
  const first = rule === null ? [] : namesOfRule(rule);
  const counted = {
    count: kept.count + ended.count,
    first_seen: Math.min(kept.first_seen, ended.first_seen),
    last_seen: later.last_seen,
    last_message: later.last_message,
    // Of several sources it is no one's: a silence of one of them doesn't take it.
    source: kept.source === ended.source ? kept.source : null,
    title: later.title ?? earlier.title,
    ...labelColumns(joinedLabels(labelsOf(earlier), labelsOf(later), first)),
  };
  const both = happen(tx, kept, { what: "merged", other: ended, counted });
  takeOccurrences(tx, { from: ended.id, into: kept.id });
  // It may have had one value where it has several now.
  recheckHeldBy(tx, `alert:${kept.id}`);
  forgetStanding(tx, both);
  if (ended.level > kept.level) tellWorse(tx, both, kept.level);
}
