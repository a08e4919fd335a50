import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { acknowledge, resolve } from "../../../src/core/alerts/verbs.ts";
import { silenceWrite } from "../../../src/core/quiet/silence.ts";
import { createSilence } from "../../../src/core/quiet/silences.ts";
import type { EventBody } from "../../../src/out/outbox/event.ts";
import type { EventNames } from "../../../src/out/outbox/event-names.ts";
import { describe } from "../../../src/out/outbox/message.ts";
import { handClock } from "../../support/clock.ts";
import { type Plane, step, testPlane } from "../../support/plane.ts";

const START = Date.UTC(2026, 0, 5, 3, 0);
let plane: Plane;
beforeEach(() => {
  plane = testPlane(handClock(START));
});
afterEach(() => plane.close());

function channel(speaks: number, eventFilter = "") {
  plane.tenant.store.write((tx) =>
    tx
      .sql<[string, string, number]>(
        `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, speaks, created_at)
         VALUES (?, 1, '', 'slack', '', 1, ?, ?, 0)`,
      )
      .run(`c${speaks}${eventFilter}`, eventFilter, speaks),
  );
}

/** What each event was told with, oldest first. */
function told(): { event: string; said: EventNames | null; sentences: readonly string[] }[] {
  return plane.tenant.store
    .sql<[], { body: string; said: string | null }>("SELECT body, said FROM events ORDER BY id")
    .all()
    .map(({ body, said }) => {
      const event = JSON.parse(body) as EventBody;
      const value = said === null ? null : (JSON.parse(said) as EventNames);
      const { people } = describe(event, { said: value });
      return { event: event.event.slice("alert.".length), said: value, sentences: people };
    });
}

const sentences = () => told().map(({ event, sentences: all }) => [event, ...all]);

function person(id: string, name: string) {
  plane.account(id);
  plane.tenant.store.write((tx) =>
    tx.sql<[string, string]>("UPDATE accounts SET display_name = ? WHERE id = ?").run(name, id),
  );
}

function onCall(name: string, account: string) {
  plane.schedule(name, [
    {
      name: "all",
      participants: [account],
      rotation_start: START / 1000,
      shift_minutes: 60,
      restriction: null,
    },
  ]);
}

test("a ladder in words: whom it pages and why, who is next and when, who has it, how it ended", async () => {
  channel(1);
  for (const [id, name] of [
    ["a1", "Ann"],
    ["b1", "Bob"],
    ["c1", ""],
  ] as const)
    person(id, name);
  onCall("primary", "a1");
  plane.rule({
    runbook_url: "https://wiki.example/payments",
    escalations: [
      step(0, ["b1"], { schedules: ["primary"] }),
      step(10, ["c1"], { repeat: 5 }),
      step(60, ["c1"]),
    ],
  });
  await plane.fire();
  await plane.minutes(10);
  await plane.minutes(5);
  const { id } = plane.last();
  plane.tenant.store.write((tx) => acknowledge(tx, id, "a1"));
  await plane.minutes(2);
  plane.tenant.store.write((tx) => resolve(tx, id, { accountId: "b1" }));
  assert.deepEqual(sentences(), [
    ["opened", "Next: Bob (rung 1), Ann (on call: primary), now"],
    ["escalated", "Pages Bob (rung 1), Ann (on call: primary)", "Next: c1 (rung 2), at 03:10 UTC"],
    ["escalated", "Escalated (rung 2)", "Pages c1 (rung 2)", "Next: c1 (rung 2), at 03:15 UTC"],
    ["escalated", "Escalated (rung 2)", "Pages c1 (rung 2)", "Next: c1 (rung 2), at 03:20 UTC"],
    ["acknowledged", "Acknowledged by Ann"],
    ["resolved", "Resolved by Bob after 17 min", "Acknowledged by Ann"],
  ]);
  for (const { said } of told()) assert.equal(said?.runbook, "https://wiki.example/payments");
});

test("who is next is whoever is on call then, and the last step says that nobody is", async () => {
  channel(1);
  person("a1", "Ann");
  person("b1", "Bob");
  plane.schedule("hourly", [
    {
      name: "all",
      participants: ["a1", "b1"],
      rotation_start: START / 1000,
      shift_minutes: 60,
      restriction: null,
    },
  ]);
  plane.rule({
    renotify_minutes: 50,
    escalations: [step(0, [], { schedules: ["hourly"] }), step(70, [], { schedules: ["hourly"] })],
  });
  await plane.fire();
  await plane.minutes(50);
  await plane.minutes(20);
  assert.deepEqual(sentences().slice(1), [
    ["escalated", "Pages Ann (on call: hourly)", "Next: Bob (on call: hourly), at 04:10 UTC"],
    ["renotified", "Still open", "Paged so far: Ann", "Next: Bob (on call: hourly), at 04:10 UTC"],
    [
      "escalated",
      "Escalated (rung 2)",
      "Pages Bob (on call: hourly)",
      "Next: nobody, the ladder has run",
    ],
  ]);
});

test("who is next is paged when what is planned to be quiet is over, and whoever nothing reaches isn't waited for", async () => {
  channel(1);
  for (const [id, name] of [
    ["a1", "Ann"],
    ["b1", "Bob"],
    ["c1", "Cid"],
  ] as const)
    person(id, name);
  const made = plane.rule({ escalations: [step(0, ["a1"]), step(10, ["b1"]), step(20, ["c1"])] });
  plane.tenant.store.write((tx) => {
    for (const id of ["a1", "c1"])
      tx.sql<[string, string]>(
        `INSERT INTO contacts (id, account_id, kind, label, shown, sealed, state, verified_at, created_at)
         VALUES (?, ?, 'webhook', '', '', '', 'verified', 1, 1)`,
      ).run(id, id);
    const planned = { starts_at: tx.at + 300, ends_at: tx.at + 1500 };
    const match = { rule: made.name };
    const write = silenceWrite.parse({ match, reason: "deploy", ...planned });
    createSilence(tx, { write, createdBy: "a1" });
  });
  await plane.fire();
  await plane.minutes(1);
  assert.deepEqual(sentences()[1], [
    "escalated",
    "Pages Ann (rung 1)",
    "Next: Bob (rung 2), Cid (rung 3), at 03:25 UTC",
  ]);
});

test("what ended by itself says why, and whose name a source had it under", async () => {
  channel(1);
  plane.rule({ auto_resolve_quiet_minutes: 5 });
  await plane.fire();
  const { id } = plane.last();
  plane.tenant.store.write((tx) => acknowledge(tx, id, { source: "grafana" }));
  await plane.minutes(5);
  await plane.fire();
  const second = plane.last().id;
  plane.tenant.store.write((tx) => resolve(tx, second, { source: "grafana" }));
  assert.deepEqual(sentences(), [
    ["opened"],
    ["acknowledged", "Acknowledged by its source grafana"],
    ["resolved", "Ended after 5 min: no match for 5 min", "Acknowledged by its source grafana"],
    ["opened"],
    ["resolved", "Resolved by its source grafana after 0 s"],
  ]);
});

test("people that there are many of are counted, and who was removed has no id as a name", async () => {
  channel(1);
  const ids = Array.from({ length: 14 }, (_, i) => `id${i}`);
  for (const id of ids) person(id, `P${id}`);
  plane.rule({ escalations: [step(0, ids)] });
  await plane.fire();
  plane.tenant.store.write((tx) => acknowledge(tx, plane.last().id, "id-that-is-gone"));
  const [, escalated, acknowledged] = told();
  assert.equal(escalated?.said?.paged?.people.length, 10);
  assert.match(escalated?.sentences[0] ?? "", /Pid9 \(rung 1\) and 4 more$/);
  assert.deepEqual(acknowledged?.sentences, ["Acknowledged by somebody who was removed"]);
});

test("where no channel puts an event into words nothing is looked up or written", async () => {
  channel(0);
  channel(1, "alert.resolved");
  person("a1", "Ann");
  plane.rule({ escalations: [step(0, ["a1"])] });
  await plane.fire();
  plane.resolve();
  assert.deepEqual(
    told().map(({ event, said }) => [event, said === null]),
    [
      ["opened", true],
      ["escalated", true],
      ["resolved", false],
    ],
  );
});
