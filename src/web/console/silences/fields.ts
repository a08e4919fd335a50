import { isTimezone } from "../../../core/oncall/zone.ts";
import type { LabelCondition } from "../../../core/projects/condition.ts";
import { coversAll } from "../../../core/quiet/decide.ts";
import { labelText, readLabel } from "../../../core/quiet/label-text.ts";
import { type SilenceWrite, silenceWrite } from "../../../core/quiet/silence.ts";
import { check } from "../../../ground/kit/check.ts";
import { invalid, ServiceError } from "../../../ground/kit/errors.ts";
import type { PageCall } from "../screen.ts";
import { instantField, onThatDay } from "../ui/local-time.ts";
import { joinList, readNumber, splitList } from "../ui/plain.ts";

/** A silence as the fields of its form, and back. */

const HOUR = 3600;
const DAY = 86_400;

/** Until when, as the form offers it; those that name no seconds are worked out. */
export const ENDS = [
  { value: "1h", name: "1 hour", seconds: HOUR },
  { value: "2h", name: "2 hours", seconds: 2 * HOUR },
  { value: "4h", name: "4 hours", seconds: 4 * HOUR },
  { value: "8h", name: "8 hours", seconds: 8 * HOUR },
  { value: "24h", name: "1 day", seconds: DAY },
  { value: "7d", name: "7 days", seconds: 7 * DAY },
  { value: "tomorrow", name: "tomorrow 09:00", seconds: null },
  { value: "say", name: "when I say", seconds: 12 * HOUR },
  { value: "at", name: "a time …", seconds: null },
] as const;

/** What people type for a pair: `provider=acme, region=eu`. Throws 400 for a part without `=`. */
export function readPairs(text: string): Record<string, string> {
  const pairs = splitList(text).map((part): [string, string] => {
    const at = part.indexOf("=");
    if (at < 1)
      throw invalid([{ field: "/match/identifiers", reason: "must be like provider=acme" }]);
    const name = part.slice(0, at).trim();
    // An object would lose it, and the silence take more than was said.
    if (name === "__proto__")
      throw invalid([{ field: "/match/identifiers", reason: "can't have that name" }]);
    return [name, part.slice(at + 1).trim()];
  });
  return Object.fromEntries(pairs);
}

/** Pairs as one line; null where they wouldn't come back as they are. */
function pairsLine(pairs: Readonly<Record<string, string>>): string | null {
  const line = joinList(Object.entries(pairs).map(([name, value]) => `${name}=${value}`));
  if (line === null) return null;
  try {
    const back = readPairs(line);
    const isSame = Object.entries(pairs).every(([name, value]) => back[name] === value);
    return isSame && Object.keys(back).length === Object.keys(pairs).length ? line : null;
  } catch {
    return null;
  }
}

/** What people type for labels: `host=db7, service=~web.*`. Throws 400 for a part that is none. */
function readLabels(text: string): LabelCondition[] {
  return splitList(text).map((part) => {
    const condition = readLabel(part);
    if (condition === null)
      throw invalid([{ field: "/labels", reason: "must be like host=db7 or service=~web.*" }]);
    return condition;
  });
}

/** Labels as one line; null where they wouldn't come back as they are. */
function labelsLine(labels: readonly LabelCondition[]): string | null {
  const line = joinList(labels.map(labelText));
  if (line === null) return null;
  try {
    return JSON.stringify(readLabels(line)) === JSON.stringify(labels) ? line : null;
  } catch {
    return null;
  }
}

/** Fields that say which alerts; what can't stand in a line of text goes as JSON, which the form keeps and doesn't show. */
export function fieldsOfMatch({
  project,
  match,
  conditions,
  labels,
}: Pick<SilenceWrite, "project" | "match" | "conditions" | "labels">): URLSearchParams {
  const fields = new URLSearchParams({ project: project ?? "" });
  const { rule, template_id, identifiers, sources, below_level } = match;
  if (rule !== null) fields.set("match/rule", rule);
  if (template_id !== null) {
    fields.set("template", template_id);
    fields.set("match/template_id", template_id);
  }
  const line = pairsLine(identifiers);
  if (line === null) fields.set("pairs", JSON.stringify(identifiers));
  else fields.set("match/identifiers", line);
  const typed = labelsLine(labels);
  if (typed === null) fields.set("said", JSON.stringify(labels));
  else if (typed !== "") fields.set("labels", typed);
  const names = joinList(sources);
  if (names === null) fields.set("names", JSON.stringify(sources));
  else fields.set("match/sources", names);
  if (below_level !== null) fields.set("match/below_level", String(below_level));
  if (conditions.length > 0) fields.set("conditions", JSON.stringify(conditions));
  return fields;
}

const parsed = (text: string | null): unknown => {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
};

/** What a form says, as the interface takes it. Throws 400 and 422 with what is wrong at which field. */
export function writeOfFields(
  { now, look }: Pick<PageCall, "now" | "look">,
  form: URLSearchParams,
): SilenceWrite {
  const text = (name: string) => (form.get(name) ?? "").trim();
  const or = (name: string) => (text(name) === "" ? null : text(name));
  const isPlanned = form.get("kind") === "maintenance";
  const body = {
    project: or("project"),
    match: {
      rule: or("match/rule"),
      template_id: or("match/template_id"),
      identifiers: parsed(form.get("pairs")) ?? readPairs(text("match/identifiers")),
      sources: parsed(form.get("names")) ?? splitList(text("match/sources")),
      below_level: readNumber(text("match/below_level")) ?? null,
    },
    conditions: parsed(form.get("conditions")) ?? [],
    labels: parsed(form.get("said")) ?? readLabels(text("labels")),
    critical: form.has("critical"),
    kind: isPlanned ? "maintenance" : "silence",
    ...(isPlanned && { name: text("name") }),
    reason: text("reason"),
    ...(isPlanned ? plannedTimes(form) : timesFromNow(form, { now, zone: look.zone })),
  };
  const write = check(silenceWrite, body, "body");
  // Ticked or not counts only where nothing narrows it.
  return { ...write, all: form.has("all") && coversAll(write) };
}

function timesFromNow(form: URLSearchParams, { now, zone }: { now: number; zone: string }) {
  const chosen = form.get("until") ?? "1h";
  const end = ENDS.find(({ value }) => value === chosen);
  if (end === undefined) throw invalid([{ field: "/until", reason: "is none of the choices" }]);
  const ends_at =
    chosen === "at"
      ? instantField(zone, form, "ends_at")
      : chosen === "tomorrow"
        ? onThatDay(zone, now, DAY + 9 * HOUR)
        : now + (end.seconds ?? HOUR);
  return { ends_at, tell_author: chosen === "say" };
}

function plannedTimes(form: URLSearchParams) {
  const timezone = (form.get("timezone") ?? "").trim();
  if (!isTimezone(timezone))
    throw new ServiceError("invalid_timezone", "There is no such time zone.", {
      details: [{ field: "/timezone", reason: "is no IANA name (like Europe/Berlin)" }],
    });
  const repeat = form.get("repeat") ?? "none";
  const isOver = (form.get("repeat_until") ?? "") !== "" && repeat !== "none";
  return {
    timezone,
    repeat,
    starts_at: instantField(timezone, form, "starts_at"),
    ends_at: instantField(timezone, form, "ends_at"),
    ...(isOver && { repeat_until: instantField(timezone, form, "repeat_until") }),
  };
}
