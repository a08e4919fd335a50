import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { calendarPlot } from "../ui/calendar-plot.ts";
import type { CalendarBlock } from "../ui/calendar-rows.ts";
import { heat } from "../ui/heat.ts";
import { askedRange } from "../ui/local-time.ts";
import { nowCard } from "../ui/now-card.ts";
import type { SeatNow } from "../ui/schedule.ts";
import { silenceCard } from "../ui/silence-card.ts";
import { sampleFaceOf, sampleFaces, sampleSilence } from "./samples.ts";

const HOUR = 3600;
const DAY = 24 * HOUR;

/** Who is on call in each way that there is: you, somebody, nobody as planned, a gap. */
export function onCall(call: PageCall): Markup {
  const { now, look } = call;
  const faces = sampleFaceOf(sampleFaces(call));
  const one = (name: string, current: SeatNow["current"], then: string | null) => {
    const stored = { project: "payments", name, timezone: look.zone };
    const next = { ...stretch(then, now + 7 * HOUR, 7 * DAY) };
    return nowCard(call, { stored, current, next }, { faces, name: html`${name}` });
  };
  const seat = (account_id: string) => {
    return { account_id, email: "", starts_at: now - DAY, ends_at: now + 7 * HOUR };
  };
  const has = (account: string, ...others: readonly string[]): SeatNow["current"] => ({
    on_call: true,
    ...seat(account),
    accounts: [account, ...others].map(seat),
    schedule: "",
    layer: null,
    override_id: null,
  });
  const next = { account_id: "sample-3", email: "", starts_at: now + 7 * HOUR };
  return html`<h2>On call</h2><div class="now-cards">${[
    one("primary", has("sample-1"), "sample-2"),
    one("platform", has("sample-2", "sample-5"), null),
    one("office", { on_call: false, off: true, next }, null),
    one("weekend", { on_call: false, next }, null),
  ]}</div>${week(call)}`;
}

const stretch = (account_id: string | null, starts_at: number, seconds: number): CalendarBlock => ({
  account_id,
  starts_at,
  ends_at: starts_at + seconds,
  layer: null,
  override_id: null,
});

function week(call: PageCall): Markup {
  const { look, now, base } = call;
  const faces = sampleFaceOf(sampleFaces(call));
  const range = askedRange(look.zone, new URLSearchParams({ days: "7" }), now);
  const row = (name: string, ...parts: [account: string | null, days: number][]) => {
    let at = range.from;
    const blocks = parts.map(([account, days]) => {
      const block = stretch(account, at, days * DAY);
      at = block.ends_at;
      return block;
    });
    return { kind: "final" as const, name, index: 0, blocks };
  };
  return calendarPlot({
    rows: [
      row("primary", ["sample-1", 0.5], ["sample-2", 3.5], ["sample-5", 3]),
      row("platform", ["sample-4", 4], [null, 0.6], ["sample-6", 2.4]),
    ],
    range,
    timezone: look.zone,
    now,
    me: "sample-1",
    names: (account) => (account === null ? "nobody" : faces(account).name),
    hues: (account) => faces(account).hue,
    label: "A week of two schedules",
    head: (of) =>
      of === null ? html`<span class="soft">Your time</span>` : html`<b>${of.name}</b>`,
    href: () => `${base}/system/look`,
  });
}

/** A silence in each of its states. */
export const silences = (call: PageCall): Markup =>
  html`<h2>Silences</h2><ul class="cards bare">${(["active", "planned", "over"] as const).map(
    (state) => silenceCard(call, sampleSilence(call, state)),
  )}</ul>`;

export const weekHeat = (): Markup =>
  heat(Object.fromEntries(Array.from({ length: 60 }, (_, at) => [(at * 53) % 168, (at * 7) % 9])));
