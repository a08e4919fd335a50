import assert from "node:assert/strict";
import { parseConfigFile, printConfigFile } from "../../../src/records/config-file/document.ts";
import type { ProjectConfig } from "../../../src/records/config-file/shape.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { inBoth } from "../../support/long.ts";
import fc, { anyCharacter } from "../../support/property.ts";

const people = ["ann@example.org", "Bob@example.org", "zoë@example.org"];
const text = (max: number) =>
  fc
    .string({ unit: anyCharacter, maxLength: max })
    .filter((s) => s.isWellFormed() && !s.includes("\0"));
const name = fc
  .oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
    fc.constantFrom(
      "yes",
      "null",
      "1",
      "~",
      "# a",
      "a: b",
      "- x",
      "'",
      '"',
      "0x1",
      "1e3",
      "&a",
      "*a",
      "!t",
    ),
  )
  .filter(
    (s) =>
      s.trim() === s &&
      s !== "" &&
      s !== "." &&
      s !== ".." &&
      !/[/\p{Cc}]/u.test(s) &&
      s.isWellFormed(),
  );
const names = fc.uniqueArray(name, { maxLength: 3 });
const few = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 2 });
const minutes = fc.integer({ min: 0, max: 525_600 });
const person = fc.constantFrom(...people);
const kinds = fc.constantFrom("alert.opened", "alert.escalated", "alert.resolved");

const layer = fc.record({
  name: text(20),
  participants: fc.array(person, { minLength: 1, maxLength: 3 }),
  rotation_start: fc.integer({ min: 0, max: 2_000_000_000 }),
  shift_minutes: fc.integer({ min: 1, max: 10_000 }),
  restriction: fc.option(
    fc.record({
      days: fc.uniqueArray(fc.integer({ min: 0, max: 6 })),
      start_minute: fc.integer({ min: 0, max: 1439 }),
      end_minute: fc.integer({ min: 0, max: 1440 }),
    }),
  ),
});

const integration = fc.oneof(
  fc.record({
    type: fc.constant("webhook"),
    name: text(10),
    url: fc.integer({ min: 1, max: 9 }).map((n) => `http://127.0.0.1:${n}/`),
    enabled: fc.boolean(),
    events: fc.uniqueArray(kinds),
    secret: fc.constant({ env: "S" }),
  }),
  fc.record({
    type: fc.constant("telegram"),
    name: text(10),
    token: fc.constant({ env: "T" }),
    chat_id: fc.constant({ env: "C" }),
    enabled: fc.boolean(),
    events: fc.uniqueArray(kinds),
  }),
  fc.record({ type: fc.constant("apns"), name: text(10), enabled: fc.boolean() }),
);

const project = fc
  .tuple(names, names, names, names)
  .chain(([sources, schedules, actions, rules]) => {
    const all = <T>(of: string[], make: (name: string) => fc.Arbitrary<T>) =>
      fc.tuple(...of.map(make));
    const some = (of: string[]) => fc.subarray(of);
    return fc.record({
      sources: all(sources, (name) =>
        fc.record({
          name: fc.constant(name),
          retain_logs: fc.boolean(),
          options: fc.constantFrom({}, { level_from_text: false }, { logfmt: true }),
        }),
      ),
      schedules: all(schedules, (name) =>
        fc.record({
          name: fc.constant(name),
          timezone: fc.constantFrom("Europe/London", "UTC", "Asia/Kolkata"),
          layers: few(layer),
          shared: fc.boolean(),
        }),
      ),
      actions: all(actions, (name) =>
        fc.record({
          name: fc.constant(name),
          method: fc.constantFrom("GET", "POST"),
          url: fc.constant("http://127.0.0.1:9/run"),
          headers: fc.constantFrom(
            {},
            { "X-B": { env: "S" }, "X-A": { env: "T" }, env: { env: "S" } },
          ),
          body: fc.constantFrom(null, { env: "C" }),
          enabled: fc.boolean(),
          events: fc.uniqueArray(fc.constantFrom("alert.opened", "alert.escalated"), {
            minLength: 1,
          }),
          timeout_seconds: fc.integer({ min: 0, max: 60 }),
        }),
      ),
      integrations: fc.array(integration, { maxLength: 4 }),
      rules: all(rules, (name) =>
        fc.record({
          name: fc.constant(name),
          match: fc.record(
            {
              min_level: fc.integer({ min: 0, max: 500 }),
              sources: some(sources),
              tags: few(text(10).filter((s) => s !== "")),
              template_contains: text(20),
            },
            { requiredKeys: [] },
          ),
          conditions: few(
            fc.record({
              key: text(9).filter((s) => s !== ""),
              op: fc.constantFrom("eq", "gte"),
              value: fc.oneof(
                text(9),
                fc.boolean(),
                fc.integer(),
                fc.constantFrom(1.5, 1e21, -0.1),
              ),
            }),
          ),
          fire_after: fc.record({ count: fc.integer({ min: 1, max: 9 }) }, { requiredKeys: [] }),
          renotify_minutes: minutes,
          identifier_keys: fc.uniqueArray(
            text(5).filter((s) => s !== ""),
            { maxLength: 2 },
          ),
          investigate: fc.boolean(),
          actions: fc.option(some(actions)),
          escalations: few(
            fc.record({
              accounts: few(person),
              schedules: some(schedules),
              after_minutes: minutes,
            }),
          ),
        }),
      ),
    });
  });

const lookup = { env: { S: "secret-secret-secret", T: "token:token", C: "chat" }, directory: "/" };

async function put(app: TestApp, key: string, of: { name: string; config: ProjectConfig }) {
  const path = `/v1/projects/${encodeURIComponent(of.name)}/config`;
  const seen = await app.call("GET", path, { key });
  const body = { version: seen.status === 404 ? 0 : seen.body.version, config: of.config };
  const answer = await app.call("PUT", path, { key, body });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

async function exported(app: TestApp, key: string, name: string): Promise<string> {
  const answer = await app.call("GET", `/v1/projects/${encodeURIComponent(name)}/config`, { key });
  return printConfigFile([{ name, config: answer.body.config }]);
}

/** What a person does who moves a configuration: says where the credentials are. */
const referred = (yaml: string) =>
  yaml
    .replaceAll("secret: kept", "secret: {env: S}")
    .replaceAll("token: kept", "token: {env: T}")
    .replaceAll("chat_id: kept", "chat_id: {env: C}")
    .replaceAll("body: kept", "body: {env: C}")
    .replaceAll(/(X-B|env): kept/g, "$1: {env: S}")
    .replaceAll("X-A: kept", "X-A: {env: T}");

for (const [as, runs] of inBoth(3, 25))
  as(
    `${runs} configurations that are exported, applied elsewhere and exported again are the same bytes`,
    async (t) => {
      const [here, there] = [testApp(t), testApp(t)];
      const keys = [here, there].map(
        (app) => people.map((email) => app.person("owner", email).key)[0] ?? "",
      );
      let n = 0;
      await fc.assert(
        fc.asyncProperty(name, project, async (given, config) => {
          const name = `${++n} ${given}`;
          const file = { format: 1, projects: [{ name, ...config }] };
          const [made] = parseConfigFile(JSON.stringify(file), lookup).projects;
          assert.ok(made);
          await put(here, keys[0] ?? "", made);
          const first = await exported(here, keys[0] ?? "", name);
          const [again] = parseConfigFile(referred(first), lookup).projects;
          assert.ok(again);
          const applied = await put(there, keys[1] ?? "", again);
          assert.equal(await exported(there, keys[1] ?? "", name), first);
          // Twice changes nothing: neither with the credentials named nor with those that are stored.
          for (const yaml of [referred(first), first]) {
            const [same] = parseConfigFile(yaml, lookup).projects;
            assert.ok(same);
            const nothing = await put(there, keys[1] ?? "", same);
            assert.deepEqual([nothing.changes, nothing.version], [[], applied.version]);
          }
        }),
        { numRuns: Number(process.env["RUNS"] ?? runs) },
      );
    },
  );
