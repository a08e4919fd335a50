import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { WatchedKeys } from "../../../src/in/adapters/adapter.ts";
import { fitted } from "../../../src/in/adapters/fit.ts";
import { flattened } from "../../../src/in/adapters/flatten.ts";
import { findAdapter } from "../../../src/in/adapters/list.ts";
import { mappedPairs } from "../../../src/in/adapters/mapping/flatten.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { sent } from "./clean.ts";

/** With more keys than an event may hold, those that rules use are kept first (contract §23). */

let box: TestBox;
before(async () => {
  box = await testBox();
});
after(() => box.stop());

const names = Array.from({ length: 300 }, (_, i) => `k${String(i).padStart(3, "0")}`);
/** 300 keys: the last but one is a host, the last says whether to page. */
const wide = (host: string, page = "yes") =>
  Object.fromEntries(names.map((name) => [name, name === "k298" ? host : page]));

const asOtlp = (keys: object) => ({
  resourceLogs: [
    {
      scopeLogs: [
        {
          logRecords: [
            {
              body: { stringValue: "wide" },
              severityNumber: 17,
              attributes: Object.entries(keys).map(([key, stringValue]) => ({
                key,
                value: { stringValue },
              })),
            },
          ],
        },
      ],
    },
  ],
});
const asGelf = (keys: object) => ({
  short_message: "wide",
  level: 3,
  ...Object.fromEntries(Object.entries(keys).map(([name, value]) => [`_${name}`, value])),
});

const senders: Readonly<Record<string, (keys: object) => object>> = {
  otlp: asOtlp,
  alertmanager: (labels) => ({ alerts: [{ status: "firing", labels }] }),
  gelf: asGelf,
  hook: (keys) => ({ title: "wide", ...keys }),
};

for (const [kind, bodyOf] of Object.entries(senders))
  test(`${kind}: a rule on the last of 300 keys takes the event, and its identifier tells two apart`, async () => {
    const project = await made(kind);
    for (const keys of [wide("a"), wide("b"), wide("a"), wide("c", "no")])
      await project.send(bodyOf(keys));
    const found = await project.alerts();
    assert.deepEqual(found.map(({ identifiers }) => identifiers["k298"]).sort(), ["a", "b"]);
  });

test("deeply nested keys that rules use are found; a changed rule counts from the next event", async () => {
  const project = await made("hook");
  const body = (host: string) => ({
    title: "wide",
    before: wide("x"),
    after: { inner: { host, "page.who": "ops" } },
  });
  await project.send(body("a"));
  assert.deepEqual(await project.alerts(), []);
  const changed = {
    conditions: [{ key: "after.inner.page.who", op: "eq", value: "ops" }],
    identifier_keys: ["after.inner.host"],
  };
  const { status } = await box.api("PUT", `${project.path}/rules/last`, changed);
  assert.equal(status, 200);
  await project.send(body("b"));
  const found = await project.alerts();
  assert.deepEqual(
    found.map(({ identifiers }) => identifiers),
    [{ "after.inner.host": "b" }],
  );
});

/** A project with a source of this kind and a rule on the last keys. */
async function made(kind: string) {
  const name = `p${projects++}`;
  await box.project(name);
  const path = `/v1/projects/${name}`;
  const rule = {
    name: "last",
    identifier_keys: ["k298"],
    conditions: [{ key: "k299", op: "eq", value: "yes" }],
  };
  assert.equal((await box.api("POST", `${path}/rules`, rule)).status, 201);
  const { body } = await box.api("POST", `${path}/sources`, { name: "it", kind });
  return {
    path,
    async send(body_: object) {
      const { ok } = await fetch(`${box.url}/v1/in/${kind}/${body.token}`, {
        method: "POST",
        body: JSON.stringify(body_),
        headers: { "content-type": "application/json" },
      });
      assert.ok(ok);
    },
    async alerts(): Promise<{ identifiers: Record<string, string> }[]> {
      return (await box.api("GET", `/v1/alerts?project=${name}`)).body.alerts;
    },
  };
}
let projects = 0;

const watching = (...all: string[]): WatchedKeys => {
  const set = new Set(all);
  return () => set;
};
const never: WatchedKeys = () => assert.fail("the rules' names were asked for");
const loose = (keys: [string, string][]) => ({ message: "m", level: 200, keys, tags: [] });
const pairs = (from: number, to: number) =>
  names.slice(from, to).map((name): [string, string] => [name, "v"]);

test("the keys that rules use are not read for an event with few keys", () => {
  assert.equal(Object.keys(fitted(loose(pairs(0, 127)), never).keys ?? {}).length, 127);
  const most = Object.fromEntries(pairs(0, 127));
  assert.equal(flattened(most, never).length, 127);
  const how = { drop: new Set<string>(), from: "", budget: { left: 1e6 }, watched: never };
  assert.equal(mappedPairs(most, how).length, 127);
});

test("keys that rules use replace the last of the others; if too many, the first of them are kept", () => {
  const keysOf = (...all: string[]) => {
    const { keys } = fitted(loose(pairs(0, 300)), watching(...all));
    assert.equal(keys?.["box.cut"], "keys");
    assert.equal(Object.keys(keys ?? {}).length, 128);
    return keys ?? {};
  };
  const some = keysOf("k299", "k200", "nowhere", "k001");
  assert.deepEqual(
    ["k000", "k001", "k124", "k125", "k200", "k299"].map((name) => name in some),
    [true, true, true, false, true, true],
  );
  const many = keysOf(...names.slice(100).reverse());
  assert.deepEqual(
    ["k299", "k173", "k172", "k000"].map((name) => name in many),
    [true, true, false, false],
  );
});

test("keys that rules use are kept of log lines, too: labels, pairs, structured data", () => {
  const watched = watching("k299");
  const line = names.map((name) => `${name}=v`).join(" ");
  const values = [["1767603600000000000", "x"]];
  const has = (kind: string, body: string, options = {}, path = "") => {
    const header = (name: string) => (name === "content-type" ? "application/json" : undefined);
    const request = sent(body, { header, options, path, watched });
    return findAdapter(kind)?.decode(request).events[0]?.keys?.["k299"];
  };
  const loki = (stream: object, text: string) =>
    JSON.stringify({ streams: [{ stream, values: [[values[0]?.[0], text]] }] });
  assert.equal(has("loki", loki(wide("a", "v"), "x")), "v");
  assert.equal(has("loki", loki({}, line), { logfmt: true }), "v");
  assert.equal(has("loki", loki({}, JSON.stringify(wide("a", "v")))), "v");
  assert.equal(has("syslog", `<11>Jan  5 09:00:00 h a: ${line}`, { logfmt: true }), "v");
  const bulk = `{"index":{}}\n${JSON.stringify(wide("a", "v"))}\n`;
  assert.equal(has("elasticsearch", bulk, {}, "/_bulk"), "v");
  assert.equal(
    has("goalert", JSON.stringify({ summary: "s", meta: wide("a", "v") }), {}, "/generic"),
    "v",
  );
});

test("finding the keys that rules use costs no more in a wide body or for deep names", () => {
  const many = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, i) => [`n${i.toString(36)}`, { a: 1 }]),
  );
  const deep = Array.from({ length: 128 }, () => "a").join(".");
  const watched = watching(deep, "nowhere", "n255r.a");
  const shortest = (work: () => unknown) =>
    Math.min(
      ...Array.from({ length: 3 }, () => {
        const from = process.threadCpuUsage();
        work();
        const { user, system } = process.threadCpuUsage(from);
        return (user + system) / 1000;
      }),
    );
  const listed = shortest(() => Object.keys(many));
  const took = shortest(() => flattened(many, watched));
  assert.ok(took < 2 * listed + 5, `${took} ms, the names alone ${listed} ms`);
  assert.deepEqual(flattened(many, watched).slice(129), [["n255r.a", "1"]]);
});
