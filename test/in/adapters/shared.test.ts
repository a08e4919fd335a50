import assert from "node:assert/strict";
import { test } from "node:test";
import { findAdapter } from "../../../src/in/adapters/list.ts";
import { decodesCleanly, sent } from "./clean.ts";

/** Parts that a request states once for all its events: a group's name, a stream's labels, a resource. */

/** Processor time. Parsing the part for each event took 12 to 64 s; once takes 0.1 to 0.2 s. */
const MOST_MS = 1500;
const MANY = 3000;
const long = "É".repeat(400_000);
const list = <T>(one: (i: number) => T, n = MANY) => Array.from({ length: n }, (_, i) => one(i));
const wide = Object.fromEntries(list((i) => [`k${i}`, "v"], 30_000));

const alerts = list((i) => ({ labels: { i: String(i) } }));
const relative = alerts.map((one) => ({ ...one, generatorURL: "?a", dashboardURL: "?b" }));
const values = list(() => ["1", "x"]);
const records = list(() => ({ body: { stringValue: "x" } }));
const attributes = list((i) => ({ key: `k${i}`, value: { stringValue: "x" } }), 9000);
const flags = { arrayValue: { values: list(() => ({ boolValue: true }), 9000) } };
const otlp = (attributes: object[]) => ({
  resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords: records }] }],
});

const requests: Readonly<Record<string, [kind: string, body: object, path?: string]>> = {
  "a group's receiver": ["alertmanager", { receiver: long, alerts }],
  "a group's state": ["alertmanager", { status: long, alerts }],
  "a group's address": ["grafana", { externalURL: `http://a/${long}`, alerts: relative }],
  "a stream's many labels": ["loki", { streams: [{ stream: wide, values }] }],
  "a stream's long level": ["loki", { streams: [{ stream: { level: long }, values }] }],
  "a resource's many attributes": ["otlp", otlp(attributes), "/v1/logs"],
  "a resource's long list": ["otlp", otlp([{ key: "a", value: flags }]), "/v1/logs"],
};

for (const [name, [kind, body, path = ""]] of Object.entries(requests))
  test(`${name}: looked at once, however much it stands before`, () => {
    const adapter = findAdapter(kind);
    assert.ok(adapter !== null);
    const header = (of: string) => (of === "content-type" ? "application/json" : undefined);
    const request = sent(JSON.stringify(body), { path, header });
    const before = process.cpuUsage();
    const decoded = adapter.decode(request);
    const { user, system } = process.cpuUsage(before);
    assert.equal(decoded.events.length, MANY);
    assert.ok(user + system < MOST_MS * 1000, `${(user + system) / 1000} ms`);
    const few = decoded.events.slice(0, 2);
    decodesCleanly({ ...adapter, decode: () => ({ ...decoded, events: few }) }, request);
  });
