import assert from "node:assert/strict";
import { test } from "node:test";
import { opsgenie as senders } from "../../../src/in/adapters/opsgenie.ts";
import { compileRule, matches } from "../../../src/in/ingest/match.ts";
import { parseConfigFile } from "../../../src/records/config-file/document.ts";
import { writeYaml } from "../../../src/records/config-file/yaml.ts";
import { matchersOfTemplate } from "../../../src/records/import/oncall/templates.ts";
import { fromOpsgenie } from "../../../src/records/import/opsgenie/opsgenie.ts";
import { sent } from "../../in/adapters/clean.ts";
import { anyTime } from "../../support/patterns.ts";
import fc from "../../support/property.ts";

/** Routes with conditions of on-call tools: the first that matches takes the alert. */

const NOW = 1_795_348_800;

interface Condition {
  field: string;
  key: string;
  operation: string;
  expectedValue: string;
  not: boolean;
}
interface Rule {
  type: string;
  conditions: Condition[];
  to: string;
}

function opsgenie(rules: readonly Rule[]) {
  const ladder = (id: string) => ({ id, name: id, rules: [] });
  const files = {
    "teams.json": { data: { id: "T", name: "ops", members: [] } },
    "escalations.json": { data: ["A", "B", "rest"].map(ladder) },
    "routing-rules-T.json": {
      data: [...rules, { type: "match-all", conditions: [], to: "rest" }].map(
        ({ type, conditions, to }, order) => ({
          id: `R${order}`,
          name: `r${order}`,
          order,
          criteria: { type, conditions },
          notify: to === "" ? { type: "none" } : { type: "escalation", id: to },
        }),
      ),
    },
  };
  const given = Object.entries(files).map(([name, value]) => ({
    name,
    text: JSON.stringify(value),
  }));
  const imported = fromOpsgenie.read(given, { now: NOW, project: null });
  const { projects } = parseConfigFile(writeYaml(imported.config), { env: {}, directory: "/" });
  const made = projects[0]?.config.rules ?? [];
  const compiled = made.map((rule, id) =>
    compileRule({
      ...rule,
      match: { ...rule.match, sources: [] },
      id,
      project_id: 1,
      created_at: 0,
      updated_at: 0,
    }),
  );
  const report = imported.report.map(({ what, how }) => `${what}: ${how}`).join("\n");
  const ladders = (keys: Record<string, string>) => {
    const event = { message: "m", level: 400, keys, tags: null };
    return compiled
      .filter((one) => matches(one, event as unknown as Parameters<typeof matches>[1], anyTime))
      .map(({ rule }) => made[rule.id]?.ladder ?? "");
  };
  /** Those that take what a sender posts. */
  const taken = (body: object) => {
    const watched = () => new Set(compiled.flatMap(({ names }) => names));
    const request = { ...sent(JSON.stringify(body), { path: "/v2/alerts" }), watched };
    const [event] = senders.decode(request).events;
    return ladders({ ...event?.keys });
  };
  return { ladders, taken, report, rules: made };
}

test("each alert is taken by the rules of the first route that takes it there, and whoever is left by the last", () => {
  const fields = ["entity", "extra-properties", "message", "alias", "description", "tags"];
  const condition = fc.record({
    field: fc.constantFrom(...fields),
    key: fc.constant("env"),
    operation: fc.constantFrom(
      "equals",
      "contains",
      "starts-with",
      "ends-with",
      "is-empty",
      "matches",
    ),
    expectedValue: fc.constantFrom("a", "b", "ab", "a|b", "[ab]+", ".*b"),
    not: fc.boolean(),
  });
  const rule = fc.record({
    type: fc.constantFrom("match-all-conditions", "match-any-condition"),
    conditions: fc.array(condition, { minLength: 1, maxLength: 2 }),
    to: fc.constantFrom("A", "B", ""),
  });
  const there = fc.constantFrom("a", "b", "ab", "bab");
  const text = fc.oneof(fc.constant(""), there);
  const event = fc.record({
    entity: text,
    details: fc.record({ env: text }),
    message: there,
    alias: there,
    description: text,
    tags: fc.array(there, { maxLength: 2 }),
  });
  type Event = typeof event extends fc.Arbitrary<infer E> ? E : never;
  const isTaken = (sent: Event, { type, conditions }: Rule) => {
    const holds = ({ field, operation, expectedValue: value, not }: Condition) => {
      const { details, tags, ...texts } = sent;
      const is = field === "extra-properties" ? details.env : texts[field as keyof typeof texts];
      // Only this is said of tags, and that there are none.
      if (field === "tags") {
        const whole = new RegExp(`^(?:${value})$`);
        return (
          (operation === "matches" ? tags.some((one) => whole.test(one)) : tags.length === 0) !==
          not
        );
      }
      const by: Record<string, boolean> = {
        equals: is === value,
        contains: is.includes(value),
        "starts-with": is.startsWith(value),
        "ends-with": is.endsWith(value),
        "is-empty": is === "",
        matches: new RegExp(`^(?:${value})$`).test(is),
      };
      return by[operation] !== not;
    };
    return type === "match-all-conditions" ? conditions.every(holds) : conditions.some(holds);
  };
  let exact = 0;
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 3 }),
      fc.array(event, { minLength: 6, maxLength: 12 }),
      (rules, events) => {
        const { taken, report } = opsgenie(rules);
        const left = rules.filter(
          (_one, i) => !report.includes(`routing rule r${i} isn't imported`),
        );
        const isExact = !report.includes("both page");
        exact += isExact && left.length === rules.length ? 1 : 0;
        for (const body of events) {
          const theirs = left.find((one) => isTaken(body, one))?.to ?? "rest";
          const ours = taken(body);
          assert.ok(ours.includes(theirs), JSON.stringify([rules, body, ours]));
          if (isExact) assert.equal(ours.length, 1, JSON.stringify([rules, body, ours]));
        }
      },
    ),
    { numRuns: 200 },
  );
  assert.ok(exact > 60, `${exact} of 200 are exact`);
});

test("a route that can't be said is named, and none that tells nobody takes what may be its", () => {
  const on = (field: string, operation = "equals") => [
    { field, key: "", operation, expectedValue: "a", not: false },
  ];
  const type = "match-all-conditions";
  const { ladders, report } = opsgenie([
    { type, conditions: on("recipients"), to: "A" },
    { type, conditions: on("entity"), to: "" },
    { type, conditions: on("source", "contains-key"), to: "B" },
    { type, conditions: on("source"), to: "B" },
    { type, conditions: on("tags", "contains"), to: "B" },
    { type, conditions: on("description", "contains"), to: "B" },
    { type, conditions: [{ ...on("extra-properties")[0], key: "source" } as Condition], to: "B" },
    {
      type,
      conditions: [{ ...on("message", "matches")[0], expectedValue: "(?=a).*" } as Condition],
      to: "B",
    },
  ]);
  assert.match(
    report,
    /r0 isn't imported: conditions here compare .* keys, and recipients is none/,
  );
  assert.match(report, /r1 isn't imported: it notifies nobody, and some of its alerts may belong/);
  assert.match(report, /r2 isn't imported: no condition here says contains-key of source/);
  assert.match(report, /r4 isn't imported: no condition here says contains of tags/);
  assert.match(report, /r5 isn't imported: no condition here says contains of description/);
  assert.match(report, /r6 isn't imported: .* the extra property source is none/);
  assert.match(report, /r7 isn't imported: no condition here says matches of message/);
  assert.deepEqual(ladders({ entity: "a" }), ["rest"]);
  assert.deepEqual(ladders({ source: "a" }), ["B"]);
});

test("a priority is compared as events of its senders have it, and what isn't exact is named", () => {
  const on = (operation: string, expectedValue: string, not = false) => [
    { field: "priority", key: "", operation, expectedValue, not },
  ];
  const type = "match-all-conditions";
  const { ladders, report } = opsgenie([
    { type, conditions: on("equals", "p1"), to: "A" },
    { type, conditions: on("greater-than", "P3"), to: "A" },
    { type, conditions: on("equals", "P5", true), to: "B" },
  ]);
  assert.match(report, /r1 isn't imported: no condition here says greater-than of priority/);
  const event = (priority: string) => {
    const body = JSON.stringify({ message: "m", ...(priority !== "" && { priority }) });
    const [one] = senders.decode(sent(body, { path: "/v2/alerts" })).events;
    return { ...one?.keys };
  };
  const taken = ["P1", "p1", "P2", "", "P5"].map((priority) => ladders(event(priority)));
  assert.deepEqual(taken, [["A"], ["A"], ["B"], ["B"], ["rest"]]);
});

test("OnCall's templates that compare fields of the payload are conditions", () => {
  const eq = (name: string, value: string) => ({ name, op: "=", value });
  const rows: [template: string, type: string, expected: unknown][] = [
    ['{{ payload.severity == "critical" }}', "webhook", [[eq("severity", "critical")]]],
    ["{{ payload['a b'].c == 'x' }}", "webhook", null],
    ['{{ payload.get("env")=="prod" }}', "webhook", [[eq("env", "prod")]]],
    ['{{ payload.host.name != "x" }}', "webhook", [[{ name: "host.name", op: "!=", value: "x" }]]],
    ['{{ "db" in payload.job }}', "webhook", [[{ name: "job", op: "=~", value: "(?s).*db.*" }]]],
    ['{{ payload.a in ["x", "y"] }}', "webhook", [[{ name: "a", op: "=~", value: "x|y" }]]],
    [
      "{{ payload.a not in ('x.z', 'y') }}",
      "webhook",
      [[{ name: "a", op: "!~", value: "x\\.z|y" }]],
    ],
    ['{{ "x" not in payload.a }}', "webhook", [[{ name: "a", op: "!~", value: "(?s).*x.*" }]]],
    ['{{ payload.a in [1, "y"] }}', "webhook", null],
    ["{{ payload.a in payload.b }}", "webhook", null],
    ['{{ payload.a == "x" and payload.b == "y" }}', "webhook", [[eq("a", "x"), eq("b", "y")]]],
    ['{{ payload.a == "x" or payload.b == "y" }}', "webhook", [[eq("a", "x")], [eq("b", "y")]]],
    ['{{ payload.a == "x" and payload.b == "y" or payload.c == "z" }}', "webhook", null],
    ['{{ payload.commonLabels.team == "db" }}', "alertmanager", [[eq("team", "db")]]],
    ['{{ payload.status == "firing" }}', "alertmanager", null],
    ['{{ payload.title == "x" }}', "webhook", null],
    ["{{ payload.n > 5 }}", "webhook", null],
    ["{% if payload.a %}True{% endif %}", "webhook", null],
  ];
  for (const [template, type, expected] of rows) {
    const said = matchersOfTemplate(template, { kind: "jinja2", type });
    assert.deepEqual(typeof said === "string" ? null : said, expected, template);
  }
  const pair = (text: string, type = "webhook") =>
    matchersOfTemplate(text, { kind: "regex", type });
  assert.deepEqual(pair('"severity": "critical"'), [[eq("severity", "critical")]]);
  assert.equal(typeof pair("us-(east|west)"), "string");
});
