import assert from "node:assert/strict";
import type { Person, TestBox } from "./box.ts";
import type { Received, Receiver } from "./receiver.ts";

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
