import type { ReachEntry } from "../src/core/alerts/reach-report.ts";
import { printable, when } from "./table.ts";

/** `sms …2222`; "" where no contact was used. */
export function wayText({ via, address }: ReachEntry): string {
  return printable([via, address].filter((part) => part !== null).join(" "));
}

const WORDS: Record<
  ReachEntry["reason"],
  (entry: ReachEntry, nameOf: (id: string) => string) => string
> = {
  shown: ({ outcome }) => (outcome === "answered" ? "answered" : "shown"),
  delivered: () => "delivered",
  accepted_not_confirmed: () => "sent, not confirmed",
  delayed: ({ attempts, due_at }) =>
    `waits${attempts > 0 ? ` after ${attempts} attempts` : ""}${due_at === null ? "" : `, next ${when(due_at)}`}`,
  failed: () => "FAILED",
  withdrawn: () => "withdrawn: it was acknowledged, or it was over",
  step_not_reached: ({ step, due_at }) =>
    `rung ${step} ${due_at === null ? "was not reached" : `is due ${when(due_at)}`}`,
  not_on_call: ({ by }, nameOf) => `not on call${by === null ? "" : `: ${nameOf(by)} was`}`,
  covered_by_override: ({ by }, nameOf) =>
    `off by an override${by === null ? "" : `: ${nameOf(by)} had it`}`,
  no_channel: () => "NOT PAGED: has no contact and no phone",
  no_device: () => "NOT PAGED: the relay knows no phone of theirs",
  channel_disabled: () => "NOT SENT: the channel is off",
  event_filtered: ({ event, error }) =>
    `not notified of ${event}: ${error ?? "not among its kinds"}`,
  silenced: ({ by, until }) =>
    by?.startsWith("alert:")
      ? `silenced until #${by.slice("alert:".length)} is resolved`
      : `silenced${until === null ? "" : ` until ${when(until)}`}`,
  repeat_is_silent: () => "further events count into the alert: nobody is notified again",
  no_ladder: () => "its rule has no ladder",
  account_removed: () => "was removed",
};

/** The result of a page, or why there is none, in words. `nameOf` names accounts. */
export function reasonText(entry: ReachEntry, nameOf: (id: string) => string): string {
  const others = entry.together - 1;
  const named = others > 0 ? `, with ${others} ${others === 1 ? "other" : "others"}` : "";
  return WORDS[entry.reason](entry, nameOf) + named;
}
