import type { Tx } from "../../../ground/store/store.ts";
import type { EventNames } from "../../../out/outbox/event-names.ts";
import { withdrawPages } from "../../../out/outbox/stand-down.ts";
import { withdrawPersonal } from "../../../out/paging/pages.ts";
import type { AlertRow } from "../alert.ts";
import { emit } from "../emit.ts";
import { voidHits } from "../hits.ts";
import { whoDid } from "../holder.ts";
import { recheckHeldBy } from "../many.ts";
import { noteToPeople } from "../personal.ts";
import { displayNameOf } from "../said.ts";
import { writeTimeline } from "../timeline.ts";
import {
  type Performed,
  tellAssigned,
  tellEscalated,
  tellFallback,
  tellOpened,
  tellRenotified,
} from "./tell.ts";
import type { AlertEffect, AlertMoment, Resolver } from "./turn.ts";

/** What a step came to is written: history, events, pages. In the transaction that writes the alert. */

type Perform<What extends AlertEffect["what"]> = (
  tx: Tx,
  row: AlertRow,
  of: Performed<What>,
) => void;

/** `after`: the alert as it stands when all of it is done. */
export function perform(
  tx: Tx,
  after: AlertRow,
  of: AlertEffect<AlertRow>,
  moment: AlertMoment,
): void {
  const then = "alert" in of ? of.alert : after;
  (performs[of.what] as Perform<AlertEffect["what"]>)(tx, then, { ...of, moment });
}

const performs: { [What in AlertEffect["what"]]: Perform<What> } = {
  line: (tx, row, line) => writeTimeline(tx, row.id, line),

  held: (tx, row, { quiet: { by, kind, until, reason }, news, also, isNews }) => {
    if (!isNews) return;
    writeTimeline(tx, row.id, {
      kind: "silenced",
      detail: { by, kind, until, reason, held: news, ...(also.length > 0 && { also }) },
    });
  },

  released: (tx, { id }, { by }) =>
    writeTimeline(tx, id, { kind: "silence_over", detail: { by, since: quietSince(tx, id) } }),

  opened: tellOpened,
  renotified: tellRenotified,
  escalated: tellEscalated,
  fallback: tellFallback,
  assigned: tellAssigned,

  acknowledged: (tx, row, { by, via, moment: { rule } }) => {
    const withdrawn = withdrawPages(tx, row.id) + withdrawPersonal(tx, row.id);
    writeTimeline(tx, row.id, {
      kind: "acknowledged",
      accountId: typeof by === "string" ? by : null,
      detail: {
        ...(typeof by === "string" ? {} : { by: "source", source: by.source }),
        ...(via === undefined ? {} : { via }),
        ...(withdrawn > 0 ? { pages_withdrawn: withdrawn } : {}),
        ...(row.wakes_at === null ? {} : { until: row.wakes_at }),
      },
    });
    // Whoever heard nothing of its opening hears nothing of this.
    if (row.untold === 1) return;
    const eventRow = emit(tx, row, {
      event: "alert.acknowledged",
      rule,
      said: () => ({
        by: typeof by === "string" ? displayNameOf(tx, by) : `its source ${by.source}`,
      }),
    });
    noteToPeople(tx, row.id, { event: "alert.acknowledged", eventRow });
  },

  resolved: (tx, row, { by, moment: { rule } }) => {
    const { id } = row;
    voidHits(tx, { ruleId: row.rule_id, key: row.alert_key });
    const withdrawn = withdrawPages(tx, id) + withdrawPersonal(tx, id);
    writeTimeline(tx, id, {
      kind: "resolved",
      accountId: "accountId" in by ? by.accountId : null,
      detail: {
        ...("reason" in by ? { reason: by.reason, ...by.detail } : {}),
        ...("source" in by ? { by: "source", source: by.source } : {}),
        ...("via" in by && by.via !== undefined ? { via: by.via } : {}),
        ...(withdrawn > 0 ? { pages_withdrawn: withdrawn } : {}),
        count: row.count,
      },
    });
    // Whoever heard nothing of its opening hears nothing of its end.
    if (row.untold === 0) {
      const said = () => endSaid(tx, row, by);
      const eventRow = emit(tx, row, { event: "alert.resolved", rule, said });
      noteToPeople(tx, id, { event: "alert.resolved", eventRow });
    }
    recheckHeldBy(tx, `alert:${id}`);
  },
};

const SINCE = `SELECT min(at) FROM timeline WHERE alert_id = :id AND kind = 'silenced'
  AND id > coalesce((SELECT max(id) FROM timeline WHERE alert_id = :id AND kind = 'silence_over'), 0)`;

/** When what held an alert's news back began to, Unix seconds. */
function quietSince(tx: Tx, id: number): number {
  return tx.sql<[{ id: number }], number | null>(SINCE).pluck().get({ id }) ?? tx.at;
}

/** How long the alert stood, who or what ended it, and who had it. */
function endSaid(tx: Tx, row: AlertRow, by: Resolver): EventNames {
  return {
    lasted: Math.max(0, tx.at - row.opened_at),
    ...("accountId" in by && { by: displayNameOf(tx, by.accountId) }),
    ...("source" in by && { by: `its source ${by.source}` }),
    ...("reason" in by && { because: reasonOf(by) }),
    ...(row.acked_at !== null && acknowledgedBy(tx, row.id)),
  };
}

function reasonOf({ reason, detail = {} }: Extract<Resolver, { reason: string }>): string {
  if (reason === "merged") return `it is one with alert ${detail["into"]}`;
  if (reason === "drill") return "the drill is over";
  if (reason === "came") return "it comes again";
  if (reason === "stale") return "its sender no longer reported it";
  return `no match for ${detail["quiet_minutes"]} min`;
}

function acknowledgedBy(tx: Tx, id: number): EventNames {
  const name = whoDid(tx, id, "acknowledged");
  return name === null ? {} : { acknowledged: name };
}
