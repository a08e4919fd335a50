import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { EventSaid } from "../../out/outbox/said.ts";
import { withdrawPages } from "../../out/outbox/stand-down.ts";
import { withdrawPersonal } from "../../out/paging/pages.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change } from "./apply.ts";
import { emit } from "./emit.ts";
import { voidHits } from "./hits.ts";
import { lookAgainBy } from "./many.ts";
import { noteToPeople } from "./personal.ts";
import { findRule } from "./rule-of.ts";
import { calledOf } from "./said.ts";
import { writeTimeline } from "./timeline.ts";
import { noTimers, timerColumns, timersOf } from "./timers.ts";
import { whoDid } from "./whose.ts";

/** Who or what resolves an alert. */
export type Resolver =
  /** A person; `via`: the kind of contact that they answered through. */
  | { accountId: string; via?: string | undefined }
  /** Its sender said so; the source's name. */
  | { source: string }
  | { reason: "quiet" | "stale" | "merged" | "drill"; detail?: Record<string, unknown> };

/**
 * Resolves an alert: everything timed stops, its key is free for a new one, and events before now don't count
 * towards that (contract §5). A resolved one stays as it is. Throws 404.
 */
export function resolve(tx: Tx, id: number, by: Resolver): AlertRow {
  const before = getAlertRow(tx, id);
  if (before.state === "resolved") return before;
  const row = change(tx, before, {
    state: "resolved",
    resolved_at: tx.at,
    updated_seq: takeSequence(tx, "updated_seq"),
    silenced_by: null,
    expires_at: null,
    ...timerColumns({ ...noTimers(timersOf(before)), heldUntil: null, wakesAt: null }),
  });
  voidHits(tx, { ruleId: before.rule_id, key: before.alert_key });
  const withdrawn = withdrawPages(tx, id) + withdrawPersonal(tx, id);
  writeTimeline(tx, id, {
    kind: "resolved",
    accountId: "accountId" in by ? by.accountId : null,
    detail: {
      ...("reason" in by ? { reason: by.reason, ...by.detail } : {}),
      ...("source" in by ? { by: "source", source: by.source } : {}),
      ...("via" in by && by.via !== undefined ? { via: by.via } : {}),
      ...(withdrawn > 0 ? { pages_withdrawn: withdrawn } : {}),
    },
  });
  // Whoever heard nothing of its opening hears nothing of its end.
  if (row.untold === 0) {
    const eventRow = emit(tx, row, {
      event: "alert.resolved",
      rule: findRule(tx, row.rule_id),
      said: () => endSaid(tx, row, by),
    });
    noteToPeople(tx, id, { event: "alert.resolved", eventRow });
  }
  lookAgainBy(tx, `alert:${id}`);
  tx.note({
    topic: "alert",
    alertId: id,
    alertKey: row.alert_key,
    ruleId: row.rule_id,
    opened: false,
    unresolved: before.drill === 0 ? -1 : 0,
  });
  return row;
}

/** How long the alert stood, who or what ended it, and who had it. */
function endSaid(tx: Tx, row: AlertRow, by: Resolver): EventSaid {
  return {
    lasted: Math.max(0, tx.at - row.opened_at),
    ...("accountId" in by && { by: calledOf(tx, by.accountId) }),
    ...("source" in by && { by: `its source ${by.source}` }),
    ...("reason" in by && { because: reasonOf(by) }),
    ...(row.acked_at !== null && acknowledgedBy(tx, row.id)),
  };
}

function reasonOf({ reason, detail = {} }: Extract<Resolver, { reason: string }>): string {
  if (reason === "merged") return `it is one with alert ${detail["into"]}`;
  if (reason === "drill") return "the drill is over";
  if (reason === "stale") return "its sender no longer reported it";
  return `no match for ${detail["quiet_minutes"]} min`;
}

function acknowledgedBy(tx: Tx, id: number): EventSaid {
  const name = whoDid(tx, id, "acknowledged");
  return name === null ? {} : { acknowledged: name };
}
