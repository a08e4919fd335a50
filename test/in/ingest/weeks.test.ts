import assert from "node:assert/strict";
import { getProject } from "../../../src/core/projects/projects.ts";
import type { Store } from "../../../src/ground/store/store.ts";
import { dryRunWrite, type Weeks } from "../../../src/in/ingest/dry-run/dry-run.ts";
import { runDry } from "../../../src/in/ingest/dry-run/run.ts";
import { noteDowntime } from "../../../src/in/ingest/first-seen.ts";
import { long, test } from "../../support/long.ts";
import fc from "../../support/property.ts";
import { DAY, HOUR, placeOf, WEEK } from "./unusual-stories.ts";

/** Four weeks by the hour, and where a rule would have fired: against what the rule itself opened. */

function weeksOf(
  { store, now }: { store: Store; now(): number },
  rule: object,
  { project = "p1", budgetMs = 60_000 } = {},
): Weeks {
  const input = dryRunWrite.parse({ rule: { name: "more", ...rule }, days: 1, weeks: true });
  const order = { projectId: getProject(store, project).id, input, now: now(), budgetMs };
  let ms = 0;
  const found = runDry(store, { mono: () => ms++, now: () => 0 }, order).weeks;
  assert.ok(found);
  return found;
}

const hourOf = (at: number) => Math.floor(at / HOUR);
const unusual = {
  match: { unusual: { factor: 3, at_least: 3 } },
  fire_after: { count: 1, window_minutes: 60 },
};
const TEXTS = ["payment was refused by the bank", "disk is full on sda"];

long("any story fires in the hours in which the rule opened an alert", (t) => {
  const step = fc.record({
    wait: fc.constantFrom(2 * HOUR, WEEK, WEEK - 2 * HOUR, 5 * HOUR),
    text: fc.nat(1),
    // No count is three times what another or the middle of two is.
    n: fc.constantFrom(1, 5, 13, 40),
    host: fc.constantFrom("x", "y"),
  });
  let some = 0;
  const stories = fc.record({
    steps: fc.array(step, { minLength: 4, maxLength: 18 }),
    identifiers: fc.boolean(),
  });
  fc.assert(
    fc.property(stories, ({ steps, identifiers }) => {
      const place = placeOf(t);
      const rule = identifiers ? { ...unusual, identifier_keys: ["host"] } : unusual;
      const { send, end, openings } = place.project(rule);
      const begun = place.now();
      for (const { wait, text, n, host } of steps) {
        if (place.now() + wait - begun > 5 * WEEK) continue;
        place.wait(wait - 1);
        for (let i = 0; i < n; i++) send(TEXTS[text] as string, { host });
        end();
        place.wait(1);
      }
      const weeks = weeksOf(place, rule);
      const wanted = openings().filter(({ at }) => at >= weeks.from);
      const told = ({ at, template, host }: { at: number; template: string; host: string }) =>
        `${hourOf(at)} ${template} ${identifiers ? host : ""}`;
      assert.deepEqual(
        weeks.fired.map((one) => told({ ...one, host: one.identifiers["host"] ?? "" })).sort(),
        wanted.map(told).sort(),
      );
      assert.equal(weeks.fired_count, wanted.length);
      const marks = weeks.hours.reduce((sum, { fired }) => sum + fired, 0);
      assert.equal(marks, wanted.length);
      some += wanted.length;
    }),
    { numRuns: 30 },
  );
  assert.ok(some > 8, `${some} alerts`);
});

test("what is new and unusual at once fires in the hours in which the rule itself opened", (t) => {
  const place = placeOf(t);
  const both = {
    match: { first_seen_days: 1, unusual: { factor: 2, at_least: 3 } },
    fire_after: { count: 1, window_minutes: 60 },
  };
  const { send, openings } = place.project(both);
  const [slow, fast] = TEXTS as [string, string];
  send("something else");
  place.wait(3 * WEEK);
  // When more than usual came, it was new no longer.
  send(slow);
  place.wait(5 * HOUR);
  for (let n = 0; n < 9; n++) send(slow);
  place.wait(5 * HOUR);
  for (let n = 0; n < 9; n++) send(fast);
  const wanted = openings();
  assert.deepEqual(
    wanted.map(({ template }) => template),
    [fast],
  );
  place.wait(60);
  send("something else");
  assert.deepEqual(
    weeksOf(place, both).fired.map(({ at, template }) => ({ hour: hourOf(at), template })),
    wanted.map(({ at, template }) => ({ hour: hourOf(at), template })),
  );
});

test("it says what came, what usually comes, and since when it can tell", (t) => {
  const place = placeOf(t);
  const begun = place.now();
  const { send } = place.project(unusual);
  for (const n of [4, 6, 8, 50]) {
    for (let i = 0; i < n; i++) send(TEXTS[0] as string);
    place.wait(WEEK);
  }
  // What a minute counted is written by a later event.
  send(TEXTS[0] as string);
  const weeks = weeksOf(place, unusual);
  assert.equal(weeks.compares_from, begun + 2 * WEEK + HOUR);
  assert.ok(weeks.complete);
  assert.deepEqual(
    weeks.hours.map(({ at, events, usual, fired }) => [(at - begun) / WEEK, events, usual, fired]),
    // The first hour of all was cut, so it is nothing to compare with; in the present one little came so far.
    [
      [0, 4, null, 0],
      [1, 6, null, 0],
      [2, 8, null, 0],
      [3, 50, 7, 1],
      [4, 1, 8, 0],
    ],
  );
  const [fired] = weeks.fired;
  assert.deepEqual([fired?.came, fired?.usually], [50, 7]);
});

test("with more than it can look at in its time it says so", (t) => {
  const place = placeOf(t);
  const { send } = place.project(unusual);
  for (const text of TEXTS) send(text);
  const weeks = weeksOf(place, unusual, { budgetMs: -2000 });
  assert.equal(weeks.complete, false);
});

test("what no longer came is found where the rule found it, within the hour that counts tell", (t) => {
  const place = placeOf(t);
  const rule = { missing: true, match: {} };
  const { send, pass, openings } = place.project(rule);
  const comes = (seconds: number) => {
    for (let left = seconds; left > 0; left -= HOUR / 2) {
      send(TEXTS[0] as string);
      pass(HOUR / 2);
    }
  };
  comes(15 * DAY);
  pass(4 * HOUR);
  comes(DAY);
  // Not three times four hours.
  pass(9 * HOUR);
  comes(DAY);
  pass(2 * DAY);
  comes(2 * DAY);
  place.store.write((tx) => noteDowntime(tx, { until: place.now(), seconds: 36 * HOUR }));
  const weeks = weeksOf(place, rule);
  const live = openings();
  assert.equal(live.length, 2);
  assert.deepEqual(
    weeks.fired.map(({ at }, i) => Math.abs(at - (live[i]?.at ?? 0)) <= HOUR),
    [true, true],
  );
  pass(8 * DAY);
  const later = weeksOf(place, rule);
  assert.deepEqual(
    later.fired.slice(2).map(({ at }) => at),
    openings()
      .slice(2)
      .map(({ at }) => at),
    "what is missing now, to the second",
  );
  const one = weeksOf(place, { missing: { template_id: "0123456789abcdef" } });
  assert.deepEqual([one.fired_count, one.hours.length], [0, 0], "another template");
});

test("what was never heard before is found where the rule found it", (t) => {
  const place = placeOf(t);
  const rule = { match: { first_seen_days: 3, min_level: 300, sources: ["a"] } };
  const { send, wait, openings, end } = { ...place, ...place.project(rule) };
  const begun = place.now();
  send(TEXTS[0] as string);
  send(TEXTS[0] as string, { from: "b" });
  wait(DAY + HOUR);
  send(TEXTS[0] as string);
  send("cache was lost", { level: 200 });
  send("queue is long", { from: "b" });
  // Past the rule's window it is no news any more.
  wait(120);
  send("queue is long");
  send(TEXTS[1] as string);
  end();
  wait(4 * DAY);
  send(TEXTS[1] as string);
  end();
  wait(2 * DAY);
  send(TEXTS[1] as string);
  const weeks = weeksOf(place, rule);
  assert.equal(weeks.compares_from, begun + DAY);
  assert.equal(openings().length, 2);
  assert.deepEqual(
    weeks.fired.map(({ at, template }) => [at, template]),
    openings().map(({ at, template }) => [at, template]),
  );
});
