import type { IngestEvent } from "../ingest/event.ts";
import type { HeartbeatRow, Owed } from "./rows.ts";

/** The event of a heartbeat's change for the rules. The heartbeat's id names its alert. */
export function heartbeatEvent(row: HeartbeatRow, owed: Owed): IngestEvent {
  const { action, reason, instance, exit, duration, at } = owed;
  const keys: Record<string, string> = Object.create(null);
  keys["heartbeat"] = row.name;
  keys["slug"] = row.slug;
  keys["reason"] = reason;
  if (exit !== null) keys["exit_status"] = String(exit);
  if (duration !== null) keys["duration"] = String(duration);
  const details = action === "fire" && reason === "failed" ? row.last_message : null;
  return {
    message: `${row.name}: ${sentenceOf(row, owed)}`,
    level: row.level,
    keys,
    tags: ["heartbeat"],
    named: { action, dedupKey: row.id, instance, expiresAt: null },
    extra: { details, links: [], images: [], occurredAt: at },
  };
}

function sentenceOf(row: HeartbeatRow, { reason, exit, since }: Owed): string {
  switch (reason) {
    case "missing":
      return `no ping since ${timeText(since ?? row.created_at)}`;
    case "overrun":
      return `started at ${timeText(since ?? row.created_at)} and has not ended`;
    case "failed":
      return exit === null ? "failed" : `failed with exit status ${exit}`;
    case "back":
      return "reports again";
    case "paused":
      return "is paused";
    case "deleted":
      return "is watched no more";
  }
}

function timeText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
