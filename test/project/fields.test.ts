import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { z } from "zod";
import { scheduleWrite } from "../../src/core/oncall/schedule.ts";
import { actionWrite } from "../../src/core/projects/action.ts";
import { ruleCreate } from "../../src/core/projects/rule.ts";
import { sourceCreate } from "../../src/core/projects/source.ts";
import { heartbeatCreate } from "../../src/in/heartbeats/heartbeat.ts";
import { parseConfigFile, printConfigFile } from "../../src/records/config-file/document.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { signedIn, type Tab } from "../support/console.ts";
import { type FormOnPage, formsOn } from "../support/forms-on.ts";
import { type Given, otherValue } from "../support/other-value.ts";

/**
 * Every field of every noun of a project, none at its default, through all that may forget one: the interface, the
 * configuration and its file, the page's form, the dry run. A new field needs nothing here.
 */

let box: TestBox;
let tab: Tab;
let ann: string;
let bob: string;
let made: Promise<void>;
before(() => (made = fill()));
// Where a pattern names none of the tests, Node doesn't wait for what is before them.
after(async () => {
  await made;
  await box.stop();
});

async function fill(): Promise<void> {
  box = await testBox();
  tab = signedIn(box);
  ann = box.owner.accountId;
  bob = box.person("member").accountId;
  for (const name of ["shop", "copy"]) await make("/v1/projects", { name });
  await make("/v1/projects/shop/rules", { name: "above" });
  const schedule = { name: "first line", timezone: "UTC", layers: [] };
  await make("/v1/projects/shop/oncall/schedules", schedule);
  await box.api("PUT", "/v1/holidays/other", { dates: ["2026-12-25"] });
  await make("/v1/ladders", { name: "team", steps: [{ accounts: [ann], after_minutes: 5 }] });
}

async function make(path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await box.api("POST", path, body);
  assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

interface Noun {
  /** The plural, as routes and the configuration have it. */
  noun: "rules" | "sources" | "schedules" | "actions" | "heartbeats";
  schema: z.ZodType;
  given?(): Given;
  /** Its routes, where they aren't called as it is. */
  routes?: string;
  /** The page whose form holds all of it; null where each field has a form of its own. */
  page(read: Record<string, unknown>): string | null;
  /** Written, and read only as something else: secrets. */
  hidden?: readonly string[];
}

const nouns: readonly Noun[] = [
  {
    noun: "schedules",
    schema: scheduleWrite,
    given: () => ({
      "/timezone": "Asia/Kolkata",
      "/layers/0/participants": [ann, bob],
      "/layers/0/take": 2,
      "/layers/0/rotation_start": 1_767_600_000,
      "/layers/0/shift_minutes": 1440,
    }),
    routes: "oncall/schedules",
    page: ({ name }) => `/oncall/shop/${name}/layers`,
  },
  {
    noun: "sources",
    schema: sourceCreate,
    given: () => ({
      "/kind": "hook",
      "/options/mapping": "uptime-kuma",
      "/options/mail_rules": "monit",
      "/options/sns_auto_confirm/0": "arn:aws:sns:eu-west-1:1:topic",
    }),
    page: () => null,
  },
  {
    noun: "actions",
    schema: actionWrite,
    given: () => ({ "/url": "http://127.0.0.1:9/x", "/headers": { "x-key": "v" } }),
    page: () => "/p/shop/actions",
    hidden: ["headers", "body"],
  },
  {
    noun: "heartbeats",
    schema: heartbeatCreate,
    given: () => ({
      "/timezone": "Asia/Kolkata",
      "/watch/match": { alertname: "Watchdog" },
      "/cron": undefined,
      "/oncalendar": undefined,
      "/uuid": "6f1c1a52-5c3f-4d1c-9d2e-1f6f3a3b2c1d",
    }),
    page: ({ id }) => `/heartbeats/${id}`,
    hidden: ["uuid"],
  },
  {
    noun: "rules",
    schema: ruleCreate,
    given: () => ({
      "/conditions/0": { key: "amount", op: "gte", value: 100 },
      "/silenced_by/0/rule": "above",
      "/actions": actionIds,
      "/escalations/0/accounts/0": ann,
      "/escalations/0/schedules/0": "first line",
      "/ladder": null,
      "/missing": undefined,
    }),
    page: ({ name }) => `/p/shop/rules/${name}`,
  },
  {
    noun: "rules",
    schema: ruleCreate,
    given: () => ({
      "/name": "on a ladder",
      "/conditions/0": { key: "amount", op: "gte", value: 100 },
      "/silenced_by/0/rule": "above",
      "/actions": actionIds,
      "/escalations": undefined,
      "/ladder": "team",
      // What can't stand beside it is in the one before.
      "/missing": { source: "app" },
      "/match/sources": [],
      "/match/first_seen_days": undefined,
      "/match/unusual": undefined,
      "/fire_after/count": 1,
      "/fire_after/distinct_sources": 1,
      "/for_minutes": 0,
    }),
    page: ({ name }) => `/p/shop/rules/${name}`,
  },
];
let actionIds: string[] = [];

const without = (value: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

for (const { noun, schema, given, page, hidden = [], routes = noun } of nouns) {
  test(`${noun}: no field is forgotten`, async () => {
    const body = otherValue(schema, given?.()) as Record<string, unknown>;
    const at = `/v1/projects/shop/${routes}`;
    const answer = await make(at, body);
    const read = async () => {
      const { body: all } = await box.api("GET", at);
      const found = (Object.values(all).flat() as Record<string, unknown>[]).find(
        ({ name }) => name === body["name"],
      );
      assert.ok(found, JSON.stringify(all));
      return found;
    };
    const first = await read();
    assert.deepEqual(
      Object.fromEntries(Object.keys(without(body, hidden)).map((name) => [name, first[name]])),
      without(body, hidden),
      "the interface",
    );
    if (noun === "actions") actionIds = [String(answer["id"])];

    const config = (await box.api("GET", "/v1/projects/shop/config")).body.config;
    const text = printConfigFile([{ name: "shop", config }]);
    const back = parseConfigFile(text, { env: {}, readFile: () => "" } as never).projects[0]
      ?.config;
    const ofConfig = (all: typeof config) =>
      all?.[noun]?.find(({ name }: { name: string }) => name === body["name"]);
    assert.deepEqual(ofConfig(back), ofConfig(config), `the file:\n${text}`);

    const path = page(first);
    if (path === null) return;
    const form = await formAt(path);
    const sent = form.controls.flatMap(({ name, value }): [string, string][] =>
      value === null ? [] : [[name, value]],
    );
    const done = await tab.post(form.action, sent, { from: path });
    assert.equal(done.status, 303, done.text);
    const { updated_at: _then, ...then } = await read();
    const { updated_at: _before, ...before } = first;
    assert.deepEqual(then, before, "its form, sent as it was drawn");
  });
}

/** The form of a page with the most fields. */
async function formAt(path: string): Promise<FormOnPage> {
  const { text, status } = await tab.get(path);
  assert.equal(status, 200, path);
  const [most] = formsOn(text).toSorted((a, b) => b.controls.length - a.controls.length);
  assert.ok(most && most.controls.length > 2, path);
  return most;
}
