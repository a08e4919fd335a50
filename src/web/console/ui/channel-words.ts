import type { SimulatedChannel } from "../../../core/alerts/simulate/shape.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { wayWord } from "../../../out/services/service-names.ts";
import type { PageCall } from "../screen.ts";
import { ago } from "./times.ts";

export const CHANNEL_DOT = {
  confirmed: "shown",
  unconfirmed: "waiting",
  failing: "accepted",
  off: "none",
  none: "none",
} as const;

export const CHANNEL_STATE: Readonly<Record<SimulatedChannel["state"], string>> = {
  confirmed: "confirmed",
  unconfirmed: "not confirmed: nothing is known of it",
  failing: "failing: the latest messages did not get through",
  off: "switched off",
  none: "doesn't ring for this alert",
};

/** "● webhook /ann: confirmed 2 h ago" */
export function channelWords(
  call: Pick<PageCall, "now" | "look">,
  { kind, label, state, last_confirmed_at: last, after_seconds: after }: SimulatedChannel,
): Markup {
  if (kind === "none")
    return html`<span class="dot dot-none" aria-hidden="true"></span> <strong class="wrong">no way to reach them: nothing would ring</strong>`;
  return html`<span class="dot dot-${CHANNEL_DOT[state]}" aria-hidden="true"></span> ${wayWord(kind)}${label !== "" && ` ${label}`}: ${CHANNEL_STATE[state]}${state === "confirmed" && last !== null && html` ${ago(call, last)}`}${after > 0 && `, ${after} s after the rung`}`;
}
