import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { type Answer, type TestBox, testBox } from "../../support/box.ts";
import {
  answer,
  hang,
  type Receiver,
  reset,
  startReceiver,
  unavailable,
} from "../../support/receiver.ts";
import { busy, pass, settle } from "../../support/until.ts";

let box: TestBox;
let receiver: Receiver;
let name = "";
let token = "";
let n = 0;
before(async () => {
  box = await testBox();
});
after(() => box.stop());
beforeEach(async () => {
  name = `p${++n}`;
  receiver = await startReceiver();
  token = await box.project(name);
});
afterEach(() => receiver.close());

const base = (path = "") => `/v1/projects/${name}/actions${path}`;
const create = (body: object) => box.api("POST", base(), body);
const put = (id: string, body: object) => box.api("PUT", base(`/${id}`), body);
const read = async (id: string) => (await box.api("GET", base(`/${id}`))).body;
const runs = async (id: string) =>
  (await box.api("GET", base(`/${id}/executions`))).body.executions;
const rule = (body: object = {}) =>
  box.api("POST", `/v1/projects/${name}/rules`, { name: "any", ...body });
const version = async () =>
  (await box.api("GET", "/v1/projects?limit=500")).body.projects.find(
    (project: { name: string }) => project.name === name,
  ).version;
const fields = ({ body }: Answer) =>
  (body.error?.details ?? []).map((detail: { field: string }) => detail.field);

function assertError(got: Answer, status: number, code: string, ...named: string[]): void {
  assert.equal(got.status, status, JSON.stringify(got.body));
  assert.equal(got.body.error.code, code);
  if (named.length > 0) assert.deepEqual(fields(got), named);
}

const restart = () => ({ name: "restart", method: "POST", url: `${receiver.url}/restart` });

describe("creating", () => {
  test("an action is read without its secrets; a list shows dashes where they are", async () => {
    const made = await create({
      ...restart(),
      headers: { Authorization: "Bearer canary", "X-Team": "ops" },
      body: '{"do":"it"}',
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.match(made.body.id, /^[0-9a-f]{16}$/);
    const row = await read(made.body.id);
    assert.deepEqual(row, {
      id: made.body.id,
      project: name,
      ...restart(),
      header_keys: ["Authorization", "X-Team"],
      has_body: true,
      enabled: true,
      events: ["alert.opened"],
      event_filter: "alert.opened",
      timeout_seconds: 0,
      created_at: Math.floor(box.clock.now() / 1000),
    });
    const plain = { ...restart(), name: "a plain one" };
    await create(plain);
    const { actions } = (await box.api("GET", base())).body;
    assert.deepEqual(
      actions.map((each: Record<string, unknown>) => [each["name"], each["headers"], each["body"]]),
      [
        ["a plain one", undefined, undefined],
        ["restart", "-", "-"],
      ],
    );
  });

  const bad: [string, object, string][] = [
    ["no name", { name: undefined }, "/name"],
    ["an empty name", { name: "" }, "/name"],
    ["a name of 129 characters", { name: "x".repeat(129) }, "/name"],
    ["an unknown method", { method: "HEAD" }, "/method"],
    ["a lower-case method", { method: "post" }, "/method"],
    ["no url", { url: undefined }, "/url"],
    ["a url of 2,049 characters", { url: `http://a/${"x".repeat(2040)}` }, "/url"],
    ["a url of another scheme", { url: "file:///etc/passwd" }, "/url"],
    [
      "33 headers",
      { headers: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`h${i}`, ""])) },
      "/headers",
    ],
    ["a header that is no string", { headers: { a: 1 } }, "/headers/a"],
    ["a header name with a space", { headers: { "a b": "x" } }, "/headers/a b"],
    ["a header value with a line end", { headers: { a: "x\r\nb: y" } }, "/headers/a"],
    ["a body of 8,193 characters", { body: "x".repeat(8193) }, "/body"],
    ["an unknown event", { events: ["alert.resolved"] }, "/events/0"],
    ["three events", { events: ["alert.opened", "alert.opened", "alert.escalated"] }, "/events"],
    ["61 seconds", { timeout_seconds: 61 }, "/timeout_seconds"],
    ["less than no time", { timeout_seconds: -1 }, "/timeout_seconds"],
    ["a word for a flag", { enabled: "yes" }, "/enabled"],
    ["an unknown field", { uri: "x" }, "/uri"],
  ];
  for (const [what, change, field] of bad)
    test(`${what} is 400`, async () =>
      assertError(await create({ ...restart(), ...change }), 400, "invalid_request", field));

  for (const header of ["Host", "content-length", "Transfer-Encoding", "connection"])
    test(`the header ${header} is refused`, async () => {
      const got = await create({ ...restart(), headers: { [header]: "x" } });
      assertError(got, 400, "invalid_request", `/headers/${header}`);
    });

  test("the limits themselves are taken", async () => {
    const made = await create({
      name: "x".repeat(128),
      method: "DELETE",
      timeout_seconds: 60,
      body: "😀".repeat(8192),
      url: `http://127.0.0.1/${"x".repeat(2048 - 17)}`,
      headers: Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`h${i}`, "v"])),
      events: ["alert.opened", "alert.escalated"],
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  });

  test("403 for an address that may not be called, 404 for no project, 409 for a taken name", async () => {
    const metadata = { ...restart(), url: "http://169.254.169.254/latest" };
    assertError(await create(metadata), 403, "address_refused", "/url");
    const nowhere = await box.api("POST", "/v1/projects/nowhere/actions", restart());
    assertError(nowhere, 404, "not_found");
    await create(restart());
    assertError(await create(restart()), 409, "name_taken");
  });
});

describe("changing", () => {
  test("enabled, headers and body are kept when left out; an empty body clears it", async () => {
    const { id } = (
      await create({
        ...restart(),
        headers: { a: "b" },
        body: "x",
        enabled: false,
        timeout_seconds: 5,
      })
    ).body;
    assert.deepEqual((await put(id, { ...restart(), method: "PUT" })).body, { updated: true });
    let row = await read(id);
    assert.deepEqual(
      [row.enabled, row.header_keys, row.has_body, row.timeout_seconds, row.method],
      [false, ["a"], true, 0, "PUT"],
    );
    await put(id, { ...restart(), body: "", headers: {}, enabled: true });
    row = await read(id);
    assert.deepEqual([row.enabled, row.header_keys, row.has_body], [true, [], false]);
  });

  test("what was read can be put back and changes nothing", async () => {
    const { id } = (
      await create({ ...restart(), headers: { a: "b" }, events: ["alert.escalated"] })
    ).body;
    const [before, at] = [await read(id), await version()];
    assert.equal((await put(id, before)).status, 200);
    assert.equal((await put(id, { ...before, headers: { a: "b" } })).status, 200);
    assert.deepEqual(await read(id), before);
    assert.equal(await version(), at);
    await put(id, { ...before, headers: { a: "c" } });
    assert.equal(await version(), at + 1);
  });

  test("what a list shows can be put back: its dashes keep what is stored", async () => {
    for (const secrets of [
      { body: "B" },
      { headers: { a: "b" } },
      { headers: { a: "b" }, body: "B" },
    ]) {
      const { id } = (await create({ ...restart(), name: JSON.stringify(secrets), ...secrets }))
        .body;
      const { actions } = (await box.api("GET", base())).body;
      const at = await version();
      const listed = actions.find((action: { id: string }) => action.id === id);
      assert.equal((await put(id, listed)).status, 200);
      assert.equal(await version(), at, "nothing changed");
    }
    const { id } = (await create(restart())).body;
    await put(id, { ...restart(), body: "-" });
    assert.equal((await read(id)).has_body, true, "no list shows that dash");
  });

  test("400, 403, 404 and 409 as on create", async () => {
    const { id } = (await create(restart())).body;
    await create({ ...restart(), name: "other" });
    assertError(await put(id, { name: "x" }), 400, "invalid_request", "/method", "/url");
    assertError(await put(id, { ...restart(), url: "http://0.0.0.0/" }), 403, "address_refused");
    assertError(await put("0".repeat(16), restart()), 404, "not_found");
    assertError(await put("XYZ", restart()), 400, "invalid_request", "{aid}");
    assertError(await put(id, { ...restart(), name: "other" }), 409, "name_taken");
  });
});

describe("deleting", () => {
  test("a rule says which actions it runs, whether it names them or not", async () => {
    const path = `/v1/projects/${name}/rules/any`;
    const shown = async () => (await box.api("GET", path)).body;
    const names = async () =>
      (await shown()).runs_actions.map((action: { name: string }) => action.name);
    assert.deepEqual((await rule()).body.runs_actions, []);
    const add = async (more: object) => (await create({ ...restart(), ...more })).body.id;
    const [first, off] = [await add({}), await add({ name: "old", enabled: false })];
    const events = ["alert.escalated", "alert.opened"];
    const second = await add({ name: "page out", events });
    assert.deepEqual((await shown()).runs_actions, [
      { id: second, name: "page out", events },
      { id: first, name: "restart", events: ["alert.opened"] },
    ]);
    const put = await box.api("PUT", path, await shown());
    assert.deepEqual([put.status, put.body.actions], [200, undefined], "a read can be sent back");
    await box.api("PUT", path, { actions: [first, off] });
    assert.deepEqual(await names(), ["restart"]);
    const listed = await box.api("GET", `/v1/projects/${name}/rules`);
    assert.deepEqual(listed.body.rules, [await shown()]);
    await box.api("PUT", path, { actions: [] });
    assert.deepEqual(await names(), []);
  });

  test("409 while a rule names it, listing the rules; executions stay readable", async () => {
    const { id } = (await create(restart())).body;
    await rule({ actions: [id] });
    const used = await box.api("DELETE", base(`/${id}`));
    assertError(used, 409, "action_in_use");
    assert.deepEqual(used.body.error.details[0].value, "any");
    await box.ingest(token, { message: "down" });
    await settle(box);
    assert.equal((await runs(id)).length, 1);
    await box.api("DELETE", `/v1/projects/${name}/rules/any`);
    assert.deepEqual((await box.api("DELETE", base(`/${id}`))).body, { deleted: true });
    assertError(await box.api("GET", base(`/${id}`)), 404, "not_found");
    assert.equal((await runs(id)).length, 1);
    assertError(await box.api("DELETE", base(`/${id}`)), 404, "not_found");
    assertError(await box.api("GET", base(`/${"0".repeat(16)}/executions`)), 404, "not_found");
  });
});

describe("runs", () => {
  test("an opened alert runs it with its stored headers and body, or the event's", async () => {
    await rule();
    await create({
      ...restart(),
      headers: { "X-Key": "k", "content-type": "text/plain" },
      body: "go",
    });
    const plain = (await create({ ...restart(), name: "plain", url: `${receiver.url}/plain` }))
      .body;
    receiver.always(answer(200, "done"));
    await box.ingest(token, { message: "down" });
    await settle(box);
    const requests = [await receiver.next(), await receiver.next()];
    const stored = requests.find(({ path }) => path === "/restart");
    assert.deepEqual(
      [stored?.body, stored?.headers["x-key"], stored?.headers["content-type"]],
      ["go", "k", "text/plain"],
    );
    assert.equal(stored?.headers["x-service-signature"], undefined);
    const event = JSON.parse(requests.find(({ path }) => path === "/plain")?.body ?? "");
    assert.equal(event.event, "alert.opened");
    const [run] = await runs(plain.id);
    const { id, duration_ms, ...rest } = run;
    assert.match(id, /^[1-9][0-9]*$/);
    assert.ok(duration_ms >= 0);
    const at = Math.floor(box.clock.now() / 1000);
    assert.deepEqual(rest, {
      action_id: plain.id,
      alert_id: event.alert_id,
      event: "alert.opened",
      status: "succeeded",
      attempts: 1,
      status_code: 200,
      response_prefix: "done",
      error: "",
      executed_at: at,
      created_at: at,
    });
  });

  test("events and a rule's actions choose what runs", async () => {
    const opened = (await create(restart())).body.id;
    const escalated = (await create({ ...restart(), name: "e", events: ["alert.escalated"] })).body
      .id;
    const off = (await create({ ...restart(), name: "off", enabled: false })).body.id;
    const unnamed = (await create({ ...restart(), name: "unnamed" })).body.id;
    await rule({
      actions: [opened, escalated, off],
      escalations: [{ accounts: [box.owner.accountId], after_minutes: 1 }],
    });
    await box.ingest(token, { message: "down" });
    await pass(box, 60, 30);
    const counts = await Promise.all([opened, escalated, off, unnamed].map(runs));
    assert.deepEqual(
      counts.map((rows) => rows.map((row: { event: string }) => row.event)),
      [["alert.opened"], ["alert.escalated"], [], []],
    );
  });

  test("three attempts, 5 s and 30 s apart, on 5xx, 429 and broken connections", async () => {
    await rule();
    const { id } = (await create(restart())).body;
    receiver.once(answer(500), reset, unavailable("600"));
    await box.ingest(token, { message: "down" });
    const seen: number[] = [];
    for (let s = 0; s <= 40; s++) {
      await (s === 0 ? settle(box) : pass(box, 1));
      if (receiver.received.length > seen.length) seen.push(s);
    }
    assert.deepEqual(seen, [0, 5, 35]);
    const [run] = await runs(id);
    assert.deepEqual([run.status, run.attempts, run.status_code], ["failed", 3, 503]);
    assert.equal(run.error, "http 503");
  });

  test("404 is final; a time-out is final and says so, after the action's own time", async () => {
    await rule();
    const { id } = (await create({ ...restart(), timeout_seconds: 3 })).body;
    receiver.once(answer(404, "no"), hang);
    await box.ingest(token, { message: "down" });
    await settle(box);
    assert.equal((await runs(id))[0].status, "failed");
    assert.equal((await runs(id))[0].response_prefix, "no");
    await box.ingest(token, { message: "another thing" });
    await busy(box, () => receiver.received.length === 2, "the second run arrives");
    await box.clock.turn(2999);
    assert.equal((await runs(id))[0].status, "pending");
    await box.clock.turn(1);
    await settle(box);
    const [run] = await runs(id);
    assert.deepEqual([run.status, run.attempts, run.status_code], ["timed_out", 1, null]);
    await pass(box, 60, 5);
    assert.equal(receiver.received.length, 2);
  });

  test("an answer that echoes what was sent keeps no secret", async () => {
    await rule();
    const { id } = (
      await create({
        ...restart(),
        headers: { authorization: "Bearer canary-token" },
        body: "canary-body",
      })
    ).body;
    receiver.always(answer(200, "got Bearer canary-token and canary-body"));
    await box.ingest(token, { message: "down" });
    await settle(box);
    assert.equal((await runs(id))[0].response_prefix, "got [sealed] and [sealed]");
  });

  test("newest first, within the limits of the list", async () => {
    const { id } = (await create(restart())).body;
    for (let i = 0; i < 3; i++) await box.api("POST", base(`/${id}/test`));
    const rows = await runs(id);
    assert.ok(rows[0].id > rows[2].id);
    const limited = await box.api("GET", base(`/${id}/executions?limit=1`));
    assert.deepEqual(limited.body.executions, [rows[0]]);
    assert.equal((await box.api("GET", base(`/${id}/executions?limit=500`))).status, 200);
    for (const limit of ["0", "501", "1.0"])
      assertError(
        await box.api("GET", base(`/${id}/executions?limit=${limit}`)),
        400,
        "invalid_request",
        "?limit",
      );
  });
});

describe("test-fire", () => {
  test("runs once with what is stored and leaves one terminal execution", async () => {
    const { id } = (await create({ ...restart(), headers: { "x-key": "k" } })).body;
    receiver.once(answer(201, "made"));
    const fired = await box.api("POST", base(`/${id}/test`));
    assert.deepEqual([fired.status, fired.body], [200, { ok: true, status_code: 201 }]);
    const request = await receiver.next();
    assert.equal(request.headers["x-key"], "k");
    const event = JSON.parse(request.body);
    assert.deepEqual([event.event, event.alert_id, event.test], ["alert.test", "test", true]);
    const rows = await runs(id);
    assert.deepEqual(
      rows.map((row: { event: string; status: string; alert_id: string; attempts: number }) => [
        row.event,
        row.status,
        row.alert_id,
        row.attempts,
      ]),
      [["alert.test", "succeeded", "test", 1]],
    );
  });

  test("a failure is tried once, and is 200 with the reason", async () => {
    const { id } = (await create(restart())).body;
    receiver.always(answer(500));
    const fired = await box.api("POST", base(`/${id}/test`));
    assert.deepEqual(fired.body, { ok: false, status_code: 500, error: "http 500" });
    receiver.always(reset);
    const broken = await box.api("POST", base(`/${id}/test`));
    assert.deepEqual(broken.body, { ok: false, status_code: 0, error: "reset" });
    await pass(box, 60, 10);
    assert.equal(receiver.received.length, 2);
    assert.deepEqual(
      (await runs(id)).map((row: { status: string }) => row.status),
      ["failed", "failed"],
    );
  });

  test("it has the action's own time", async () => {
    const { id } = (await create({ ...restart(), timeout_seconds: 2 })).body;
    receiver.always(hang);
    const fired = box.api("POST", base(`/${id}/test`));
    await receiver.next();
    await box.clock.turn(2000);
    assert.deepEqual((await fired).body, { ok: false, status_code: 0, error: "timeout" });
    assert.equal((await runs(id))[0].status, "timed_out");
  });

  test("409 when disabled, 404 when absent, 400 for no id", async () => {
    const { id } = (await create({ ...restart(), enabled: false })).body;
    assertError(await box.api("POST", base(`/${id}/test`)), 409, "action_disabled");
    assertError(await box.api("POST", base(`/${"0".repeat(16)}/test`)), 404, "not_found");
    assertError(await box.api("POST", base("/x/test")), 400, "invalid_request", "{aid}");
  });
});
