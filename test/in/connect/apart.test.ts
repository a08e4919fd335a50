import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sourceKinds } from "../../../src/in/adapters/list.ts";
import { apartSentence, proposalFor, usualIdentifiers } from "../../../src/in/connect/apart.ts";
import type { IngestEvent } from "../../../src/in/ingest/event.ts";

const rule = (name: string, ...identifier_keys: string[]) => ({ name, identifier_keys });
const event = (keys: Record<string, string>, dedupKey: string | null = null): IngestEvent => ({
  message: "disk full",
  level: 400,
  keys,
  tags: null,
  named: { action: "fire", dedupKey, instance: null, expiresAt: null },
});

describe("what makes two alerts two", () => {
  const sentences: readonly (readonly [kind: string, rules: ReturnType<typeof rule>[], RegExp])[] =
    [
      ["syslog", [rule("a", "host")], /two: another template of the message, another host\.$/],
      ["loki", [rule("a"), rule("b")], /two: another template of the message\.$/],
      ["alertmanager", [rule("a")], /two: another name by the sender \(dedup_key\)\.$/],
      ["events", [], /\(dedup_key\) or, where it gives none, another template of the message\.$/],
      [
        "loki",
        [rule("a"), rule("b", "host", "job"), rule("c")],
        /by rule: another template of the message \(a, c\); another template of the message, another host, another job \(b\)\.$/,
      ],
    ];
  for (const [kind, rules, said] of sentences)
    test(`${kind}, ${rules.length} rules`, () => {
      assert.match(apartSentence(kind, rules), said);
    });

  test("a rule for senders that name their alerts, or have labels of their own, has no identifiers", () => {
    const usual = Object.fromEntries(
      sourceKinds
        .map((kind) => [kind, usualIdentifiers(kind)] as const)
        .filter(([, keys]) => keys.length > 0),
    );
    assert.deepEqual(usual, {
      ntfy: ["topic"],
      sentry: ["sentry.group", "environment"],
      syslog: ["host"],
      otlp: ["service.name", "host.name"],
      gelf: ["host", "container_name"],
      elasticsearch: ["host.name", "service.name"],
    });
  });
});

describe("what a first event's labels propose", () => {
  const rows: readonly (readonly [
    what: string,
    kind: string,
    event: IngestEvent,
    rules: ReturnType<typeof rule>[],
    proposed: { rules: string[]; identifier_keys: string[] } | null,
  ])[] = [
    [
      "the usual names",
      "events",
      event({ Service: "pay", id: "7", host: "db7" }),
      [rule("a")],
      { rules: ["a"], identifier_keys: ["host", "Service"] },
    ],
    [
      "the kind's own first",
      "otlp",
      event({ host: "x", "service.name": "pay" }),
      [rule("a")],
      { rules: ["a"], identifier_keys: ["service.name"] },
    ],
    [
      "no more than three",
      "hook",
      event({ host: "a", node: "b", device: "c", service: "d" }),
      [rule("a")],
      { rules: ["a"], identifier_keys: ["host", "node", "device"] },
    ],
    [
      "only to rules without any",
      "loki",
      event({ host: "x", job: "y" }),
      [rule("a", "job"), rule("b", "id")],
      { rules: ["b"], identifier_keys: ["host", "job"] },
    ],
    ["nothing to a rule that has one", "loki", event({ host: "x" }), [rule("a", "host")], null],
    [
      "nothing where the sender names it",
      "hook",
      event({ host: "x" }, "disk/x"),
      [rule("a")],
      null,
    ],
    ["nothing of an empty label", "hook", event({ host: "" }), [rule("a")], null],
    ["nothing without such a label", "hook", event({ id: "7", user: "ann" }), [rule("a")], null],
    ["nothing where no rule takes it", "hook", event({ host: "x" }), [], null],
  ];
  for (const [what, kind, of, rules, proposed] of rows)
    test(what, () => {
      assert.deepEqual(proposalFor(kind, of, rules), proposed);
    });
});
