import assert from "node:assert/strict";
import { previewSilence } from "../../../src/core/alerts/silencing.ts";
import { createProject } from "../../../src/core/projects/projects.ts";
import { type SilenceWrite, silenceWrite } from "../../../src/core/quiet/silence.ts";
import { createSilence, silenceOf } from "../../../src/core/quiet/silences.ts";
import { long, test } from "../../support/long.ts";
import { type Plane, step, testPlane } from "../../support/plane.ts";
import fc from "../../support/property.ts";

/** What a silence is said to do before it is made is what it then does, and what it would have done. */

const sent = fc.record({
  after: fc.constantFrom(0, 1, 3, 30),
  text: fc.nat(2),
  verb: fc.constantFrom("", "", "", "ack", "resolve"),
});
const wanted = fc.record({
  rule: fc.constantFrom("rule 1", "rule 2", null),
  below_level: fc.constantFrom(null, 400, 500),
  critical: fc.boolean(),
});
/** Of one level each: what rises later is told. */
const LEVELS = [300, 400, 500];
const TEXTS = ["alpha is failing", "the beta queue overflowed again", "alpha and beta are gone"];

async function scene(): Promise<Plane> {
  const plane = testPlane();
  for (const name of ["ann", "bob"]) plane.account(name);
  const match = { min_level: null, sources: [], tags: [] };
  const escalations = [step(0, ["ann"], { repeat: 7 }), step(20, ["bob"], { repeat: 9 })];
  plane.rule({
    match: { ...match, template_contains: "alpha", first_seen_days: null, unusual: null },
    escalations,
  });
  plane.rule({
    match: { ...match, template_contains: "beta", first_seen_days: null, unusual: null },
    renotify_minutes: 9,
  });
  return plane;
}

async function feed(
  plane: Plane,
  events: readonly { after: number; text: number; verb: string }[],
): Promise<void> {
  for (const { after, text, verb } of events) {
    if (after > 0) await plane.minutes(after);
    await plane.fire(TEXTS[text], LEVELS[text]);
    if (verb === "ack") plane.ack();
    if (verb === "resolve") plane.resolve();
  }
}

const preview = (plane: Plane, write: SilenceWrite) => {
  const at = Math.floor(plane.clock.now() / 1000);
  const { store } = plane.tenant;
  const row = silenceOf(store, { write, createdBy: "ann", at });
  return previewSilence(store, [row], { at, pause: async () => {} });
};

const silenced = (plane: Plane) =>
  plane.tenant.store
    .sql("SELECT CAST(id AS TEXT) FROM alerts WHERE silenced_by IS NOT NULL ORDER BY id DESC")
    .pluck()
    .all();
const count = (plane: Plane, sql: string) => plane.tenant.store.sql(sql).pluck().get() as number;
const PAGES = "SELECT count(*) FROM events WHERE event IN ('alert.escalated', 'alert.renotified')";

test("AC-18.1: the open alerts that a preview names are those that the silence holds, once each has news", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sent, { minLength: 1, maxLength: 6 }),
      wanted,
      async (events, body) => {
        const plane = await scene();
        try {
          await feed(plane, events);
          const write = silenceOfStory(plane, body, 600);
          const { alerts } = await preview(plane, write);
          plane.tenant.store.write((tx) => createSilence(tx, { write, createdBy: "ann" }));
          await plane.minutes(30);
          assert.deepEqual(silenced(plane), alerts);
        } finally {
          await plane.close();
        }
      },
    ),
    { numRuns: 10 },
  );
});

long(
  "AC-18.1: the alerts and pages that a preview counts of the past are those that the silence would have held",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(sent, { minLength: 1, maxLength: 6 }),
        wanted,
        async (events, body) => {
          const [loud, hushed] = [await scene(), await scene()];
          try {
            const write = silenceOfStory(hushed, body, 6000);
            hushed.tenant.store.write((tx) => createSilence(tx, { write, createdBy: "ann" }));
            await feed(loud, events);
            await feed(hushed, events);
            const { past } = await preview(loud, write);
            const held = count(
              hushed,
              "SELECT count(DISTINCT alert_id) FROM timeline WHERE kind = 'silenced'",
            );
            assert.equal(past.alerts, held);
            assert.equal(past.pages, count(loud, PAGES) - count(hushed, PAGES));
          } finally {
            await loud.close();
            await hushed.close();
          }
        },
      ),
      { numRuns: 10 },
    );
  },
);

test("AC-18.1: a preview counts the alerts of the silence's own project, and of each where it names none", async () => {
  const plane = await scene();
  try {
    await feed(plane, [{ after: 0, text: 0, verb: "" }]);
    plane.tenant.store.write((tx) => void createProject(tx, "stall"));
    const counts = async (project: string | null) => {
      const write = silenceOfStory(plane, { rule: "rule 1", below_level: null, critical: true }, 9);
      const { open, past } = await preview(plane, { ...write, project });
      return [open, past.alerts];
    };
    assert.deepEqual(await counts("stall"), [0, 0]);
    assert.deepEqual(await counts("shop"), [1, 1]);
    assert.deepEqual(await counts(null), [1, 1]);
  } finally {
    await plane.close();
  }
});

function silenceOfStory(
  plane: Plane,
  {
    rule,
    below_level,
    critical,
  }: { rule: string | null; below_level: number | null; critical: boolean },
  minutes: number,
): SilenceWrite {
  return silenceWrite.parse({
    match: { rule, below_level },
    all: rule === null,
    critical,
    reason: "story",
    ends_at: Math.floor(plane.clock.now() / 1000) + minutes * 60,
  });
}
