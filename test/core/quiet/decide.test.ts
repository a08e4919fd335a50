import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_LABELS } from "../../../src/core/alerts/labels.ts";
import {
  decideSilenced,
  matcherOf,
  matchingSilences,
  type ReadySilence,
  type Subject,
} from "../../../src/core/quiet/decide.ts";
import { surely } from "../../../src/core/quiet/labels.ts";
import { type SilenceBody, silenceWrite } from "../../../src/core/quiet/silence.ts";
import { type Timing, windowAt } from "../../../src/core/quiet/windows.ts";
import { anyTime } from "../../support/patterns.ts";
import fc from "../../support/property.ts";

const HOUR = 3600;
const DAY = 24 * HOUR;
const at = (text: string) => Math.floor(Temporal.Instant.from(text).epochMilliseconds / 1000);

const subject: Subject = {
  projectId: 1,
  rule: "errors",
  templateId: "t1",
  source: "api",
  level: 400,
  labelled: () => NO_LABELS,
  identifiers: { provider: "acme", amount: "12" },
};
const bodyOf = (write: object): SilenceBody =>
  silenceWrite.parse({ ends_at: 10, reason: "r", ...write });

const by = (condition: object) => ({ conditions: [condition] });
/** As an alert's row gives them. */
const named = (key: string) => ({ identifiers: JSON.parse(`{"${key}":"v"}`) });
const takes: [what: string, write: object, changed: Partial<Subject>, is: boolean][] = [
  ["everything below critical", { all: true }, {}, true],
  ["no critical one", { all: true }, { level: 500 }, false],
  ["critical ones where it says so", { all: true, critical: true }, { level: 900 }, true],
  ["a rule's", { match: { rule: "errors" } }, {}, true],
  ["no other rule's", { match: { rule: "other" } }, {}, false],
  ["a template's", { match: { template_id: "t1" } }, {}, true],
  ["no other template's", { match: { template_id: "t2" } }, {}, false],
  ["below a level", { match: { rule: "errors", below_level: 401 } }, {}, true],
  ["not at that level", { match: { rule: "errors", below_level: 400 } }, {}, false],
  ["with an identifier", { match: { identifiers: { provider: "acme" } } }, {}, true],
  ["not with another value of it", { match: { identifiers: { provider: "x" } } }, {}, false],
  ["not without it", { match: { identifiers: { region: "" } } }, {}, false],
  ["from a source", { match: { sources: ["web", "api"] } }, {}, true],
  ["not of several sources", { match: { sources: ["api"] } }, { source: null }, false],
  ["by a list", { conditions: [{ key: "provider", op: "in", value: ["acme"] }] }, {}, true],
  ["not off the list", { conditions: [{ key: "provider", op: "in", value: ["b"] }] }, {}, false],
  ["by a number", { conditions: [{ key: "amount", op: "gte", value: 12 }] }, {}, true],
  ...["constructor", "__proto__", "toString"].flatMap((key): typeof takes => [
    [`not by a pattern of ${key}`, by({ key, op: "matches", value: ".*" }), {}, false],
    [`not by ${key} on a list`, by({ key, op: "in", value: ["acme"] }), {}, false],
    [`by another ${key}`, by({ key, op: "neq", value: "acme" }), {}, true],
    [`with a ${key} of its own`, by({ key, op: "eq", value: "v" }), named(key), true],
  ]),
];
for (const [what, write, changed, is] of takes)
  test(`a silence takes ${what}: ${is}`, () =>
    assert.equal(matcherOf(bodyOf(write))({ ...subject, ...changed }, anyTime), is));

function ready(timing: Partial<Timing>, more: Partial<ReadySilence> = {}): ReadySilence {
  return {
    id: "s",
    projectId: null,
    kind: "silence",
    reason: "r",
    takes: () => true,
    byLabels: false,
    timing: {
      startsAt: 100,
      endsAt: 200,
      overAt: 200,
      repeats: "none",
      timezone: "UTC",
      ...timing,
    } as Timing,
    ...more,
  };
}
const untilOf = (silences: ReadySilence[], now: number) =>
  decideSilenced(
    { silences: matchingSilences(subject, { silences, time: anyTime }), above: [] },
    now,
  )?.until ?? null;

test("it is quiet from the first second of a window to before its last, in its own project, by the longest", () => {
  const one = ready({});
  assert.deepEqual(
    [99, 100, 199, 200].map((now) => untilOf([one], now)),
    [null, 200, 200, null],
  );
  assert.equal(untilOf([ready({}, { projectId: 2 })], 150), null);
  assert.equal(untilOf([one, ready({ endsAt: 300, overAt: 300 }), one], 150), 300);
});

test("an alert above holds for 30 days at most", () => {
  const above = (openedAt = 0) =>
    decideSilenced({ silences: [], above: [{ id: 7, rule: "up", openedAt }] }, 10 * DAY);
  assert.equal(above()?.by, "alert:7");
  assert.equal(above()?.until, 30 * DAY);
  assert.equal(above(-21 * DAY), null);
});

test("two alerts are surely about one thing where each named label is an identifier, or has one known value", () => {
  const of = (
    identifiers: Record<string, string>,
    labels: Record<string, string>,
    varied: Record<string, string[]> = {},
  ) => ({ identifiers, labelled: () => ({ labels, varied, varied_more: [] }) });
  const { host, rest } = { host: { host: "db7" }, rest: { zone: "a" } };
  assert.equal(surely(of(host, {}), ["host"]), surely(of({}, host), ["host"]));
  assert.equal(
    surely(of(host, rest), ["host", "zone"]),
    surely(of({}, { ...rest, ...host }), ["host", "zone"]),
  );
  assert.notEqual(surely(of({}, host), ["host"]), surely(of({}, { host: "db8" }), ["host"]));
  assert.equal(surely(of({}, host, { host: ["db7", "db8"] }), ["host"]), null, "it varies");
  assert.equal(surely(of({}, {}, { host: [] }), ["host"]), null, "it had no room");
  assert.equal(surely(of(host, {}), []), surely(of({}, {}), []));
  for (const name of ["zone", "constructor", "__proto__"])
    assert.equal(surely(of(host, host), [name]), null, `what is lacking says nothing: ${name}`);
});

const vienna = (from: string, until: string, repeats: "daily" | "weekly"): Timing => ({
  startsAt: at(from),
  endsAt: at(until),
  repeats,
  timezone: "Europe/Vienna",
  overAt: at("2026-12-31T00:00Z"),
});
const shown = (timing: Timing, now: string) => {
  const window = windowAt(timing, at(now));
  const text = (second: number) => new Date(second * 1000).toISOString().slice(0, 16);
  return window === null ? null : `${text(window.from)} ${text(window.until)}`;
};

test("a window comes again at the same times on the clocks, over both clock changes of a year", () => {
  // 22:00 to 04:00 in Vienna.
  const nightly = vienna("2026-03-26T21:00Z", "2026-03-27T03:00Z", "daily");
  assert.equal(shown(nightly, "2026-03-28T21:00Z"), "2026-03-28T21:00 2026-03-29T02:00");
  assert.equal(shown(nightly, "2026-03-29T02:00Z"), "2026-03-29T20:00 2026-03-30T02:00");
  assert.equal(shown(nightly, "2026-10-24T23:00Z"), "2026-10-24T20:00 2026-10-25T03:00");
  // 02:30 to 03:30: the first never comes in spring and comes twice in autumn.
  const gap = vienna("2026-03-22T01:30Z", "2026-03-22T02:30Z", "weekly");
  assert.equal(shown(gap, "2026-03-28T00:00Z"), "2026-04-05T00:30 2026-04-05T01:30");
  assert.equal(shown(gap, "2026-10-24T12:00Z"), "2026-10-25T00:30 2026-10-25T02:30");
  assert.equal(shown(nightly, "2026-12-31T00:00Z"), null);
  assert.equal(shown(nightly, "2026-12-30T23:00Z"), "2026-12-30T21:00 2026-12-31T00:00");
});

test("windows: what holds now began and hasn't ended, what comes next begins later, and none outlives its end", () => {
  const zones = ["UTC", "Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"];
  const timing = fc.record({
    startsAt: fc.integer({ min: 1_760_000_000, max: 1_790_000_000 }),
    length: fc.integer({ min: 1, max: 7 * DAY }),
    repeats: fc.constantFrom("none", "daily", "weekly"),
    days: fc.integer({ min: 1, max: 365 }),
    timezone: fc.constantFrom(...zones),
    look: fc.integer({ min: -DAY, max: 370 * DAY }),
  });
  fc.assert(
    fc.property(timing, ({ startsAt, length, repeats, days, timezone, look }) => {
      const short = repeats === "daily" ? 1 + (length % (DAY - 1)) : Math.min(length, 7 * DAY - 1);
      const endsAt = startsAt + short;
      const overAt = repeats === "none" ? endsAt : Math.max(endsAt, startsAt + days * DAY);
      const of = { startsAt, endsAt, overAt, repeats: repeats as Timing["repeats"], timezone };
      const now = startsAt + look;
      const window = windowAt(of, now);
      if (now >= overAt) return assert.equal(window, null);
      if (window === null) return assert.notEqual(repeats, "none");
      assert.ok(window.until > now && window.from < window.until, "it isn't past");
      assert.ok(window.from >= startsAt && window.until <= overAt);
      assert.ok(window.until - window.from <= short + 3 * HOUR, "no longer than its first");
      // Asked at any time within it, the answer is the same.
      if (window.from >= now) assert.deepEqual(windowAt(of, window.from), window);
    }),
  );
});
