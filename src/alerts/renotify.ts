import type { Tx } from "../store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { emit } from "./emit.ts";
import { ruleActions } from "./rule-of.ts";
import { writeTimeline } from "./timeline.ts";

/**
 * Says again that an open alert is open, for a new burst of matches (contract §5, dedup_window_minutes).
 * `max_renotify` bounds the repeats of `renotify_minutes` and not these.
 */
export function renotifyBurst(tx: Tx, id: number): void {
  const row = getAlertRow(tx, id);
  if (row.state !== "open") return;
  renotify(tx, row, { actions: ruleActions(tx, row), detail: { why: "burst" } });
}

/** Says again that the open alert `row` is open. `detail` says why, in the history. */
export function renotify(
  tx: Tx,
  row: AlertRow,
  { actions, detail }: { actions: readonly string[] | null; detail: Record<string, unknown> },
): void {
  writeTimeline(tx, row.id, { kind: "renotified", detail });
  emit(tx, row, { event: "alert.renotified", actions });
}
