import assert from "node:assert/strict";
import { test } from "node:test";
import { type Connected, connected } from "../in/adapters/sending.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";

/** What the box knows beside an alert: what was changed shortly before, and that it comes from both of a pair. */

async function changed(to: Connected, summary: string) {
  const payload = { summary, source: "deployer" };
  const links = [{ href: "https://ci.example.com/7", text: "build" }];
  const body = { routing_key: to.short, payload, links };
  assert.equal((await to.send("/v2/change/enqueue", body)).status, 202);
}

async function triggered(to: Connected, dedup_key: string) {
  const payload = { summary: `${dedup_key} is down`, source: "web", severity: "error" };
  const body = { routing_key: to.short, event_action: "trigger", dedup_key, payload };
  assert.equal((await to.send("/v2/enqueue", body)).status, 202);
  const [alert] = await to.alerts();
  const { timeline } = (await to.box.api("GET", `/v1/alerts/${alert.id}/timeline`)).body;
  const told = (timeline as { kind: string; detail: { changes: { message: string }[] } }[]).find(
    ({ kind }) => kind === "recent_changes",
  );
  return told?.detail.changes ?? null;
}

test("an alert that opens within an hour of a change says what was changed; a restart in between or not", async (t) => {
  const to = await connected("pagerduty");
  t.after(() => to.box.stop());
  assert.equal(await triggered(to, "first"), null);
  await changed(to, "deployed shop 1.2");
  assert.equal((await to.alerts()).length, 1, "a change opens nothing");
  await to.box.clock.turn(30 * 60_000);
  await changed(to, "switched replication off");
  await to.box.restart();
  const both = await triggered(to, "second");
  assert.deepEqual(
    both?.map(({ message }) => message),
    ["switched replication off", "deployed shop 1.2"],
  );
  const href = "https://ci.example.com/7";
  assert.deepEqual(
    { ...both?.[0], at: 0 },
    { at: 0, source: "it", message: "switched replication off", href },
  );
  await to.box.clock.turn(31 * 60_000);
  assert.equal((await triggered(to, "third"))?.length, 1, "the older one is an hour old");
  await to.box.clock.turn(31 * 60_000);
  assert.equal(await triggered(to, "fourth"), null);
});

test("of many changes the latest five are told", async (t) => {
  const to = await connected("pagerduty");
  t.after(() => to.box.stop());
  for (let n = 1; n <= 60; n++) await changed(to, `change ${n}`);
  const told = await triggered(to, "one");
  assert.deepEqual(
    told?.map(({ message }) => message),
    [60, 59, 58, 57, 56].map((n) => `change ${n}`),
  );
});

interface Sender {
  box: TestBox;
  send(labels: Record<string, string>): Promise<number>;
  events(): Promise<number>;
}

/** A box with a source of kind prometheus and one of events. */
async function prometheusTo(flags: object): Promise<Sender> {
  const box = await testBox(flags, handClock());
  const app = await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", { name: "any" });
  const prom = { name: "prom", kind: "prometheus" };
  const { token } = (await box.api("POST", "/v1/projects/p/sources", prom)).body;
  return {
    box,
    async send(labels) {
      const startsAt = new Date(box.clock.now()).toISOString();
      const answer = await fetch(`${box.url}/v1/in/prometheus/${token}/api/v2/alerts`, {
        method: "POST",
        body: JSON.stringify([{ labels: { severity: "critical", ...labels }, startsAt }]),
      });
      return answer.status;
    },
    events: async () => (await box.ingest(app, { message: "m" })).status,
  };
}

test("both servers of a pair that send every alert are told to whoever looks", async (t) => {
  const { box, send } = await prometheusTo({});
  t.after(() => box.stop());
  const named = async () => JSON.stringify((await box.api("GET", "/readyz")).body);
  await send({ alertname: "DiskFull", host: "a", prometheus_replica: "one" });
  await send({ alertname: "DiskFull", host: "b", prometheus_replica: "two" });
  assert.doesNotMatch(await named(), /twice/);
  await send({ alertname: "DiskFull", host: "a", prometheus_replica: "two" });
  assert.match(await named(), /prom of p \(label prometheus_replica: one, two; drop it/);
  assert.equal((await box.api("DELETE", "/v1/projects/p")).status, 200);
  assert.doesNotMatch(await named(), /twice/);
});

test("Prometheus, which never sends a batch again, is refused after everybody else", async (t) => {
  const { box, send, events } = await prometheusTo({ ingestRate: "1" });
  t.after(() => box.stop());
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++) statuses.push(await events());
  assert.equal(statuses.at(-1), 429);
  assert.equal(await send({ alertname: "DiskFull" }), 200);
  for (let i = 0; i < 9; i++) await send({ alertname: "DiskFull" });
  assert.equal(await send({ alertname: "DiskFull" }), 503, "its own rate has an end, too");
});
