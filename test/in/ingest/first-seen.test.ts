import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createRule } from "../../../src/core/alerts/rules.ts";
import { resolve } from "../../../src/core/alerts/verbs.ts";
import { createProject, getProject } from "../../../src/core/projects/projects.ts";
import { ruleCreate } from "../../../src/core/projects/rule.ts";
import { createSource, findSource, type Source } from "../../../src/core/projects/sources.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { openStore, type Store } from "../../../src/ground/store/store.ts";
import { dryRunWrite } from "../../../src/in/ingest/dry-run/dry-run.ts";
import { runDry } from "../../../src/in/ingest/dry-run/run.ts";
import { noteDowntime, sweepReturns } from "../../../src/in/ingest/first-seen.ts";
import { createWriter, defaultWriterLimits, type Writer } from "../../../src/in/ingest/writer.ts";
import { handClock } from "../../support/clock.ts";
import { newData } from "../../support/data.ts";
import { long, test } from "../../support/long.ts";
import fc from "../../support/property.ts";

/** Rules that ask for what wasn't heard of for some days. The wall clock is set on; no job runs. */

const DAY = 86_400;
const MINUTE = 60;
const MOST = { ...defaultWriterLimits };

interface Place {
  store: Store;
  /** Makes a project with sources `a` and `b` and one rule. */
  project(rule: object): Project;
  wait(seconds: number): void;
  now(): number;
}

interface Project {
  id: number;
  send(message: string, more?: { from?: "a" | "b"; host?: string; level?: number }): boolean;
  /** A new writer on what is stored, as after a kill. */
  again(): void;
  /** What is only in memory is written, as at a stop. */
  finish(): void;
  openings(): { at: number; template: string; host: string }[];
  dry(rule: object, lines?: string[]): { at: number; template: string; host: string }[];
}

function placeOf(t: TestContext, limits = MOST): Place {
  const directory = newData("box-first-seen-");
  const clock = handClock();
  const fatal = (error: unknown) => {
    throw error;
  };
  const path = join(directory, "box.db");
  const store = openStore({ path, kind: "box", clock, random: systemRandom, onFatal: fatal });
  t.after(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const now = () => Math.floor(clock.now() / 1000);
  let made = 0;
  return {
    store,
    now,
    wait: (seconds) => clock.setWall(clock.now() + seconds * 1000),
    project(rule) {
      const name = `p${++made}`;
      const sources = new Map<string, Source>();
      const id = store.write((tx) => {
        createProject(tx, name);
        const project = getProject(tx, name);
        for (const one of ["a", "b"]) {
          const given = { tenantId: "0".repeat(16), name: one, retainLogs: true };
          const { token } = createSource(tx, project, given);
          sources.set(one, findSource(tx, token) as Source);
        }
        const { name: called, ...body } = ruleCreate.parse({ name: "new", ...rule });
        createRule(tx, project, { name: called, body });
        return project.id;
      });
      let writer: Writer = createWriter(store, limits);
      return {
        id,
        send(message, { from = "a", host, level = 400 } = {}) {
          const keys = host === undefined ? null : { host };
          const source = sources.get(from) as Source;
          const [answer] = writer.process([
            { source, event: { message, level, keys, tags: null } },
          ]);
          return answer?.alerted === true;
        },
        again() {
          writer = createWriter(store, limits);
        },
        finish: () => writer.finish(),
        openings: () =>
          store
            .sql<[number], { at: number; template: string; identifiers: string }>(
              "SELECT opened_at AS at, template, identifiers FROM alerts WHERE project_id = ? ORDER BY id",
            )
            .all(id)
            .map(({ at, template, identifiers }) => ({
              at,
              template,
              host: JSON.parse(identifiers).host ?? "",
            })),
        dry(tried, lines) {
          const input = dryRunWrite.parse({
            rule: { name: "new", ...tried },
            days: 30,
            assume_resolved_after: 2_592_000,
            ...(lines === undefined ? {} : { lines }),
          });
          const order = { projectId: id, input, now: now(), budgetMs: 60_000 };
          return runDry(store, { mono: () => 0, now: () => 0 }, order).alerts.map((alert) => ({
            at: alert.opened_at,
            template: alert.template,
            host: alert.identifiers["host"] ?? "",
          }));
        },
      };
    },
  };
}

const asks = (first_seen_days: number) => ({ match: { first_seen_days } });

test("the first day of a source is learned; then what was never heard of opens once", (t) => {
  const { project, wait } = placeOf(t);
  const { send, openings } = project(asks(7));
  assert.equal(send("disk is full"), false);
  wait(DAY - 1);
  assert.equal(send("cache is cold"), false, "learned");
  wait(1);
  assert.equal(send("cache is cold"), false, "what was learned is known");
  assert.equal(send("payment was refused"), true);
  assert.equal(send("nothing like it", { from: "b" }), false, "another source learns by itself");
  assert.equal(send("nothing like it"), false, "what it said counts as heard");
  wait(100);
  assert.equal(send("payment was refused"), true, "it goes on with its alert");
  assert.equal(openings().length, 1);
});

test("a silence of the rule's days makes a shape new, none shorter, and none in which the box was off", (t) => {
  const { project, wait, store, now } = placeOf(t);
  const { send, again, openings } = project(asks(7));
  send("backup is late");
  wait(7 * DAY - 1);
  assert.equal(send("backup is late"), false);
  wait(7 * DAY);
  store.write((tx) => noteDowntime(tx, { until: now() - 5, seconds: 60 }));
  again();
  assert.equal(send("backup is late"), false, "it was off for a minute of them");
  wait(7 * DAY + MINUTE);
  assert.equal(send("backup is late"), true);
  assert.equal(openings().length, 1);
});

test("after its end an alert's shape is known, but for the time in which the rule reopens it", (t) => {
  const { project, wait, store } = placeOf(t);
  const end = () =>
    store.write((tx) => {
      const id = tx.sql<[], number>("SELECT max(id) FROM alerts").pluck().get() as number;
      resolve(tx, id, { reason: "quiet" });
    });
  for (const reopen_within_seconds of [0, 300]) {
    const { send, openings } = project({ ...asks(1), reopen_within_seconds });
    send("x y z");
    wait(DAY);
    assert.equal(send("queue is long"), true);
    wait(120);
    end();
    assert.equal(send("queue is long"), reopen_within_seconds > 0);
    if (reopen_within_seconds > 0) end();
    wait(301);
    assert.equal(send("queue is long"), false);
    assert.equal(openings().length, 1);
  }
});

test("merged shapes count by their root, live and after a restart", (t) => {
  const { project, wait } = placeOf(t);
  const { send, again } = project(asks(2));
  for (const name of ["web", "shop", "mail"]) send(`cannot reach customer ${name}`);
  wait(DAY);
  assert.equal(send("cannot reach customer stock"), false);
  wait(DAY - 10);
  again();
  assert.equal(send("cannot reach customer basket"), false);
  wait(2 * DAY + MINUTE);
  assert.equal(send("cannot reach customer web"), true);
});

test("lines that are pasted are new by what the project knows now", (t) => {
  const { project, wait } = placeOf(t);
  const { send, dry } = project(asks(1));
  send("disk is full");
  const opened = () => dry(asks(1), ["disk is full", "link was lost"]).map((one) => one.template);
  assert.deepEqual(opened(), ["link was lost"]);
  wait(DAY + MINUTE);
  assert.deepEqual(opened(), ["disk is full", "link was lost"]);
});

test("a shape that is forgotten over the limit leaves nothing behind; old sights go", (t) => {
  const { project, wait, store } = placeOf(t, { ...MOST, templates: 50 });
  const { send, finish } = project(asks(1));
  const word = (n: number) =>
    [...String(n)].map((digit) => String.fromCharCode(97 + Number(digit))).join("");
  // The second of a shape waits to be counted.
  for (let n = 200; n < 800; n++) send(`${word(n >> 1)} ${word((n >> 1) + 300)} was seen`);
  finish();
  const uncounted =
    "SELECT count(*) FROM template_counts WHERE id NOT IN (SELECT id FROM templates)";
  assert.equal(store.sql<[], number>(uncounted).pluck().get(), 0);
  const kept = () => store.sql<[], number>("SELECT count(*) FROM template_returns").pluck().get();
  assert.ok((kept() ?? 0) <= 50, `${kept()}`);
  wait(36 * DAY);
  store.write((tx) => sweepReturns(tx, 1000));
  assert.equal(kept(), 0);
});

interface Sent {
  wait: number;
  text: number;
  from: "a" | "b";
  host: string;
  does: "nothing" | "end" | "again";
}

const TEXTS = ["disk is full on sda", "payment was refused by the bank", "queue is long"];
const sentEvent: fc.Arbitrary<Sent> = fc.record({
  wait: fc.constantFrom(0, 0, 1, 59, 60, 600, 40_000, DAY - 1, DAY, DAY + 60, 2 * DAY, 4 * DAY),
  text: fc.nat(2),
  from: fc.constantFrom("a", "a", "a", "b"),
  host: fc.constantFrom("x", "y"),
  does: fc.constantFrom("nothing", "nothing", "nothing", "end", "again"),
});
const story = fc.array(sentEvent, { minLength: 5, maxLength: 25 });
const days = fc.constantFrom(1, 2, 3, 5);
/** `STORIES=1000` is the long form. */
const RUNS = Number(process.env["STORIES"] ?? 60);

/** By the words of the contract, from the times of all events alone. */
function expectedOpenings(
  events: readonly (Sent & { at: number })[],
  rule: { days: number; window: number },
) {
  const opened: { at: number; template: string; host: string }[] = [];
  let open = new Set<string>();
  const learns = ({ from, at }: { from: string; at: number }) =>
    at - (events.find((one) => one.from === from)?.at ?? at) < DAY;
  events.forEach((event, i) => {
    if (event.does === "end") open = new Set();
    const before = events.slice(0, i + 1).filter(({ text }) => text === event.text);
    const first = before.findLastIndex(
      (one, k) => k === 0 || one.at - (before[k - 1]?.at ?? 0) >= DAY,
    );
    const since = before[first] as Sent & { at: number };
    const silent = first === 0 ? Infinity : since.at - (before[first - 1]?.at ?? 0);
    const isNew =
      !learns(event) &&
      !learns(since) &&
      silent >= rule.days * DAY + MINUTE &&
      event.at - since.at < rule.window;
    const template = TEXTS[event.text] as string;
    const key = `${template} ${event.host}`;
    if (!isNew || open.has(key)) return;
    open.add(key);
    opened.push({ at: event.at, template, host: event.host });
  });
  return opened;
}

test("any story opens what the contract's words say, over kills, and the dry run finds the same", (t) => {
  const { project, wait, now, store } = placeOf(t);
  const latest = store.sql<[], number>("SELECT id FROM alerts WHERE state <> 'resolved'").pluck();
  let some = 0;
  fc.assert(
    fc.property(story, days, fc.constantFrom(1, 10, 2000), (events, first_seen_days, minutes) => {
      const fire_after = { count: 1, window_minutes: minutes };
      const rule = { match: { first_seen_days }, fire_after, identifier_keys: ["host"] };
      const { send, openings, again, dry } = project(rule);
      let isEnded = false;
      const sent = events.map((event) => {
        wait(event.wait);
        if (event.does === "again") again();
        if (event.does === "end") {
          isEnded = true;
          for (const id of latest.all()) store.write((tx) => resolve(tx, id, { reason: "quiet" }));
        }
        send(TEXTS[event.text] as string, event);
        return { ...event, at: now() };
      });
      const window = Math.min(minutes * 60, DAY);
      const opened = openings();
      some += opened.length;
      const days = first_seen_days * DAY;
      const silences = sent.flatMap(({ text, at }, i) => {
        const last = sent.slice(0, i).findLast((one) => one.text === text);
        return last === undefined ? [] : [at - last.at];
      });
      // A kill may take the last minute: within that of the days both are right.
      const isNear = silences.some((one) => [DAY, days].some((n) => one >= n && one < n + MINUTE));
      if (!isNear || !events.some(({ does }) => does === "again"))
        assert.deepEqual(opened, expectedOpenings(sent, { days: first_seen_days, window }));
      const isFalse = opened.some(({ template }) =>
        sent.every(({ text, at }, i) => {
          const last = sent.slice(0, i).findLast((one) => one.text === text);
          return TEXTS[text] !== template || (last !== undefined && at - last.at < days);
        }),
      );
      assert.ok(!isFalse, "nothing is new that came within the days");
      // Of ends by hand a dry run knows nothing, nor of what is older than its days.
      const span = (sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0);
      if (!isEnded && span < 29 * DAY) assert.deepEqual(dry(rule), opened);
      for (const id of latest.all()) store.write((tx) => resolve(tx, id, { reason: "quiet" }));
    }),
    { numRuns: RUNS },
  );
  assert.ok(some > RUNS / 6, `${some} alerts`);
});

long("with counts and limits the dry run opens what the rule opened", (t) => {
  const { project, wait, now } = placeOf(t);
  const rules = fc.record({
    match: fc.record({ first_seen_days: days }),
    fire_after: fc.record({
      count: fc.constantFrom(1, 2, 3),
      window_minutes: fc.constantFrom(1, 10, 2000),
    }),
    identifier_keys: fc.constantFrom([], ["host"]),
    reopen_within_seconds: fc.constantFrom(0, 300),
    max_open: fc.constantFrom(0, 1, 2),
  });
  fc.assert(
    fc.property(story, rules, (events, rule) => {
      const { send, openings, again, dry } = project(rule);
      const begun = now();
      for (const event of events) {
        if (now() + event.wait - begun > 29 * DAY) break;
        wait(event.wait);
        if (event.does === "again") again();
        send(TEXTS[event.text] as string, event);
      }
      assert.deepEqual(dry(rule), openings());
    }),
    { numRuns: RUNS },
  );
});
