import { check } from "../../../ground/kit/check.ts";
import {
  type HeartbeatAnswer,
  type HeartbeatChange,
  heartbeatChange,
} from "../../../in/heartbeats/heartbeat.ts";
import { readNumber } from "../ui/plain.ts";

/** A heartbeat as the fields of its form, and back. */

export const LENGTH_UNITS = [
  { value: "60", name: "minutes" },
  { value: "3600", name: "hours" },
  { value: "86400", name: "days" },
  { value: "1", name: "seconds" },
];

/** A length of time as a number and its unit, the largest that it is whole in. */
function putLength(fields: URLSearchParams, name: string, seconds: number): void {
  const unit = [86_400, 3600, 60, 1].find((each) => seconds % each === 0) ?? 1;
  fields.set(name, String(seconds / unit));
  fields.set(`${name}-unit`, String(unit));
}

export function fieldsOfHeartbeat(beat: HeartbeatAnswer): URLSearchParams {
  const { name, period_seconds, cron, timezone, grace_seconds, max_run_seconds, level } = beat;
  const fields = new URLSearchParams({ name, timezone, cron: cron ?? "", level: String(level) });
  fields.set("how", cron === undefined ? "every" : "cron");
  putLength(fields, "period_seconds", period_seconds ?? 86_400);
  putLength(fields, "grace_seconds", grace_seconds);
  if (max_run_seconds === null) fields.set("max_run_seconds-unit", "60");
  else putLength(fields, "max_run_seconds", max_run_seconds);
  return fields;
}

/** What a new one begins with: a day, and half an hour of grace. */
export function newHeartbeatFields(zone: string): URLSearchParams {
  return new URLSearchParams({
    name: "",
    how: "every",
    period_seconds: "1",
    "period_seconds-unit": "86400",
    cron: "",
    oncalendar: "",
    timezone: zone,
    level: "400",
    grace_seconds: "30",
    "grace_seconds-unit": "60",
    max_run_seconds: "",
    "max_run_seconds-unit": "60",
  });
}

/** What a form says, as the interface takes it; its own faults are named by `check`. Throws 400. */
export function heartbeatOfFields(form: URLSearchParams): HeartbeatChange & { name: string } {
  const text = (name: string) => (form.get(name) ?? "").trim();
  const seconds = (name: string) => {
    const n = readNumber(text(name));
    return typeof n === "number" ? Math.round(n * Number(text(`${name}-unit`) || 1)) : n;
  };
  const how = text("how");
  const longest = seconds("max_run_seconds");
  const body = {
    name: text("name"),
    ...(how === "cron" && { cron: text("cron"), timezone: text("timezone") }),
    ...(how === "oncalendar" && { oncalendar: text("oncalendar") }),
    ...(how !== "cron" &&
      how !== "oncalendar" && { period_seconds: seconds("period_seconds") ?? 0 }),
    grace_seconds: seconds("grace_seconds") ?? 0,
    max_run_seconds: longest ?? null,
    level: readNumber(text("level")) ?? 400,
  };
  return { ...check(heartbeatChange, body, "body"), name: body.name };
}
