import { html, type Markup } from "../../../ground/kit/html.ts";
import type { HeartbeatAnswer } from "../../../in/heartbeats/heartbeat.ts";
import { span } from "../ui/times.ts";

type State = HeartbeatAnswer["state"];

const RING = html`<circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2"/>`;

/** Told apart by shape, then by word, then by colour. */
const STATES: Readonly<Record<State, { look: string; glyph: Markup; order: number }>> = {
  down: {
    look: "wrong",
    order: 0,
    glyph: html`<path d="M3 3l10 10M13 3L3 13" stroke="currentColor" stroke-width="2.5"/>`,
  },
  late: {
    look: "warn",
    order: 1,
    glyph: html`${RING}<path d="M8 4.5V8l2.5 1.5" fill="none" stroke="currentColor" stroke-width="1.5"/>`,
  },
  started: {
    look: "good",
    order: 2,
    glyph: html`<path d="M4 2l9 6-9 6z" fill="currentColor"/>`,
  },
  up: {
    look: "good",
    order: 3,
    glyph: html`<circle cx="8" cy="8" r="6" fill="currentColor"/>`,
  },
  new: {
    look: "soft",
    order: 4,
    glyph: html`<circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="2 2"/>`,
  },
  paused: {
    look: "soft",
    order: 5,
    glyph: html`<path d="M5 3v10M11 3v10" stroke="currentColor" stroke-width="3"/>`,
  },
};

/** What wants somebody first. */
export const stateOrder = ({ state }: Pick<HeartbeatAnswer, "state">): number =>
  STATES[state].order;

const WHY = { missing: "no ping came", failed: "it failed", overrun: "it runs too long" } as const;

export function heartbeatBadge({ state, reason }: Pick<HeartbeatAnswer, "state" | "reason">) {
  const { look, glyph } = STATES[state];
  return html`<span class="${look} beat-state"><svg class="glyph" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${glyph}</svg> ${state}</span>${
    state === "down" && reason !== null && html` <span class="small">${WHY[reason]}</span>`
  }`;
}

/** "every 1 h + 5 min", "15 3 * * * (Europe/Vienna) + 30 min". */
export function paceWords(beat: {
  period_seconds?: number | undefined;
  cron?: string | undefined;
  timezone: string;
  grace_seconds: number;
}): Markup {
  const { period_seconds, cron, timezone, grace_seconds } = beat;
  const often =
    cron === undefined
      ? html`every ${span(period_seconds ?? 0)}`
      : html`<code>${cron}</code> ${timezone}`;
  return html`${often} + ${span(grace_seconds)}`;
}
