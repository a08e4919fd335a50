import assert from "node:assert/strict";
import { describe } from "node:test";
import fc from "fast-check";
import type { SourceOptions } from "../../../src/core/projects/source.ts";
import type { ServiceError } from "../../../src/ground/kit/errors.ts";
import { flattened } from "../../../src/in/adapters/flatten.ts";
import { findAdapter } from "../../../src/in/adapters/list.ts";
import { mustBeUsable } from "../../../src/in/adapters/mapping/chosen.ts";
import { mappedPairs } from "../../../src/in/adapters/mapping/flatten.ts";
import { htmlText } from "../../../src/in/adapters/mapping/html.ts";
import { presets } from "../../../src/in/adapters/mapping/presets.ts";
import { long, test } from "../../support/long.ts";
import { decodesCleanly, sent } from "./clean.ts";

const hook = findAdapter("hook");
assert.ok(hook !== null);

function events(body: unknown, mapping?: SourceOptions["mapping"], more: object = {}) {
  assert.ok(hook !== null);
  const isSent = typeof body === "string" || Buffer.isBuffer(body);
  const text = isSent ? body : JSON.stringify(body);
  const options = mapping === undefined ? {} : { mapping };
  const decoded = decodesCleanly(hook, sent(text, { options, ...more }));
  assert.ok(decoded !== null, "refused");
  return decoded.events;
}

/** The parts of an event that a person reads first. */
function seen(body: unknown, mapping?: SourceOptions["mapping"], more: object = {}) {
  return events(body, mapping, more).map(({ message, level, named }) => [
    message,
    level,
    named?.action,
    named?.dedupKey ?? null,
  ]);
}

const faults = (mapping: unknown, kind = "hook") => {
  try {
    mustBeUsable(kind, { mapping } as SourceOptions);
    return [];
  } catch (error) {
    assert.equal((error as ServiceError).code, "invalid_mapping");
    return (error as ServiceError).details.map(({ field }) => field);
  }
};

describe("a webhook of which nothing is known", () => {
  test("an unknown body's message, level, state and name are guessed", () => {
    const body = { title: "Disk full", severity: "critical", status: "firing", id: 7 };
    assert.deepEqual(seen(body), [["Disk full", 500, "fire", "7"]]);
    assert.deepEqual(seen({ ...body, status: "Resolved" }), [["Disk full", 500, "resolve", "7"]]);
    assert.deepEqual(seen({ text: "gone well", status: "ok" }), [["gone well", 200, "fire", null]]);
    assert.deepEqual(seen({ a: 1 }), [['{"a":1}', 400, "fire", null]]);
    assert.deepEqual(seen([{ text: "a" }, { text: "b" }]).length, 2);
    const [event] = events({
      name: "n",
      description: "long",
      url: "https://a.example/x",
      b: { c: [1, 2] },
    });
    assert.deepEqual(
      [event?.message, event?.extra?.details, event?.extra?.links, event?.keys?.["b.c"]],
      ["n", "long", [{ href: "https://a.example/x", text: "Source" }], "1, 2"],
    );
  });

  test("a word for trouble outweighs a word for the end", () => {
    const acts = (fields: object) => seen({ id: 7, text: "x", ...fields })[0]?.[2];
    for (const fields of [
      { status: "ok" },
      { status: "Okay" },
      { state: "UP" },
      { status: "resolved", severity: "critical" },
      { status: "closed", state: "resolved", level: "error" },
      { current_state: "UP", previous_state: "DOWN" },
      { transition: "Recovered", alert_type: "success" },
      { state: "CLOSED", priority: "CRITICAL" },
      { status: "success", action: "resolved" },
    ])
      assert.equal(acts(fields), "resolve", JSON.stringify(fields));
    for (const fields of [
      { status: "ok", state: "alerting" },
      { status: "OK", action: "trigger" },
      { status: "ok", severity: "critical" },
      { status: "up", level: "warning" },
      { status: "resolved", event_action: "trigger" },
      { status: "ok", state: "No Data" },
      { status: "ok", state: "INSUFFICIENT_DATA" },
      { status: "closed", state: "degraded" },
      { status: "ok", transition: "Re-Triggered" },
      { current_state: "DOWN", previous_state: "UP" },
      { status: "not ok" },
      { status: "unresolved" },
    ])
      assert.equal(acts(fields), "fire", JSON.stringify(fields));
  });

  test("the message of an unknown body is the text of the best field, else the shortest", () => {
    const graylog = {
      event_definition_id: "this-is-a-test",
      event_definition_title: "Too many logins",
      event_definition_description: "More than ten in a minute.",
      event: { id: "01J", message: "Too many logins: count()=12.0", source: "graylog-1" },
      backlog: [],
    };
    const vmware = {
      alertId: "0a1b",
      alertName: "Host has lost its network",
      criticality: "ALERT_CRITICALITY_CRITICAL",
      resourceName: "esx-04",
    };
    const cloud = { version: "1.2", incident: { summary: "CPU is above 0.9", incident_id: "0.a" } };
    for (const [body, message] of [
      [graylog, "Too many logins: count()=12.0"],
      [{ ...graylog, event: {} }, "Too many logins"],
      [vmware, "Host has lost its network"],
      [cloud, "CPU is above 0.9"],
      [{ condition_name: "Apdex low", policy_name: "Shop", details: "Apdex 0.4" }, "Apdex low"],
      [{ a: "f0e1", b: { c: "the disk of nas-02 is full", d: "it is full" } }, "it is full"],
      [{ text: '{"alert":{"summary":"Disk full","id":"7"}}' }, "Disk full"],
      [{ text: "{not json" }, "{not json"],
      [{ id: 7, when: "2026-11-23T04:00:00Z" }, '{"id":7,"when":"2026-11-23T04:00:00Z"}'],
    ] as const)
      assert.equal(seen(body)[0]?.[0], message);
  });

  test("forms, text, markup and the query are read, whatever their Content-Type", () => {
    const type = (value: string) => ({
      header: (name: string) => (name === "content-type" ? value : undefined),
    });
    const form = type("application/x-www-form-urlencoded");
    assert.deepEqual(seen("message=a+b&level=warning", undefined, form), [
      ["a b", 300, "fire", null],
    ]);
    assert.deepEqual(seen("Backup failed", undefined, form), [
      ["Backup failed", 400, "fire", null],
    ]);
    assert.deepEqual(seen('{"text":"json after all"}', undefined, form)[0]?.[0], "json after all");
    assert.equal(
      seen("[nas-02] degraded", undefined, type("text/plain"))[0]?.[0],
      "[nas-02] degraded",
    );
    assert.equal(seen("[nas-02] degraded")[0]?.[0], "[nas-02] degraded");
    assert.throws(() => events('{"text":'), /refused/);
    assert.equal(seen("<a>Disk <b>full</b></a>", undefined, type("text/xml"))[0]?.[0], "Disk full");
    const alarm = "<?xml version='1.0'?><alert><title>Disk</title><host>nas-02</host></alert>";
    assert.equal(seen(alarm, undefined, type("application/xml"))[0]?.[0], "Disk nas-02");
    const nas = Buffer.from("Stromausfall im Büro", "latin1");
    const other = (charset: string) => type(`text/plain; charset="${charset}"`);
    assert.equal(seen(nas, undefined, other("ISO-8859-1"))[0]?.[0], "Stromausfall im Büro");
    const wide = Buffer.from('{"text":"Büro"}', "utf16le");
    assert.equal(seen(wide, undefined, type("application/json; charset=utf-16"))[0]?.[0], "Büro");
    assert.equal(seen("Büro", undefined, other("x-nobody-knows"))[0]?.[0], "Büro");
    const query = { method: "GET", query: new URLSearchParams({ message: "hi", token: "secret" }) };
    const [event] = events("", undefined, query);
    assert.deepEqual([event?.message, event?.keys], ["hi", null]);
  });
});

describe("senders whose states are their own", () => {
  const act = (preset: string, body: object) =>
    seen(body, preset).map(([, level, action, name]) => [level, action, name])[0];

  test("Icinga's and Checkmk's flapping fires until it is over", () => {
    const icinga = (type: string, state: string) =>
      act("icinga", { type, state, host: "web", service: "http", output: "x" });
    assert.deepEqual(icinga("FLAPPINGSTART", "OK"), [400, "fire", "web:http"]);
    assert.deepEqual(icinga("FLAPPINGEND", "OK"), [200, "resolve", "web:http"]);
    assert.deepEqual(icinga("FLAPPINGEND", "CRITICAL"), [500, "fire", "web:http"]);
    assert.deepEqual(icinga("PROBLEM", "WARNING"), [300, "fire", "web:http"]);
    assert.deepEqual(icinga("RECOVERY", "OK"), [200, "resolve", "web:http"]);
    assert.deepEqual(icinga("ACKNOWLEDGEMENT", "CRITICAL"), [500, "acknowledge", "web:http"]);
    assert.equal(icinga("DOWNTIMESTART", "OK"), undefined);
    const checkmk = (notification_type: string, status: string) =>
      act("checkmk", { notification_type, status, site: "s", host: "web", service: "" });
    assert.deepEqual(checkmk("FLAPPINGSTART", "UP"), [400, "fire", "s:web:"]);
    assert.deepEqual(checkmk("FLAPPINGSTOP", "UP"), [200, "resolve", "s:web:"]);
    assert.deepEqual(checkmk("RECOVERY", "UP"), [200, "resolve", "s:web:"]);
  });

  test("Datadog's tags stand alone, without the spaces around them", () => {
    const [event] = events({ title: "t", tags: "env:prod, team:a ,b" }, "datadog");
    assert.deepEqual(event?.tags, ["hook", "datadog", "env:prod", "team:a", "b"]);
  });
});

describe("a mapping", () => {
  test("reads with pointers, texts, maps and transforms; headers and the query too", () => {
    const body = {
      host: "db",
      items: [
        { n: "a", s: "2" },
        { n: "b", s: "9" },
      ],
      at: 1_767_603_600_123,
    };
    const mapping = {
      each: "/items",
      message: { text: "{^/host}: {/n|upper} {{{#h/x-from}}" },
      level: { at: "/s", map: { 2: 300 }, else: 500 },
      action: { at: "#q/state", map: { ok: "resolve" }, else: "fire" },
      dedup_key: { text: "{^/host}:{/n}" },
      occurred_at: { at: "^/at", do: ["time"] },
      keys: { from: [""], drop: ["/s"], set: { host: "^/host" } },
      tags: ["x", { const: "y" }],
    };
    const more = {
      query: new URLSearchParams({ state: "ok" }),
      header: (name: string) => (name === "x-from" ? "nas" : undefined),
    };
    const [first, second] = events(body, mapping, more);
    assert.deepEqual([first?.message, second?.message], ["db: A {nas}", "db: B {nas}"]);
    assert.deepEqual([first?.level, second?.level, first?.named?.action], [300, 500, "resolve"]);
    assert.deepEqual({ ...first?.keys }, { host: "db", n: "a" });
    assert.deepEqual(first?.tags, ["hook", "x", "y"]);
    assert.equal(first?.extra?.occurredAt, 1_767_603_600);
  });

  test("a body without the mapping's list is refused, an empty list isn't", () => {
    assert.ok(hook !== null);
    const decode = (body: object) =>
      decodesCleanly(
        hook,
        sent(JSON.stringify(body), { options: { mapping: { each: "/alerts" } } }),
      );
    const seen = (body: object) => [decode(body)?.events.length, decode(body)?.rejected.length];
    assert.deepEqual(seen({ alerts: [{ text: "a" }] }), [1, 0]);
    assert.deepEqual(seen({ alerts: [] }), [0, 0]);
    assert.deepEqual(seen({ alert: { text: "a" } }), [0, 1]);
    assert.deepEqual(seen({ alerts: { text: "a" } }), [0, 1]);
  });

  test("an element that fails a mapping's conditions makes no event", () => {
    const mapping = { when: [{ at: "/type", in: ["PROBLEM"] }] };
    assert.deepEqual(seen({ type: "INFO", text: "x" }, mapping), []);
    assert.equal(seen({ type: "PROBLEM", text: "x" }, mapping).length, 1);
  });

  test("an invalid mapping is refused with a pointer to each fault", () => {
    assert.deepEqual(faults("zabbix"), []);
    assert.deepEqual(faults("pigeon"), ["/options/mapping"]);
    assert.deepEqual(faults({ preset: "pigeon" }), ["/options/mapping/preset"]);
    assert.deepEqual(faults("zabbix", "alertmanager"), ["/options/mapping"]);
    const bad = {
      each: "x",
      colour: 1,
      message: { text: "{/a|shout} {b} {" },
      level: { at: "/a", map: { a: {} } },
      dedup_key: { at: "/-" },
      instance: { at: "/a", const: 1 },
      details: { first: [] },
      links: [{ at: "/url", text: 7 }],
      keys: { set: { "a/b": "nope" } },
      tags: "x",
      when: [{ at: "/a" }],
      occurred_at: { at: "/a", do: ["time", "constructor", "cut:0", "replace::x"] },
    };
    const found = new Set(faults(bad));
    for (const pointer of [
      "/each",
      "/colour",
      "/message/text",
      "/level/map/a",
      "/dedup_key/at",
      "/instance",
      "/details/first",
      "/links/0/text",
      "/keys/set/a~1b",
      "/tags",
      "/when/0/in",
      "/occurred_at/do/1",
      "/occurred_at/do/2",
      "/occurred_at/do/3",
    ])
      assert.ok(found.has(`/options/mapping${pointer}`), pointer);
    assert.deepEqual(faults({ message: { const: "x".repeat(20_000) } }), ["/options/mapping"]);
    const many = Array.from({ length: 5 }, () => ({ first: Array(16).fill({ at: "/a" }) }));
    assert.deepEqual(faults({ tags: many }), ["/options/mapping"]);
  });

  test("any body and any mapping work without an exception", () => {
    const pointer = fc.constantFrom(
      "",
      "/a",
      "/a/0",
      "/b/c",
      "^",
      "^/a",
      "#h/x",
      "#q/x",
      "/-",
      "x",
    );
    const step = fc.constantFrom(
      "trim",
      "line",
      "num",
      "int",
      "bool",
      "json",
      "split:,",
      "join:-",
      "at:/a",
      "kv",
      "time",
      "url",
      "html",
      "before:a",
      "after:a",
      "replace:a:bb",
      "prefix:x",
      "hash",
      "basename",
    );
    const spec = fc.record(
      { at: pointer, do: fc.array(step, { maxLength: 4 }), else: fc.constantFrom(null, "word", 7) },
      { requiredKeys: ["at"] },
    );
    const mapping = fc.record(
      {
        each: pointer,
        message: spec,
        level: spec,
        action: spec,
        dedup_key: spec,
        instance: spec,
        occurred_at: spec,
        details: spec,
        links: fc.array(spec, { maxLength: 3 }),
        keys: fc.record({ from: fc.array(fc.oneof(pointer, spec), { maxLength: 3 }) }),
        tags: fc.array(fc.oneof(fc.string(), spec), { maxLength: 3 }),
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      fc.record({ a: fc.jsonValue(), b: fc.jsonValue() }),
      fc.array(fc.record({ a: fc.jsonValue(), tag: fc.string(), value: fc.jsonValue() })),
    );
    fc.assert(
      fc.property(mapping, body, (document, value) => {
        const options = { mapping: document as Record<string, unknown> };
        if (hook !== null) decodesCleanly(hook, sent(JSON.stringify(value), { options }));
      }),
    );
  });

  test("a mapping reads no more than a multiple of the body, however often it points to the whole", () => {
    const body = { text: "x".repeat(1_000_000), list: Array.from({ length: 1000 }, () => ({})) };
    const spec = { at: "^/text", do: ["upper", "replace:X:yy", "html", "hash"] };
    const mapping = { each: "/list", message: spec, details: spec, tags: Array(16).fill(spec) };
    assert.ok(hook !== null);
    const decoded = hook.decode(sent(JSON.stringify(body), { options: { mapping } }));
    assert.equal(decoded.events.length + decoded.rejected.length, 1000);
    assert.ok(decoded.rejected.length > 500, `${decoded.rejected.length}`);
    assert.match(decoded.rejected[0]?.reason ?? "", /again and again/);
    const names = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`name${i}`, "x"]));
    const wide = { names, list: body.list };
    const all = { each: "/list", message: { text: "{^/names}" }, keys: { from: ["^/names"] } };
    const few = hook.decode(sent(JSON.stringify(wide), { options: { mapping: all } }));
    assert.ok(few.events.length < 20, `${few.events.length} elements listed every name`);
  });
});

test("markup becomes lines of text in one pass", () => {
  assert.equal(
    htmlText("<p>a &amp; b<br/>c &#228;&lt;</p><style>x</style><td>1<td>2"),
    "a & b\nc ä<\n1 2",
  );
  assert.equal(htmlText("1 < 2 <!-- <b> --> <script>"), "1 < 2");
  const open = "<script></".repeat(200_000);
  assert.equal(htmlText(open), "");
});

function zabbixUpdate(ack: string, value = "1") {
  const trigger = { severity: "5", name: "CPU", host: "web", trigger_id: "18" };
  return { ...trigger, value, update_status: "1", ack };
}

/** For each preset, its sender's bodies when firing and ending, and the expected events. */
const stories: Readonly<Record<string, readonly [object, readonly unknown[]][]>> = {
  "uptime-kuma": [
    [
      { heartbeat: { status: 0, msg: "503" }, monitor: { id: 7 }, msg: "[Shop] Down" },
      ["[Shop] Down", 400, "fire", "kuma:7"],
    ],
    [
      { heartbeat: { status: 1, msg: "200" }, monitor: { id: 7 }, msg: "[Shop] Up" },
      ["[Shop] Up", 200, "resolve", "kuma:7"],
    ],
    [{ heartbeat: null, monitor: null, msg: "Testing" }, ["Testing", 200, "fire", null]],
  ],
  zabbix: [
    [
      { value: "1", severity: "5", name: "CPU", host: "web", trigger_id: "18", update_status: "0" },
      ["web: CPU", 500, "fire", "18"],
    ],
    [
      { value: "0", severity: "5", name: "CPU", host: "web", trigger_id: "18", update_status: "0" },
      ["web: CPU", 500, "resolve", "18"],
    ],
    [zabbixUpdate("Yes"), ["web: CPU", 500, "acknowledge", "18"]],
    // A comment or another severity is an update, too, and acknowledges nothing.
    [zabbixUpdate("No"), ["web: CPU", 500, "fire", "18"]],
    [zabbixUpdate("No", "0"), ["web: CPU", 500, "resolve", "18"]],
    [zabbixUpdate("Yes", "0"), ["web: CPU", 500, "resolve", "18"]],
  ],
  healthchecks: [
    [{ check: "backup", status: "down", code: "c" }, ["backup is down", 400, "fire", "c"]],
    [{ check: "backup", status: "up", code: "c" }, ["backup is up", 200, "resolve", "c"]],
  ],
  proxmox: [
    [
      {
        title: "vzdump failed",
        message: "101: FAILED",
        severity: "error",
        fields: { hostname: "pve1" },
      },
      ["vzdump failed", 400, "fire", null],
    ],
  ],
  synology: [
    [{ text: "[nas-02] Pool degraded\nmore" }, ["[nas-02] Pool degraded", 400, "fire", null]],
  ],
  unifi: [
    [
      { name: "WAN failed over", parameters: { message: "WAN1 is down" } },
      ["WAN failed over – WAN1 is down", 400, "fire", null],
    ],
  ],
  "home-assistant": [
    [
      {
        title: "Freezer",
        message: "open",
        data: { entity_id: "f", state: "on", severity: "warning" },
      },
      ["open", 300, "fire", "f"],
    ],
    [{ message: "shut", data: { entity_id: "f", state: "off" } }, ["shut", 400, "resolve", "f"]],
  ],
  checkmk: [
    [
      {
        summary: "server1 DOWN",
        status: "DOWN",
        notification_type: "PROBLEM",
        site: "s",
        host: "h",
      },
      ["server1 DOWN", 500, "fire", "s:h:"],
    ],
    [
      { summary: "server1 UP", status: "UP", notification_type: "RECOVERY", site: "s", host: "h" },
      ["server1 UP", 200, "resolve", "s:h:"],
    ],
  ],
  icinga: [
    [
      { type: "PROBLEM", host: "db", service: "disk", state: "CRITICAL", output: "2%" },
      ["db disk CRITICAL: 2%", 500, "fire", "db:disk"],
    ],
    [
      { type: "RECOVERY", host: "db", service: "disk", state: "OK", output: "60%" },
      ["db disk OK: 60%", 200, "resolve", "db:disk"],
    ],
  ],
  netdata: [
    [
      { message: "disk raised", severity: "critical", space: "s", alert: "a", chart: "c" },
      ["disk raised", 500, "fire", "s::a:c"],
    ],
    [
      { message: "disk well", severity: "clear", space: "s", alert: "a", chart: "c" },
      ["disk well", 200, "resolve", "s::a:c"],
    ],
    [
      { message: "gone", host: "nas", severity: "critical", status: { reachable: false } },
      ["gone", 500, "fire", ":nas::"],
    ],
    [
      { message: "back", host: "nas", severity: "info", status: { reachable: true } },
      ["back", 200, "resolve", ":nas::"],
    ],
  ],
  "google-cloud": [
    [
      { incident: { summary: "CPU", severity: "Critical", state: "open", incident_id: "0.m" } },
      ["CPU", 500, "fire", "0.m"],
    ],
    [
      { incident: { summary: "CPU", state: "CLOSED", incident_id: "0.m" } },
      ["CPU", 400, "resolve", "0.m"],
    ],
  ],
  argocd: [
    [
      { app: "shop", namespace: "prod", health: "Degraded", phase: "Succeeded" },
      ["shop: degraded, sync succeeded", 400, "fire", "prod/shop"],
    ],
    [
      { app: "shop", namespace: "prod", health: "Healthy", phase: "Failed", message: "no chart" },
      ["shop: healthy, sync failed", 400, "fire", "prod/shop"],
    ],
    [
      { app: "shop", namespace: "prod", health: "Healthy", phase: "Succeeded" },
      ["shop: healthy, sync succeeded", 200, "resolve", "prod/shop"],
    ],
  ],
  flux: [
    ["error", "HealthCheckFailed", 400, "fire"] as const,
    ["info", "Progressing", 200, "note"] as const,
    ["info", "ReconciliationSucceeded", 200, "resolve"] as const,
  ].map(([severity, reason, level, action]) => [
    {
      involvedObject: { kind: "Kustomization", namespace: "flux-system", name: "apps" },
      severity,
      reason,
      message: "Deployment/shop\nand more",
    },
    [
      "Kustomization flux-system/apps: Deployment/shop",
      level,
      action,
      "Kustomization/flux-system/apps",
    ],
  ]),
  jenkins: [
    ["FAILURE", 400, "fire"] as const,
    ["UNSTABLE", 300, "fire"] as const,
    ["SUCCESS", 200, "resolve"] as const,
  ].map(([status, level, action]) => [
    {
      name: "shop",
      build: { phase: "FINALIZED", number: 7, status, full_url: "https://j.example/7" },
    },
    [`shop #7: ${status.toLowerCase()}`, level, action, "jenkins:shop"],
  ]),
  statuspage: [
    [
      { incident: { id: "i1", name: "API is slow", status: "investigating", impact: "major" } },
      ["API is slow", 400, "fire", "i1"],
    ],
    [
      { incident: { id: "i1", name: "API is slow", status: "resolved", impact: "major" } },
      ["API is slow", 400, "resolve", "i1"],
    ],
    [
      { component: { id: "c1", name: "API" }, component_update: { new_status: "major_outage" } },
      ["API is major outage", 500, "fire", "c1"],
    ],
    [
      { component: { id: "c1", name: "API" }, component_update: { new_status: "operational" } },
      ["API is operational", 200, "resolve", "c1"],
    ],
  ],
  azure: [
    [
      {
        data: {
          essentials: {
            alertRule: "cpu",
            description: "hot",
            severity: "Sev0",
            monitorCondition: "Fired",
            alertId: "/a/b",
          },
        },
      },
      ["cpu: hot", 500, "fire", "/a/b"],
    ],
    [
      {
        data: {
          essentials: {
            alertRule: "cpu",
            description: "",
            severity: "Sev1",
            monitorCondition: "Resolved",
            alertId: "/a/b",
          },
        },
      },
      ["cpu", 400, "resolve", "/a/b"],
    ],
  ],
  datadog: [
    [
      { title: "High CPU", transition: "Warn", alert_type: "error", aggreg_key: "9f" },
      ["High CPU", 300, "fire", "9f"],
    ],
    [
      { title: "High CPU", transition: "Recovered", aggreg_key: "9f" },
      ["High CPU", 400, "resolve", "9f"],
    ],
  ],
  pingdom: [
    [
      { check_id: 7, check_name: "Shop", current_state: "DOWN", previous_state: "UP" },
      ["Shop is down", 400, "fire", "pingdom:7"],
    ],
    [
      { check_id: 7, check_name: "Shop", current_state: "UP", previous_state: "DOWN" },
      ["Shop is up", 200, "resolve", "pingdom:7"],
    ],
  ],
  librenms: [
    [{ id: "9", title: "t", state: "1", severity: "critical" }, ["t", 500, "fire", "librenms:9"]],
    [{ id: "9", title: "t", state: "3", severity: "warning" }, ["t", 300, "fire", "librenms:9"]],
    [{ id: "9", title: "t", state: 2 }, ["t", 400, "acknowledge", "librenms:9"]],
    [{ id: "9", title: "t", state: "0", severity: "ok" }, ["t", 200, "resolve", "librenms:9"]],
  ],
  "new-relic": [
    [{ id: "i", title: "t", state: "ACTIVATED", priority: "CRITICAL" }, ["t", 500, "fire", "i"]],
    [{ id: "i", title: "t", state: "ACKNOWLEDGED" }, ["t", 400, "acknowledge", "i"]],
    [{ id: "i", title: "t", state: "CLOSED", priority: "HIGH" }, ["t", 400, "resolve", "i"]],
    [
      { incident_id: 5, policy_name: "P", condition_name: "C", current_state: "closed" },
      ["P: C", 400, "resolve", "5"],
    ],
  ],
  github: [],
  gitlab: [
    [
      {
        object_kind: "pipeline",
        object_attributes: { status: "failed", ref: "main" },
        project: { path_with_namespace: "a/b" },
      },
      ["a/b: pipeline on main failed", 400, "fire", "a/b:main"],
    ],
    [
      {
        object_kind: "pipeline",
        object_attributes: { status: "success", ref: "main" },
        project: { path_with_namespace: "a/b" },
      },
      ["a/b: pipeline on main success", 200, "resolve", "a/b:main"],
    ],
  ],
};

describe("presets", () => {
  for (const name of Object.keys(presets))
    test(`${name} is a mapping, and its sender's words are read`, () => {
      assert.deepEqual(faults(name), []);
      const known = stories[name];
      assert.ok(known !== undefined, "test/in/adapters/hook.test.ts has no story of it");
      for (const [body, expected] of known) assert.deepEqual(seen(body, name), [expected]);
    });

  test("github: a workflow that fails and succeeds again; other events are ignored", () => {
    const run = (conclusion: string) => ({
      action: "completed",
      repository: { full_name: "a/b" },
      workflow_run: { name: "ci", head_branch: "main", workflow_id: 3, conclusion },
    });
    const of = (event: string) => ({
      header: (name: string) => (name === "x-github-event" ? event : undefined),
    });
    assert.deepEqual(seen(run("failure"), "github", of("workflow_run")), [
      ["a/b: ci on main failure", 400, "fire", "a/b:3:main"],
    ]);
    assert.equal(seen(run("success"), "github", of("workflow_run"))[0]?.[2], "resolve");
    assert.deepEqual(seen(run("failure"), "github", of("push")), []);
  });

  test("a mapping's document overrides its preset", () => {
    const body = { value: "1", severity: "5", name: "CPU", host: "web", trigger_id: "18" };
    const mapping = { preset: "zabbix", level: { const: 300 } };
    assert.deepEqual(seen(body, mapping), [["web: CPU", 300, "fire", "18"]]);
  });
});

long("of long markup or a wide body only as much is read as an event holds", () => {
  // Processor time in milliseconds, which other processes don't increase.
  const shortest = (work: () => unknown) =>
    Math.min(
      ...Array.from({ length: 3 }, () => {
        const from = process.threadCpuUsage();
        work();
        const { user, system } = process.threadCpuUsage(from);
        return (user + system) / 1000;
      }),
    );
  const page = (times: number) => shortest(() => htmlText("<p>&amp;".repeat(times)));
  const [short, long] = [page(125_000), page(1_000_000)];
  assert.ok(long < 3 * short, `${long} ms, an eighth of it ${short} ms`);

  const names = Array.from({ length: 300_000 }, (_, i) => `n${i.toString(36)}`);
  const wide = Object.fromEntries(names.map((name) => [name, { a: 1 }]));
  const listed = shortest(() => Object.keys(wide));
  const budget = { left: Number.MAX_SAFE_INTEGER };
  const watched = () => new Set(["n1.a", "nowhere.a.b", "n300000"]);
  const how = { drop: new Set<string>(), from: "", budget, watched };
  for (const pairs of [() => flattened(wide, watched), () => mappedPairs(wide, how)]) {
    const took = shortest(pairs);
    assert.ok(took < 2 * listed + 5, `${took} ms, the names alone ${listed} ms`);
  }
});
