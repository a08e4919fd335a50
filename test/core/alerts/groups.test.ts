import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sharedLabels } from "../../../src/core/alerts/group-facts.ts";
import { type AlertGroup, type GroupFilter, groupAlerts } from "../../../src/core/alerts/groups.ts";
import { labelColumns, NO_LABELS, withKeys } from "../../../src/core/alerts/labels.ts";
import type { GroupedAlert } from "../../../src/core/alerts/matching.ts";
import type { Store } from "../../../src/ground/store/store.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { noteStatements, tooWide } from "../../support/plans.ts";
import fc from "../../support/property.ts";
import { settle } from "../../support/until.ts";

/** Groups beside a model that sorts all there is. */

interface Made {
  id: number;
  rule: number;
  state: "open" | "acknowledged";
  level: number;
  silenced: boolean;
  pages: boolean;
  mine: boolean;
}

let box: TestBox;
const made: Made[] = [];
const LADDER = 3;

before(async () => {
  box = await testBox();
  const { store } = box.tenant;
  await box.project("shop");
  for (let n = 1; n <= 6; n++) {
    const step = { after_minutes: 0, accounts: [box.owner.accountId], schedules: [] };
    const escalations = n === LADDER ? [{ ...step, repeat_minutes: 0 }] : [];
    await box.api("POST", "/v1/projects/shop/rules", { name: `rule ${n}`, escalations });
  }
  store.write((tx) => {
    const insert = tx.sql<(string | number | null)[]>(
      `INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count,
         first_seen, last_seen, last_message, identifiers, investigate, updated_seq, opened_at, ladder_from)
       VALUES (1, ?, ?, ?, 'open', ?, ?, ?, 1, 1, 1, 'm', '{}', 0, 1, ?, 1)`,
    );
    for (let i = 0; i < 300; i += 1) {
      // Of rule 6 there is one, of rule 5 there are few.
      const rule = i === 7 ? 6 : i % 60 === 5 ? 5 : 1 + ((i * 13) % 4);
      const level = [300, 400, 500][(i * 11) % 3] as number;
      const words = [`rule ${rule}`, `k${i}`, `t${i % 7}`, `template ${i % 7}`] as const;
      const id = Number(insert.run(rule, ...words, level, 1000 - i).lastInsertRowid);
      const taken = i % 5 === 1 ? (i % 3 === 1 ? "ann" : "bob") : null;
      const one: Made = {
        id,
        rule,
        level,
        state: taken === null ? "open" : "acknowledged",
        silenced: i % 5 === 0,
        pages: i % 3 === 0,
        mine: i % 3 === 0 || taken === "ann",
      };
      const set = (column: string, value: string) =>
        tx.sql<[string, number]>(`UPDATE alerts SET ${column} = ? WHERE id = ?`).run(value, id);
      if (one.pages) set("page_accounts", '["ann"]');
      if (one.silenced) set("silenced_by", "s");
      if (taken !== null) set("acked_by", taken);
      if (one.state !== "open") set("state", one.state);
      made.push(one);
    }
  });
});
after(() => box.stop());

const urgency = ({ state, silenced, pages, rule }: Made): number => {
  if (state !== "open") return 2;
  if (silenced) return 3;
  return pages || rule === LADDER ? 0 : 1;
};
const byNeed = (a: Made, b: Made) => urgency(a) - urgency(b) || b.level - a.level || b.id - a.id;

/** Ids by row, as the list is to have them. */
function expected(filter: Partial<GroupFilter>, most: number): number[][] {
  const {
    states = ["open", "acknowledged"],
    min_level: minLevel = 0,
    silenced,
    mine,
    rule,
    q,
  } = filter;
  const found = made
    .filter(({ state }) => states.includes(state))
    .filter(({ level }) => level >= minLevel)
    .filter((one) => silenced === undefined || one.silenced === silenced)
    .filter((one) => mine === undefined || one.mine)
    .filter((one) => rule === undefined || `rule ${one.rule}` === rule)
    .filter(({ level }) => q !== "level:error" || level === 400)
    .filter(({ id }) => q !== "template 3" || (id - 1) % 7 === 3)
    .sort(byNeed);
  const ofRule = Map.groupBy(found, (one) => one.rule);
  const isMany = (rule: number) => (ofRule.get(rule)?.length ?? 0) > most;
  const rows = [...ofRule].flatMap(([rule, of]) => (isMany(rule) ? [of] : of.map((one) => [one])));
  const head = (row: Made[]) => row[0] as Made;
  const rank = (row: Made[]) => [urgency(head(row)), -head(row).level] as const;
  const many = (row: Made[]) => (isMany(head(row).rule) ? 1 : 0);
  return rows
    .sort((a, b) => {
      const [x, y] = [rank(a), rank(b)];
      return x[0] - y[0] || x[1] - y[1] || many(a) - many(b) || head(b).id - head(a).id;
    })
    .map((row) => row.map(({ id }) => id));
}

const filters = fc.record(
  {
    states: fc.uniqueArray(fc.constantFrom("open" as const, "acknowledged" as const), {
      minLength: 1,
    }),
    min_level: fc.constantFrom(0, 400, 500, 501),
    silenced: fc.boolean(),
    mine: fc.constant("ann"),
    rule: fc.constantFrom("rule 1", "rule 5", "none"),
    q: fc.constantFrom("", "level:error", "template 3"),
  },
  { requiredKeys: ["states"] },
);

describe("groups of alerts", () => {
  test("are made over all that match, page by page in the order of need, each alert in one row", async () => {
    await fc.assert(
      fc.asyncProperty(
        filters,
        fc.constantFrom(0, 10, 70, 1000),
        fc.integer({ min: 1, max: 60 }),
        async (filter, most, limit) => {
          const rows: number[][] = [];
          for (let after: string | undefined; ; ) {
            const isGroup = (_rule: number, count: number) => count > most;
            const page = await groupAlerts(box.tenant.store, {
              ...(filter as Pick<GroupFilter, "states">),
              isGroup,
              limit,
              after,
            });
            assert.ok(page.complete);
            for (const { alerts, isGroup } of page.groups) {
              assert.ok(isGroup || alerts.length === 1);
              rows.push(alerts.map(({ id }) => id));
            }
            if (page.next === null) break;
            assert.equal(page.groups.length, limit);
            after = page.next;
          }
          assert.deepEqual(rows, expected(filter as Partial<GroupFilter>, most));
        },
      ),
      { numRuns: 150 },
    );
  });

  test("share the labels that every alert of them has with one value", async () => {
    const { store } = box.tenant;
    const keys = fc.dictionary(
      fc.constantFrom("host", "zone", "__proto__"),
      fc.constantFrom("a", "a", "b"),
    );
    const of = fc.array(fc.array(keys, { minLength: 1, maxLength: 2 }), {
      minLength: 1,
      maxLength: 5,
    });
    const put = `UPDATE alerts SET labels = :labels, varied = :varied, varied_more = :varied_more WHERE id = :id`;
    await fc.assert(
      fc.asyncProperty(fc.array(of, { maxLength: 3 }), async (groups) => {
        let id = 0;
        const asked: AlertGroup[] = groups.map((alerts) => ({
          isGroup: true,
          alerts: alerts.map((events) => {
            const known = events.reduce((before, one) => withKeys(before, one, []), NO_LABELS);
            id += 1;
            store.write((tx) => tx.sql(put).run({ id, ...labelColumns(known) }));
            return { id } as GroupedAlert;
          }),
        }));
        const found = await sharedLabels(store, asked);
        for (const [i, group] of asked.entries()) {
          const all = (groups[i] ?? []).flat();
          const expected = ["host", "zone", "__proto__"].flatMap((name) => {
            const values = new Set(
              all.flatMap((one) => (Object.hasOwn(one, name) ? [one[name]] : [])),
            );
            const isSaid = (groups[i] ?? []).every((of) =>
              of.some((one) => Object.hasOwn(one, name)),
            );
            const isShared = values.size === 1 && isSaid;
            return isShared ? [[name, [...values][0]]] : [];
          });
          assert.deepEqual(Object.entries(found.get(group) ?? {}).sort(), expected.sort());
        }
      }),
      { numRuns: 60 },
    );
    store.write((tx) => tx.sql("UPDATE alerts SET labels = NULL, varied = NULL").run());
  });

  test("share the same labels when a list goes on from the one before as when all of it is read", async () => {
    const { store } = box.tenant;
    const put = "UPDATE alerts SET labels = ?, varied = ? WHERE id = ?";
    const keys = fc.record({ host: fc.constantFrom("a", "a", "b"), zone: fc.constant("c") });
    const step = fc.record({
      gone: fc.array(fc.nat(11), { maxLength: 3 }),
      come: fc.array(fc.tuple(fc.nat(11), keys, fc.boolean()), { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        const there = new Map<number, GroupedAlert>();
        for (const { gone, come } of steps) {
          for (const at of gone) there.delete(at);
          for (const [at, labels, varies] of come) {
            const varied = varies ? JSON.stringify({ zone: ["c", "d"] }) : null;
            store.write((tx) => tx.sql(put).run(JSON.stringify(labels), varied, at + 1));
            there.set(at, { id: at + 1, rule_id: 1 } as GroupedAlert);
          }
          const group: AlertGroup = { isGroup: true, alerts: [...there.values()] };
          const found = await sharedLabels(store, [group]);
          // What is known is known of another store, and the other list of the same alerts.
          const anew = { ...group, alerts: [...group.alerts] };
          const read = await sharedLabels({ ...store }, [anew]);
          assert.deepEqual({ ...found.get(group) }, { ...read.get(anew) });
        }
      }),
      { numRuns: 100 },
    );
    store.write((tx) => tx.sql("UPDATE alerts SET labels = NULL, varied = NULL").run());
  });

  test("after one of a list has changed only that one's labels are read", async () => {
    const { store } = box.tenant;
    const label = "UPDATE alerts SET labels = ?";
    store.write((tx) => tx.sql<[string]>(label).run(JSON.stringify({ host: "a" })));
    const alerts = Array.from(
      { length: 100 },
      (_, i) => ({ id: i + 1, rule_id: 7 }) as GroupedAlert,
    );
    await sharedLabels(store, [{ isGroup: true, alerts }]);
    store.write((tx) => {
      tx.sql<[string]>(`${label} WHERE id <> 50`).run(JSON.stringify({ host: "b" }));
    });
    const changed = alerts.with(49, { id: 50, rule_id: 7 } as GroupedAlert);
    const next: AlertGroup = { isGroup: true, alerts: changed };
    // The others say "b" by now, but the list says that they are as they were.
    assert.deepEqual({ ...(await sharedLabels(store, [next])).get(next) }, { host: "a" });
    store.write((tx) => tx.sql("UPDATE alerts SET labels = NULL").run());
  });

  test("of a group that is too large the labels aren't compared; others work while they are", async () => {
    const { store } = box.tenant;
    const label = "UPDATE alerts SET labels = ?";
    store.write((tx) => tx.sql<[string]>(label).run(JSON.stringify({ host: "a" })));
    const group = (count: number): AlertGroup => ({
      isGroup: true,
      alerts: Array.from({ length: count }, (_, i) => ({ id: 1 + (i % 300) }) as GroupedAlert),
    });
    const [large, huge, small] = [group(19_990), group(20_001), group(10)];
    let ms = 0;
    const slow: Store = { ...store, clock: { ...store.clock, mono: () => (ms += 4) } };
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const found = await sharedLabels(slow, [huge, large, small]);
    clearImmediate(next);
    assert.deepEqual([...found.keys()], [large, small]);
    assert.deepEqual({ ...found.get(small) }, { host: "a" });
    assert.ok(turns > 30, `${turns} turns of others`);
    store.write((tx) => tx.sql("UPDATE alerts SET labels = NULL").run());
  });

  test("after a change the rules without one keep their lists, and what changed is read alone", async () => {
    const { store } = box.tenant;
    const filter = { states: ["open", "acknowledged"], limit: 50, isGroup: () => true } as const;
    const look = async () => {
      const { groups } = await groupAlerts(store, { ...filter, min_level: 1 });
      return new Map(groups.map(({ alerts }) => [alerts[0]?.rule_id, alerts]));
    };
    const next = `INSERT INTO meta (key, value) VALUES ('updated_seq', 1)
      ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value`;
    store.write((tx) => tx.sql(next).get());
    const before = await look();
    assert.equal(before.size, 6);
    const noted = noteStatements();
    const set = "UPDATE alerts SET level = 500, updated_seq = ? WHERE id = 8";
    try {
      store.write((tx) => tx.sql<[number]>(set).run(tx.sql<[], number>(next).pluck().get() ?? 0));
      const after = await look();
      assert.deepEqual(tooWide(store.db, noted), []);
      const same = [...after].filter(([rule, alerts]) => before.get(rule) === alerts);
      assert.deepEqual(same.map(([rule]) => rule).sort(), [1, 2, 3, 4, 5]);
      assert.deepEqual(
        after.get(6)?.map(({ level }) => level),
        [500],
      );
      // A ladder that lost its steps makes alerts less urgent, though none of them changed.
      const urgencies = (of: typeof after) =>
        new Set(of.get(LADDER)?.map(({ urgency }) => urgency));
      assert.deepEqual(urgencies(after), new Set([0, 2, 3]));
      const body = `UPDATE rules SET body = json_set(body, '$.escalations', json(?)) WHERE id = ${LADDER}`;
      const { old } = store
        .sql<[], { old: string }>(
          `SELECT body -> '$.escalations' AS old FROM rules WHERE id = ${LADDER}`,
        )
        .get() ?? { old: "" };
      store.write((tx) => tx.sql<[string]>(body).run("[]"));
      assert.deepEqual(urgencies(await look()), new Set([0, 1, 2, 3]));
      store.write((tx) => tx.sql<[string]>(body).run(old));
    } finally {
      noted.stop();
      const level = [300, 400, 500][(7 * 11) % 3] as number;
      store.write((tx) => tx.sql<[number]>("UPDATE alerts SET level = ? WHERE id = 8").run(level));
    }
  });

  test("a look that takes too long says that it isn't all", async () => {
    const { store } = box.tenant;
    let ms = 0;
    const slow: Store = { ...store, clock: { ...store.clock, mono: () => (ms += 300) } };
    const filter = { states: ["open", "acknowledged"], limit: 50, isGroup: () => true } as const;
    assert.equal((await groupAlerts(slow, filter)).complete, false);
  });

  test("the interface answers a row a rule with its numbers; a group is acknowledged by its where", async () => {
    const list = (more: string) => box.api("GET", `/v1/alerts?order=need&group=rule${more}`);
    const { status, body } = await list("");
    assert.equal(status, 200);
    assert.deepEqual(
      body.groups.map(({ count }: { count: number }) => count),
      expected({}, 0).map((row) => row.length),
    );
    const one = body.groups.find(({ rule }: { rule: string }) => rule === "rule 1");
    const of = made.filter(({ rule }) => rule === 1);
    const count = (is: (one: Made) => boolean) => of.filter(is).length;
    assert.deepEqual(
      { ...one, titles: one.titles.length },
      {
        project: "shop",
        rule: "rule 1",
        count: of.length,
        alert: null,
        titles: 3,
        labels: {},
        levels: {
          300: count(({ level }) => level === 300),
          400: count(({ level }) => level === 400),
          500: count(({ level }) => level === 500),
        },
        states: {
          open: count(({ state }) => state === "open"),
          acknowledged: count(({ state }) => state !== "open"),
          silenced: count(({ silenced }) => silenced),
        },
        since: Math.min(...of.map(({ id }) => 1001 - id)),
        accounts: one.accounts,
      },
    );
    assert.deepEqual([...one.accounts].sort(), ["ann", "bob"]);
    const [first, second] = one.titles as { title: string; count: number }[];
    assert.match(first?.title ?? "", /^m$/);
    assert.ok((first?.count ?? 0) >= (second?.count ?? 0));
    const lone = body.groups.find(({ rule }: { rule: string }) => rule === "rule 6");
    assert.equal(lone.alert, "8");
    const page = await list("&limit=2");
    const rest = await list(`&after=${page.body.next}`);
    assert.deepEqual([...page.body.groups, ...rest.body.groups], body.groups);

    for (const wrong of ["&state=open,resolved", "&before=3", "&after=0.500.7", "&buckets=3"])
      assert.equal((await list(wrong)).status, 400, wrong);
    assert.equal((await box.api("GET", "/v1/alerts?group=rule")).status, 400);

    const where = { project: "shop", rule: "rule 2", state: "open" };
    const done = await box.api("POST", "/v1/alerts/bulk", { where, verb: "ack" });
    assert.equal(done.status, 200);
    await settle(box);
    const later = (await list("")).body.groups;
    const two = later.find(({ rule }: { rule: string }) => rule === "rule 2");
    assert.equal(two.states.open, 0);
  });
});
