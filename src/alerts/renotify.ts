import type { Tx } from "../store/store.ts";
import { getAlertRow } from "./alert.ts";
import { emit } from "./emit.ts";
import { ruleActions } from "./rule-of.ts";
import { writeTimeline } from "./timeline.ts";

/** Says again that an open alert is open: after `renotify_minutes`, or for a new burst (decisions §5). */
export function renotify(tx: Tx, id: number, why: "burst" | "interval"): void {
  const row = getAlertRow(tx, id);
  if (row.state !== "open") return;
  writeTimeline(tx, id, { kind: "renotified", detail: { why } });
  emit(tx, row, { event: "alert.renotified", actions: ruleActions(tx, row) });
}
