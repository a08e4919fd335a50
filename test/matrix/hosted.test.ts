import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Answer } from "../support/box.ts";
import { type HostedPerson, type TestHosted, testHosted } from "../support/hosted-role.ts";
import { type Document, type Operation, readDocument } from "./document.ts";

/** The hosted role's routes: the account plane, and the data plane of many tenants side by side. */
let hosted: TestHosted;
let document: Document;
let owner: HostedPerson;
let stranger: HostedPerson;
let boxTenant: string;
/** Two hosted tenants, and an owner's key of each. */
const keys: [string, string] = ["", ""];
before(async () => {
  hosted = await testHosted();
  document = await readDocument(hosted.url);
  owner = await hosted.person("owner@example.org");
  stranger = await hosted.person("stranger@example.org");
  await hosted.desk(async (desk) => {
    boxTenant = (await desk.addTenant({ kind: "box", owner: "owner@example.org" })).tenant_id;
    for (const n of [0, 1]) {
      const { tenant_id } = await desk.addTenant({ kind: "hosted" });
      const email = `o${n}@example.org`;
      await desk.addAccount(email);
      keys[n] = (await desk.addKey({ tenant: tenant_id, email, role: "owner" })).api_key;
    }
  });
  const paired = await hosted.call("POST", `/v1/tenants/${boxTenant}/pair`, {
    token: owner.token,
    body: { box_account_id: "0123456789abcdef", receipt: "ab".repeat(24) },
  });
  assert.equal(paired.status, 201, JSON.stringify(paired.body));
});
after(() => hosted.stop());

const bodies: Record<string, unknown> = {
  registerAccountDevice: { token: "a".repeat(64), platform: "ios" },
  pairAccount: { box_account_id: "fedcba9876543210", receipt: "cd".repeat(24) },
};

function call(operation: Operation, tid: string, token?: string): Promise<Answer> {
  const path = operation.path
    .replace("{tid}", tid)
    .replace("{aid}", owner.accountId)
    .replace("{token}", "b".repeat(64));
  if (operation.hasBody) assert.ok(bodies[operation.id], `no example body of ${operation.id}`);
  return hosted.call(operation.method, path, {
    ...(token === undefined ? {} : { token }),
    ...(operation.hasBody ? { body: bodies[operation.id] } : {}),
  });
}

const accountPlane = () => document.operations.filter(({ scheme }) => scheme === "session");

test("only a session opens the account plane", async () => {
  const bearers = [
    undefined,
    "pts_",
    "x",
    `pts_${"a".repeat(43)}`,
    keys[0],
    `pti_${boxTenant}_${"a".repeat(43)}`,
  ];
  assert.ok(accountPlane().length >= 7);
  for (const operation of accountPlane())
    for (const bearer of bearers) {
      const answer = await call(operation, boxTenant, bearer);
      assert.deepEqual(
        [answer.status, answer.body.error.code],
        [401, "unauthorized"],
        operation.id,
      );
      document.hold(operation, answer);
    }
});

test("a tenant is none for who isn't its member, and a session never opens the data plane", async () => {
  for (const operation of accountPlane().filter(({ path }) => path.includes("{tid}"))) {
    for (const tid of [boxTenant, "0".repeat(16)]) {
      const answer = await call(operation, tid, stranger.token);
      const isPairing = operation.id === "pairAccount";
      // Who comes later shows a receipt, which nobody here redeems.
      const statuses = isPairing && tid === boxTenant ? [401, 404] : [404];
      assert.ok(
        statuses.includes(answer.status),
        `${operation.id}: ${JSON.stringify(answer.body)}`,
      );
      document.hold(operation, answer);
    }
  }
  const pairings = await hosted.call("GET", `/v1/tenants/${boxTenant}/pairings`, {
    token: owner.token,
  });
  assert.deepEqual(
    pairings.body.pairings.map((pairing: { revoked_at: unknown }) => pairing.revoked_at),
    [null],
  );
  for (const operation of document.operations.filter(({ scheme }) => scheme === "apiKey")) {
    const path = operation.path.replaceAll(/\{[^}]+\}/g, "1");
    const answer = await hosted.call(operation.method, path, { token: owner.token });
    assert.equal(answer.status, 401, operation.id);
  }
});

test("the page of a box's pairing link is none here", async () => {
  for (const method of ["GET", "POST"]) {
    const answer = await hosted.call(method, "/pair?code=1");
    assert.deepEqual([answer.status, answer.body.error.code], [404, "not_found"]);
  }
});

test("one tenant's things are none to another, on every route", async () => {
  const [mine, theirs] = keys;
  const as = (token: string) => (method: string, path: string, body?: unknown) =>
    hosted.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  const me = as(mine);
  await me("POST", "/v1/projects", { name: "p" });
  const source = await me("POST", "/v1/projects/p/sources", { name: "s", retain_logs: true });
  await me("POST", "/v1/projects/p/rules", { name: "r" });
  const sched = { name: "r", timezone: "UTC", layers: [] };
  await me("POST", "/v1/projects/p/oncall/schedules", sched);
  const ingested = await hosted.call("POST", "/v1/ingest", {
    token: source.body.token,
    body: { message: "theirs alone" },
  });
  assert.deepEqual([ingested.status, ingested.body.alerted], [202, true]);

  for (const operation of document.operations.filter(({ scheme }) => scheme === "apiKey")) {
    if (!operation.path.includes("{")) continue;
    const path = operation.path
      .replace("/projects/{id}", "/projects/p")
      .replace("/alerts/{id}", "/alerts/1")
      .replaceAll(/\{(name|sid)\}/g, "r")
      .replaceAll(/\{[^}]+\}/g, "0123456789abcdef");
    const answer = await as(theirs)(operation.method, path);
    assert.ok([400, 404].includes(answer.status), `${operation.method} ${path}: ${answer.status}`);
  }
  const listed = await as(theirs)("GET", "/v1/alerts");
  assert.deepEqual(listed.body.alerts, []);
  assert.deepEqual((await as(theirs)("GET", "/v1/projects")).body.projects, []);
  const verbs = async (token: string) =>
    (await as(token)("GET", "/v1/audit")).body.entries.map(({ verb }: { verb: string }) => verb);
  assert.ok((await verbs(mine)).includes("createProject"));
  assert.deepEqual(
    [...new Set(await verbs(theirs))],
    ["hosted key add"],
    "what the operator did there, and nothing of the other tenant",
  );
  const kept = await me("GET", "/v1/alerts/1");
  assert.deepEqual([kept.status, kept.body.state], [200, "open"]);
});
