import { listAllSchedules } from "../../../core/oncall/schedules.ts";
import { silencesSince } from "../../../core/quiet/rows.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { unheardHeartbeats } from "../../../in/heartbeats/unheard.ts";
import { errorWords } from "../../../out/outbox/error-words.ts";
import { type FailingChannel, listAiling } from "../../../out/outbox/failing.ts";
import { getAccount } from "../../../people/accounts.ts";
import { isManager } from "../../../people/roles.ts";
import { type PageCall, pathOf } from "../screen.ts";
import type { ShownFinding } from "../ui/finding.ts";
import { calledOf } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { reached } from "../ui/reached.ts";
import { LOOK_DAYS, type SeatNow, schedulePage, seatNow } from "../ui/schedule.ts";
import { span } from "../ui/times.ts";
import { remedy } from "../ui/way.ts";

const WEEK = 7 * 86_400;
/** Of one kind: the rest are counted. */
const MOST_SHOWN = 20;
const MOST_SILENCES = 500;

/** What the console itself sees that a doctor or a supervisor doesn't ask: each with the way to mend it. */
export async function ownFindings(call: PageCall): Promise<ShownFinding[]> {
  const seats: SeatNow[] = [];
  for (const stored of listAllSchedules(call.tenant.store)) seats.push(await seatNow(call, stored));
  const all = [
    { id: "channel", words: CHANNELS, found: channels(call) },
    { id: "gap", words: GAPS, found: gaps(call, seats) },
    { id: "unconfirmed", words: UNSURE, found: await unsure(call, seats) },
    { id: "heartbeat", words: UNHEARD, found: unheard(call) },
    { id: "silence", words: SILENCES, found: oldSilences(call) },
  ];
  // Names are for those who manage, as with the readiness that everybody may ask.
  const seesNames = isManager(call.who.role);
  return all.flatMap(({ id, words, found }) => {
    const shown = seesNames ? found.slice(0, MOST_SHOWN) : [];
    const left = found.slice(shown.length);
    return left.length === 0 ? shown : [...shown, countedFinding(id, words, left)];
  });
}

/** What one and what several of a kind are called. */
type Words = readonly [one: string, many: string];
const CHANNELS: Words = ["channel is off or fails", "channels are off or fail"];
const GAPS: Words = ["schedule has gaps", "schedules have gaps"];
const UNSURE: Words = ["person on call may not be reached", "people on call may not be reached"];
const UNHEARD: Words = ["heartbeat pages nobody", "heartbeats page nobody"];
const SILENCES: Words = [
  "silence has held for more than a week",
  "silences have held for more than a week",
];

function countedFinding(check: string, words: Words, left: readonly ShownFinding[]): ShownFinding {
  const state = left.some((one) => one.state === "wrong") ? "wrong" : "note";
  return {
    id: `own-${check}-all`,
    check,
    state,
    mend: null,
    words: html`${counted(left.length, ...words)}.`,
  };
}

function channels(call: PageCall): ShownFinding[] {
  return listAiling(call.tenant.store)
    .filter(({ enabled, failing_since }) => enabled === 1 || failing_since !== null)
    .map((channel) => {
      const { id, project, name, type } = channel;
      return {
        id: `own-channel-${id}`,
        check: "channel",
        state: "wrong",
        words: html`${name || type} of ${project} ${ailingWords(call, channel)}`,
        mend: remedy(call, pathOf("p", project, "channels", id), "See what it was answered"),
      };
    });
}

function ailingWords({ now }: PageCall, channel: FailingChannel): Markup {
  const { enabled, failing_since, last_error } = channel;
  const why = last_error === null ? "" : `: ${errorWords(last_error)}`;
  if (enabled === 0) return html`turned itself off${why}`;
  return html`${failing_since === null ? "fails" : `has failed for ${span(now - failing_since)}`}${why}`;
}

function gaps(call: PageCall, seats: readonly SeatNow[]): ShownFinding[] {
  return seats
    .filter((seat) => seat.gaps.length > 0)
    .map(({ stored, gaps: found, current }) => ({
      id: `own-gap-${stored.id}`,
      check: "gap",
      state: current.on_call ? "note" : "wrong",
      words: html`Nobody is on call for ${stored.project} / ${stored.name} ${
        current.on_call ? `in ${counted(found.length, "gap")} of the next ${LOOK_DAYS} days` : "now"
      }.`,
      mend: remedy(call, schedulePage(stored), "Cover it"),
    }));
}

/** People who are on call now, and whom nothing has been proved to reach lately; those who are next, where nothing reaches them. */
async function unsure(call: PageCall, seats: readonly SeatNow[]): Promise<ShownFinding[]> {
  const found = new Map<string, ShownFinding>();
  const add = async (accountId: string, where: string, isNow: boolean) => {
    if (found.has(accountId)) return;
    const account = getAccount(call.tenant.store, accountId);
    const { dot, word } = await reached(call, account);
    if (dot === "shown" || (dot === "accepted" && !isNow)) return;
    found.set(account.id, {
      id: `own-unconfirmed-${account.id}`,
      check: "unconfirmed",
      state: dot === "none" ? "wrong" : "note",
      words: html`${calledOf(account)} is ${isNow ? "on call" : "the next on call"} for ${where}: ${word}.`,
      mend: remedy(call, pathOf("people", account.id), "Ring it, or add a way"),
    });
  };
  const of = ({ stored }: SeatNow) => `${stored.project} / ${stored.name}`;
  for (const seat of seats)
    if (seat.current.on_call) await add(seat.current.account_id, of(seat), true);
  for (const seat of seats)
    if (typeof seat.next?.account_id === "string") await add(seat.next.account_id, of(seat), false);
  return [...found.values()];
}

function unheard(call: PageCall): ShownFinding[] {
  return (unheardHeartbeats(call.tenant.store, call.now) ?? []).map(({ id, name, project }) => ({
    id: `own-heartbeat-${id}`,
    check: "heartbeat",
    state: "wrong",
    words: html`Nobody is paged when ${name} of ${project} goes missing: no rule matches it.`,
    mend: remedy(call, `/heartbeats/${id}#own-ladder`, "Choose who is paged"),
  }));
}

function oldSilences(call: PageCall): ShownFinding[] {
  const { now, tenant } = call;
  return silencesSince(tenant.store, { since: now, most: MOST_SILENCES })
    .filter(({ repeats, starts_at }) => repeats === "none" && now - starts_at > WEEK)
    .map(({ id, starts_at, body }) => {
      const { reason } = JSON.parse(body) as { reason: string };
      return {
        id: `own-silence-${id}`,
        check: "silence",
        state: "note",
        words: html`A silence has held for ${span(now - starts_at)}: “${reason}”.`,
        mend: remedy(call, "/silences", "End it, or say until when"),
      };
    });
}
