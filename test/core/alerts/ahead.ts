import assert from "node:assert/strict";
import { type AlertRow, getAlertRow } from "../../../src/core/alerts/alert.ts";
import { assignAlert } from "../../../src/core/alerts/assign.ts";
import { deleteRule } from "../../../src/core/alerts/rules.ts";
import {
  lookAhead,
  nextRungs,
  type RungAhead,
  rungsAhead,
} from "../../../src/core/alerts/rungs-ahead.ts";
import { liftSilence } from "../../../src/core/alerts/silencing.ts";
import { readTimeline, type TimelineEntry } from "../../../src/core/alerts/timeline.ts";
import { acknowledge, escalateNow, snooze, unacknowledge } from "../../../src/core/alerts/verbs.ts";
import { getProject } from "../../../src/core/projects/projects.ts";
import { ServiceError } from "../../../src/ground/kit/errors.ts";
import type { Tx } from "../../../src/ground/store/store.ts";
import type { EventNames } from "../../../src/out/outbox/event-names.ts";
import type { Plane } from "../../support/plane.ts";
import fc from "../../support/property.ts";
import { arrangeAll, clear, fireAll, PEOPLE, simulatedStories, storyPlane } from "./stories.ts";

/** What an alert that stands is said to do next, beside what the box then does, with a clock that is turned by hand. */

const person = fc.constantFrom(...PEOPLE);
const deed = fc.record({
  /** Minutes since the deed before. */
  after: fc.constantFrom(0, 1, 4, 9, 21),
  /** Which of the stories. */
  of: fc.nat(100),
  did: fc.oneof(
    fc.record({ verb: fc.constantFrom("ack", "unack", "escalate", "lift", "delete") }),
    fc.record({ verb: fc.constant("snooze"), minutes: fc.constantFrom(7, 35) }),
    fc.record({ verb: fc.constant("assign"), who: person, keep_ladder: fc.boolean() }),
  ),
});
type Did = typeof deed extends fc.Arbitrary<{ did: infer D }> ? D : never;

/** Alerts, and what people do with them before anybody asks what comes next. */
export const standingStories = fc.record({
  all: simulatedStories,
  deeds: fc.array(deed, { maxLength: 8 }),
});
type Told = typeof standingStories extends fc.Arbitrary<infer S> ? S : never;

/** What it came to, so that nobody takes empty stories for a proof. */
export const counts = { asked: 0, rungs: 0, renotifies: 0, fallbacks: 0, held: 0, said: 0 };

/** How far it is then followed. */
const MINUTES = 100;

export function startAsking(): { tell(told: Told): Promise<void>; close(): Promise<void> } {
  const plane = storyPlane();
  const tell = (told: Told) => ask(plane, told).finally(() => clear(plane));
  return { tell, close: () => plane.close() };
}

async function ask(plane: Plane, told: Told): Promise<void> {
  const { all, deeds } = told;
  const { rules, stories } = await arrangeAll(plane, all);
  const { clock } = plane;
  const { store } = plane.tenant;
  const ids = await fireAll(plane, { rules, level: all.level });
  await clock.turn(0);
  for (const { after, of, did } of deeds) {
    await clock.turn(after * 60_000);
    const n = of % ids.length;
    const who = stories[n]?.name ?? String;
    store.write((tx) => perform(tx, { id: ids[n] ?? 0, did, who }));
  }
  await clock.turn(8000);
  const now = Math.floor(clock.now() / 1000);
  const look = lookAhead(store, now);
  const asked = ids.map((id) => {
    const row = getAlertRow(store, id);
    const next = rungsAhead(store, row, now);
    const [first] = next;
    const atFirst = next.filter(({ at }) => at === first?.at);
    assert.deepEqual(nextRungs(store, row, { now, look }), atFirst, "what a list shows");
    return { row, next };
  });
  const end = now + MINUTES * 60;
  await clock.turn((end - now) * 1000);
  await clock.turn(8000);
  for (const [n, { row, next }] of asked.entries()) {
    const history = readTimeline(store, row.id).filter(({ at }) => at > now && at <= end);
    const about = `${JSON.stringify(stories[n])} after ${JSON.stringify(deeds)} in ${JSON.stringify({ ...all, stories: [] })}`;
    const said = next.filter(({ at }) => at <= end);
    assert.deepEqual(said.map(lineOf), linesOf(history, row), about);
    count(history, said);
    checkSaid(plane, { row, now, end, history, about });
  }
}

function perform(tx: Tx, of: { id: number; did: Did; who: (name: string) => string }): void {
  const { id, did, who } = of;
  try {
    if (did.verb === "ack") acknowledge(tx, id, "own");
    else if (did.verb === "unack") unacknowledge(tx, id, "own");
    else if (did.verb === "escalate") escalateNow(tx, id, "own");
    else if (did.verb === "delete")
      deleteRule(tx, getProject(tx, "shop"), getAlertRow(tx, id).rule);
    else if ("minutes" in did)
      snooze(tx, id, { until: tx.at + did.minutes * 60, accountId: "own" });
    else if ("who" in did)
      assignAlert(tx, id, {
        by: "own",
        assign: { accounts: [who(did.who)], keep_ladder: did.keep_ladder },
      });
    else lift(tx, getAlertRow(tx, id));
  } catch (error) {
    // A ladder that has run has no next step.
    if (!(error instanceof ServiceError)) throw error;
  }
}

/** Ends what holds it back. */
function lift(tx: Tx, { silenced_by: by }: AlertRow): void {
  if (by !== null) liftSilence(tx, by);
}

const lineOf = ({ at, step, why, accounts }: RungAhead): string => {
  if (why === "renotify" || why === "fallback") return `${at} ${why} ${accounts.join()}`;
  return accounts.length === 0 ? `${at} nobody ${step}` : `${at} ${why} ${step} ${accounts.join()}`;
};

const RUNGS = ["escalated", "reached_nobody", "fallback"];

/** What the history says of the same, a line each. */
function linesOf(timeline: readonly TimelineEntry[], row: AlertRow): string[] {
  let paged = JSON.parse(row.page_accounts) as string[];
  const told = timeline.filter(
    ({ kind, detail }) => [...RUNGS, "renotified"].includes(kind) || detail["also"] !== undefined,
  );
  return told.flatMap(({ kind, at, detail }, i) => {
    const next = told[i + 1];
    if (kind === "silenced") {
      paged = [...paged, ...(detail["also"] as string[])];
      return [];
    }
    if (kind === "renotified") return paged.length === 0 ? [] : [`${at} renotify ${paged.join()}`];
    if (kind === "reached_nobody") {
      if (next?.at === at && next.kind !== "renotified") return [];
      return [`${at} nobody ${(detail["steps"] as number[]).at(-1)}`];
    }
    paged = detail["accounts"] as string[];
    if (kind === "fallback") return [`${at} fallback ${paged.join()}`];
    return [`${at} ${detail["why"]} ${detail["level"]} ${paged.join()}`];
  });
}

function count(history: readonly TimelineEntry[], next: readonly RungAhead[]): void {
  counts.asked += 1;
  counts.rungs += next.length;
  counts.renotifies += next.filter(({ why }) => why === "renotify").length;
  counts.fallbacks += next.filter(({ why }) => why === "fallback").length;
  counts.held += history.filter(({ kind }) => kind === "silenced").length;
}

const EVENTS = `SELECT timestamp AS at, said FROM events WHERE alert_id = ? AND timestamp > ? AND timestamp <= ?
  AND said IS NOT NULL ORDER BY id`;

/** What messages say of who is paged next is what then happens, too. */
function checkSaid(
  { tenant: { store } }: Plane,
  of: {
    row: AlertRow;
    now: number;
    end: number;
    history: readonly TimelineEntry[];
    about: string;
  },
): void {
  const { row, now, end, history, about } = of;
  const rungs = history.filter(({ kind }) => RUNGS.includes(kind));
  const events = store.sql<[number, number, number], { at: number; said: string }>(EVENTS);
  for (const { at, said } of events.all(row.id, now, end)) {
    const { next } = JSON.parse(said) as EventNames;
    if (next === undefined) continue;
    counts.said += 1;
    const until = next?.at ?? Number.POSITIVE_INFINITY;
    // Of several events of one second the later ones are told a second on.
    const between = rungs.filter((rung) => rung.at > at + 3 && rung.at < until);
    assert.deepEqual(between, [], `before what was said at ${at}: ${about}`);
    if (next === null || next.at > end) continue;
    const paged = rungs.filter((rung) => rung.at === next.at);
    assert.ok(paged.length > 0, `${next.at}, as was said at ${at}: ${about}`);
    const people = new Set(paged.flatMap(({ detail }) => (detail["accounts"] ?? []) as string[]));
    assert.deepEqual(next.people.map(({ name }) => name).sort(), [...people].sort(), about);
  }
}
