import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { FacetTally } from "../../../src/core/alerts/facet-tally.ts";
import { alertFacets } from "../../../src/core/alerts/facets.ts";
import { createProject } from "../../../src/core/projects/projects.ts";
import { type TestBox, testBox } from "../../support/box.ts";

/** Which labels alerts have, beside a model that counts them all. */

interface Made {
  state: "open" | "acknowledged";
  labels: Record<string, string>;
  varied: Record<string, string[]>;
}

let box: TestBox;
const made: Made[] = [];
before(async () => {
  box = await testBox();
  box.tenant.store.write((tx) => {
    createProject(tx, "shop");
    const insert = tx.sql<(string | number | null)[]>(
      `INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count, first_seen,
         last_seen, last_message, identifiers, investigate, updated_seq, opened_at, ladder_from, labels, varied)
       VALUES (1, 1, 'errors', ?, ?, 't', 'it fails', 400, 1, 1, 1, 'it fails', '{}', 0, ?, 1, 1, ?, ?)`,
    );
    for (let i = 0; i < 10_000; i += 1) {
      const labels: Record<string, string> = {
        host: `db${i % 30}`,
        zone: ["eu", "us"][i % 2] as string,
        pod: `pod-${i}`,
        ["__proto__"]: "x",
      };
      if (i % 3 === 0) labels["service"] = `payments-${i % 7}`;
      for (const name of ["team", "cluster", "job", "severity"]) labels[name] = `${name}-${i % 5}`;
      if (i < 60) labels[`rare${i}`] = "1";
      const varied = i % 4 === 0 ? { zone: ["eu", "us"] } : {};
      const state = i % 10 === 0 ? "acknowledged" : "open";
      const one: Made = { state, labels, varied };
      made.push(one);
      const isVaried = Object.keys(varied).length > 0;
      insert.run(
        `k${i}`,
        state,
        i,
        JSON.stringify(labels),
        isVaried ? JSON.stringify(varied) : null,
      );
    }
  });
});
after(() => box.stop());

function expected(alerts: readonly Made[]) {
  const names = new Map<string, Map<string, number>>();
  const having = new Map<string, number>();
  for (const { labels, varied } of alerts)
    for (const [name, value] of Object.entries(labels)) {
      having.set(name, (having.get(name) ?? 0) + 1);
      const counts = names.get(name) ?? new Map<string, number>();
      names.set(name, counts);
      const several = Object.hasOwn(varied, name) ? varied[name] : undefined;
      for (const one of several ?? [value]) counts.set(one, (counts.get(one) ?? 0) + 1);
    }
  const byCount =
    <T>(of: (one: T) => [string, number]) =>
    (x: T, y: T) => {
      const [[a, n], [b, m]] = [of(x), of(y)];
      return m - n || (a < b ? -1 : 1);
    };
  return [...names]
    .sort(byCount(([name]) => [name, having.get(name) ?? 0]))
    .slice(0, 50)
    .map(([name, counts]) => ({
      name,
      values: [...counts]
        .sort(byCount((one) => one))
        .slice(0, 20)
        .map(([value, count]) => ({ value, count })),
      complete: counts.size <= 20,
    }));
}

const asked: [q: string, state: string, takes: (one: Made) => boolean][] = [
  ["", "open", ({ state }) => state === "open"],
  ["", "open,acknowledged", () => true],
  ["label:host=db7 fails", "open,acknowledged", ({ labels }) => labels["host"] === "db7"],
  [
    '-label:zone~"e."',
    "open",
    ({ state, labels, varied }) =>
      state === "open" && labels["zone"] === "us" && varied["zone"] === undefined,
  ],
];
for (const [q, state, takes] of asked)
  test(`facets of "${q}" among ${state} are those of all that match`, async () => {
    const { status, body } = await box.api(
      "GET",
      `/v1/alerts/facets?state=${state}&q=${encodeURIComponent(q)}`,
    );
    assert.equal(status, 200);
    // pod has as many values as there are alerts: which twenty of them are shown is their order alone.
    assert.deepEqual(body.facets, expected(made.filter(takes)));
    assert.equal(body.complete, expected(made.filter(takes)).length < 50);
  });

test("a tally that is asked between changes answers as one that isn't", () => {
  const value = fc.nat(40).map((n) => `v${n}`);
  fc.assert(
    fc.property(fc.array(fc.array(value, { maxLength: 12 }), { maxLength: 20 }), (steps) => {
      const [asked, unasked] = [new FacetTally(), new FacetTally()];
      const there: string[] = [];
      for (const step of steps) {
        for (const one of step) {
          const at = there.indexOf(one);
          // Every third that comes again goes.
          const goes = at !== -1 && there.length % 3 === 0;
          if (goes) there.splice(at, 1);
          else there.push(one);
          for (const tally of [asked, unasked])
            goes ? tally.remove({ host: one }, null) : tally.add({ host: one }, null);
        }
        const now = asked.answer(true);
        const again = new FacetTally();
        for (const one of there) again.add({ host: one }, null);
        assert.deepEqual(now, again.answer(true));
      }
      assert.deepEqual(asked.answer(true), unasked.answer(true));
    }),
  );
});

test("a pattern that can't be read is refused by its field", async () => {
  const { status, body } = await box.api(
    "GET",
    `/v1/alerts/facets?q=${encodeURIComponent('label:a~"("')}`,
  );
  assert.deepEqual([status, body.error.details[0].field], [400, "/q"]);
});

test("facets over 9,000 open alerts cost little", async (t) => {
  const times: number[] = [];
  for (let i = 0; i < 12; i += 1) {
    const begun = process.cpuUsage();
    await alertFacets(box.tenant.store, { states: ["open"], q: "" });
    const { user, system } = process.cpuUsage(begun);
    times.push((user + system) / 1000);
  }
  const median = times.toSorted((a, b) => a - b)[6] as number;
  t.diagnostic(`${median.toFixed(1)} ms of processor time for 9,000 alerts of 8 labels`);
  assert.ok(median < 120, `${median} ms`);
});
