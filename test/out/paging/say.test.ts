import assert from "node:assert/strict";
import { test } from "node:test";
import { namedClock } from "../../../src/ground/kit/wall-time.ts";
import {
  noteMessage,
  type PagedAlert,
  pageMessage,
  shiftMessage,
} from "../../../src/out/paging/say.ts";
import { clocksWithoutZone } from "../../support/clocks.ts";
import { eventBody } from "../../support/events.ts";

const now = Date.UTC(2026, 10, 21, 12) / 1000;
const HOUR = 3600;

test("what a person is told names the zone of every time of day", () => {
  const shift = { id: "1", schedule: "payments / primary", clock: namedClock("Asia/Tokyo"), now };
  const said = (startsAt: number, endsAt: number | null) =>
    shiftMessage({ ...shift, startsAt, endsAt }, null).title;
  assert.deepEqual(
    [
      said(now, null),
      said(now, now + HOUR),
      said(now + HOUR, null),
      said(now + HOUR, now + 9 * HOUR),
    ],
    [
      "You're on call for payments / primary.",
      "You're on call for payments / primary until 22:00 Asia/Tokyo.",
      "You're on call for payments / primary from 22:00 Asia/Tokyo.",
      "You're on call for payments / primary from 22:00 until Sun 06:00 Asia/Tokyo.",
    ],
  );
  const next = { at: now + HOUR, people: [{ name: "Cy", why: "" }], more: 0 };
  const one: PagedAlert = { event: eventBody(), said: { next, silenced: now - HOUR } };
  const many: [PagedAlert, PagedAlert] = [one, one];
  const link = () => null;
  const clock = namedClock("UTC");
  const texts = [
    pageMessage([one], { id: "1", link, ack: null, clock }),
    pageMessage(many, { id: "1", link, ack: null, clock }),
    noteMessage([one], { link, clock }),
    noteMessage(many, { link, clock }),
  ].map(({ title, lines }) => [title, ...lines].join("\n"));
  assert.match(texts[0] ?? "", /\d\d:\d\d UTC/);
  for (const text of [...texts, said(now, now + HOUR), said(now + HOUR, now + 9 * HOUR)])
    assert.deepEqual(clocksWithoutZone(text), []);
});
