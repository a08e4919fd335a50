import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { noteDowntime } from "../../../src/in/ingest/first-seen.ts";
import { Miner } from "../../../src/in/ingest/template/miner.ts";
import fc from "../../support/property.ts";
import { DAY, HOUR, type Opened, placeOf, type Sent as UnusuallySent } from "./unusual-stories.ts";

/** Rules that ask for what no longer comes, against an evaluator of the contract's words. */

const TEXTS = ["disk is full on sda", "payment was refused by the bank"];
const TEMPLATE = new Miner({ limit: 10, rows: [] }).mine(TEXTS[0] as string).id;

interface Sent
  extends UnusuallySent<"nothing" | "end" | "again" | "fail" | "down" | "ahead" | "sweep"> {
  level: number;
}

/** `others`: in how many of ten it isn't the usual one. */
const sentEvent = (
  waits: readonly number[],
  ns: readonly number[],
  others: number,
): fc.Arbitrary<Sent> => {
  const mostly = <T>(one: T, other: T) => fc.nat(9).map((n) => (n < others ? other : one));
  return fc.record({
    wait: fc.constantFrom(...waits),
    text: mostly(0, 1),
    n: fc.constantFrom(...ns),
    from: mostly<"a" | "b">("a", "b"),
    host: mostly("x", "y"),
    level: mostly(400, 200),
    does: fc.constantFrom(
      ...([
        "nothing",
        "nothing",
        "nothing",
        "nothing",
        "end",
        "again",
        "fail",
        "down",
        "ahead",
        "sweep",
      ] as const),
    ),
  });
};
/** Two weeks in which it comes, and then anything. */
const story = fc
  .record({
    usual: fc.constantFrom(
      sentEvent([12 * HOUR, 2 * HOUR], [16, 20], 0),
      sentEvent([12 * HOUR + 77, 10 * HOUR], [13, 14], 0),
      sentEvent([12 * HOUR], [20], 1),
    ),
    many: fc.integer({ min: 28, max: 50 }),
    after: fc.array(
      sentEvent([600, HOUR, 5 * HOUR, 17 * HOUR, DAY + 5, 2 * DAY, 4 * DAY], [1, 5, 20], 2),
      { minLength: 3, maxLength: 14 },
    ),
  })
  .chain(({ usual, many, after }) =>
    fc.array(usual, { minLength: many, maxLength: many }).map((before) => [...before, ...after]),
  );
const ruleOf = fc.record({
  match: fc.record({
    min_level: fc.constantFrom(null, null, 300),
    template_contains: fc.constantFrom("", "", "is"),
  }),
  missing: fc.constantFrom(
    true as const,
    true as const,
    { template_id: TEMPLATE },
    { source: "a" },
  ),
  identifier_keys: fc.constantFrom<string[]>([], [], ["host"]),
});
type Rule = typeof ruleOf extends fc.Arbitrary<infer R> ? R : never;

interface Expected extends Opened {
  last: number;
  ended: number | null;
}

const dayOf = (at: number) => Math.floor(at / DAY);

/** By the words of the contract, from the times of all events and of the box's own. */
function expected(
  events: readonly (Sent & { at: number })[],
  downs: readonly { until: number; seconds: number }[],
  { rule, now }: { rule: Rule; now: number },
): Expected[] {
  const { match, missing, identifier_keys } = rule;
  const bySource = missing !== true && "source" in missing;
  const takes = ({ from, text, level }: Sent) =>
    (!bySource || from === missing.source) &&
    (missing === true || bySource || text === 0) &&
    level >= (match.min_level ?? 0) &&
    (TEXTS[text] as string).includes(match.template_contains);
  const keyOf = ({ text, host }: Sent) =>
    `${bySource ? "" : text} ${identifier_keys.length > 0 ? host : ""}`;
  const ran = (from: number, at: number) =>
    downs.reduce(
      (left, { until, seconds }) => left - (until > from && until <= at ? seconds : 0),
      at - from,
    );
  const found: Expected[] = [];
  for (const mine of Map.groupBy(events.filter(takes), keyOf).values()) {
    const silences = mine.map(({ at }, i) => {
      const before = mine[i - 1]?.at ?? null;
      return before === null || dayOf(before) <= dayOf(at) - 14 ? Infinity : ran(before, at);
    });
    mine.forEach((one, i) => {
      const inDays = mine
        .map(({ at }, j) => ({ j, day: dayOf(at) }))
        .filter(({ j, day }) => j <= i && day > dayOf(one.at) - 14);
      const longest = Math.max(...inDays.map(({ j }) => silences[j] as number));
      if (inDays.length < 336 || longest >= 7 * DAY) return;
      const allowed = Math.max(HOUR, 3 * longest) + 60;
      const next = mine[i + 1]?.at ?? null;
      // The first second in which it ran for so long.
      let at = one.at + allowed;
      for (const { until: over, seconds } of downs.toSorted((a, b) => a.until - b.until))
        if (over > one.at && over - seconds < at) at += seconds;
      // Of that very second it is looked for before something comes.
      if (at > now || (next !== null && at > next)) return;
      const host = identifier_keys.length > 0 ? one.host : "";
      const template = bySource ? `source ${missing.source}` : (TEXTS[one.text] as string);
      found.push({ at, template, host, last: one.at, ended: next });
    });
  }
  return found.toSorted((a, b) => a.at - b.at);
}

const said = ({ at, template, host }: Opened) => `${at} ${template} ${host}`;

/** Plays so many random stories, with kills, a box that is off and a clock that jumps; returns how many alerts opened. */
export function opensWhatIsMissing(t: TestContext, numRuns: number): number {
  let some = 0;
  fc.assert(
    fc.property(story, ruleOf, (events, rule) => {
      const { project, wait, now, store } = placeOf(t);
      const { send, openings, ends, again, fail, end, dry, goneUntil, sweep, pass } = project(rule);
      // No sweep: none of what the test asks for is deleted.
      let keptFrom = 0;
      const sent: (Sent & { at: number })[] = [];
      const downs: { until: number; seconds: number }[] = [];
      let byHand = false;
      const gone = (seconds: number) => {
        wait(seconds);
        const down = { until: now(), seconds };
        downs.push(down);
        store.write((tx) => noteDowntime(tx, down));
      };
      for (const event of events) {
        pass(event.wait);
        if (event.does === "again") again();
        if (event.does === "sweep") {
          sweep();
          keptFrom = dayOf(now()) - 36;
        }
        if (event.does === "fail") fail(TEXTS[event.text] as string);
        if (event.does === "down") {
          gone(5 * HOUR + event.n);
          again();
        }
        if (event.does === "ahead") {
          gone(20 * HOUR);
          store.write((tx) => tx.note({ topic: "clock", by: 20 * HOUR }));
        }
        if (event.does === "end") {
          byHand = true;
          end();
        }
        for (let i = 0; i < event.n; i++) {
          send(TEXTS[event.text] as string, event);
          sent.push({ ...event, at: now() });
        }
      }
      pass(HOUR);
      const wanted = expected(sent, downs, { rule, now: now() });
      const opened = openings();
      some += opened.length;
      assert.deepEqual(opened.map(said).toSorted(), wanted.map(said).toSorted());
      if (!byHand)
        assert.deepEqual(
          ends(),
          wanted.flatMap(({ ended }) => ended ?? []).toSorted((a, b) => a - b),
        );
      const found = dry(rule).map(said);
      const first = Math.ceil((now() - 30 * DAY) / DAY);
      const known = wanted.filter(
        ({ last }) => dayOf(last) >= first && dayOf(last) - 13 >= keptFrom,
      );
      const unsure = goneUntil(rule) ?? 0;
      assert.ok(dayOf(unsure) - 13 < keptFrom || unsure === 0, `not judged until ${unsure}`);
      if (!byHand) for (const one of known) assert.ok(found.includes(said(one)), said(one));
      for (const one of found)
        assert.ok(wanted.map(said).includes(one), `${one} by the dry run alone`);
      end();
    }),
    { numRuns, endOnFailure: true },
  );
  return some;
}
