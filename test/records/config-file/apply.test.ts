import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { type TestApp, testApp } from "../../support/app.ts";

const empty = { sources: [], schedules: [], actions: [], integrations: [], rules: [] };
const hook = { name: "hook", type: "webhook", url: "http://127.0.0.1:9/a" };
const run = { name: "run", method: "POST", url: "http://127.0.0.1:9/run" };
const PATH = "/v1/projects/shop/config";

interface Desk {
  app: TestApp;
  key: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
  put(version: number, config: object, query?: string): Promise<{ status: number; body: any }>;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
  get(path?: string): Promise<any>;
}

function desk(t: TestContext): Desk {
  const app = testApp(t);
  const { key } = app.person("owner", "ann@example.org");
  return {
    app,
    key,
    put: (version, config, query = "") =>
      app.call("PUT", PATH + query, { key, body: { version, config } }),
    get: async (path = PATH) => (await app.call("GET", path, { key })).body,
  };
}

test("a project is made whole, and its tokens and minted secrets are shown once", async (t) => {
  const { put, get } = desk(t);
  const config = {
    sources: [{ name: "app" }],
    schedules: [
      {
        name: "week",
        timezone: "UTC",
        layers: [
          { name: "", participants: ["ANN@example.org"], rotation_start: 0, shift_minutes: 60 },
        ],
      },
    ],
    integrations: [hook],
    actions: [{ ...run, headers: { "X-Key": { value: "geheim" } }, body: { value: "{}" } }],
    rules: [
      {
        name: "errors",
        actions: ["run"],
        escalations: [{ schedules: ["week"], accounts: ["ann@example.org"] }],
      },
    ],
  };
  const made = await put(0, config);
  assert.equal(made.status, 200, JSON.stringify(made.body));
  assert.deepEqual(
    made.body.changes.map(({ kind, change }: { kind: string; change: string }) => [kind, change]),
    ["action", "integration", "rule", "schedule", "source"].map((kind) => [kind, "create"]),
  );
  assert.match(made.body.tokens[0].token, /^pti_/);
  assert.match(made.body.secrets[0].secret, /^whsec_/);
  const seen = await get();
  assert.equal(seen.version, made.body.version);
  assert.ok(!JSON.stringify(seen).includes("geheim"));
  assert.deepEqual(seen.config.actions[0].headers, { "X-Key": "kept" });
  assert.deepEqual(seen.config.rules[0].escalations[0].accounts, ["ann@example.org"]);
  const again = await put(seen.version, seen.config);
  assert.deepEqual(
    [again.body.version, again.body.changes, again.body.tokens, again.body.secrets],
    [seen.version, [], [], []],
  );
});

test("what was changed by somebody else meanwhile is not overwritten", async (t) => {
  const { app, key, put, get } = desk(t);
  await put(0, empty);
  const again = await put(0, { ...empty, sources: [{ name: "a" }] });
  assert.deepEqual([again.status, again.body.error.code], [409, "version_conflict"]);
  const { version } = await get();
  await app.call("POST", "/v1/projects/shop/sources", { key, body: { name: "other" } });
  const stale = await put(version, empty);
  assert.deepEqual([stale.status, stale.body.error.code], [409, "version_conflict"]);
  assert.equal((await get()).config.sources.length, 1);
});

test("all or nothing: a refusal at the end undoes the beginning, and points into what was sent", async (t) => {
  const { app, key, put } = desk(t);
  const config = {
    sources: [{ name: "app" }],
    rules: [
      { name: "fine" },
      { name: "bad", escalations: [{ schedules: ["nobody"] }], actions: ["no such"] },
    ],
  };
  const refused = await put(0, config);
  assert.equal(refused.status, 422);
  assert.deepEqual(
    refused.body.error.details.map(({ field }: { field: string }) => field),
    ["/config/rules/1/escalations/0/schedules/0", "/config/rules/1/actions/0"],
  );
  assert.equal((await app.call("GET", PATH, { key })).status, 404);
  const stranger = await put(0, {
    rules: [{ name: "r", escalations: [{ accounts: ["ann@example.org", "eve@example.org"] }] }],
  });
  assert.deepEqual(
    [stranger.body.error.code, stranger.body.error.details[0].field],
    ["not_a_member", "/config/rules/0/escalations/0/accounts/1"],
  );
  const twice = await put(0, { sources: [{ name: "a" }, { name: "a" }] });
  assert.equal(twice.body.error.details[0].field, "/config/sources/1/name");
});

test("a dry run tells the same and changes nothing", async (t) => {
  const { put, get } = desk(t);
  const config = { ...empty, sources: [{ name: "app" }], integrations: [hook] };
  const tried = await put(0, config, "?dry_run=true");
  assert.equal(tried.status, 200);
  assert.deepEqual([tried.body.changes.length, tried.body.tokens, tried.body.secrets], [2, [], []]);
  assert.equal((await get()).error.code, "not_found");
  await put(0, config);
  const { version } = await get();
  const gone = await put(version, empty, "?dry_run=true");
  assert.deepEqual(
    gone.body.changes.map(({ change }: { change: string }) => change),
    ["delete", "delete"],
  );
  assert.equal((await get()).version, version);
});

test("what isn't named is deleted, in an order that its references allow", async (t) => {
  const { put, get } = desk(t);
  const full = {
    sources: [{ name: "app" }],
    schedules: [{ name: "week", timezone: "UTC" }],
    actions: [run],
    rules: [
      {
        name: "errors",
        match: { sources: ["app"] },
        actions: ["run"],
        escalations: [{ schedules: ["week"] }],
      },
    ],
  };
  await put(0, full);
  const { version } = await get();
  const emptied = await put(version, {});
  assert.equal(emptied.status, 200, JSON.stringify(emptied.body));
  assert.deepEqual((await get()).config, empty);
});

test("credentials: kept, changed, asked for where there are none", async (t) => {
  const { app, put, get } = desk(t);
  const chat = { name: "chat", type: "telegram" };
  const nothing = await put(0, { integrations: [{ ...chat, token: "kept", chat_id: "kept" }] });
  assert.deepEqual([nothing.status, nothing.body.error.code], [422, "missing_credential"]);
  const noBody = await put(0, { actions: [{ ...run, body: "kept" }] });
  assert.equal(noBody.body.error.details[0].field, "/config/actions/0/body");
  const noHeader = await put(0, { actions: [{ ...run, headers: { "X-A": "kept" } }] });
  assert.equal(noHeader.body.error.details[0].field, "/config/actions/0/headers/X-A");

  const token = { token: { value: "1:one" }, chat_id: { value: "7" } };
  const headers = { "X-A": { value: "a" }, "X-B": { value: "b" } };
  await put(0, { integrations: [{ ...chat, ...token }], actions: [{ ...run, headers }] });
  const { version } = await get();
  const changed = await put(version, {
    integrations: [{ ...chat, token: { value: "2:two" }, chat_id: "kept" }],
    actions: [{ ...run, headers: { "X-A": "kept", "X-C": { value: "c" } } }],
  });
  assert.deepEqual(
    changed.body.changes.map(({ kind, change }: { kind: string; change: string }) => [
      kind,
      change,
    ]),
    [
      ["action", "update"],
      ["integration", "update"],
    ],
  );
  const { store, sealer } = app.tenant;
  const stored = (table: string, column: string) => {
    const row = store.sql(`SELECT id, ${column} AS sealed FROM ${table}`).get() as {
      id: string;
      sealed: string;
    };
    return sealer.open(row.sealed, `${table}.${column}.${row.id}`);
  };
  assert.deepEqual(JSON.parse(stored("integrations", "sealed") ?? ""), {
    token: "2:two",
    chat_id: "7",
  });
  assert.deepEqual(JSON.parse(stored("actions", "sealed_headers") ?? ""), {
    "X-A": "a",
    "X-C": "c",
  });
});

test("the relay's row is neither shown nor deleted; a changed address keeps its row", async (t) => {
  const { app, put, get } = desk(t);
  await put(0, { integrations: [hook] });
  app.tenant.store.write((tx) =>
    tx
      .sql(
        `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, relay, created_at)
         VALUES ('00000000000000aa', (SELECT id FROM projects), 'hosted-relay', 'webhook', 'x', 1, '', 1, 1)`,
      )
      .run(),
  );
  const { version, config } = await get();
  assert.equal(config.integrations.length, 1);
  const ids = () => app.tenant.store.sql("SELECT id FROM integrations ORDER BY id").pluck().all();
  const before = ids();
  await put(version, { integrations: [{ ...hook, url: "http://127.0.0.1:9/b", enabled: false }] });
  assert.deepEqual(ids(), before);
  const after = (await get()).config.integrations[0];
  assert.deepEqual([after.url, after.enabled], ["http://127.0.0.1:9/b", false]);
});

test("only managers read and write it", async (t) => {
  const { app, put } = desk(t);
  await put(0, empty);
  const { key } = app.person("member");
  const body = { version: 1, config: empty };
  assert.equal((await app.call("GET", PATH, { key })).status, 403);
  assert.equal((await app.call("PUT", PATH, { key, body })).status, 403);
});

test("integrations that share name and address are told apart by the rest", async (t) => {
  const { put, get } = desk(t);
  const twin = { ...hook, secret: { value: "secret-secret-secret" } };
  const one = { ...twin, enabled: false };
  const other = { ...twin, events: ["alert.opened"] };
  await put(0, { ...empty, integrations: [one, other] });
  const { version, config } = await get();
  for (const integrations of [config.integrations, config.integrations.toReversed()]) {
    const again = await put(version, { ...empty, integrations });
    assert.deepEqual([again.body.changes, again.body.version], [[], version]);
  }
});

test("heartbeats are made, changed and deleted by it; where they are left out they stay", async (t) => {
  const { app, key, put, get } = desk(t);
  const nightly = { name: "backup", cron: "0 3 * * *", timezone: "Europe/Vienna" };
  const made = await put(0, { ...empty, heartbeats: [nightly] });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  assert.match(made.body.heartbeats[0].ping_url, /\/ping\/[0-9A-Za-z]{22}$/);
  const path = String(made.body.heartbeats[0].ping_url).replace(/^.*(?=\/ping\/)/, "");
  assert.equal((await app.call("POST", path)).status, 200);
  const seen = await get();
  assert.deepEqual(seen.config.heartbeats, [
    {
      ...nightly,
      slug: "backup",
      grace_seconds: 300,
      max_run_seconds: null,
      level: 400,
      watch: null,
    },
  ]);
  const same = await put(seen.version, seen.config);
  assert.deepEqual([same.body.changes, same.body.heartbeats], [[], []]);
  const kept = await put(seen.version, empty);
  assert.deepEqual(kept.body.changes, [], "neither they nor the source that they speak from");
  const hourly = { name: "backup", period_seconds: 3600, grace_seconds: 60 };
  const changed = await put(kept.body.version, { ...seen.config, heartbeats: [hourly] });
  assert.deepEqual(changed.body.changes, [{ kind: "heartbeat", name: "backup", change: "update" }]);
  assert.equal((await app.call("POST", path)).status, 200, "its address is the same");
  const bad = await put(changed.body.version, { ...empty, heartbeats: [{ name: "x" }] });
  assert.equal(bad.body.error.details[0].field, "/config/heartbeats/0/cron");
  const none = await put(changed.body.version, { ...seen.config, heartbeats: [] });
  assert.deepEqual(none.body.changes, [{ kind: "heartbeat", name: "backup", change: "delete" }]);
  const { body } = await app.call("GET", "/v1/projects/shop/heartbeats", { key });
  assert.deepEqual(body.heartbeats, []);
});

test("whatever is changed of a channel or an action is told as a change", async (t) => {
  const { put, get } = desk(t);
  const channel = {
    ...hook,
    type: "slack",
    url: undefined,
    webhook_url: { value: "http://127.0.0.1:9/s" },
  };
  await put(0, { ...empty, integrations: [channel], actions: [{ ...run, body: { value: "{}" } }] });
  for (const part of [
    { storm_threshold: 3 },
    { title_template: "{{rule}}" },
    { body_template: "{{project}}" },
    { enabled: false },
    { shared: true },
    { events: ["alert.opened"] },
  ]) {
    const { version, config } = await get();
    config.integrations[0] = { ...config.integrations[0], ...part };
    const changed = await put(version, config);
    assert.deepEqual(
      changed.body.changes,
      [{ kind: "integration", name: "hook", change: "update" }],
      JSON.stringify([part, changed.body]),
    );
  }
  for (const part of [
    { timeout_seconds: 7 },
    { enabled: false },
    { events: ["alert.escalated"] },
  ]) {
    const { version, config } = await get();
    config.actions[0] = { ...config.actions[0], ...part };
    const changed = await put(version, config);
    assert.deepEqual(changed.body.changes, [{ kind: "action", name: "run", change: "update" }]);
  }
});
