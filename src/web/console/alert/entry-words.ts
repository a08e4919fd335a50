import type { TimelineEntry } from "../../../core/alerts/timeline.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { counted } from "../ui/pieces.ts";
import { clockTime, span } from "../ui/times.ts";
import { EntryDetail } from "./entry-detail.ts";

/** What an entry's words need beside it. */
export interface EntryAbout {
  call: Pick<PageCall, "now" | "look" | "base">;
  nameOf(account: string): string;
}

type Say = (detail: EntryDetail, who: Piece, call: EntryAbout["call"]) => Markup;

const until = (detail: EntryDetail, call: EntryAbout["call"], name = "until"): Piece =>
  detail.has(name) && html` until ${clockTime(call, detail.number(name))}`;
const alertLink = ({ base }: EntryAbout["call"], id: string): Markup =>
  html`<a href="${base}/a/${encodeURIComponent(id)}">#${id}</a>`;
const steps = (detail: EntryDetail): string => {
  const all = detail.list("steps");
  return all.length === 0 ? "The ladder" : `Step${all.length > 1 ? "s" : ""} ${all.join(", ")}`;
};
const withdrawn = (detail: EntryDetail): string =>
  detail.has("pages_withdrawn")
    ? ` ${counted(detail.number("pages_withdrawn"), "waiting page")} withdrawn.`
    : "";
const through = (detail: EntryDetail): string =>
  detail.has("via") ? ` through ${detail.text("via")}` : "";
const attempts = (detail: EntryDetail): string =>
  detail.number("attempts") > 1 ? ` after ${detail.text("attempts")} attempts` : "";
const told = (detail: EntryDetail): string => {
  const others = detail.number("told_with") || detail.number("together") - 1;
  return others > 0 ? `, in one message with ${counted(others, "other")}` : "";
};
const channel = (detail: EntryDetail): Markup =>
  html`<strong>${detail.has("integration") ? detail.text("integration") : "A channel"}</strong>${
    detail.has("type") && ` (${detail.text("type")})`
  }`;
const person = (detail: EntryDetail): Markup =>
  html`<strong>${detail.person("account")}</strong> by ${detail.text("contact")} ${detail.text("address")}`;
const failure = (detail: EntryDetail): string =>
  detail.has("error") ? `: ${detail.text("error")}` : "";

const ENDS: Readonly<Record<string, Say>> = {
  quiet: (detail) => html`Resolved by itself: no match for ${detail.text("quiet_minutes")} min.`,
  stale: () => html`Resolved by itself: its sender no longer reported it.`,
  drill: () => html`Resolved by itself: the drill is over.`,
  merged: (detail, _who, call) =>
    html`Resolved: its template became that of ${alertLink(call, detail.text("into"))}.`,
};

const AGAIN: Readonly<Record<string, string>> = {
  burst: "new events came",
  reopened: "it is open again",
  worse: "it is worse now, so contacts that take only such alerts are paged",
  unacknowledged: "the acknowledgement was taken back",
  acknowledgement_ended: "the acknowledgement has ended",
};

const ENDED: Readonly<Record<string, string>> = {
  removed: "the account of whoever had acknowledged it was removed",
};

const HELD: Readonly<Record<string, string>> = {
  opened: "its opening",
  step: "a step of the ladder",
  renotify: "that it is still open",
  page: "a page",
};

const LOST: Readonly<Record<string, string>> = {
  pages_failed: ": their pages failed",
  removed: ": their account was removed",
};

/** One for each kind that the history has. */
const SAY: Readonly<Record<string, Say>> = {
  opened: (detail, who, call) =>
    detail.has("drill")
      ? html`${who} began a drill of rule ${detail.text("rule")}.`
      : html`Opened by rule <strong>${detail.text("rule")}</strong>${
          detail.has("source") && ` from ${detail.text("source")}`
        }${detail.number("count") > 1 && ` after ${detail.text("count")} events`}${
          detail.has("waited_since") &&
          html`, as it has lasted since ${clockTime(call, detail.number("waited_since"))}`
        }.${
          detail.has("not_heard_for") &&
          (detail.number("not_heard_for") > 0
            ? ` No such message was heard for ${span(detail.number("not_heard_for"))}.`
            : " Such a message was never heard before.")
        }`,
  recent_changes: (detail, _who, call) =>
    html`Changed within the hour before: ${detail
      .each("changes")
      .map(
        (change, i) =>
          html`${i > 0 && "; "}${change.text("message")} (${change.text("source")}, ${clockTime(call, change.number("at"))})`,
      )}.`,
  reopened: (detail) =>
    html`Open again, ${span(detail.number("resolved_for_seconds"))} after it was resolved.`,
  acknowledged: (detail, who, call) =>
    html`${detail.has("source") ? `Its source ${detail.text("source")}` : who} acknowledged${through(detail)}${until(detail, call)}.${withdrawn(detail)}`,
  unacknowledged: (detail, who) =>
    detail.has("why")
      ? html`Open again: ${ENDED[detail.text("why")] ?? "the acknowledgement has ended"}.`
      : html`${who} took the acknowledgement back.`,
  joined: (detail, _who, call) =>
    html`New trouble went into it: ${detail.text("what")}. Its acknowledgement ends at ${clockTime(call, detail.number("opens_at"))}.`,
  snoozed: (detail, who, call) => html`${who} snoozed it${until(detail, call)}.`,
  resolved: (detail, who, call) =>
    html`${
      ENDS[detail.text("reason")]?.(detail, who, call) ??
      html`${detail.has("source") ? `Its source ${detail.text("source")}` : who} resolved it${through(detail)}.`
    }${withdrawn(detail)}`,
  source_resolved: (detail) =>
    html`Its source ${detail.text("source")} says that it is over; the rule leaves that to people.`,
  escalated_now: (_detail, who) => html`${who} ran the next step at once.`,
  escalated: (detail) =>
    html`${steps(detail)} ${detail.text("why") === "repeat" ? "paged again" : "paged"} <strong>${detail.people("accounts")}</strong>${
      detail.text("why") === "nobody_reached_before" && ", because the steps before reached nobody"
    }.${detail.has("late_seconds") && ` ${span(detail.number("late_seconds"))} late.`}`,
  reached_nobody: (detail) =>
    html`<span class="wrong">${steps(detail)} reached nobody${detail.has("top") && ", and there is no step above"}.</span>`,
  unreachable: (detail) =>
    html`<span class="wrong">Nothing reaches ${detail.people("accounts")}${
      LOST[detail.text("why")] ?? ""
    }.</span>`,
  fallback: (detail) =>
    html`<span class="wrong">${detail.text("why") === "rule_deleted" ? "Its rule is deleted." : "Nobody on the ladder is reached."}</span> The fallback ${
      detail.list("accounts").length === 0
        ? "has nobody, either"
        : html`paged <strong>${detail.people("accounts")}</strong>`
    }.`,
  assigned: (detail, who) =>
    html`${who} gave it to <strong>${detail.people("accounts")}</strong>${
      detail.list("schedules").length > 0 && ` (${detail.list("schedules").join(", ")})`
    }; ${detail.text("keep_ladder") === "true" ? "the ladder goes on beside them" : "the ladder's further steps don't run"}.`,
  renotified: (detail) => html`Told again: ${AGAIN[detail.text("why")] ?? "still open"}.`,
  retimed: (detail, _who, call) =>
    html`Its rule was ${detail.text("why") === "rule_deleted" ? "deleted" : "changed"}: ${
      detail.text("ladder") === "ended"
        ? "the ladder ends"
        : html`the ladder goes on at ${clockTime(call, detail.number("next_at"))}`
    }.`,
  silenced: (detail, _who, call) =>
    html`Kept quiet${until(detail, call)}: ${detail.text("reason")}.${
      detail.text("held") !== "nothing" &&
      ` Held back: ${HELD[detail.text("held")] ?? detail.text("held")}.`
    }`,
  silence_over: (detail, _who, call) =>
    detail.has("since")
      ? html`Silenced until now, since ${clockTime(call, detail.number("since"))}: what was held back is told.`
      : html`Quiet no more: what was held back is told.`,
  merged: (detail, _who, call) =>
    html`Took over ${alertLink(call, detail.text("alert"))}, whose template became the same.`,
  note: (detail) => html`${detail.text("source")} says: ${detail.text("note")}`,
  noted: (_detail, who) => html`${who} noted:`,
  note_edited: (_detail, who) => html`${who} changed a note.`,
  note_deleted: (_detail, who) => html`${who} took a note back.`,
  page_sent: (detail) => html`${person(detail)}: paged${attempts(detail)}${told(detail)}.`,
  shown: (detail) =>
    html`${person(detail)}: shown${detail.has("after") && ` ${span(detail.number("after"))} after it was sent`}.`,
  page_delayed: (detail) => html`${person(detail)}: not paged yet${failure(detail)}.`,
  page_failed: (detail) =>
    html`${person(detail)}: <span class="wrong">not paged</span>${attempts(detail)}${failure(detail)}.`,
  delivered: (detail) =>
    html`${channel(detail)}: ${detail.text("event")} delivered${attempts(detail)}${told(detail)}.`,
  delivery_delayed: (detail) =>
    html`${channel(detail)}: ${detail.text("event")} not delivered yet${failure(detail)}.`,
  delivery_failed: (detail) =>
    html`${channel(detail)}: ${detail.text("event")} <span class="wrong">not delivered</span>${attempts(detail)}${failure(detail)}.`,
  delivery_dropped: (detail) =>
    html`${channel(detail)}: ${detail.text("event")} not sent${failure(detail)}.`,
  action_started: (detail, who) =>
    html`${who} ran action <strong>${detail.text("action")}</strong>.`,
  action_succeeded: (detail) =>
    html`Action <strong>${detail.text("action")}</strong> ran${attempts(detail)}.`,
  action_failed: (detail) =>
    html`Action <strong>${detail.text("action")}</strong> <span class="wrong">failed</span>${attempts(detail)}${failure(detail)}.`,
};

/** What happened, in a sentence; a kind that has none shows all that is known of it. Pure. */
export function entryWords({ kind, account_id, detail }: TimelineEntry, about: EntryAbout): Markup {
  const say = Object.hasOwn(SAY, kind) ? SAY[kind] : undefined;
  const read = new EntryDetail(detail, about.nameOf);
  if (say === undefined) return html`${kind.replaceAll("_", " ")}${read.rest()}`;
  const who = html`<strong>${account_id === null ? "Somebody" : about.nameOf(account_id)}</strong>`;
  return say(read, who, about.call);
}
