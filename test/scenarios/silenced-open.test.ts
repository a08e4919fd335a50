import assert from "node:assert/strict";
import { test } from "node:test";
import { pagedStory as story } from "../support/contacts.ts";
import { pass, settle } from "../support/until.ts";

/** A silence that begins over alerts that are open: they say so at once, not with their next news. */

type Story = Awaited<ReturnType<typeof story>>;

const now = ({ box }: Story) => Math.floor(box.clock.now() / 1000);
const silence = async (of: Story, more: object = {}) => {
  const write = { project: "shop", reason: "deploy", match: { rule: "errors" } };
  const ends_at = now(of) + 3600;
  const made = await of.box.api("POST", "/v1/silences", { ...write, ends_at, ...more });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id as string;
};
const marks = async ({ box }: Story) => {
  const { alerts } = (await box.api("GET", "/v1/alerts?limit=500")).body;
  return alerts.map(({ silenced_by }: { silenced_by: string | null }) => silenced_by);
};

test("it marks those that it takes in the transaction that makes it, and no other", async (t) => {
  const of = await story(t);
  const { box, rule, fire, timeline } = of;
  await rule([]);
  const first = await fire(1, { level: 400 });
  await fire(2, { level: 500 });
  const taken = await fire(3, { level: 400 });
  await box.api("POST", `/v1/alerts/${taken}/ack`);
  const id = await silence(of);
  assert.deepEqual(
    await marks(of),
    [null, null, id],
    "neither a critical one nor one that is taken",
  );
  const last = (await timeline(first)).at(-1);
  assert.deepEqual([last?.kind, last?.detail["held"]], ["silenced", "nothing"]);
  const { total } = (await box.api("GET", "/v1/alerts?silenced=true")).body.alerts.reduce(
    (sum: { total: number }) => ({ total: sum.total + 1 }),
    { total: 0 },
  );
  assert.equal(total, 1);
  await box.api("DELETE", `/v1/silences/${id}`);
  await settle(box);
  assert.deepEqual(await marks(of), [null, null, null]);
  const told = (await timeline(first)).filter(({ kind }) => kind === "renotified");
  assert.equal(told.length, 0, "there was no news to hold back");
});

test("it marks them when it begins later, by itself or while the box was off", async (t) => {
  const of = await story(t);
  const { box, rule, fire } = of;
  await rule([]);
  await fire(1, { level: 400 });
  const planned = await silence(of, { starts_at: now(of) + 600, ends_at: now(of) + 1200 });
  await pass(box, 590, 100);
  assert.deepEqual(await marks(of), [null]);
  await pass(box, 20, 5);
  assert.deepEqual(await marks(of), [planned]);
  await pass(box, 700, 100);
  assert.deepEqual(await marks(of), [null]);
  const next = await silence(of, { starts_at: now(of) + 60 });
  await box.restart(() => box.clock.turn(120_000));
  await pass(box, 5, 1);
  assert.deepEqual(await marks(of), [next]);
});

test("of very many it marks the rest a moment later", async (t) => {
  const of = await story(t);
  const { box, token, rule } = of;
  await rule([], { max_open: 0 });
  const event = (n: number) => ({ message: "disk is full", level: 400, keys: { n: `${n}` } });
  await fetch(`${box.url}/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body: Array.from({ length: 260 }, (_, n) => JSON.stringify(event(n))).join("\n"),
  });
  const id = await silence(of);
  await pass(box, 5, 1);
  const all = await marks(of);
  assert.equal(all.length, 260);
  assert.ok(all.every((by: string | null) => by === id));
});
