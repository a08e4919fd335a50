import assert from "node:assert/strict";
import type { Person, TestBox } from "../../support/box.ts";
import { settle } from "../../support/until.ts";

/*
 * Situations that were planted in a month of a real box, and others that only look like them: each of the first is found, none
 * of the others is.
 */

const MIN = 60;
const HOUR = 3600;
const DAY = 86_400;

/** One alert: when it opens, and what ends it, in seconds. */
interface Trouble {
  rule: string;
  at: number;
  /** Its sender ends it after so long; 0: it says nothing. */
  lasts: number;
  /** Whoever takes it, after so long. */
  by?: Person;
  after?: number;
  keys?: Record<string, string>;
  level?: number;
}

export interface Plant {
  rules: Record<string, object>;
  troubles: Trouble[];
  /** Its sender names no alert: they end by quiet. */
  isUnnamed?: true;
  /** The kind that is found; null: none. */
  kind: string | null;
}

const times = (n: number, each: (i: number) => Trouble): Trouble[] =>
  Array.from({ length: n }, (_, i) => each(i));
/** One every so often. */
const every = (seconds: number, i: number) => i * seconds;

/** By the name of its project. */
export function plants(ann: Person, cid: Person): Record<string, Plant> {
  const step = (person: Person, after_minutes = 0) => ({
    accounts: [person.accountId],
    schedules: [],
    after_minutes,
    repeat_minutes: 0,
  });
  const ladder = [step(ann)];
  const two = [step(cid), step(ann, 5)];
  const a = { a: { escalations: ladder } };
  const fine = (kind: string | null, keys: string[], troubles: Trouble[]): Plant => ({
    kind,
    isUnnamed: true,
    rules: { a: { escalations: ladder, identifier_keys: keys, auto_resolve_quiet_minutes: 180 } },
    troubles,
  });
  const one = (kind: string | null, more: object, troubles: Trouble[]): Plant => ({
    kind,
    rules: { a: { escalations: ladder, ...more } },
    troubles,
  });
  const pair = (kind: string | null, troubles: Trouble[], more = {}, cause = {}): Plant => ({
    kind,
    rules: { a: { escalations: [], ...cause }, b: { escalations: [], ...more } },
    troubles,
  });
  const t = (at: number, lasts: number, more: Partial<Trouble> = {}): Trouble => ({
    rule: "a",
    at,
    lasts,
    ...more,
  });
  const taken = { by: ann, after: 2 * MIN };
  const bursts = (n: number, keys: (i: number) => Record<string, string>) =>
    times(n, (i) =>
      t(Math.floor(i / 8) * DAY + (i % 8) * MIN, 3 * HOUR, { keys: keys(i), ...taken }),
    );
  const causes = (
    n: number,
    gap: number,
    keys: (i: number) => Record<string, string> = () => ({}),
  ) =>
    Array.from({ length: n }, (_, i) => i).flatMap((i) => [
      t(every(DAY, i), 5 * HOUR, { ...taken, keys: keys(i) }),
      t(every(DAY, i) + gap, 4 * HOUR, { rule: "b", ...taken, keys: keys(i) }),
    ]);
  return {
    // ends_by_itself
    brief: one(
      "ends_by_itself",
      {},
      times(10, (i) => t(every(DAY, i), 3 * MIN)),
    ),
    "brief, some taken": one(
      "ends_by_itself",
      {},
      times(12, (i) => t(every(DAY, i), i < 9 ? 5 * MIN : 2 * HOUR, i < 9 ? {} : taken)),
    ),
    "brief, two hosts": one(
      "ends_by_itself",
      { identifier_keys: ["host"] },
      times(12, (i) => t(every(DAY, i), 8 * MIN, { keys: { host: `db${i % 2}` } })),
    ),
    "brief, too few": one(
      null,
      {},
      times(7, (i) => t(every(DAY, i), 3 * MIN)),
    ),
    "brief, critical": one(
      null,
      {},
      times(12, (i) => t(every(DAY, i), 3 * MIN, { level: 550 })),
    ),
    "brief, each taken": one(
      null,
      {},
      times(10, (i) => t(every(DAY, i), 10 * MIN, taken)),
    ),
    "brief, it waits already": one(
      null,
      { for_minutes: 1 },
      times(9, (i) => t(every(DAY, i), 3 * MIN)),
    ),
    "brief, by quiet": {
      kind: null,
      isUnnamed: true,
      rules: { a: { escalations: ladder, auto_resolve_quiet_minutes: 3 } },
      troubles: times(9, (i) => t(every(DAY, i), 0)),
    },
    long: one(
      null,
      {},
      times(10, (i) => t(every(DAY, i), 2 * HOUR, taken)),
    ),
    // flaps
    flapping: one(
      "flaps",
      {},
      times(10, (i) => t(every(25 * MIN, i), 20 * MIN)),
    ),
    "flapping, long": one(
      "flaps",
      {},
      times(12, (i) => t(every(50 * MIN, i), 30 * MIN)),
    ),
    "flapping, two hosts": one(
      "flaps",
      { identifier_keys: ["host"] },
      times(16, (i) => t(every(15 * MIN, i), 25 * MIN, { keys: { host: `db${i % 2}` } })),
    ),
    "flapping by quiet": {
      kind: "flaps",
      isUnnamed: true,
      rules: { a: { escalations: ladder, auto_resolve_quiet_minutes: 10 } },
      troubles: times(12, (i) => t(every(25 * MIN, i), 0)),
    },
    "flapping, rarely": one(
      null,
      {},
      times(8, (i) => t(every(i < 4 ? 25 * MIN : DAY, i), 20 * MIN, i < 4 ? {} : taken)),
    ),
    "flapping, an hour apart": one(
      null,
      {},
      times(9, (i) => t(every(80 * MIN, i), 20 * MIN)),
    ),
    "flapping, one already": one(
      null,
      { reopen_within_seconds: 1800 },
      times(10, (i) => t(every(25 * MIN, i), 20 * MIN)),
    ),
    "ended by hand each time": one(
      null,
      {},
      times(10, (i) => t(every(25 * MIN, i), 20 * MIN, taken)),
    ),
    // nobody_acts
    unheeded: one(
      "nobody_acts",
      {},
      times(10, (i) => t(every(DAY, i), 2 * HOUR)),
    ),
    "unheeded, a warning": one(
      "nobody_acts",
      {},
      times(14, (i) => t(every(12 * HOUR, i), HOUR, { level: 300 })),
    ),
    "unheeded, without a ladder": one(
      null,
      { escalations: [] },
      times(12, (i) => t(every(DAY, i), 2 * HOUR)),
    ),
    "heeded once": one(
      null,
      {},
      times(12, (i) => t(every(DAY, i), 2 * HOUR, i === 5 ? taken : {})),
    ),
    "unheeded, critical": one(
      null,
      {},
      times(12, (i) => t(every(DAY, i), 2 * HOUR, { level: 500 })),
    ),
    "unheeded, too few": one(
      null,
      {},
      times(9, (i) => t(every(DAY, i), 2 * HOUR)),
    ),
    // one_cause
    "one cause": pair("one_cause", causes(9, 2 * MIN)),
    "one cause of a host": pair(
      "one_cause",
      causes(9, 4 * MIN, (i) => ({ host: `db${i % 3}` })),
      { identifier_keys: ["host"] },
      { identifier_keys: ["host"] },
    ),
    "a cause that comes too late": pair(
      null,
      times(18, (i) =>
        t(every(DAY, Math.floor(i / 2)) + (i % 2) * 20 * MIN, 3 * HOUR, {
          rule: i % 2 === 0 ? "b" : "a",
          ...taken,
        }),
      ),
    ),
    "a cause that is known": pair(null, causes(9, 2 * MIN), { silenced_by: [{ rule: "a" }] }),
    "a cause now and then": pair(null, [
      ...causes(5, 2 * MIN),
      ...times(5, (i) => t(every(DAY, i) + 12 * HOUR, HOUR, { rule: "b", ...taken })),
    ]),
    // many_of_one
    "too fine": fine(
      "many_of_one",
      ["request"],
      bursts(24, (i) => ({ request: `r${i}` })),
    ),
    "too fine, one of two": fine(
      "many_of_one",
      ["host", "request"],
      bursts(24, (i) => ({ host: "db7", request: `r${i}` })),
    ),
    "fine enough": fine(
      null,
      ["host"],
      times(24, (i) => t(every(20 * HOUR, i), 3 * HOUR, { keys: { host: `h${i}` }, ...taken })),
    ),
    "few values": fine(
      null,
      ["host"],
      bursts(24, (i) => ({ host: `h${i % 8}` })),
    ),
    // never_answered
    "nobody answers first": one(
      "never_answered",
      { escalations: two },
      times(9, (i) => t(every(DAY, i), 2 * HOUR, { by: ann, after: 7 * MIN })),
    ),
    "nobody answers in between": one(
      "never_answered",
      { escalations: [step(ann), step(cid, 5), step(ann, 10)] },
      times(9, (i) => t(every(DAY, i), 2 * HOUR, { by: ann, after: 12 * MIN })),
    ),
    "answered once": one(
      null,
      { escalations: two },
      times(9, (i) => t(every(DAY, i), 2 * HOUR, { by: i === 4 ? cid : ann, after: 7 * MIN })),
    ),
    "answered before it runs": one(
      null,
      { escalations: [step(ann), step(cid, 5)] },
      times(9, (i) => t(every(DAY, i), 2 * HOUR, taken)),
    ),
    // unheard: what "c" says is taken by no rule.
    unheard: {
      kind: "unheard",
      rules: a,
      troubles: times(6, (i) => t(every(HOUR, i), 0, { rule: "c" })),
    },
    "unheard, critical": {
      kind: "unheard",
      rules: a,
      troubles: times(5, (i) => t(every(DAY, i), 0, { rule: "c", level: 600 })),
    },
    "unheard, a notice": {
      kind: null,
      rules: a,
      troubles: times(9, (i) => t(every(DAY, i), 0, { rule: "c", level: 300 })),
    },
    "unheard, rarely": {
      kind: null,
      rules: a,
      troubles: times(4, (i) => t(every(DAY, i), 0, { rule: "c" })),
    },
  };
}

type Act = { at: number; do(): Promise<unknown> };

/** Days of the box before anything happens, and all of them. What is looked at are the last 28. */
export interface Span {
  first: number;
  days: number;
}

/** Everything of all situations, each in a project of its own, in the order of time. */
export async function play(
  box: TestBox,
  all: Record<string, Plant>,
  { first, days }: Span,
): Promise<void> {
  const acts: Act[] = [];
  for (const [project, { rules, troubles, isUnnamed = false }] of Object.entries(all)) {
    const token = await box.project(project, { retain_logs: true });
    for (const [name, more] of Object.entries(rules)) {
      const rule = { name, match: { min_level: 300, template_contains: `${name} broke` }, ...more };
      const made = await box.api("POST", `/v1/projects/${encodeURIComponent(project)}/rules`, rule);
      assert.equal(made.status, 201, JSON.stringify(made.body));
    }
    for (const { rule, at, lasts, by, after = 0, keys = {}, level = 400 } of troubles) {
      const named = `${rule} ${JSON.stringify(keys)}`;
      const event = {
        message: `${rule} broke`,
        level,
        keys,
        ...(isUnnamed ? {} : { dedup_key: named }),
      };
      acts.push({ at, do: () => box.ingest(token, event) });
      if (by !== undefined)
        acts.push({ at: at + after, do: () => take(box, { project, named, keys }, by) });
      if (lasts > 0 && !isUnnamed)
        acts.push({
          at: at + lasts,
          do: () => box.ingest(token, { ...event, status: "resolved" }),
        });
    }
  }
  const begun = box.clock.now() + first * DAY * 1000;
  for (const act of acts.sort((a, b) => a.at - b.at)) {
    await box.clock.turn(Math.max(0, begun + act.at * 1000 - box.clock.now()));
    await act.do();
  }
  await box.clock.turn(begun + (days - first) * DAY * 1000 - box.clock.now());
  await settle(box);
}

const OPEN = `SELECT a.id FROM alerts a JOIN projects p ON p.id = a.project_id
  WHERE p.name = ? AND a.state = 'open' AND (a.dedup_key = ? OR a.identifiers = ?) ORDER BY a.id DESC LIMIT 1`;

async function take(
  box: TestBox,
  { project, named, keys }: { project: string; named: string; keys: Record<string, string> },
  by: Person,
): Promise<void> {
  const { store } = box.tenant;
  const id = store.sql<string[], number>(OPEN).pluck().get(project, named, JSON.stringify(keys));
  assert.ok(id !== undefined, `${project}: ${named} is open`);
  assert.equal((await box.api("POST", `/v1/alerts/${id}/ack`, undefined, by.key)).status, 200);
}
