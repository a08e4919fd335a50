import type { TimelineEntry } from "../src/core/alerts/timeline.ts";
import { printable, when } from "./table.ts";

/** A timeline entry in words. `nameOf` names accounts. */
export function entryText(entry: TimelineEntry, nameOf: (id: string) => string): string {
  const { kind, account_id, detail } = entry;
  const who = account_id === null ? "" : ` by ${nameOf(account_id)}`;
  const words = Object.hasOwn(WORDS, kind) ? WORDS[kind] : undefined;
  const text = words ? words(new Detail(detail, nameOf)) : kind.replaceAll("_", " ") + rest(detail);
  // The kind of contact by which they answered.
  const through = words && typeof detail["via"] === "string" ? ` through ${detail["via"]}` : "";
  return printable((kind === "resolved" && who !== "" ? `resolved${who}` : text + who) + through);
}

/** The parts of a detail as text; "" for a missing one. */
class Detail {
  readonly #detail: Readonly<Record<string, unknown>>;
  readonly #nameOf: (id: string) => string;

  constructor(detail: Readonly<Record<string, unknown>>, nameOf: (id: string) => string) {
    this.#detail = detail;
    this.#nameOf = nameOf;
  }

  time(name: string): string {
    return when(Number(this.text(name)));
  }

  has(name: string): boolean {
    return this.#detail[name] !== undefined;
  }

  text(name: string): string {
    const value = this.#detail[name];
    return value === undefined || value === null ? "" : String(value);
  }

  list(name: string): string[] {
    const value = this.#detail[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** For a list of objects: the texts that `words` makes of each. */
  each(name: string, words: (item: Detail) => string): string {
    const value = this.#detail[name];
    const items = Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
    return items.map((item) => words(new Detail(item, this.#nameOf))).join("; ");
  }

  people(name: string): string {
    return this.list(name).map(this.#nameOf).join(", ");
  }

  person(name: string): string {
    return this.#nameOf(this.text(name));
  }

  /** `, 3 attempts` where there was more than one. */
  attempts(): string {
    return Number(this.#detail["attempts"]) > 1 ? `, ${this.text("attempts")} attempts` : "";
  }

  error(): string {
    return this.has("error") ? `: ${this.text("error")}` : "";
  }
}

const steps = (detail: Detail): string => {
  const all = detail.list("steps");
  return all.length === 0 ? "" : `step${all.length > 1 ? "s" : ""} ${all.join(", ")}`;
};

/** `alert.opened by "ops" (webhook)`. */
const delivery = (detail: Detail): string => {
  const type = detail.has("type") ? ` (${detail.text("type")})` : "";
  const channel = detail.has("integration") ? ` by ${detail.text("integration")}${type}` : "";
  return `${detail.text("event")}${channel}`;
};

/** `, told with 34 others`. */
const toldWith = (detail: Detail): string => {
  const others = detail.text("told_with");
  return others === "" ? "" : `, told with ${others} ${others === "1" ? "other" : "others"}`;
};

const withdrawn = (detail: Detail): string =>
  detail.has("pages_withdrawn")
    ? `, ${detail.text("pages_withdrawn")} waiting pages withdrawn`
    : "";

/** `ann@example.org by phone (ntfy)`. */
const wayTo = (detail: Detail): string =>
  `${detail.person("account")} by ${detail.text("address")} (${detail.text("contact")})`;

const NOT_REACHED: Readonly<Record<string, string>> = {
  pages_failed: ": their pages failed",
};

const RESOLVED: Readonly<Record<string, (detail: Detail) => string>> = {
  quiet: (detail) => `resolved by itself after ${detail.text("quiet_minutes")} quiet minutes`,
  drill: () => "resolved by itself: the drill is over",
  merged: (detail) => `resolved, because its template became that of alert ${detail.text("into")}`,
};

const WHY: Readonly<Record<string, string>> = {
  nobody_reached_before: ", because the steps before reached nobody",
  repeat: " again",
};

const ENDED: Readonly<Record<string, string>> = {
  removed: "the account of whoever had acknowledged it was removed",
};

const AGAIN: Readonly<Record<string, string>> = {
  burst: "new events came",
  worse: "it is worse now, so contacts that take only such alerts are paged",
};

/** Why the rule took it as new. */
function novelty(detail: Detail): string {
  if (!detail.has("not_heard_for")) return "";
  const seconds = Number(detail.text("not_heard_for"));
  if (seconds === 0) return ": such a message was never heard before";
  return `: no such message was heard for ${Math.floor(seconds / 86_400)} days`;
}

const at = (detail: Detail, name: string): string => detail.time(name);

const WORDS: Readonly<Record<string, (detail: Detail) => string>> = {
  opened: (detail) => {
    const source = detail.has("source") ? ` from ${detail.text("source")}` : "";
    const times = Number(detail.text("count")) > 1 ? ` after ${detail.text("count")} events` : "";
    if (detail.has("drill")) return `drill of rule ${detail.text("rule")} begun`;
    const waited = detail.has("waited_since")
      ? `, it has lasted since ${detail.time("waited_since")}`
      : "";
    return `opened by rule ${detail.text("rule")}${source}${times}${waited}${novelty(detail)}`;
  },
  recent_changes: (detail) =>
    `changed within the hour before: ${detail.each("changes", (change) => `${change.text("message")} (${change.text("source")})`)}`,
  silenced: (detail) =>
    `${detail.text("held") === "nothing" ? "silenced" : `kept quiet (${detail.text("held")})`} until ${at(detail, "until")}: ${detail.text("reason")}`,
  silence_over: () => "quiet no more: what was held back is told",
  joined: (detail) =>
    `new trouble went into it: ${detail.text("what")}; its acknowledgement ends ${at(detail, "opens_at")}`,
  snoozed: (detail) => `snoozed until ${at(detail, "until")}`,
  unacknowledged: (detail) =>
    detail.has("why")
      ? `open again: ${ENDED[detail.text("why")] ?? "its acknowledgement has ended"}`
      : "acknowledgement taken back",
  acknowledged: (detail) =>
    `acknowledged${detail.has("until") ? ` until ${at(detail, "until")}` : ""}${withdrawn(detail)}`,
  escalated_now: () => "next step run at once",
  assigned: (detail) => `assigned to ${detail.people("accounts")}`,
  noted: (detail) =>
    detail.has("deleted") ? "noted (taken back)" : `note: ${detail.text("text")}`,
  note_edited: () => "note changed",
  note_deleted: () => "note taken back",
  resolved: (detail) =>
    (RESOLVED[detail.text("reason")]?.(detail) ?? "resolved") + withdrawn(detail),
  escalated: (detail) =>
    `${steps(detail)} of the ladder pages ${detail.people("accounts")}${WHY[detail.text("why")] ?? ""}`,
  reached_nobody: (detail) =>
    `${steps(detail) || "the ladder"} reached nobody${detail.has("top") ? ", and there is no step above" : ""}`,
  page_sent: (detail) => `paged ${wayTo(detail)}${detail.attempts()}`,
  page_delayed: (detail) => `not paged yet: ${wayTo(detail)}${detail.error()}`,
  page_failed: (detail) => `NOT PAGED: ${wayTo(detail)}${detail.error()}${detail.attempts()}`,
  unreachable: (detail) =>
    `NOTHING reaches ${detail.people("accounts")}${NOT_REACHED[detail.text("why")] ?? ""}`,
  fallback: (detail) =>
    `nobody on the ladder is reached: the fallback pages ${detail.people("accounts")}`,
  renotified: (detail) => `told again: ${AGAIN[detail.text("why")] ?? "still open"}`,
  retimed: (detail) =>
    `its rule was ${detail.text("why") === "rule_deleted" ? "deleted" : "changed"}`,
  merged: (detail) => `took over alert ${detail.text("alert")}, whose template became the same`,
  delivered: (detail) => `delivered ${delivery(detail)}${detail.attempts()}${toldWith(detail)}`,
  delivery_delayed: (detail) => `not delivered yet ${delivery(detail)}${detail.error()}`,
  delivery_failed: (detail) =>
    `NOT DELIVERED ${delivery(detail)}${detail.error()}${detail.attempts()}${toldWith(detail)}`,
  delivery_dropped: (detail) => `not sent ${delivery(detail)}${detail.error()}`,
  action_succeeded: (detail) => `ran action ${detail.text("action")}${detail.attempts()}`,
  action_failed: (detail) =>
    `action ${detail.text("action")} FAILED${detail.error()}${detail.attempts()}`,
};

/** The details of a kind without a text here, so that nothing is hidden. */
function rest(detail: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(detail).map(
    ([name, value]) =>
      `${name.replaceAll("_", " ")} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
  );
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}
