import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { ChannelHealth } from "../../../out/outbox/channel-health.ts";
import { errorWords } from "../../../out/outbox/error-words.ts";
import { type Delivery, deliveredOf } from "../../../out/outbox/rows.ts";
import type { PageCall } from "../screen.ts";
import { ago, clockTime, since, until } from "../ui/times.ts";

/** Kinds of events as a person says them. */
export const EVENT_WORDS: Readonly<Record<string, string>> = {
  "alert.opened": "opened",
  "alert.escalated": "next rung of a ladder",
  "alert.renotified": "notified again",
  "alert.acknowledged": "acknowledged",
  "alert.resolved": "resolved",
  "alert.test": "test",
  "integration.disabled": "another channel turned off",
};

export const eventWord = (event: string): string => EVENT_WORDS[event] ?? event;

const DOTS: Readonly<Record<ChannelHealth["state"], string>> = {
  works: "shown",
  failing: "failing",
  off: "none",
  never_tried: "accepted",
};

/** Told apart by shape; the word stands beside it. */
export const healthDot = ({ state }: ChannelHealth): Markup =>
  html`<span class="dot dot-${DOTS[state]}" aria-hidden="true"></span>`;

const OFF_WORDS = {
  breaker: "it turned itself off after it had failed for long",
  receiver: "its receiver asked for no more",
  operator: "the configuration turned it off",
} as const;

/** How a channel fares: the health function's state, by the reader's clock. `nameOf`: a person by id. */
export function healthWords(
  call: PageCall,
  health: ChannelHealth,
  nameOf: (id: string) => string,
): Markup {
  if (health.state === "never_tried") return html`never tried: send a test`;
  if (health.state === "works")
    return html`<span class="good">works</span>${health.worked_at !== null && html`, last took something ${ago(call, health.worked_at)}`}${waiting(health)}`;
  if (health.state === "off")
    return html`<span class="warn">off</span>${health.since !== null && html` since ${clockTime(call, health.since)}`}${offBy(health, nameOf)}${because(health.error)}${waiting(health)}`;
  return failing(call, health);
}

function failing(call: PageCall, health: ChannelHealth): Markup {
  const { since: from, error, next_try_at: next, turns_off_at: off } = health;
  const head =
    from === null
      ? html`<span class="wrong">the last try failed</span>`
      : html`<span class="wrong">failing for ${since(call, from)}</span>`;
  return html`${head}${because(error)}${next !== null && html`; next try ${next > call.now ? html`in ${until(call, next)}` : "now"}`}${waiting(health)}${
    off !== null && html`; turns itself off from ${clockTime(call, off)} on unless it recovers`
  }`;
}

const because = (error: string | null): Piece => error !== null && `: ${errorWords(error)}`;

const waiting = ({ waiting: n }: ChannelHealth): Piece =>
  n > 0 &&
  `; ${n === 1 ? "1 message waits" : `${n === 1000 ? "1,000 messages or more" : `${n} messages`} wait`}`;

function offBy(
  { off_by, off_by_account: id }: ChannelHealth,
  nameOf: (id: string) => string,
): Piece {
  if (off_by === null) return null;
  return off_by === "person"
    ? `; ${id === null ? "somebody" : nameOf(id)} turned it off`
    : `; ${OFF_WORDS[off_by]}`;
}

const STATUS: Readonly<Record<Delivery["status"], [kind: string, word: string]>> = {
  pending: ["warn", "waiting"],
  delivered: ["good", "delivered"],
  failed: ["wrong", "failed"],
  dropped: ["soft", "dropped"],
};

export function statusWord(status: Delivery["status"]): Markup {
  const [kind, word] = STATUS[status];
  return html`<span class="${kind}">${word}</span>`;
}

const WEEK = 7 * 86_400;

/** How much of what ended within a week was delivered; nothing where nothing did. */
export function deliveredWords({ tenant, now }: PageCall, id: string): Piece {
  const { delivered, ended } = deliveredOf(tenant.store, { integration: id, since: now - WEEK });
  if (ended === 0) return null;
  // Rounded down: a hundred is said where all were.
  const percent = Math.floor((delivered / ended) * 1000) / 10;
  return html` · <span class="${percent < 99 ? "warn" : "soft"}">${percent} % of ${ended} delivered in 7 days</span>`;
}
