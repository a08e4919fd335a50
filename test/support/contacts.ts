import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { BoxFlags } from "../../src/app/config.ts";
import type { Log } from "../../src/ground/kit/log.ts";
import { type Person, type TestBox, testBox } from "./box.ts";
import { type Received, type Receiver, startReceiver } from "./receiver.ts";
import { settle } from "./until.ts";

/** What a contact of kind webhook is sent. */
export interface Told {
  purpose: string;
  title: string;
  lines: string[];
  code: string | null;
  acknowledge_url: string | null;
  alerts: { alert_id: string; event: string }[];
}

export const toldIn = (request: Received | undefined): Told => JSON.parse(request?.body ?? "{}");

/** Adds a contact of kind webhook for a person and verifies it by the code that comes through it; its id. */
export async function reachBy(
  box: TestBox,
  person: Person,
  receiver: Receiver,
  path = "/",
): Promise<string> {
  const base = "/v1/accounts/me/contacts";
  const write = { kind: "webhook", label: path, address: `${receiver.url}${path}` };
  const made = await box.api("POST", base, write, person.key);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id } = made.body;
  const before = receiver.received.length;
  const sent = await box.api("POST", `${base}/${id}/verify`, {}, person.key);
  assert.deepEqual([sent.status, sent.body.sent], [200, { ok: true }]);
  const { code } = toldIn(receiver.received[before]);
  const verified = await box.api("POST", `${base}/${id}/verify`, { code }, person.key);
  assert.deepEqual([verified.status, verified.body.state], [200, "verified"]);
  return id;
}

/** A receiver and a box, each of which ends with the test, also where the other doesn't begin. */
export async function boxAndReceiver(t: TestContext, flags: BoxFlags = {}, log?: Log) {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const box = await testBox(flags, undefined, log);
  t.after(() => box.stop());
  return { receiver, box };
}

/** Sends events as lines in one request, and lets the box do what is due. */
export async function sendLines(
  { box, token }: { box: TestBox; token: string },
  lines: readonly string[],
): Promise<void> {
  const sent = await fetch(`${box.url}/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body: lines.join("\n"),
  });
  assert.equal(sent.status, 202, await sent.text());
  await settle(box);
}

/** A box with one project and two people, one receiver for all that they are told, and what a test of pages asks of them. */
export async function pagedStory(t: TestContext) {
  const { box, receiver } = await boxAndReceiver(t);
  const token = await box.project("shop");
  const [ann, bob] = [
    box.person("member", "ann@example.org"),
    box.person("member", "bob@example.org"),
  ];
  const rule = async (escalations: object[], more: object = {}) => {
    const write = {
      name: "errors",
      match: { min_level: 400 },
      identifier_keys: ["n"],
      escalations,
      ...more,
    };
    const made = await box.api("POST", "/v1/projects/shop/rules", write);
    assert.equal(made.status, 201, JSON.stringify(made.body));
  };
  const newest = () => box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get();
  /** Opens an alert; its id. */
  const fire = async (n: number, more: object = {}) => {
    const event = { message: "disk is full", level: 500, keys: { n: `${n}` }, ...more };
    await box.ingest(token, event);
    await settle(box);
    return String(newest());
  };
  /** Who was told what, by the path of the contact, since the last time. */
  let seen = 0;
  const told = () => {
    const fresh = receiver.received.slice(seen);
    seen = receiver.received.length;
    return fresh.map((request) => {
      const { purpose, alerts } = toldIn(request);
      return `${request.path} ${purpose} ${alerts.map(({ alert_id }) => alert_id).join(",")}`;
    });
  };
  const timeline = async (id: string) =>
    (await box.api("GET", `/v1/alerts/${id}/timeline`)).body.timeline as {
      kind: string;
      detail: Record<string, unknown>;
    }[];
  const step = (person: Person, after_minutes = 0) => ({
    after_minutes,
    accounts: [person.accountId],
    schedules: [],
    repeat_minutes: 0,
  });
  return { box, token, receiver, ann, bob, rule, fire, told, timeline, step };
}
