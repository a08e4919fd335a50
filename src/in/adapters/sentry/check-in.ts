import type { JobReport, WatchedKeys } from "../adapter.ts";
import { fitted, type Loose } from "../fit.ts";
import { asText, type JsonFields, objectOf } from "../json.ts";

const WORDS: Readonly<Record<string, JobReport["word"]>> = {
  in_progress: "start",
  ok: "success",
  error: "fail",
};

/**
 * A check-in of a monitor, for the heartbeat with its slug, which is created if the SDK sends a schedule. Without a
 * heartbeat, a failed check-in fires an alert and a good one ends it. Null without a status.
 */
export function sentryCheckIn(report: JsonFields, watched: WatchedKeys): JobReport | null {
  const slug = asText(report["monitor_slug"]);
  const status = asText(report["status"]);
  const word = Object.hasOwn(WORDS, status) ? WORDS[status] : undefined;
  if (slug === "" || word === undefined) return null;
  return {
    name: slug,
    word,
    rid: uuidOf(asText(report["check_in_id"])),
    pace: paceOf(objectOf(report["monitor_config"])),
    otherwise:
      word === "start" ? "nothing" : { event: fitted(eventOf(slug, word, report), watched) },
  };
}

function eventOf(slug: string, word: JobReport["word"], report: JsonFields): Loose {
  const isOver = word === "success";
  return {
    message: `Job ${slug} ${isOver ? "ended well" : "failed"}`,
    level: isOver ? 200 : 400,
    keys: [
      ["monitor_slug", slug] as const,
      ["environment", asText(report["environment"])] as const,
      ["duration", asText(report["duration"])] as const,
    ].filter(([, text]) => text !== ""),
    tags: ["sentry", "check_in"],
    named: {
      action: isOver ? "resolve" : "fire",
      dedupKey: `check_in:${slug}`,
      instance: null,
      expiresAt: null,
    },
  };
}

function uuidOf(text: string): string | null {
  const plain = text.replaceAll("-", "").toLowerCase();
  return /^[0-9a-f]{32}$/.test(plain)
    ? plain.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
    : null;
}

const SECONDS: Readonly<Record<string, number>> = {
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 7 * 86_400,
  month: 31 * 86_400,
  year: 366 * 86_400,
};

/** Sentry's margin and longest run are in minutes. */
function paceOf(config: JsonFields | null): JobReport["pace"] {
  const schedule = objectOf(config?.["schedule"]);
  if (config === null || schedule === null) return null;
  const { type, value, unit } = schedule;
  const grace = secondsOf(config["checkin_margin"]);
  const longest = secondsOf(config["max_runtime"]);
  const others = {
    ...(grace === null ? {} : { grace_seconds: grace }),
    ...(longest === null ? {} : { max_run_seconds: longest }),
  };
  if (type === "crontab") {
    const timezone = asText(config["timezone"]);
    return { cron: value, ...(timezone === "" ? {} : { timezone }), ...others };
  }
  const seconds = Object.hasOwn(SECONDS, asText(unit)) ? SECONDS[asText(unit)] : undefined;
  if (type !== "interval" || seconds === undefined || typeof value !== "number") return null;
  return { period_seconds: value * seconds, ...others };
}

function secondsOf(minutes: unknown): number | null {
  return typeof minutes === "number" && minutes > 0 ? Math.round(minutes * 60) : null;
}
