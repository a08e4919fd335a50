import { createRule, deleteRule } from "../../../src/core/alerts/rules.ts";
import { resolve } from "../../../src/core/alerts/verbs.ts";
import type { Layer } from "../../../src/core/oncall/schedule.ts";
import { getProject } from "../../../src/core/projects/projects.ts";
import type { RuleBody, StoredRule } from "../../../src/core/projects/rule.ts";
import { silenceWrite } from "../../../src/core/quiet/silence.ts";
import { createSilence } from "../../../src/core/quiet/silences.ts";
import type { EgressClient } from "../../../src/ground/kit/egress.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { mintWebhookSecret } from "../../../src/ground/kit/sign.ts";
import { sealPlace } from "../../../src/ground/store/sealed.ts";
import type { NotifyRule } from "../../../src/out/contacts/contact.ts";
import { writeFallback } from "../../../src/out/contacts/notify.ts";
import { handClock } from "../../support/clock.ts";
import { defaultRule, type Plane, step, testPlane } from "../../support/plane.ts";
import fc from "../../support/property.ts";

/** Alerts whose ladders, schedules, people and silences are drawn by chance, made on one box. Times are minutes. */

export const PEOPLE = ["ann", "bob", "cid", "dan"] as const;
const person = fc.constantFrom(...PEOPLE);
/** Stories that one event begins, at most. */
export const MOST_AT_ONCE = Number(process.env["AT_ONCE"] ?? 12);
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
export type Stories = typeof simulatedStories extends fc.Arbitrary<infer S> ? S : never;

/** A story with what is its own called by its number. */
export interface ToldStory extends Story {
  n: number;
  name(of: string): string;
}

/** Each message is taken at once. */
const takesAll = (): EgressClient => ({
  send: async () => ({
    error: null,
    status: 200,
    headers: {},
    body: "",
    truncated: false,
    sent: true,
    durationMs: 1,
  }),
  dial: () => Promise.reject(new Error("nothing dials here")),
  talk: () => Promise.reject(new Error("nothing talks here")),
  origins: () => 0,
  share: takesAll,
  close: async () => {},
});

/** A box with people enough for all stories that begin at once. */
export function storyPlane(): Plane {
  const plane = testPlane(handClock(), { egress: takesAll });
  for (const n of Array(MOST_AT_ONCE).keys())
    for (const name of PEOPLE) plane.account(`${name}-${n}`);
  plane.account("own");
  plane.tenant.store.write((tx) =>
    tx.sql("UPDATE accounts SET role = 'owner' WHERE id = 'own'").run(),
  );
  return plane;
}

/** Ten seconds off the minutes at which silences and overrides begin and end, makes what the stories need. */
export async function arrangeAll(
  plane: Plane,
  all: Stories,
): Promise<{ stories: ToldStory[]; rules: StoredRule[] }> {
  const { clock } = plane;
  await clock.turn(60_000 - (clock.now() % 60_000) + 10_000);
  const base = Math.floor(clock.now() / 60_000) * 60;
  const stories = all.stories.map((one, n): ToldStory => {
    const name = (of: string) => (of === "gone" ? of : `${of}-${n}`);
    return { ...one, n, name };
  });
  common(plane, all);
  const rules = stories.map((one) => arrange(plane, { story: one, reaches: all.reaches, base }));
  return { stories, rules };
}

/** One event that each story's rule takes; the alerts' ids. */
export async function fireAll(
  plane: Plane,
  { rules, level }: { rules: readonly StoredRule[]; level: number },
): Promise<number[]> {
  await plane.fire("disk is failing", level);
  const idOf = plane.tenant.store.sql<[rule: number], number>(
    "SELECT max(id) FROM alerts WHERE rule_id = ?",
  );
  return rules.map(({ id }) => idOf.pluck().get(id) ?? 0);
}

/** What is the whole tenant's. */
function common({ tenant }: Plane, { phones, fallback, stories }: Stories): void {
  const secret = tenant.sealer.seal("s".repeat(32), sealPlace("relay", "sealed_secret", 1));
  tenant.store.write((tx) => {
    tx.sql("DELETE FROM relay").run();
    if (phones)
      tx.sql(
        "INSERT INTO relay (id, relay_url, sealed_secret) VALUES (1, 'https://relay.test/', ?)",
      ).run(secret);
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

function arrange(
  plane: Plane,
  of: { story: ToldStory; reaches: boolean; base: number },
): StoredRule {
  const { story, base } = of;
  const { store } = plane.tenant;
  const minute = (n: number) => base + n * 60;
  story.schedules.forEach(({ layers, overrides }, n) => {
    const name = story.name(SCHEDULES[n] as string);
    const made = layers.map(({ participants, begins, shift, window }, i): Layer => {
      const turns = { rotation_start: minute(begins), shift_minutes: shift };
      const restriction = window && {
        days: [],
        start_minute: window.from,
        end_minute: window.until,
      };
      return { name: `l${i}`, participants: participants.map(story.name), ...turns, restriction };
    });
    plane.schedule(name, made);
    store.write((tx) => {
      for (const [i, { who, from, length }] of overrides.entries())
        tx.sql(
          `INSERT INTO overrides (id, schedule_id, account_id, starts_at, ends_at, created_at, created_by)
           VALUES (?, ?, ?, ?, ?, ?, 'own')`,
        ).run(`${name}${i}`, name, story.name(who), minute(from), minute(from + length), tx.at);
    });
  });
  if (of.reaches) for (const n of PEOPLE.keys()) makeContacts(plane, story, n);
  const body: RuleBody = {
    ...defaultRule,
    escalations: story.ladder.map(({ after, repeat, accounts, schedules }) =>
      step(after, accounts.map(story.name), { repeat, schedules: schedules.map(story.name) }),
    ),
    renotify_minutes: story.renotify,
    max_renotify: story.most,
    ack_expires_minutes: story.expires,
  };
  const rule = store.write((tx) =>
    createRule(tx, getProject(tx, "shop"), { name: `rule ${story.n} at ${base}`, body }),
  );
  for (const { from, length, below, critical, source, repeat } of story.silences) {
    if (from + length <= 1) continue;
    const write = silenceWrite.parse({
      match: { rule: rule.name, below_level: below, sources: source === null ? [] : [source] },
      critical,
      reason: "story",
      starts_at: minute(from),
      ends_at: minute(from + length),
      ...(repeat === "none" ? {} : { repeat, repeat_until: minute(10_000) }),
    });
    store.write((tx) => createSilence(tx, { write, createdBy: "own" }));
  }
  return rule;
}

function makeContacts({ tenant: { store, sealer } }: Plane, story: ToldStory, n: number): void {
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

export function clear({ tenant: { store } }: Plane): void {
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
  "silences",
  "overrides",
  "schedules",
  "pages",
  "contacts",
  "notify_rules",
  "integrations",
  "deliveries",
];
