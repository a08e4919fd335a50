import * as z from "zod";
import { subscribes } from "../../out/outbox/enqueue.ts";
import type { PageFact } from "../../out/paging/history.ts";
import type { DutyAt } from "../oncall/duty.ts";
import type { EscalationStep } from "../projects/rule.ts";

/** Why somebody was or wasn't told: these and no others. */
export const reachReason = z.enum([
  "shown",
  "delivered",
  "accepted_not_confirmed",
  "delayed",
  "failed",
  "withdrawn",
  "step_not_reached",
  "not_on_call",
  "covered_by_override",
  "no_channel",
  "no_device",
  "channel_disabled",
  "event_filtered",
  "silenced",
  "no_ladder",
  "repeat_is_silent",
  "account_removed",
]);

const seconds = (description: string) => z.int().nullable().meta({ description });

export const reachAnswer = z
  .object({
    account_id: z.string().nullable().meta({ description: "null: a channel, or nobody." }),
    integration_id: z.string().nullable().meta({ description: "The channel's; null: a person." }),
    name: z.string().nullable().meta({
      description: "The person's or the channel's; null for somebody who was removed.",
    }),
    reason: reachReason.meta({
      description:
        "`shown`: seen or answered. `accepted_not_confirmed`: the service took it and has said no more. `delayed`: waits, for its time or for another attempt. `event_filtered`: the channel doesn't take this kind. `silenced`: held back now. `repeat_is_silent`: further events counted into the alert, and nobody was notified again.",
    }),
    via: z
      .string()
      .nullable()
      .meta({ description: "The contact's or channel's kind, or `phone`: by the relay." }),
    address: z.string().nullable().meta({ description: "Its label, or its address masked." }),
    event: z.string().nullable(),
    outcome: z.string().nullable().meta({
      description: "What is known of it: `accepted`, `delivered`, `shown`, `answered`.",
    }),
    step: z.int().nullable().meta({ description: "Of the ladder, from 1." }),
    due_at: seconds("When it was or is due."),
    at: seconds("When it was sent, or came to nothing; `shown`: when its device showed it."),
    after: z.int().nullable().meta({
      description: "Only for `shown`: seconds from sending until a device showed it.",
    }),
    attempts: z.int(),
    error: z.string().nullable(),
    together: z.int().meta({ description: "Alerts that its message named." }),
    by: z.string().nullable().meta({
      description:
        "`covered_by_override`: who was on call instead. `silenced`: the silence's id, or `alert:` and the id of the alert that it depends on.",
    }),
    until: seconds("`silenced`: then it is looked at again. `channel_disabled`: null."),
  })
  .meta({ id: "AlertReach" });
export type ReachEntry = z.output<typeof reachAnswer>;

/** A page by the relay: whom it named, and how it went. */
export interface PhoneFact {
  accounts: readonly string[];
  event: string;
  status: "pending" | "delivered" | "failed" | "dropped";
  attempts: number;
  dueAt: number;
  endedAt: number | null;
  error: string | null;
}

/** A step that ran, or will: who had or has duty in each of its schedules. */
export interface StepFact {
  step: EscalationStep;
  /** From 1. */
  number: number;
  hasRun: boolean;
  /** When it is due; null where it has run, or no longer can. */
  dueAt: number | null;
  duties: readonly DutyAt[];
}

/** A project's channel as it is now, and what it was sent of the alert. */
export interface ChannelFact {
  id: string;
  name: string;
  type: string;
  enabled: boolean;
  /** Kinds of event that it takes, joined by commas; empty = each. */
  filter: string;
  createdAt: number;
  error: string | null;
  sent: readonly Omit<PhoneFact, "accounts">[];
}

/** What keeps the alert's news back now. */
interface HeldFact {
  by: string;
  until: number | null;
}

interface ReachFacts {
  steps: readonly StepFact[];
  /** Whom the alert paged, in that order. */
  paged: readonly string[];
  /** To whom somebody gave it, in that order, and whether anything of theirs is paged. */
  assigned?: ReadonlyMap<string, boolean>;
  pages: readonly PageFact[];
  phones: readonly PhoneFact[];
  channels: readonly ChannelFact[];
  /** The alert's events that call for somebody, each kind once, with the time of its first. */
  events: readonly { event: string; at: number }[];
  held: HeldFact | null;
  /** When the latest event counted into it, where nobody was notified again. */
  repeatAt: number | null;
  /** null for somebody who was removed. */
  nameOf(account: string): string | null;
  /** Whether the relay pages a phone of theirs, as far as it has said. */
  hasPhone(account: string): boolean;
}

const NOTHING = {
  via: null,
  address: null,
  event: null,
  outcome: null,
  step: null,
  due_at: null,
  at: null,
  after: null,
  attempts: 0,
  error: null,
  together: 0,
  by: null,
  until: null,
  account_id: null,
  integration_id: null,
  name: null,
} as const;

/** Who was told by what, who wasn't and why: each way of each person once, those who were told first, then channels. Pure. */
export function reachReport(facts: ReachFacts): ReachEntry[] {
  const { held } = facts;
  const entries: ReachEntry[] = [];
  const add = (account: string, more: Partial<ReachEntry> & Pick<ReachEntry, "reason">) =>
    entries.push({ ...NOTHING, account_id: account, name: facts.nameOf(account), ...more });
  const isThere = (account: string) => entries.some(({ account_id }) => account_id === account);
  for (const page of facts.pages) add(page.account, ofPage(page, held));
  for (const phone of facts.phones)
    for (const account of phone.accounts) add(account, ofPhone(phone, facts.hasPhone(account)));
  for (const account of new Set(facts.paged)) if (!isThere(account)) add(account, wayless(account));
  for (const [account, hasWay] of facts.assigned ?? [])
    if (!isThere(account))
      add(account, held !== null && hasWay ? silenced(held) : wayless(account));
  const namedBy = ({ step, duties }: StepFact) => [
    ...step.accounts,
    ...duties.flatMap(({ onDuty }) => onDuty),
  ];
  // Whom another step names is paged by that one, also where they weren't on call in this.
  const named = new Set(facts.steps.flatMap(namedBy));
  for (const fact of facts.steps) {
    const { number, hasRun, dueAt, duties } = fact;
    const later =
      held === null
        ? ({ reason: "step_not_reached", step: number, due_at: dueAt } as const)
        : { ...silenced(held), step: number };
    for (const account of namedBy(fact)) {
      if (isThere(account)) continue;
      const isGone = facts.nameOf(account) === null;
      add(account, isGone || hasRun ? { ...wayless(account), step: number } : later);
    }
    for (const { onDuty, planned, participants } of hasRun ? duties : [])
      for (const account of participants) {
        if (isThere(account) || named.has(account)) continue;
        const reason = planned.includes(account) ? "covered_by_override" : "not_on_call";
        add(account, { reason, step: number, by: onDuty[0] ?? null });
      }
  }
  if (facts.steps.length === 0 && entries.length === 0)
    entries.push({ ...NOTHING, reason: "no_ladder" });
  entries.push(...facts.channels.flatMap((channel) => ofChannel(channel, facts)));
  if (facts.repeatAt !== null)
    entries.push({ ...NOTHING, reason: "repeat_is_silent", at: facts.repeatAt });
  return entries;

  function wayless(account: string) {
    const isGone = facts.nameOf(account) === null;
    return { reason: isGone ? ("account_removed" as const) : ("no_channel" as const) };
  }
}

const silenced = ({ by, until }: HeldFact) => ({ reason: "silenced" as const, by, until });

/** What a channel was sent, and why it wasn't told the rest. */
function ofChannel(channel: ChannelFact, { events, held }: ReachFacts): ReachEntry[] {
  const { id, name, type, createdAt, sent } = channel;
  const base = { ...NOTHING, integration_id: id, name, via: type };
  const told = sent.map(({ dueAt, endedAt, ...one }): ReachEntry => {
    const { status, event, attempts, error } = one;
    // What waits for a channel that is off goes nowhere until somebody turns it on.
    const reason = status === "pending" && !channel.enabled ? "channel_disabled" : CHANNEL[status];
    return { ...base, reason, event, attempts, error, due_at: dueAt, at: endedAt };
  });
  const missed = events.flatMap(({ event, at }): ReachEntry[] => {
    if (at < createdAt || sent.some((one) => one.event === event)) return [];
    const why = whyNotPaged(channel, event);
    return why === null ? [] : [{ ...base, ...why, event, at }];
  });
  const opened = "alert.opened";
  const isUnannounced = !events.some(({ event }) => event === opened);
  if (!isUnannounced || held === null) return [...told, ...missed];
  return [{ ...base, event: opened, ...(whyNotPaged(channel, opened) ?? silenced(held)) }];
}

/** Why a channel isn't told of this kind of event as it is now; null: it is. */
export function whyNotPaged(
  { enabled, filter, error }: Pick<ChannelFact, "enabled" | "filter" | "error">,
  event: string,
): Pick<ReachEntry, "reason" | "error"> | null {
  if (!enabled) return { reason: "channel_disabled", error };
  if (subscribes(filter, event)) return null;
  return { reason: "event_filtered", error: `takes ${filter.replaceAll(",", ", ")}` };
}

const CHANNEL = {
  pending: "delayed",
  delivered: "delivered",
  failed: "failed",
  dropped: "channel_disabled",
} as const satisfies Record<string, ReachEntry["reason"]>;

function ofPage(page: PageFact, held: HeldFact | null) {
  const { via, address, event, outcome, attempts, error, together, shownAt, endedAt } = page;
  const known = outcome === "refused" ? null : outcome;
  return {
    reason: reasonOf(page),
    via,
    address,
    event,
    attempts,
    error,
    together,
    outcome: known,
    due_at: page.nextAt ?? page.dueAt,
    at: shownAt ?? endedAt,
    after: shownAt === null || endedAt === null ? null : Math.max(0, shownAt - endedAt),
    ...(page.status === "withdrawn" && held !== null && silenced(held)),
  };
}

function reasonOf({ status, outcome }: PageFact): ReachEntry["reason"] {
  if (outcome === "shown" || outcome === "answered") return "shown";
  if (status === "failed" || status === "withdrawn") return status;
  if (status === "pending") return "delayed";
  return outcome === "delivered" ? "delivered" : "accepted_not_confirmed";
}

const PHONE = { pending: "delayed", failed: "failed", dropped: "channel_disabled" } as const;

function ofPhone({ event, status, attempts, dueAt, endedAt, error }: PhoneFact, hasPhone: boolean) {
  const taken = hasPhone ? ("accepted_not_confirmed" as const) : ("no_device" as const);
  const isTaken = status === "delivered";
  return {
    reason: isTaken ? taken : PHONE[status],
    via: "phone",
    event,
    attempts,
    error,
    due_at: dueAt,
    at: endedAt,
    outcome: isTaken && hasPhone ? "accepted" : null,
    together: isTaken ? 1 : 0,
  };
}
