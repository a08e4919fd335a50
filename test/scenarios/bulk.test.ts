import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import type { SilenceAnswer } from "../../src/core/quiet/silence.ts";
import { type TestBox, testBox } from "../support/box.ts";
import fc from "../support/property.ts";

/** Many alerts changed by one request: by their ids, and by a query. */

let box: TestBox;
let tokens: Record<string, string>;
beforeEach(async () => {
  box = await testBox();
  tokens = { p: await box.project("p"), q: await box.project("q") };
});
afterEach(() => box.stop());

const rule = (project: string, name: string, more: object = {}) =>
  box.api("POST", `/v1/projects/${project}/rules`, {
    name,
    match: { template_contains: name },
    identifier_keys: ["n"],
    ...more,
  });
const open = async (project: string, name: string, n: number) => {
  const lines = Array.from({ length: n }, (_, i) =>
    JSON.stringify({ message: `${name} is down`, keys: { n: `${i}` } }),
  );
  const answer = await fetch(`${box.url}/v1/ingest`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${tokens[project]}`,
      "content-type": "application/x-ndjson",
    },
    body: lines.join("\n"),
  });
  assert.equal(answer.status, 202, await answer.text());
};
const bulk = (body: object, key?: string) => box.api("POST", "/v1/alerts/bulk", body, key);
const states = async (query = "") => {
  const { body } = await box.api("GET", `/v1/alerts?limit=500${query}`);
  const counts: Record<string, number> = {};
  for (const { state } of body.alerts) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
};
const ids = async (): Promise<string[]> =>
  (await box.api("GET", "/v1/alerts?limit=500")).body.alerts.map(({ id }: { id: string }) => id);

describe("many alerts in one request", () => {
  test("by ids: each has its own answer, and those that are gone are said to be", async () => {
    await rule("p", "web");
    await open("p", "web", 60);
    const all = await ids();
    const gone = all.filter((_, i) => i % 2 === 0).map((id) => String(Number(id) + 100_000));
    const kept = all.filter((_, i) => i % 2 === 1);
    await box.api("POST", `/v1/alerts/${kept[0]}/resolve`);
    const asked = gone.flatMap((id, i) => [id, kept[i] ?? ""]);
    const { status, body } = await bulk({ ids: [...asked, "x"], verb: "acknowledge" });
    assert.equal(status, 200);
    assert.deepEqual(body.counts, { changed: 29, unchanged: 1, failed: 31 });
    assert.deepEqual(
      body.results.map(({ id }: { id: string }) => id),
      [...asked, "x"],
    );
    assert.deepEqual(body.results.slice(0, 4), [
      { id: gone[0], ok: false, state: null, code: "not_found" },
      { id: kept[0], ok: true, state: "resolved", code: null },
      { id: gone[1], ok: false, state: null, code: "not_found" },
      { id: kept[1], ok: true, state: "acknowledged", code: null },
    ]);
    assert.deepEqual(await states(), { open: 30, acknowledged: 29, resolved: 1 });
    const { body: told } = await box.api("GET", `/v1/alerts/${kept[1]}/timeline`);
    assert.equal(told.timeline.at(-1).account_id, box.owner.accountId);
  });

  test("by a query: all of a rule or a project, and nothing of others", async () => {
    for (const name of ["web", "mail"]) await rule("p", name);
    await rule("q", "web");
    for (const [project, name] of [
      ["p", "web"],
      ["p", "mail"],
      ["q", "web"],
    ] as const)
      await open(project, name, 120);
    const done = async (where: object, verb: string) => (await bulk({ where, verb })).body;
    assert.deepEqual(await done({ project: "p", rule: "web" }, "acknowledge"), {
      results: [],
      counts: { changed: 120, unchanged: 0, failed: 0 },
    });
    assert.deepEqual(await states("&project=p&rule=mail"), { open: 120 });
    const acked = { project: "p", state: "acknowledged" };
    assert.equal((await done(acked, "resolve")).counts.changed, 120);
    assert.equal((await done({ project: "p" }, "resolve")).counts.changed, 120);
    assert.deepEqual(await states("&project=p"), { resolved: 240 });
    assert.deepEqual(await states("&project=q"), { open: 120 });
    assert.equal((await done({ project: "p" }, "resolve")).counts.changed, 0);
  });

  test("200 by their ids, half of them gone: the others are done, each with its answer", async () => {
    await rule("p", "web", { max_open: 0 });
    await open("p", "web", 200);
    const all = await ids();
    const { store } = box.tenant;
    for (const id of all.filter((_, i) => i % 2 === 1)) {
      await box.api("POST", `/v1/alerts/${id}/resolve`);
      store.write((tx) => tx.sql("DELETE FROM alerts WHERE id = ?").run(id));
    }
    const now = Math.floor(box.clock.now() / 1000);
    for (const [verb, more, state] of [
      ["ack", {}, "acknowledged"],
      ["unack", {}, "open"],
      ["silence", { until: now + 3600, reason: "deploy 41" }, "open"],
      ["ack", { until: now + 600 }, "acknowledged"],
      ["resolve", {}, "resolved"],
    ] as const) {
      const { status, body } = await bulk({ ids: all, verb, ...more });
      assert.equal(status, 200);
      assert.deepEqual(body.counts, { changed: 100, unchanged: 0, failed: 100 }, verb);
      for (const [i, result] of body.results.entries())
        assert.deepEqual(
          result,
          i % 2 === 1
            ? { id: all[i], ok: false, state: null, code: "not_found" }
            : { id: all[i], ok: true, state, code: null },
        );
    }
    const late = await bulk({ ids: all.slice(0, 2), verb: "unack" });
    assert.deepEqual(late.body.results[0], {
      id: all[0],
      ok: false,
      state: "resolved",
      code: "alert_resolved",
    });
  });

  test("silences what each alert is about: it is marked at once, told at the end, and nothing else is quiet", async () => {
    await rule("p", "web", {
      escalations: [{ after_minutes: 10, accounts: [box.owner.accountId] }],
    });
    await open("p", "web", 3);
    const until = Math.floor(box.clock.now() / 1000) + 1800;
    const silence = { verb: "silence", until, reason: "deploy 41" };
    const { body } = await bulk({ ids: ["1", "2"], ...silence });
    assert.equal(body.counts.changed, 2);
    const marked = async () => {
      const { alerts } = (await box.api("GET", "/v1/alerts?silenced=true")).body;
      return alerts.map(({ id }: { id: string }) => id);
    };
    assert.deepEqual(await marked(), ["2", "1"]);
    assert.deepEqual((await bulk({ ids: ["1", "2"], ...silence })).body.counts, {
      changed: 0,
      unchanged: 2,
      failed: 0,
    });
    const { silences } = (await box.api("GET", "/v1/silences")).body;
    assert.deepEqual(
      silences
        .map(({ match, reason, ends_at, created_by }: SilenceAnswer) =>
          JSON.stringify([match.rule, match.identifiers, reason, ends_at, created_by]),
        )
        .sort(),
      ["0", "1"].map((n) =>
        JSON.stringify(["web", { n }, "deploy 41", until, box.owner.accountId]),
      ),
    );
    await box.clock.turn(15 * 60_000);
    const levels = async () => {
      const { alerts } = (await box.api("GET", "/v1/alerts?order=newest")).body;
      return alerts.map(({ escalation_level: level }: { escalation_level: number }) => level);
    };
    assert.deepEqual(await levels(), [1, 0, 0]);
    await box.clock.turn(16 * 60_000);
    assert.deepEqual([await levels(), await marked()], [[1, 1, 1], []]);
    const { timeline } = (await box.api("GET", "/v1/alerts/1/timeline")).body;
    const kinds = timeline.map(({ kind }: { kind: string }) => kind);
    assert.deepEqual(kinds, ["opened", "silenced", "silence_over", "escalated"]);
  });

  test("says before which others the silences would take: what nothing tells apart", async () => {
    await rule("p", "web", { identifier_keys: [] });
    for (const dedup_key of ["a", "b", "c"])
      await box.ingest(tokens["p"] ?? "", { message: "web is down", dedup_key });
    const preview = (...named: string[]) =>
      box.api("POST", "/v1/alerts/bulk/preview", { ids: named });
    const { body } = await preview("1");
    const names = body.named.map(({ id, title }: { id: string; title: string }) => [id, title]);
    assert.deepEqual(names, [
      ["3", "web is down"],
      ["2", "web is down"],
    ]);
    assert.deepEqual([body.open, body.past.alerts], [2, 2]);
    assert.equal((await preview("1", "3", "9")).body.open, 1, "an id of none is left out");
    assert.deepEqual([(await preview()).status, (await preview("x")).status], [400, 404]);
    assert.deepEqual((await box.api("GET", "/v1/silences")).body.silences, []);
  });

  test("by a query takes acknowledgements back and silences, too; what a verb lacks is refused", async () => {
    await rule("p", "web", { identifier_keys: ["n"] });
    await open("p", "web", 60);
    const where = { project: "p" };
    const until = Math.floor(box.clock.now() / 1000) + 600;
    const done = async (body: object) => (await bulk({ where, ...body })).body.counts;
    assert.equal((await done({ verb: "ack" })).changed, 60);
    assert.equal((await done({ verb: "unack" })).changed, 60);
    assert.equal((await done({ verb: "unack" })).changed, 0);
    const all = { changed: 60, unchanged: 0, failed: 0 };
    assert.deepEqual(await done({ verb: "silence", until, reason: "r" }), all);
    assert.equal((await box.api("GET", "/v1/alerts?counts=true")).body.counts.silenced, 60);
    const refused = async (body: object) => {
      const { status, body: answer } = await bulk({ where, ...body });
      return [status, answer.error.code];
    };
    const invalid = [400, "invalid_request"];
    assert.deepEqual(await refused({ verb: "silence", until }), invalid);
    assert.deepEqual(await refused({ verb: "silence", reason: "r" }), invalid);
    assert.deepEqual(await refused({ verb: "resolve", until }), invalid);
    assert.deepEqual(await refused({ verb: "ack", reason: "r" }), invalid);
    assert.deepEqual(await refused({ verb: "silence", until: until - 700, reason: "r" }), [
      422,
      "invalid_silence",
    ]);
  });

  test("is written in slices, however many channels hear of each alert", async () => {
    await rule("p", "web");
    for (let i = 0; i < 60; i++)
      await box.api("POST", "/v1/projects/p/webhooks", { url: `http://127.0.0.1:9/${i}` });
    await open("p", "web", 100);
    const most = longestTransaction();
    const { body } = await bulk({ where: { project: "p" }, verb: "ack" });
    assert.equal(body.counts.changed, 100);
    assert.ok(most() <= 2_000 + 90, `${most()} rows in one transaction`);
  });

  test("asks for one of the two, in bounds, of a project that is there", async () => {
    const refused = async (body: object) => (await bulk(body)).status;
    assert.equal(await refused({ verb: "ack" }), 400);
    assert.equal(await refused({ ids: [], verb: "ack" }), 400);
    assert.equal(await refused({ ids: ["1"], where: { project: "p" }, verb: "ack" }), 400);
    assert.equal(await refused({ ids: Array(201).fill("1"), verb: "ack" }), 400);
    assert.equal(await refused({ where: {}, verb: "ack" }), 400);
    assert.equal(await refused({ where: { project: "p", state: "resolved" }, verb: "ack" }), 400);
    assert.equal(await refused({ ids: ["1"], verb: "delete" }), 400);
    assert.equal(await refused({ where: { project: "none" }, verb: "ack" }), 404);
    assert.equal((await bulk({ ids: ["1"], verb: "ack" }, "ptk_x_y")).status, 401);
  });

  test("comes to what the single verbs come to, whatever is asked in whatever order", async () => {
    await rule("p", "web");
    await open("p", "web", 8);
    const all = (await ids()).sort((a, b) => Number(a) - Number(b));
    const model = new Map(all.map((id) => [id, "open"]));
    const step = fc.record({
      picked: fc.array(fc.integer({ min: 0, max: 11 }), { minLength: 1, maxLength: 12 }),
      verb: fc.constantFrom("ack", "acknowledge", "resolve"),
    });
    await fc.assert(
      fc.asyncProperty(step, async ({ picked, verb }) => {
        const asked = picked.map((i) => all[i] ?? `${900_000 + i}`);
        const { body } = await bulk({ ids: asked, verb });
        const counts = { changed: 0, unchanged: 0, failed: 0 };
        for (const [i, id] of asked.entries()) {
          const before = model.get(id);
          const after =
            before === undefined
              ? null
              : verb === "resolve" || before === "resolved"
                ? "resolved"
                : "acknowledged";
          counts[before === undefined ? "failed" : before === after ? "unchanged" : "changed"]++;
          if (after !== null) model.set(id, after);
          assert.equal(body.results[i].state, after);
        }
        assert.deepEqual(body.counts, counts);
      }),
      { numRuns: 30 },
    );
    const { body } = await box.api("GET", "/v1/alerts?limit=500");
    for (const { id, state } of body.alerts) assert.equal(state, model.get(id));
  });
});

/** Rows of the longest transaction from now on. */
function longestTransaction(): () => number {
  const { store } = box.tenant;
  const count = () => store.sql<[], number>("SELECT total_changes()").pluck().get() ?? 0;
  let last = count();
  let most = 0;
  store.onCommit(() => {
    const now = count();
    most = Math.max(most, now - last);
    last = now;
  });
  return () => most;
}
