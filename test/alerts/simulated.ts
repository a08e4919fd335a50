import assert from "node:assert/strict";
import { acknowledge } from "../../src/alerts/acknowledge.ts";
import { resolve } from "../../src/alerts/resolve.ts";
import { createRule, deleteRule } from "../../src/alerts/rules.ts";
import { type Course, followAlert } from "../../src/alerts/simulate/course.ts";
import { simulateWrite } from "../../src/alerts/simulate/shape.ts";
import { readWorld } from "../../src/alerts/simulate/world.ts";
import { simulate } from "../../src/alerts/simulate.ts";
import { snooze } from "../../src/alerts/snooze.ts";
import { readTimeline, type TimelineEntry } from "../../src/alerts/timeline.ts";
import type { NotifyRule } from "../../src/contacts/contact.ts";
import { writeFallback } from "../../src/contacts/notify.ts";
import type { EgressClient } from "../../src/kit/egress.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { mintWebhookSecret } from "../../src/kit/sign.ts";
import { finish } from "../../src/kit/slices.ts";
import type { Layer } from "../../src/oncall/schedule.ts";
import { getProject } from "../../src/projects/projects.ts";
import type { RuleBody, StoredRule } from "../../src/projects/rule.ts";
import { silenceWrite } from "../../src/quiet/silence.ts";
import { createSilence } from "../../src/quiet/silences.ts";
import { sealPlace } from "../../src/store/sealed.ts";
import { handClock } from "../support/clock.ts";
import { defaultRule, type Plane, step, testPlane } from "../support/plane.ts";
import fc from "../support/property.ts";

/** What a simulation says beside what a box then does, with a clock that is turned by hand. Times in the stories are minutes. */

const PEOPLE = ["ann", "bob", "cid", "dan"] as const;
const person = fc.constantFrom(...PEOPLE);
/** Stories that one event begins, at most. */
const MOST_AT_ONCE = Number(process.env["AT_ONCE"] ?? 12);
const SCHEDULES = ["one", "two"] as const;

const rung = fc.record({
  after: fc.constantFrom(0, 0, 5, 10, 30, 45),
  repeat: fc.constantFrom(0, 0, 0, 4, 15),
  accounts: fc.uniqueArray(person, { maxLength: 2 }),
  schedules: fc.uniqueArray(fc.constantFrom(...SCHEDULES), { maxLength: 2 }),
});
const layer = fc.record({
  participants: fc.array(fc.constantFrom(...PEOPLE, "gone"), { minLength: 1, maxLength: 3 }),
  begins: fc.integer({ min: -600, max: 120 }),
  shift: fc.constantFrom(30, 60, 480, 1440),
  window: fc.option(fc.record({ from: fc.nat(1439), until: fc.nat(1440) }), { freq: 3 }),
});
const during = { from: fc.integer({ min: -60, max: 200 }), length: fc.constantFrom(1, 7, 30, 120) };
const schedule = fc.record({
  layers: fc.array(layer, { maxLength: 2 }),
  overrides: fc.array(fc.record({ who: person, ...during }), { maxLength: 2 }),
});
const contact = fc.record({
  state: fc.constantFrom("verified", "verified", "verified", "failing", "off", "unverified"),
  rule: fc.option(
    fc.record({ after: fc.constantFrom(0, 60, 120, 600), min_level: fc.constantFrom(0, 0, 500) }),
    { freq: 2 },
  ),
});
const silence = fc.record({
  ...during,
  from: fc.integer({ min: -20, max: 150 }),
  below: fc.constantFrom(null, null, null, 500),
  critical: fc.constantFrom(true, true, false),
  source: fc.constantFrom(null, null, "app", "app", "other"),
  repeat: fc.constantFrom("none" as const, "none" as const, "daily" as const),
});
const story = fc.record({
  ladder: fc.array(rung, { maxLength: 4, size: "max" }),
  renotify: fc.constantFrom(0, 0, 0, 11, 40),
  most: fc.constantFrom(0, 2),
  expires: fc.constantFrom(0, 0, 25),
  schedules: fc.tuple(schedule, schedule),
  contacts: fc.tuple(...PEOPLE.map(() => fc.array(contact, { maxLength: 2 }))),
  silences: fc.array(silence, { maxLength: 3 }),
  ack: fc.option(
    fc.record({
      who: person,
      after: fc.constantFrom(0, 30, 300, 1200),
      snooze: fc.option(fc.constantFrom(600, 2400)),
    }),
  ),
  silent: fc.uniqueArray(person, { maxLength: 2 }),
});
type Story = typeof story extends fc.Arbitrary<infer S> ? S : never;

/** Stories that one event begins, each with people, schedules and silences of its own; the rest is the whole tenant's. */
export const simulatedStories = fc.record({
  stories: fc.array(story, { minLength: 1, maxLength: MOST_AT_ONCE, size: "max" }),
  level: fc.constantFrom(400, 500),
  phones: fc.constantFrom(false, false, false, true),
  reaches: fc.constantFrom(true, true, true, true, false),
  fallback: fc.option(fc.uniqueArray(person, { minLength: 1, maxLength: 2 })),
});
type Stories = typeof simulatedStories extends fc.Arbitrary<infer S> ? S : never;

/** A story with what is its own called by its number. */
interface Told extends Story {
  n: number;
  name(of: string): string;
}

/** Each message is taken at once. */
const takesAll = (): EgressClient => ({
  send: async () => ({
    ...{ error: null, status: 200, headers: {}, body: "", truncated: false, sent: true },
    durationMs: 1,
  }),
  dial: () => Promise.reject(new Error("nothing dials here")),
  talk: () => Promise.reject(new Error("nothing talks here")),
  origins: () => 0,
  share: takesAll,
  close: async () => {},
});

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
  const plane = testPlane(handClock(), { egress: takesAll });
  for (const n of Array(MOST_AT_ONCE).keys())
    for (const name of PEOPLE) plane.account(`${name}-${n}`);
  plane.account("own");
  plane.tenant.store.write((tx) =>
    tx.sql("UPDATE accounts SET role = 'owner' WHERE id = 'own'").run(),
  );
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
  const { clock } = plane;
  const { store } = plane.tenant;
  // Ten seconds off the minutes at which silences and overrides begin and end.
  await clock.turn(60_000 - (clock.now() % 60_000) + 10_000);
  const base = Math.floor(clock.now() / 60_000) * 60;
  const stories = all.stories.map((one, n): Told => {
    const name = (of: string) => (of === "gone" ? of : `${of}-${n}`);
    return { ...one, n, name };
  });
  common(plane, all);
  const rules = stories.map((one) => arrange(plane, { story: one, reaches: all.reaches, base }));
  const at = Math.floor(clock.now() / 1000);
  const courses = stories.map((one, n) => think(plane, { all, one, rule: rules[n], at }));
  await plane.fire("disk is failing", all.level);
  const idOf = store.sql<[rule: number | undefined], number>(
    "SELECT max(id) FROM alerts WHERE rule_id = ?",
  );
  const ids = rules.map((rule) => idOf.pluck().get(rule?.id) ?? 0);
  await live(plane, { ids, at, stories });
  for (const [n, course] of courses.entries()) {
    const id = ids[n] ?? 0;
    const about = `${JSON.stringify(stories[n])} in ${JSON.stringify({ ...all, stories: [] })}`;
    const history = readTimeline(store, id);
    assert.deepEqual(real(history), simulated(course), `rungs of ${about}`);
    assert.deepEqual(heldOf(history), course.held.map(heldText), `held of ${about}`);
    assert.deepEqual(rangOf(plane, id), ringsOf(course), `rings of ${about}`);
  }
}

/** The course of one story as it is simulated, which writes nothing. */
function think(
  { tenant: { store } }: Plane,
  of: { all: Stories; one: Told; rule: StoredRule | undefined; at: number },
): Course {
  const { one, at } = of;
  const rule = of.rule as StoredRule;
  const { level } = of.all;
  const silent = one.silent.map(one.name);
  const ack = one.ack && {
    ...{ account: one.name(one.ack.who), after_seconds: one.ack.after },
    ...(one.ack.snooze !== null && { snooze_seconds: one.ack.snooze }),
  };
  const asked = { rule: rule.name, at, level, silent, source: "app", ack };
  const input = simulateWrite.parse({ ...asked, horizon_hours: MINUTES / 60 });
  const range = { from: at, until: at + MINUTES * 60 };
  const world = readWorld(store, { rule, level, identifiers: {}, source: "app" }, range);
  const question = { at, until: range.until, silent: new Set(silent), ack: input.ack };
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
  { ids, at, stories }: { ids: readonly number[]; at: number; stories: readonly Told[] },
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

/** What is the whole tenant's. */
function common(plane: Plane, { phones, fallback, stories }: Stories): void {
  plane.tenant.store.write((tx) => {
    if (phones)
      tx.sql(
        `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, relay, created_at)
         VALUES ('relay', 1, 'relay', 'webhook', 'https://relay.test/', 1, 'alert.escalated', 1, ?)`,
      ).run(tx.at);
    const last = stories.length - 1;
    const accounts = (fallback ?? []).map((who) => `${who}-${last}`);
    const schedules = fallback === null ? [] : ["shop/two-0"];
    writeFallback(tx, { accounts, schedules });
  });
}

function arrange(plane: Plane, of: { story: Told; reaches: boolean; base: number }): StoredRule {
  const { story, base } = of;
  const { store } = plane.tenant;
  const minute = (n: number) => base + n * 60;
  story.schedules.forEach(({ layers, overrides }, n) => {
    const name = story.name(SCHEDULES[n] as string);
    const made = layers.map(({ participants, begins, shift, window }, i): Layer => {
      const turns = { rotation_start: minute(begins), shift_minutes: shift };
      const restriction = window && {
        ...{ days: [], start_minute: window.from, end_minute: window.until },
      };
      return { name: `l${i}`, participants: participants.map(story.name), ...turns, restriction };
    });
    plane.schedule(name, made);
    store.write((tx) => {
      for (const [i, { who, from, length }] of overrides.entries())
        tx.sql(
          `INSERT INTO overrides (id, schedule_id, account_id, starts_at, ends_at, created_at, created_by)
           VALUES (?, ?, ?, ?, ?, ?, 'own')`,
        ).run(
          ...[`${name}${i}`, name, story.name(who), minute(from), minute(from + length), tx.at],
        );
    });
  });
  if (of.reaches) for (const n of PEOPLE.keys()) makeContacts(plane, story, n);
  const body: RuleBody = {
    ...defaultRule,
    escalations: story.ladder.map(({ after, repeat, accounts, schedules }) =>
      step(after, accounts.map(story.name), { repeat, schedules: schedules.map(story.name) }),
    ),
    ...{ renotify_minutes: story.renotify, max_renotify: story.most },
    ack_expires_minutes: story.expires,
  };
  const rule = store.write((tx) =>
    createRule(tx, getProject(tx, "shop"), { name: `rule ${story.n} at ${base}`, body }),
  );
  for (const { from, length, below, critical, source, repeat } of story.silences) {
    if (from + length <= 1) continue;
    const write = silenceWrite.parse({
      match: { rule: rule.name, below_level: below, sources: source === null ? [] : [source] },
      ...{ critical, reason: "story", starts_at: minute(from), ends_at: minute(from + length) },
      ...(repeat === "none" ? {} : { repeat, repeat_until: minute(10_000) }),
    });
    store.write((tx) => createSilence(tx, { write, createdBy: "own" }));
  }
  return rule;
}

function makeContacts({ tenant: { store, sealer } }: Plane, story: Told, n: number): void {
  const account = story.name(PEOPLE[n] as string);
  const contacts = story.contacts[n] ?? [];
  const rules = contacts.flatMap(({ rule }, i): NotifyRule[] => {
    if (rule === null) return [];
    const { after: after_seconds, min_level } = rule;
    return [{ after_seconds, contacts: [`${account}${i}`], min_level }];
  });
  store.write((tx) => {
    for (const [i, { state }] of contacts.entries()) {
      const id = `${account}${i}`;
      const fields = { address: "https://sink.test/", secret: mintWebhookSecret(systemRandom) };
      const sealed = sealer.seal(JSON.stringify(fields), sealPlace("contacts", "sealed", id));
      tx.sql(
        `INSERT INTO contacts (id, account_id, kind, label, shown, sealed, state, verified_at, created_at)
         VALUES (?, ?, 'webhook', '', 'sink', ?, ?, ?, ?)`,
      ).run(id, account, sealed, state, tx.at, tx.at);
    }
    const write = "INSERT INTO notify_rules (account_id, rules) VALUES (?, ?)";
    if (rules.length > 0) tx.sql(write).run(account, JSON.stringify(rules));
  });
}

function clear({ tenant: { store } }: Plane): void {
  store.write((tx) => {
    const open = tx.sql<[], number>("SELECT id FROM alerts WHERE state <> 'resolved'").pluck();
    for (const id of open.all()) resolve(tx, id, { accountId: "own" });
    const rules = tx.sql<[], string>("SELECT name FROM rules").pluck();
    for (const name of rules.all()) deleteRule(tx, getProject(tx, "shop"), name);
    for (const table of CLEARED) tx.sql(`DELETE FROM ${table}`).run();
    tx.note({ topic: "outbox" });
  });
}

const CLEARED = [
  ...["silences", "overrides", "schedules", "pages", "contacts", "notify_rules"],
  ...["integrations", "deliveries"],
];

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

function simulated({ rungs }: Course): string[] {
  return rungs.map(({ at, step: number, why, accounts }) => {
    if (why === "fallback" || why === "renotify") return `${at} ${why} ${accounts.join()}`;
    if (accounts.length === 0) return `${at} nobody ${number}`;
    return `${at} ${why} ${number} ${accounts.join()}`;
  });
}

/** Messages to one contact soon after another wait some seconds and go as one, and what is sent takes a moment. */
const soon = (at: number) => Math.floor(at / 10);

const heldText = ({ at, by, until }: { at: number; by: string; until: number }) =>
  `${soon(at)} ${by} ${until}`;

/** Stretches in which news was held; a page that waited too is no other one. */
function heldOf(timeline: readonly TimelineEntry[]): string[] {
  let last = "";
  return timeline.flatMap(({ kind, at, detail }) => {
    if (["silence_over", "acknowledged"].includes(kind)) last = "";
    if (kind !== "silenced") return [];
    const mark = `${detail["by"]} ${detail["until"]}`;
    if (mark === last) return [];
    last = mark;
    return [`${soon(at)} ${mark}`];
  });
}

function rangOf(plane: Plane, id: number): string[] {
  const rows = plane.tenant.store
    .sql<[id: number], { contact: string; at: number }>(
      "SELECT contact_id AS contact, finished_at AS at FROM pages WHERE alert_id = ? AND status = 'delivered' AND event LIKE 'alert.%ed' AND event NOT IN ('alert.acknowledged', 'alert.resolved')",
    )
    .all(id);
  return rows.map(({ contact: one, at }) => `${soon(at)} ${one}`).sort();
}

function ringsOf({ rings }: Course): string[] {
  return rings
    .flatMap(({ at, contactId }) => (contactId === null ? [] : [`${soon(at)} ${contactId}`]))
    .sort();
}
