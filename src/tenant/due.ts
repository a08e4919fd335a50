import { nextWaiting } from "../core/alerts/waiting.ts";
import type { Store } from "../ground/store/store.ts";
import { nextHeartbeat } from "../in/heartbeats/rows.ts";
import type { IngestHandle } from "../in/ingest/handle.ts";
import { awaitsAnswers } from "../out/paging/answerable.ts";
import { nextPage } from "../out/paging/pages.ts";
import { nextShiftWork } from "./shift-watch.ts";

const TIMED = "SELECT min(due_at) FROM alerts WHERE due_at IS NOT NULL";
const DELIVERIES = `SELECT min(d.next_attempt_ms) FROM deliveries d
  JOIN integrations i ON i.id = d.integration_id AND i.enabled = 1 WHERE d.status = 'pending'`;
const STORMS = "SELECT min(tell_ms) FROM storms";
const EXECUTIONS = "SELECT min(next_attempt_ms) FROM executions WHERE status = 'pending'";
const UNTOLD = "SELECT min(over_at) FROM silences WHERE json_extract(body, '$.tell_author') = 1";

/** While an answer may come, the tenant is due this soon. So it stays open, or is opened again. */
const LISTEN_MS = 20_000;

/**
 * When a tenant next has work: an alert's timers, what waits before it opens one, what no longer comes, a heartbeat, a
 * delivery, an execution, an answer, or a silence whose author waits to be notified of its end. Unix milliseconds; null
 * when nothing waits. Clean-up (retention) doesn't count. Where something else is due by `soon`, what no longer comes
 * isn't looked for.
 */
export function nextDue(
  {
    store: reader,
    ingest,
  }: {
    store: Store;
    ingest: Pick<IngestHandle, "nextMissing">;
  },
  soon = Number.NEGATIVE_INFINITY,
): number | null {
  const read = (sql: string) => reader.sql<[], number | null>(sql).pluck().get() ?? null;
  const timed = read(TIMED);
  const heartbeat = nextHeartbeat(reader);
  const shift = nextShiftWork(reader);
  const times = [
    ...[timed, nextWaiting(reader), heartbeat, shift, read(UNTOLD)].map((at) =>
      at === null ? null : at * 1000,
    ),
    read(DELIVERIES),
    read(EXECUTIONS),
    read(STORMS),
    nextPage(reader),
    awaitsAnswers(reader) ? reader.clock.now() + LISTEN_MS : null,
  ];
  const next = Math.min(...times.map((at) => at ?? Number.POSITIVE_INFINITY));
  // Reads all that was counted today.
  const missing = next <= soon ? null : ingest.nextMissing();
  const first = Math.min(next, missing === null ? Number.POSITIVE_INFINITY : missing * 1000);
  return first === Number.POSITIVE_INFINITY ? null : first;
}
