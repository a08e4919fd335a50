import assert from "node:assert/strict";
import test from "node:test";
import { getAlertRow } from "../../../src/core/alerts/alert.ts";
import { apartOf } from "../../../src/core/alerts/apart.ts";
import { alertFacets } from "../../../src/core/alerts/facets.ts";
import { toGroups } from "../../../src/core/alerts/group-facts.ts";
import { groupAlerts } from "../../../src/core/alerts/groups.ts";
import { listAlerts } from "../../../src/core/alerts/list.ts";
import { lookAhead } from "../../../src/core/alerts/rungs-ahead.ts";
import type { Store } from "../../../src/ground/store/store.ts";
import { testBox } from "../../support/box.ts";
import fc from "../../support/property.ts";
import { settle } from "../../support/until.ts";

const STATES = ["open", "acknowledged"] as const;

/** What lists, filters and an alert's page say of all that isn't resolved. */
async function seen(store: Store) {
  const isGroup = (_rule: number, count: number) => count > 2;
  const filter = { states: STATES, limit: 50 };
  const all = await groupAlerts(store, { ...filter, isGroup });
  const rows = all.groups.flatMap(({ alerts }) => alerts.map(({ id }) => getAlertRow(store, id)));
  const look = lookAhead(store, 0);
  const quiet = await groupAlerts(store, { ...filter, silenced: true, isGroup: () => true });
  return {
    all: await toGroups(store, all.groups),
    order: all.groups.map(({ alerts }) => alerts),
    apart: [...apartOf(store, rows)],
    rules: rows.map((row) => look.rule(row.rule_id)),
    quiet: await toGroups(store, quiet.groups),
    facets: await alertFacets(store, { states: STATES, q: "" }),
    web: await alertFacets(store, { states: STATES, q: "label:host=h1" }),
    alerts: listAlerts(store, { states: [...STATES], limit: 50 }),
  };
}

/** One thing that happens; `n` draws which alert, rule or value it is about. */
const happening = fc.record({
  what: fc.constantFrom(
    ...["event", "event", "event", "event", "other event", "acknowledge", "unack", "resolve"],
    ...[
      "event",
      "event",
      "assign",
      "snooze",
      "escalate",
      "silence",
      "end a silence",
      "page",
      "page nobody",
      "ladder",
    ],
    "change of a ladder",
    ...["time", "project", "drop a project", "bulk"],
  ),
  n: fc.nat(30),
});

test("what is remembered of alerts is what a new look finds, whatever happens", async (t) => {
  const box = await testBox({});
  t.after(() => box.stop());
  const { store } = box.tenant;
  const token = await box.project("shop");
  const rules = ["a", "b", "c"];
  const steps = [{ after_minutes: 0, accounts: [box.owner.accountId], schedules: [] }];
  const body = (i: number) => ({
    match: { template_contains: `of ${"abc"[i]}` },
    identifier_keys: ["host"],
  });
  const put = (i: number, more: object) =>
    box.api("PUT", `/v1/projects/shop/rules/${rules[i]}`, { name: rules[i], ...body(i), ...more });
  await box.api("POST", "/v1/ladders", { name: "primary", steps });
  for (const [i, name] of rules.entries())
    await box.api("POST", "/v1/projects/shop/rules", { name, ...body(i) });

  const at = (n: number) => Math.floor(box.clock.now() / 1000) + 60 * n;
  const doing: Record<string, (n: number) => Promise<unknown>> = {
    event: (n) =>
      box.ingest(token, {
        message: `trouble of ${"abc"[n % 3]}`,
        level: 300 + 100 * (n % 3),
        keys: { host: `h${n % 4}`, zone: `z${n % 5}`, ...(n % 7 === 0 && { team: "db" }) },
      }),
    "other event": (n) =>
      box.ingest(token, { message: `trouble of ${"abc"[n % 3]}`, keys: { host: `h${n % 4}` } }),
    acknowledge: (n) => ofAlert(n, "ack"),
    unack: (n) => ofAlert(n, "unack"),
    resolve: (n) => ofAlert(n, "resolve"),
    escalate: (n) => ofAlert(n, "escalate"),
    assign: (n) => ofAlert(n, "assign", { accounts: [box.owner.accountId] }),
    snooze: (n) => ofAlert(n, "snooze", { until: at(1 + n) }),
    silence: (n) =>
      box.api("POST", "/v1/silences", {
        project: "shop",
        labels: [{ key: "host", op: "eq", value: `h${n % 4}` }],
        reason: "works",
        ends_at: at(1 + n),
      }),
    async "end a silence"() {
      const { body } = await box.api("GET", "/v1/silences");
      const [first] = body.silences ?? [];
      if (first !== undefined) await box.api("DELETE", `/v1/silences/${first.id}`);
    },
    page: (n) => put(n % 3, { escalations: steps }),
    "page nobody": (n) => put(n % 3, { escalations: [] }),
    ladder: (n) => put(n % 3, { ladder: "primary" }),
    "change of a ladder": (n) =>
      box.api("PUT", "/v1/ladders/primary", { name: "primary", steps: n % 2 === 0 ? [] : steps }),
    time: (n) => box.clock.turn(60_000 * n),
    project: (n) => box.api("POST", "/v1/projects", { name: `p${n}` }),
    "drop a project": (n) => box.api("DELETE", `/v1/projects/p${n}`),
    bulk: (n) =>
      box.api("POST", "/v1/alerts/bulk", {
        where: { project: "shop", rule: rules[n % 3] },
        verb: n % 2 === 0 ? "ack" : "resolve",
      }),
  };
  const ofAlert = async (n: number, verb: string, body: object = {}) => {
    const { alerts } = listAlerts(store, { states: [...STATES], limit: 50 });
    const one = alerts[n % Math.max(1, alerts.length)];
    if (one !== undefined) await box.api("POST", `/v1/alerts/${one.id}/${verb}`, body);
  };

  let most = 0;
  const story = fc.asyncProperty(
    fc.array(happening, { minLength: 10, maxLength: 40 }),
    async (all) => {
      for (const { what, n } of all) {
        await doing[what]?.(n);
        await settle(box);
        const found = structuredClone(await seen(store));
        most = Math.max(most, found.all.length);
        // Another reader of the same file remembers nothing.
        assert.deepEqual(found, structuredClone(await seen(Object.create(store))), what);
      }
    },
  );
  await fc.assert(story, { numRuns: 12 });
  assert.ok(most > 3, "too few alerts to show anything");
});
