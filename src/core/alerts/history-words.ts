import { errorWords } from "../../out/outbox/error-words.ts";
import { wayWord } from "../../out/services/service-names.ts";
import { newsWords } from "./event-words.ts";
import { EntryDetail } from "./history-detail.ts";
import type { TimelineEntry } from "./timeline.ts";

/** An alert's history in sentences. Each place that shows it draws their parts in its own way. */

/** A part of a sentence. `value`: what was filled in. `time`: Unix seconds. `span`: seconds. `alert`: an alert's id. */
export type Said =
  | { words: string }
  | { value: string }
  | { strong: string }
  | { wrong: Sentence }
  | { time: number }
  | { span: number }
  | { alert: string };
export type Sentence = readonly Said[];

type Part = string | false | Said | readonly Part[];
type Says = (detail: EntryDetail, who: Said) => Sentence;

const partsOf = (part: Part): Sentence => {
  if (part === false || part === "") return [];
  if (typeof part === "string") return [{ value: part }];
  return Array.isArray(part) ? part.flatMap(partsOf) : [part as Said];
};

function say(literals: TemplateStringsArray, ...values: readonly Part[]): Sentence {
  return literals.flatMap((words, i) => [
    ...(words === "" ? [] : [{ words }]),
    ...partsOf(values[i] ?? false),
  ]);
}

const wrong = (what: Sentence): Sentence => [{ wrong: what }];
const counted = (n: number, one: string): string => `${n} ${n === 1 ? one : `${one}s`}`;
const until = (detail: EntryDetail): Part =>
  detail.has("until") && say` until ${{ time: detail.number("until") }}`;
const steps = (detail: EntryDetail): string => {
  const all = detail.list("steps");
  return all.length === 0 ? "The ladder" : `Rung${all.length > 1 ? "s" : ""} ${all.join(", ")}`;
};
const pagedWords = (detail: EntryDetail): string => {
  const isAgain = detail.text("why") === "repeat";
  if (detail.has("unreached")) return isAgain ? "was again to page" : "was to page";
  return isAgain ? "paged again" : "paged";
};
const withdrawn = (detail: EntryDetail): string =>
  detail.has("pages_withdrawn")
    ? ` ${counted(detail.number("pages_withdrawn"), "waiting page")} withdrawn.`
    : "";
const through = (detail: EntryDetail): string =>
  detail.has("via") ? ` through ${wayWord(detail.text("via"))}` : "";
const attempts = (detail: EntryDetail): string =>
  detail.number("attempts") > 1 ? ` after ${detail.text("attempts")} attempts` : "";
const told = (detail: EntryDetail): string => {
  const others = detail.number("told_with") || detail.number("together") - 1;
  return others > 0 ? `, in one message with ${counted(others, "other")}` : "";
};
const channel = (detail: EntryDetail): Sentence =>
  say`${{ strong: detail.has("integration") ? detail.text("integration") : "A channel" }}${
    detail.has("type") && ` (${detail.text("type")})`
  }`;
const person = (detail: EntryDetail): Sentence =>
  say`${{ strong: detail.person("account") }} by ${wayWord(detail.text("contact"))} ${detail.text("address")}`;
const news = (detail: EntryDetail): string => newsWords(detail.text("event"));
const failure = (detail: EntryDetail): string =>
  detail.has("error") ? `: ${errorWords(detail.text("error"))}` : "";

const ENDS: Readonly<Record<string, Says>> = {
  quiet: (detail) => say`Resolved by itself: no match for ${detail.text("quiet_minutes")} min.`,
  stale: () => say`Resolved by itself: its sender no longer reported it.`,
  came: () => say`Resolved by itself: it comes again.`,
  drill: () => say`Resolved by itself: the drill is over.`,
  merged: (detail) => say`Resolved: its template became that of ${{ alert: detail.text("into") }}.`,
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
  step: "a rung of the ladder",
  renotify: "that it is still open",
  page: "a page",
};

const LOST: Readonly<Record<string, string>> = {
  pages_failed: ": their pages failed",
  removed: ": their account was removed",
};

const WHY_FALLBACK: Readonly<Record<string, Sentence>> = {
  rule_deleted: say`Its rule is deleted.`,
  undelivered: say`No page has got through for ten minutes.`,
};

/** One for each kind that the history has. */
const SAY: Readonly<Record<string, Says>> = {
  opened: (detail, who) =>
    detail.has("drill")
      ? say`${who} began a drill of rule ${detail.text("rule")}.`
      : say`Opened by rule ${{ strong: detail.text("rule") }}${
          detail.has("source") && ` from ${detail.text("source")}`
        }${detail.number("count") > 1 && ` after ${detail.text("count")} events`}${
          detail.has("waited_since") &&
          say`, as it has lasted since ${{ time: detail.number("waited_since") }}`
        }.${
          detail.has("not_heard_for") &&
          (detail.number("not_heard_for") > 0
            ? say` No such message came for ${{ span: detail.number("not_heard_for") }}.`
            : " Such a message never came before.")
        }${
          detail.has("came") &&
          ` ${counted(detail.number("came"), "event")} came in its window, usually ${detail.text("usually")} do.`
        }${
          detail.has("missing_since") &&
          say` Nothing of it came since ${{ time: detail.number("missing_since") }}; in the two weeks before its longest pause was ${{ span: detail.number("longest_silence") }}.`
        }`,
  recent_changes: (detail) =>
    say`Changed within the hour before: ${detail
      .each("changes")
      .map(
        (change, i) =>
          say`${i > 0 && "; "}${change.text("message")} (${change.text("source")}, ${{ time: change.number("at") }})`,
      )}.`,
  reopened: (detail) =>
    say`Open again, ${{ span: detail.number("resolved_for_seconds") }} after it was resolved.`,
  acknowledged: (detail, who) =>
    say`${detail.has("source") ? `Its source ${detail.text("source")}` : who} acknowledged${through(detail)}${until(detail)}.${withdrawn(detail)}`,
  unacknowledged: (detail, who) =>
    detail.has("why")
      ? say`Open again: ${ENDED[detail.text("why")] ?? "the acknowledgement has ended"}.`
      : say`${who} took the acknowledgement back.`,
  joined: (detail) =>
    say`New trouble went into it: ${detail.text("what")}. Its acknowledgement ends at ${{ time: detail.number("opens_at") }}.`,
  snoozed: (detail, who) => say`${who} snoozed it${until(detail)}.`,
  resolved: (detail, who) =>
    say`${
      ENDS[detail.text("reason")]?.(detail, who) ??
      say`${detail.has("source") ? `Its source ${detail.text("source")}` : who} resolved it${through(detail)}.`
    }${withdrawn(detail)}`,
  source_resolved: (detail) =>
    say`Its source ${detail.text("source")} says that it is over; the rule leaves that to people.`,
  escalated_now: (_detail, who) => say`${who} ran the next rung at once.`,
  escalated: (detail) =>
    say`${steps(detail)} ${pagedWords(detail)} ${{ strong: detail.people("accounts") }}${
      detail.text("why") === "nobody_reached_before" && ", because the rungs before reached nobody"
    }.${detail.has("late_seconds") && say` ${{ span: detail.number("late_seconds") }} late.`}`,
  reached_nobody: (detail) =>
    wrong(
      say`${steps(detail)} reached nobody${detail.has("top") && ", and there is no rung above"}.`,
    ),
  unreachable: (detail) =>
    wrong(say`Nothing reaches ${detail.people("accounts")}${LOST[detail.text("why")] ?? ""}.`),
  fallback: (detail) =>
    say`${wrong(WHY_FALLBACK[detail.text("why")] ?? say`Nobody on the ladder is reached.`)} The fallback ${
      detail.list("accounts").length === 0
        ? "has nobody, either"
        : say`paged ${{ strong: detail.people("accounts") }}`
    }.`,
  assigned: (detail, who) =>
    say`${who} gave it to ${{ strong: detail.people("accounts") }}${
      detail.list("schedules").length > 0 && ` (${detail.list("schedules").join(", ")})`
    }; ${detail.text("keep_ladder") === "true" ? "the ladder goes on beside them" : "the ladder's further rungs don't run"}.`,
  renotified: (detail) => say`Notified again: ${AGAIN[detail.text("why")] ?? "still open"}.`,
  retimed: (detail) =>
    say`Its rule was ${detail.text("why") === "rule_deleted" ? "deleted" : "changed"}: ${
      detail.text("ladder") === "ended"
        ? "the ladder ends"
        : say`the ladder goes on at ${{ time: detail.number("next_at") }}`
    }.`,
  silenced: (detail) =>
    say`Kept quiet${until(detail)}: ${detail.text("reason").replace(/\.$/, "")}.${
      detail.text("held") !== "nothing" &&
      ` Held back: ${HELD[detail.text("held")] ?? detail.text("held")}.`
    }`,
  silence_over: (detail) =>
    detail.has("since")
      ? say`Silenced until now, since ${{ time: detail.number("since") }}: what was held back is sent.`
      : say`Quiet no more: what was held back is sent.`,
  merged: (detail) =>
    say`Took over ${{ alert: detail.text("alert") }}, whose template became the same.`,
  note: (detail) => say`${detail.text("source")} says: ${detail.text("note")}`,
  noted: (_detail, who) => say`${who} noted:`,
  note_edited: (_detail, who) => say`${who} changed a note.`,
  note_deleted: (_detail, who) => say`${who} took a note back.`,
  page_sent: (detail) => say`${person(detail)}: paged${attempts(detail)}${told(detail)}.`,
  shown: (detail) =>
    say`${person(detail)}: shown${detail.has("after") && say` ${{ span: detail.number("after") }} after it was sent`}.`,
  page_delayed: (detail) => say`${person(detail)}: not paged yet${failure(detail)}.`,
  page_failed: (detail) =>
    say`${person(detail)}: ${wrong(say`not paged`)}${attempts(detail)}${failure(detail)}.`,
  delivered: (detail) =>
    say`${channel(detail)}: notified ${news(detail)}${attempts(detail)}${told(detail)}.`,
  delivery_delayed: (detail) =>
    say`${channel(detail)}: not notified yet ${news(detail)}${failure(detail)}.`,
  delivery_failed: (detail) =>
    say`${channel(detail)}: ${wrong(say`not notified`)} ${news(detail)}${attempts(detail)}${failure(detail)}.`,
  delivery_dropped: (detail) =>
    say`${channel(detail)}: not notified ${news(detail)}${failure(detail)}.`,
  action_started: (detail, who) => say`${who} ran action ${{ strong: detail.text("action") }}.`,
  action_succeeded: (detail) =>
    say`Action ${{ strong: detail.text("action") }} ran${attempts(detail)}.`,
  action_failed: (detail) =>
    say`Action ${{ strong: detail.text("action") }} ${wrong(say`failed`)}${attempts(detail)}${failure(detail)}.`,
};

/** What happened, in a sentence; a kind that has none shows all that is known of it. `nameOf` names accounts. Pure. */
export function historyWords(
  { kind, account_id, detail }: TimelineEntry,
  nameOf: (account: string) => string,
): Sentence {
  const says = Object.hasOwn(SAY, kind) ? SAY[kind] : undefined;
  const read = new EntryDetail(detail, nameOf);
  if (says === undefined) return say`${kind.replaceAll("_", " ")}${read.rest()}`;
  return says(read, { strong: account_id === null ? "Somebody" : nameOf(account_id) });
}
