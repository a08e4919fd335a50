import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { realClock } from "../../support/clock.ts";
import { ask, type TestFlags, type TestHosted, testHosted } from "../../support/hosted-role.ts";
import type { TestDatabase } from "../../support/postgres.ts";
import type { Receiver } from "../../support/receiver.ts";
import { scratch } from "../../support/scratch.ts";

export function keyFile(t: TestContext): string {
  const file = join(scratch(t), "hosted.key");
  writeFileSync(file, randomBytes(32), { mode: 0o600 });
  return file;
}

/** Starts nodes of one database; each has a data directory of its own, which is gone when it is stopped. */
export function nodesOf(t: TestContext, made: Pick<TestDatabase, "url">, hostedKey = keyFile(t)) {
  const all: TestHosted[] = [];
  t.after(() => Promise.all(all.map((node) => node.stop())));
  return async (name: string, flags: TestFlags = {}) => {
    const given = { database: made.url, hostedKey, node: name, drainSeconds: "0", ...flags };
    const node = await testHosted({ ...given, egressAllow: ["127.0.0.0/8"] }, realClock());
    all.push(node);
    const stop = async () => {
      all.splice(all.indexOf(node), 1);
      await node.stop();
    };
    return { url: node.url, data: node.data, call: node.call, desk: node.desk, stop };
  };
}

export type HostedNode = Pick<TestHosted, "url" | "call" | "desk">;

/** A tenant with a source whose alerts are sent to the receiver. */
export async function shop(node: HostedNode, receiver: Receiver) {
  const { tenant_id: tenant } = await node.desk((desk) => desk.addTenant({ kind: "hosted" }));
  const key = await node.desk((desk) => desk.addKey({ tenant, email: "ada@example.com" }));
  const need = async (method: string, path: string, body?: unknown) => {
    const answer = await node.call(method, path, { token: key.api_key, body });
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const path = "/v1/projects/shop";
  await need("POST", "/v1/projects", { name: "shop" });
  const { token } = await need("POST", `${path}/sources`, { name: "app", retain_logs: true });
  await need("POST", `${path}/webhooks`, { url: receiver.url });
  await need("POST", `${path}/rules`, { name: "any", identifier_keys: ["n"], max_open: 0 });
  const pager = await need("POST", `${path}/sources`, { name: "pager", kind: "pagerduty" });
  return { tenant, key: key.api_key, token, short: pager.short_token };
}

export function event(url: string, token: string, n: number) {
  const body = JSON.stringify({ message: "the till is stuck", keys: { n: String(n) } });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return ask(`${url}/v1/ingest`, { method: "POST", body, headers });
}

export async function alertsAt(node: HostedNode, token: string): Promise<string[]> {
  const { status, body } = await node.call("GET", "/v1/alerts", { token });
  assert.equal(status, 200, JSON.stringify(body));
  return body.alerts.map(({ id }: { id: string }) => id).sort();
}
