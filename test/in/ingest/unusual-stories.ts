import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createRule } from "../../../src/core/alerts/rules.ts";
import { resolve } from "../../../src/core/alerts/verbs.ts";
import { createProject, getProject } from "../../../src/core/projects/projects.ts";
import { ruleCreate } from "../../../src/core/projects/rule.ts";
import { readRules } from "../../../src/core/projects/rule-actions.ts";
import { listRules } from "../../../src/core/projects/rules.ts";
import { createSource, findSource, type Source } from "../../../src/core/projects/sources.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { openStore, type Store } from "../../../src/ground/store/store.ts";
import { dryRunWrite } from "../../../src/in/ingest/dry-run/dry-run.ts";
import { runDry } from "../../../src/in/ingest/dry-run/run.ts";
import { sweepHours } from "../../../src/in/ingest/hour-rows.ts";
import { createWriter, defaultWriterLimits, type Writer } from "../../../src/in/ingest/writer.ts";
import { handClock } from "../../support/clock.ts";
import { newData } from "../../support/data.ts";
import fc from "../../support/property.ts";

/** Rules that ask for what comes more often than usual. The wall clock is set on; no job runs. */

export const HOUR = 3600;
export const DAY = 24 * HOUR;
export const WEEK = 7 * DAY;

interface Project {
  send(message: string, more?: { from?: "a" | "b"; host?: string; level?: number }): boolean;
  /** A batch that can't be committed. */
  fail(message: string): void;
  /** A new writer on what is stored, as after a kill. */
  again(): void;
  end(): void;
  /** Lets so long pass; looks for what is missing whenever the writer asks to. */
  pass(seconds: number): void;
  openings(): Opened[];
  /** When alerts ended because it came again. */
  ends(): number[];
  dry(rule: object): Opened[];
  /** Until when a dry run doesn't judge all, to the minute; null: it does. */
  goneUntil(rule: object): number | null;
  /** Deletes old counts, as retention does. */
  sweep(): void;
  /** When the rule compares, as the interface says it. */
  comparesFrom(): number | null | undefined;
}

export interface Opened {
  at: number;
  template: string;
  host: string;
}

export function placeOf(t: TestContext) {
  const directory = newData("box-unusual-");
  const clock = handClock();
  const path = join(directory, "box.db");
  const fatal = (error: unknown) => {
    throw error;
  };
  const store = openStore({ path, kind: "box", clock, random: systemRandom, onFatal: fatal });
  t.after(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  // On the hour.
  clock.setWall(Math.ceil(clock.now() / (HOUR * 1000)) * HOUR * 1000);
  const now = () => Math.floor(clock.now() / 1000);
  const wait = (seconds: number) => clock.setWall(clock.now() + seconds * 1000);
  let made = 0;
  const project = (rule: object, limits = defaultWriterLimits): Project => {
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
      const { name: called, ...body } = ruleCreate.parse({ name: "more", ...rule });
      createRule(tx, project, { name: called, body });
      return project.id;
    });
    let writer: Writer = createWriter(store, limits);
    const dryOf = (tried: object) => {
      const input = dryRunWrite.parse({
        rule: { name: "more", ...tried },
        days: 30,
        assume_resolved_after: 2_592_000,
      });
      const order = { projectId: id, input, now: now(), budgetMs: 60_000 };
      return runDry(store, { mono: () => 0, now: () => 0 }, order);
    };
    return {
      send(message, { from = "a", host, level = 400 } = {}) {
        const keys = host === undefined ? null : { host };
        const event = { message, level, keys, tags: null };
        const [answer] = writer.process([{ source: sources.get(from) as Source, event }]);
        return answer?.alerted === true;
      },
      fail(message) {
        store.db.exec(
          "CREATE TEMP TRIGGER no BEFORE INSERT ON log_lines BEGIN SELECT RAISE(ABORT, 'no'); END",
        );
        const event = { message, level: 400, keys: { host: "x" }, tags: null };
        const lost = { source: sources.get("a") as Source, event };
        assert.throws(() => writer.process([lost, lost, lost, lost]), { message: "no" });
        store.db.exec("DROP TRIGGER no");
      },
      again() {
        writer = createWriter(store, limits);
      },
      end() {
        const open = "SELECT id FROM alerts WHERE project_id = ? AND state <> 'resolved'";
        for (const alert of store.sql<[number], number>(open).pluck().all(id))
          store.write((tx) => resolve(tx, alert, { reason: "quiet" }));
      },
      pass(seconds) {
        const until = now() + seconds;
        for (;;) {
          const next = writer.lookForMissing();
          if (next === null || next > until) break;
          if (next > now()) clock.setWall(next * 1000);
        }
        clock.setWall(until * 1000);
      },
      openings: () => openingsOf(store, id),
      ends: () =>
        store
          .sql<[number], number>(
            `SELECT a.resolved_at FROM alerts a JOIN timeline t ON t.alert_id = a.id
            WHERE a.project_id = ? AND t.kind = 'resolved' AND json_extract(t.detail, '$.reason') = 'came' ORDER BY 1`,
          )
          .pluck()
          .all(id),
      dry: (tried) =>
        dryOf(tried).alerts.map((alert) => ({
          at: alert.opened_at,
          template: alert.template,
          host: alert.identifiers["host"] ?? "",
        })),
      goneUntil(tried) {
        const said = dryOf(tried).warnings.find(({ code }) => code === "counts_gone");
        const until = /^Until (\S+) (\S+) UTC/.exec(said?.detail ?? "");
        return until === null ? null : Date.parse(`${until[1]}T${until[2]}Z`) / 1000 + 59;
      },
      sweep() {
        while (store.write((tx) => sweepHours(tx, 100)));
      },
      comparesFrom: () => readRules(store, id, listRules(store, id))[0]?.compares_from,
    };
  };
  return { store, now, wait, project };
}

function openingsOf(store: Store, project: number): Opened[] {
  const rows = store.sql<[number], { at: number; template: string; identifiers: string }>(
    "SELECT opened_at AS at, template, identifiers FROM alerts WHERE project_id = ? ORDER BY id",
  );
  return rows.all(project).map(({ at, template, identifiers }) => ({
    at,
    template,
    host: JSON.parse(identifiers).host ?? "",
  }));
}

/** What is sent, and what happens around it. */
export interface Sent<Does extends string = "nothing" | "end" | "again" | "fail" | "sweep"> {
  wait: number;
  text: number;
  n: number;
  from: "a" | "b";
  host: string;
  does: Does;
}

const TEXTS = ["disk is full on sda", "payment was refused by the bank", "queue is long"];
const sentEvent: fc.Arbitrary<Sent> = fc.record({
  wait: fc.constantFrom(0, 1, 600, 1800, HOUR, 5 * HOUR, DAY, WEEK - HOUR, WEEK, WEEK),
  text: fc.nat(1),
  n: fc.constantFrom(1, 1, 2, 3, 7),
  from: fc.constantFrom("a", "a", "b"),
  host: fc.constantFrom("x", "x", "y"),
  does: fc.constantFrom("nothing", "nothing", "nothing", "end", "again", "fail", "sweep"),
});
const story = fc.array(sentEvent, { minLength: 8, maxLength: 40 });
const ruleOf = fc.record({
  match: fc.record({
    min_level: fc.constantFrom(null, 300),
    sources: fc.constantFrom<string[]>([], [], ["a"]),
    template_contains: fc.constantFrom("", "", "is"),
    unusual: fc.record({ factor: fc.constantFrom(2, 3), at_least: fc.constantFrom(1, 3, 6) }),
  }),
  fire_after: fc.record({
    count: fc.constantFrom(1, 1, 2),
    window_minutes: fc.constantFrom(1, 60, 100, 1440, 525_600),
  }),
  identifier_keys: fc.constantFrom<string[]>([], [], ["host"]),
});
type Rule = typeof ruleOf extends fc.Arbitrary<infer R> ? R : never;

/** By the words of the contract, from the times of all events alone. */
function expected(
  events: readonly (Omit<Sent, "n"> & { at: number })[],
  rule: Rule,
  made: number,
): Opened[] {
  const { sources, unusual, template_contains: part } = rule.match;
  const own = sources.length + rule.identifier_keys.length > 0;
  const takes = (one: { from: string; text: number }) =>
    (sources.length === 0 || sources.includes(one.from)) && (TEXTS[one.text] ?? "").includes(part);
  const hostOf = ({ host }: { host: string }) => (rule.identifier_keys.length > 0 ? host : "");
  const begun = own ? made : (events[0]?.at ?? 0);
  const hours = Math.min(168, Math.ceil(rule.fire_after.window_minutes / 60));
  const windowSeconds = rule.fire_after.window_minutes * 60;
  const opened: Opened[] = [];
  let open = new Set<string>();
  let matched: { key: string; at: number }[] = [];
  events.forEach((event, i) => {
    if (event.does === "end") open = new Set();
    const key = `${event.text} ${hostOf(event)}`;
    const mine = events
      .slice(0, i + 1)
      .filter((one) => one.text === event.text)
      .filter((one) => !own || (takes(one) && hostOf(one) === hostOf(event)));
    /** By the hour, a part of one counts in proportion; of the present hour all that came. */
    const within = (from: number, until: number, isPresent: boolean) => {
      let sum = 0;
      for (let hour = Math.floor(from / HOUR) * HOUR; hour < until; hour += HOUR) {
        const n = mine.filter(({ at }) => at >= hour && at < hour + HOUR).length;
        const share = (Math.min(until, hour + HOUR) - Math.max(from, hour)) / HOUR;
        sum += n * (isPresent && hour + HOUR > until ? 1 : share);
      }
      return sum;
    };
    if (!takes(event)) return;
    const { at } = event;
    const hour = Math.floor(at / HOUR) * HOUR;
    const weeks = [1, 2, 3, 4]
      .map((week) => week * WEEK)
      .filter((back) => hour - hours * HOUR - back >= begun)
      .map((back) => within(at - back - hours * HOUR, at - back, false))
      .sort((a, b) => a - b);
    if (weeks.length < 2) return;
    const half = weeks.length / 2;
    const median = ((weeks[Math.ceil(half) - 1] ?? 0) + (weeks[Math.floor(half)] ?? 0)) / 2;
    // On the hour nothing of it has passed, and what came counts.
    const count =
      at === hour
        ? within(at - hours * HOUR, at, false) + mine.filter((one) => one.at === at).length
        : within(at - hours * HOUR, at, true);
    if (!(count >= unusual.at_least && count > unusual.factor * median + 1e-9)) return;
    if (open.has(key)) return;
    matched.push({ key, at });
    matched = matched.filter((one) => one.key !== key || one.at > at - windowSeconds);
    if (matched.filter((one) => one.key === key).length < rule.fire_after.count) return;
    matched = matched.filter((one) => one.key !== key);
    open.add(key);
    opened.push({ at, template: TEXTS[event.text] as string, host: hostOf(event) });
  });
  return opened;
}

/**
 * The dry run of 30 days opened what the rule did. Of ends by hand it knows nothing. Until counts are deleted it judges not all:
 * what the rule opened then may open later.
 */
function isAsOpened(
  { dry, goneUntil }: Project,
  rule: Rule,
  { opened, now }: { opened: Opened[]; now: number },
): void {
  const from = now - 30 * DAY;
  const begins = Math.ceil(from / HOUR) * HOUR;
  if ((opened[0]?.at ?? now) < begins || rule.fire_after.count !== 1) return;
  const found = dry(rule).filter(({ at }) => at >= begins);
  const gone = goneUntil(rule) ?? 0;
  const said = ({ at, template, host }: Opened) => `${at} ${template} ${host}`;
  const isUnsure = (one: Opened) =>
    opened.some(
      ({ at, template, host }) =>
        at <= gone && at <= one.at && template === one.template && host === one.host,
    );
  const sure = (all: Opened[]) => all.filter((one) => !isUnsure(one)).map(said);
  assert.deepEqual(sure(found), sure(opened), `not judged until ${gone}`);
}

/** Of counts that are kept for 36 days all that is compared with them is judged. */
function judgesEnough(
  { goneUntil }: Project,
  rule: Rule,
  { isSwept, now }: { isSwept: boolean; now: number },
) {
  const until = goneUntil(rule);
  if (until === null) return false;
  assert.ok(isSwept, "nothing was deleted");
  const hours = Math.min(168, Math.ceil(rule.fire_after.window_minutes / 60));
  assert.ok(until < now - 8 * DAY + (hours + 1) * HOUR + 60, `${now - until} s ago`);
  return true;
}

/**
 * Plays so many random stories, with kills, batches that fail and old counts deleted in between; returns how many alerts opened,
 * and in how many of them a dry run didn't judge all.
 */
export function opensWhatIsUnusual(
  t: TestContext,
  numRuns: number,
): Record<"some" | "unsure", number> {
  let [some, unsure, played] = [0, 0, 0];
  let place = placeOf(t);
  fc.assert(
    fc.property(story, ruleOf, (events, rule) => {
      // A sweep looks at all projects, so not too many are in one store.
      if (++played % 20 === 0) place = placeOf(t);
      const { now, wait } = place;
      const made = now();
      const project = place.project(rule);
      const { send, openings, again, fail, end, sweep } = project;
      const sent: (Omit<Sent, "n"> & { at: number })[] = [];
      for (const { n, ...event } of events) {
        wait(event.wait);
        if (event.does === "again") again();
        if (event.does === "end") end();
        if (event.does === "sweep") sweep();
        if (event.does === "fail") fail(TEXTS[event.text] as string);
        for (let i = 0; i < n; i++) {
          send(TEXTS[event.text] as string, event);
          sent.push({ ...event, does: i === 0 ? event.does : "nothing", at: now() });
        }
      }
      const opened = openings();
      some += opened.length;
      assert.deepEqual(opened, expected(sent, rule, made));
      const did = (what: Sent["does"]) => events.some(({ does }) => does === what);
      if (!did("end")) isAsOpened(project, rule, { opened, now: now() });
      if (judgesEnough(project, rule, { isSwept: did("sweep"), now: now() })) unsure++;
      end();
    }),
    { numRuns },
  );
  return { some, unsure };
}
