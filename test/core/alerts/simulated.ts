import assert from "node:assert/strict";
import { followAlert } from "../../../src/core/alerts/course.ts";
import type { SimulationResult } from "../../../src/core/alerts/course-shape.ts";
import { simulateWrite } from "../../../src/core/alerts/simulate/shape.ts";
import { readWorld } from "../../../src/core/alerts/simulate/world.ts";
import { simulate } from "../../../src/core/alerts/simulate.ts";
import { readTimeline, type TimelineEntry } from "../../../src/core/alerts/timeline.ts";
import { acknowledge, snooze } from "../../../src/core/alerts/verbs.ts";
import type { StoredRule } from "../../../src/core/projects/rule.ts";
import { finish } from "../../../src/ground/kit/slices.ts";
import type { Plane } from "../../support/plane.ts";
import { arrangeAll, clear, fireAll, type Stories, storyPlane, type ToldStory } from "./stories.ts";

/** What a simulation says beside what a box then does, with a clock that is turned by hand. Times in the stories are minutes. */

/** What the stories came to, so that nobody takes empty ones for a proof. */
export const counts = { stories: 0, rungs: 0, rings: 0, held: 0, acks: 0 };

/** How far a story is told. */
const MINUTES = 120;

export interface Telling {
  tell(stories: Stories): Promise<void>;
  close(): Promise<void>;
}

/** Stories, some at once, on one box. */
export function startTelling(): Telling {
  const plane = storyPlane();
  return { tell: (stories) => tell(plane, stories), close: () => plane.close() };
}

async function tell(plane: Plane, stories: Stories): Promise<void> {
  try {
    await tellAll(plane, stories);
  } finally {
    clear(plane);
  }
}

async function tellAll(plane: Plane, all: Stories): Promise<void> {
  const { stories, rules } = await arrangeAll(plane, all);
  const { store } = plane.tenant;
  const at = Math.floor(plane.clock.now() / 1000);
  const courses = stories.map((one, n) => think(plane, { all, one, rule: rules[n], at }));
  const ids = await fireAll(plane, { rules, level: all.level });
  await live(plane, { ids, at, stories });
  for (const [n, course] of courses.entries()) {
    const id = ids[n] ?? 0;
    const about = `${JSON.stringify(stories[n])} in ${JSON.stringify({ ...all, stories: [] })}`;
    const history = readTimeline(store, id);
    assert.deepEqual(real(history), simulated(course), `rungs of ${about}`);
    assert.deepEqual(unlikeHeld(heldOf(history), course.held), [], `held of ${about}`);
    assert.deepEqual(rangOf(plane, id), ringsOf(course), `rings of ${about}`);
  }
}

/** The course of one story as it is simulated, which writes nothing. */
function think(
  { tenant: { store } }: Plane,
  of: { all: Stories; one: ToldStory; rule: StoredRule | undefined; at: number },
): SimulationResult {
  const { one, at } = of;
  const rule = of.rule as StoredRule;
  const { level } = of.all;
  const silent = one.silent.map(one.name);
  const ack = one.ack && {
    account: one.name(one.ack.who),
    after_seconds: one.ack.after,
    ...(one.ack.snooze !== null && { snooze_seconds: one.ack.snooze }),
  };
  const asked = { rule: rule.name, at, level, silent, source: "app", ack };
  const input = simulateWrite.parse({ ...asked, horizon_hours: MINUTES / 60 });
  const range = { from: at, until: at + MINUTES * 60 };
  const world = readWorld(store, { rule, level, identifiers: {}, source: "app" }, range);
  const said = { most: 500, rings: true, silent: new Set(silent), ack: input.ack };
  const question = { ...range, at, ...said };
  const course = finish(followAlert(world, question));
  const before = store.sql("SELECT total_changes()").pluck().get();
  const answer = finish(simulate(store, { projectId: rule.project_id, input, now: at }));
  assert.equal(store.sql("SELECT total_changes()").pluck().get(), before);
  assert.equal(answer.rungs.length, course.rungs.length);
  counts.stories += 1;
  counts.rungs += course.rungs.length;
  counts.rings += course.rings.length;
  counts.held += course.held.length;
  return course;
}

/** Turns the clock, and acknowledges as the stories have it. */
async function live(
  plane: Plane,
  { ids, at, stories }: { ids: readonly number[]; at: number; stories: readonly ToldStory[] },
): Promise<void> {
  const { clock } = plane;
  const end = at + MINUTES * 60;
  const waiting = stories.flatMap(({ ack, silent, n, name }) => {
    if (ack === null || silent.includes(ack.who)) return [];
    return [{ id: ids[n] ?? 0, ...ack, who: name(ack.who), ackAt: null as number | null }];
  });
  await clock.turn(0);
  for (let now = at; ; now = Math.floor(clock.now() / 1000)) {
    for (const one of [...waiting]) {
      const pagedFirst: number | null = one.ackAt === null ? pagedAt(plane, one.id, one.who) : null;
      if (pagedFirst !== null) one.ackAt = pagedFirst + one.after;
      if (one.ackAt === null || one.ackAt > now) continue;
      take(plane, { ...one, now });
      waiting.splice(waiting.indexOf(one), 1);
    }
    // What is due at the very end takes a moment, too, and nothing else is due within it.
    if (now >= end) return await clock.turn(8000);
    // Until all have acknowledged, what happens is at a minute or ten seconds after it.
    const usual = waiting.length === 0 ? 3600 : now % 60 === 0 ? 10 : 60 - (now % 60);
    const acks = waiting.flatMap(({ ackAt }) => ackAt ?? []);
    await clock.turn((Math.min(end, now + usual, ...acks) - now) * 1000);
  }
}

function take(
  { tenant: { store } }: Plane,
  of: { id: number; who: string; snooze: number | null; now: number },
): void {
  const { id, who, snooze: length, now } = of;
  counts.acks += 1;
  store.write((tx) => {
    if (length === null) acknowledge(tx, id, who);
    else snooze(tx, id, { until: now + length, accountId: who });
  });
}

function pagedAt(plane: Plane, id: number, who: string): number | null {
  const found = plane.timeline(id).find(({ kind, detail }) => {
    const paged = kind === "escalated" || kind === "fallback" ? detail["accounts"] : [];
    return (paged as string[]).includes(who);
  });
  return found?.at ?? null;
}

/** What the history says that was paged, told again or found empty, a line each. */
function real(timeline: readonly TimelineEntry[]): string[] {
  let paged: string[] = [];
  return timeline.flatMap(({ kind, at, detail }) => {
    const accounts = (detail["accounts"] ?? []) as string[];
    if (kind === "reached_nobody")
      return (detail["steps"] as number[]).map((one) => `${at} nobody ${one}`);
    if (kind === "escalated" || kind === "fallback") paged = accounts;
    if (kind === "escalated")
      return [`${at} ${detail["why"]} ${detail["level"]} ${accounts.join()}`];
    if (kind === "fallback") return [`${at} fallback ${accounts.join()}`];
    return kind === "renotified" && paged.length > 0 ? [`${at} renotify ${paged.join()}`] : [];
  });
}

function simulated({ rungs }: SimulationResult): string[] {
  return rungs.map(({ at, step: number, why, accounts }) => {
    if (why === "fallback" || why === "renotify") return `${at} ${why} ${accounts.join()}`;
    if (accounts.length === 0) return `${at} nobody ${number}`;
    return `${at} ${why} ${number} ${accounts.join()}`;
  });
}

/** Messages to one contact soon after another wait some seconds and go as one, and what is sent takes a moment. */
const soon = (at: number) => Math.floor(at / 10);

interface Held {
  at: number;
  by: string;
  until: number;
}

/**
 * Stretches in which news was held; a page that waited too is no other one. A box marks an alert already as a silence begins,
 * and writes nothing more when the first news comes.
 */
function heldOf(timeline: readonly TimelineEntry[]): (Held & { isNews: boolean })[] {
  let last = "";
  return timeline.flatMap(({ kind, at, detail }) => {
    if (["silence_over", "acknowledged"].includes(kind)) last = "";
    if (kind !== "silenced") return [];
    const { by, until } = detail as unknown as Held;
    const mark = `${by} ${until}`;
    if (mark === last) return [];
    last = mark;
    return [{ at, by, until, isNews: detail["held"] !== "nothing" }];
  });
}

/** What is held in one of the two alone. News that is simulated as held is held by a stretch that had begun by then. */
function unlikeHeld(
  really: readonly (Held & { isNews: boolean })[],
  thought: readonly Held[],
): string[] {
  const text = ({ at, by, until }: Held) => `${soon(at)} ${by} ${until}`;
  const isOf = (real: Held & { isNews: boolean }, one: Held) =>
    real.isNews
      ? text(real) === text(one)
      : real.by === one.by && real.until === one.until && real.at <= one.at + 10;
  return [
    ...really.filter((real) => real.isNews && !thought.some((one) => isOf(real, one))),
    ...thought.filter((one) => !really.some((real) => isOf(real, one))),
  ].map(text);
}

function rangOf(plane: Plane, id: number): string[] {
  const rows = plane.tenant.store
    .sql<[id: number], { contact: string; at: number }>(
      "SELECT contact_id AS contact, finished_at AS at FROM pages WHERE alert_id = ? AND status = 'delivered' AND event LIKE 'alert.%ed' AND event NOT IN ('alert.acknowledged', 'alert.resolved')",
    )
    .all(id);
  return rows.map(({ contact: one, at }) => `${soon(at)} ${one}`).sort();
}

function ringsOf({ rings }: SimulationResult): string[] {
  return rings
    .flatMap(({ at, contactId }) => (contactId === null ? [] : [`${soon(at)} ${contactId}`]))
    .sort();
}
