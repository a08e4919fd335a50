import { newsWords } from "../../../core/alerts/event-words.ts";
import type { ReachEntry } from "../../../core/alerts/reach-report.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { errorWords } from "../../../out/outbox/error-words.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { counted } from "./pieces.ts";
import { ago, clockTime, span, until } from "./times.ts";
import { remedy } from "./way.ts";

/** What a page has to say of one way to somebody. */
interface ReachWords {
  dot: "shown" | "accepted" | "waiting" | "none";
  words: Markup;
  /** A link to what would change it. */
  change: Markup | null;
}

/** What the words need beside the entry. */
interface ReachAbout {
  project: string;
  rule: string;
  nameOf(account: string): string;
  /** Who has done something with the alert, and so has seen it. */
  acted?: ReadonlySet<string> | undefined;
}

type Seen = Pick<PageCall, "now" | "look" | "base" | "leads" | "who">;
type Say = (entry: ReachEntry, call: Seen, about: ReachAbout) => ReachWords;

const at = (call: Seen, time: number | null): Piece =>
  time !== null && html` ${clockTime(call, time)}`;
const because = (error: string | null): string =>
  error === null || error === "" ? "" : `: ${errorWords(error)}`;
const times = (n: number): string => (n === 1 ? "1 attempt" : `${n} attempts`);

const ruleLink = (call: Seen, { project, rule }: ReachAbout, words: string) =>
  remedy(call, pathOf("p", project, "rules", rule), words);
const channelLink = (call: Seen, { project }: ReachAbout, { integration_id }: ReachEntry) =>
  integration_id === null
    ? null
    : remedy(call, pathOf("p", project, "channels", integration_id), "Its settings");
/** Where a person's contacts and phones are: one's own page for oneself. */
const personLink = (call: Seen, { account_id }: ReachEntry, words: string) => {
  if (account_id === null) return null;
  const path = account_id === call.who.accountId ? "/me/devices" : pathOf("people", account_id);
  return remedy(call, path, words);
};
const inPlace = ({ by }: ReachEntry, { nameOf }: ReachAbout): string =>
  by === null ? "nobody" : nameOf(by);

const plain = (
  dot: ReachWords["dot"],
  words: Markup,
  change: Markup | null = null,
): ReachWords => ({
  dot,
  words,
  change,
});

/** One for each reason there is. */
const SAY: Readonly<Record<ReachEntry["reason"], Say>> = {
  shown: ({ outcome, at: time, after }, call) =>
    plain(
      "shown",
      html`${outcome === "answered" ? "answered" : "shown"}${at(call, time)}${after !== null && ` (${span(after)})`}`,
    ),
  delivered: ({ at: time, attempts, integration_id, event }, call) =>
    plain(
      "shown",
      html`${integration_id === null || event === null ? "delivered" : `notified ${newsWords(event)}`}${at(call, time)}${attempts > 1 && ` after ${times(attempts)}`}`,
    ),
  accepted_not_confirmed: ({ at: time, account_id: account }, call, { acted }) =>
    plain(
      "accepted",
      html`sent${at(call, time)}${!(account !== null && acted?.has(account)) && ", not seen yet"}`,
    ),
  delayed: ({ attempts, due_at: due, error }, call) =>
    plain(
      "waiting",
      html`${attempts > 0 ? `not delivered${because(error)}, ${counted(attempts, "try", "tries")}, next` : "waits for its time"}${
        due !== null && html` in ${until(call, due)}`
      }`,
    ),
  failed: (entry, call, about) =>
    plain(
      "none",
      html`failed${entry.attempts > 0 && ` after ${times(entry.attempts)}`}${because(entry.error)}`,
      channelLink(call, about, entry) ?? personLink(call, entry, "Their contacts"),
    ),
  withdrawn: () =>
    plain("none", html`withdrawn before it went out: somebody had it, or it was over`),
  step_not_reached: ({ step, due_at: due }, call, about) =>
    plain(
      "waiting",
      due === null ? html`rung ${step}` : html`rung ${step}, in ${until(call, due)}`,
      ruleLink(call, about, "The ladder"),
    ),
  not_on_call: (entry, call, about) =>
    plain(
      "none",
      html`not paged: not on call, ${inPlace(entry, about)} was`,
      remedy(call, "/oncall", "On call"),
    ),
  covered_by_override: (entry, call, about) =>
    plain(
      "none",
      html`not paged: an override gives the duty to ${inPlace(entry, about)}${
        entry.until !== null && html` until ${clockTime(call, entry.until)}`
      }`,
      remedy(call, "/oncall", "On call"),
    ),
  no_channel: (entry, call) =>
    plain(
      "none",
      html`<strong>not paged</strong>: no contact and no phone`,
      personLink(call, entry, "Add one"),
    ),
  no_device: (entry, call) =>
    plain(
      "none",
      html`<strong>not paged</strong>: the relay knows no phone of theirs`,
      personLink(call, entry, "Pair a phone"),
    ),
  channel_disabled: (entry, call, about) =>
    plain(
      "none",
      html`<strong>not notified</strong>${ofNews(entry)}: it is off${because(entry.error)}`,
      channelLink(call, about, entry),
    ),
  event_filtered: (entry, call, about) =>
    plain(
      "none",
      html`not notified${ofNews(entry)}: ${entry.error ?? "it takes other events"}`,
      channelLink(call, about, entry),
    ),
  silenced: ({ by, until: over }, call) => {
    const above = by?.startsWith("alert:") ? by.slice("alert:".length) : null;
    return plain(
      "none",
      html`not notified: silenced${above !== null && ` until #${above} is resolved`}${
        above === null && over !== null && html` until ${clockTime(call, over)}`
      }`,
      above === null
        ? remedy(call, "/silences", "The silence")
        : remedy(call, pathOf("a", above), `#${above}`),
    );
  },
  no_ladder: (_entry, call, about) =>
    plain(
      "none",
      html`<strong>Nobody is paged</strong>: the rule has no ladder.`,
      ruleLink(call, about, "Add one"),
    ),
  repeat_is_silent: ({ at: time }, call, about) =>
    plain(
      "none",
      html`Further events are counted in this alert and ring nobody anew${
        time !== null && html`; the last came ${ago(call, time)}`
      }.`,
      ruleLink(call, about, "The rule"),
    ),
  account_removed: (_entry, call, about) =>
    plain("none", html`not paged: was removed`, ruleLink(call, about, "The ladder")),
};

const ofNews = ({ event }: ReachEntry): string => (event === null ? "" : ` ${newsWords(event)}`);

/** Why somebody was or wasn't told, in a sentence. Pure. */
export function reachWords(entry: ReachEntry, call: Seen, about: ReachAbout): ReachWords {
  const said = SAY[entry.reason](entry, call, about);
  const others = entry.together - 1;
  if (others < 1) return said;
  const many = `, in one message with ${others} other${others === 1 ? "" : "s"}`;
  return { ...said, words: html`${said.words}${many}` };
}
