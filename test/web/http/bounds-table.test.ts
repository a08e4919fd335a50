import assert from "node:assert/strict";
import { test } from "node:test";
import { publishedBounds } from "../../../src/web/http/bounds.ts";
import { readDocument } from "../../matrix/document.ts";
import { type TestBox, testBox } from "../../support/box.ts";

/** Each bound of the table (contract §21): so many can be made, and one more is refused by its name and number. */

interface Row {
  /** The operation that makes one. */
  name: string;
  what: string;
  most: number;
  path: string;
  /** What makes the n-th, from 0. */
  body(n: number): object;
  /** How many are there before: of the scene, or because an earlier row has made them all. */
  there?: number;
  /** Whose rows are copied where the bound is high: a few are made by the route before and after. */
  table?: "silences" | "sources" | "rules" | "projects" | "heartbeats";
}

/** Made by the route at either end of what is copied. */
const BY_ROUTE = 5;

const UNLIKE: Readonly<Record<string, string>> = {
  name: "'copy' || v",
  slug: "'copy' || v",
  token_hash: "hex(randomblob(32))",
  short_hash: "NULL",
  secret_hash: "hex(randomblob(32))",
  uuid_hash: "hex(randomblob(32))",
};

/** Copies the newest row of a table so often, unlike it where no two may be alike. */
function copyRows({ tenant: { store } }: TestBox, table: string, times: number): void {
  const columns = store.db.pragma(`table_info(${table})`) as { name: string; type: string }[];
  const copied = columns.filter(({ name, type }) => name !== "id" || type === "TEXT");
  const values = copied.map(({ name }) =>
    name === "id" ? "lower(hex(randomblob(8)))" : (UNLIKE[name] ?? name),
  );
  store.write((tx) => {
    tx.sql<
      [times: number]
    >(`WITH RECURSIVE counted (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM counted WHERE v < ?)
      INSERT INTO ${table} (${copied.map(({ name }) => name).join(", ")})
      SELECT ${values.join(", ")} FROM (SELECT * FROM ${table} ORDER BY created_at DESC, id DESC LIMIT 1), counted`).run(
      times,
    );
  });
}

const { tenant, project, source, account } = publishedBounds;
const P = "/v1/projects/p";
const HOOK = "http://127.0.0.1:9/";
const named = (n: number) => ({ name: `n${n}` });

const rows = (ends_at: number): Row[] => [
  {
    name: "createSilence",
    what: "silences",
    most: tenant.silences,
    path: "/v1/silences",
    table: "silences",
    body: () => ({ match: { rule: "r" }, ends_at, reason: "x" }),
  },
  {
    name: "createSource",
    what: "sources",
    most: project.sources,
    path: `${P}/sources`,
    body: named,
    there: 2,
    table: "sources",
  },
  {
    name: "createRule",
    what: "rules",
    most: project.rules,
    path: `${P}/rules`,
    body: named,
    table: "rules",
  },
  {
    name: "createSchedule",
    what: "schedules",
    most: project.schedules,
    path: `${P}/oncall/schedules`,
    body: (n) => ({ ...named(n), timezone: "UTC", layers: [] }),
  },
  {
    name: "createIntegration",
    what: "integrations",
    most: project.integrations,
    path: `${P}/integrations`,
    body: () => ({ type: "webhook", url: HOOK }),
  },
  {
    name: "createWebhook",
    what: "integrations",
    most: project.integrations,
    path: `${P}/webhooks`,
    body: () => ({ url: HOOK }),
    there: project.integrations,
  },
  {
    name: "createAction",
    what: "actions",
    most: project.actions,
    path: `${P}/actions`,
    body: (n) => ({ ...named(n), method: "POST", url: HOOK }),
  },
  {
    name: "addSourceKey",
    what: "keys",
    most: source.keys,
    path: `${P}/sources/in/keys`,
    body: (n) => ({ key: `${n}`.padStart(40, "k") }),
  },
  {
    name: "createContact",
    what: "contacts",
    most: account.contacts,
    path: "/v1/accounts/me/contacts",
    body: () => ({ kind: "webhook", address: HOOK }),
  },
  {
    name: "createKey",
    what: "keys",
    most: account.keys,
    path: "/v1/keys",
    body: () => ({ label: "more" }),
    there: 1,
  },
  {
    name: "makeCalendar",
    what: "calendar addresses",
    most: account.calendars,
    path: "/v1/accounts/me/calendars",
    // The schedules that an earlier row made.
    body: (n) => (n === 0 ? {} : { schedule: `p/n${n - 1}` }),
  },
  {
    name: "createProject",
    what: "projects",
    most: tenant.projects,
    path: "/v1/projects",
    body: named,
    there: 1,
    table: "projects",
  },
  {
    name: "createHeartbeat",
    what: "heartbeats",
    most: project.heartbeats,
    path: `${P}/heartbeats`,
    body: (n) => ({ ...named(n), period_seconds: 60 }),
    table: "heartbeats",
  },
];

const AT_ONCE = 40;

test("each bound is documented, kept at its number, and names itself", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const document = await readDocument(box.url);
  await box.project("p");
  await box.api("POST", `${P}/sources`, { name: "in", kind: "grafana" });
  const faults: string[] = [];
  for (const { name, what, most, path, body, there = 0, table } of rows(
    Math.floor(box.clock.now() / 1000) + 3600,
  )) {
    const operation = document.operations.find((one) => one.id === name);
    assert.ok(operation, name);
    assert.ok(operation.codes.get(422)?.includes("too_many"), `${name} documents it`);
    // The first heartbeat makes the source that they speak from, and p has no room for one.
    if (name === "createHeartbeat") await box.api("DELETE", `${P}/sources/n0`);
    const room = most - there;
    const make = async (from: number, until: number) => {
      for (let n = from; n < until; n += AT_ONCE) {
        const batch = Array.from({ length: Math.min(AT_ONCE, until - n) }, (_, i) => n + i);
        for (const { status, body: said } of await Promise.all(
          batch.map((one) => box.api("POST", path, body(one))),
        ))
          if (status !== 201) faults.push(`${name}: ${status} ${JSON.stringify(said)}`);
      }
    };
    await make(0, table === undefined ? room : BY_ROUTE);
    if (table !== undefined) {
      copyRows(box, table, room - 2 * BY_ROUTE);
      await make(room - BY_ROUTE, room);
    }
    const over = await box.api("POST", path, body(room));
    const { code, details = [] } = over.body.error ?? {};
    const said = `${over.status} ${code} ${details[0]?.reason}`;
    if (said !== `422 too_many at most ${most} ${what}`) faults.push(`${name}: ${said}`);
    document.hold(operation, over);
  }
  assert.deepEqual(faults, []);
});

test("a configuration that is over a bound is refused by it, and nothing of it is there", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const document = await readDocument(box.url);
  const schedules = Array.from({ length: project.schedules + 1 }, (_, n) => ({
    ...named(n),
    timezone: "UTC",
  }));
  const put = await box.api("PUT", `${P}/config`, { version: 0, config: { schedules } });
  assert.deepEqual([put.status, put.body.error.code], [422, "too_many"]);
  const operation = document.operations.find(({ id }) => id === "putProjectConfig");
  assert.ok(operation?.codes.get(422)?.includes("too_many"));
  assert.equal((await box.api("GET", `${P}/config`)).status, 404);
});

test("the document has the table", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const { body } = await box.api("GET", "/v1/openapi.json");
  assert.deepEqual(body["x-bounds"], JSON.parse(JSON.stringify(publishedBounds)));
});
