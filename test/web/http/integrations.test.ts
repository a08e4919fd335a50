import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { type Answer, type TestBox, testBox } from "../../support/box.ts";
import { answer, type Receiver, startReceiver } from "../../support/receiver.ts";
import { settle } from "../../support/until.ts";

let box: TestBox;
let receiver: Receiver;
let name = "";
let n = 0;
before(async () => {
  box = await testBox();
});
after(() => box.stop());
beforeEach(async () => {
  name = `p${++n}`;
  receiver = await startReceiver();
  await box.api("POST", "/v1/projects", { name });
});
afterEach(() => receiver.close());

const base = (path = "") => `/v1/projects/${name}/integrations${path}`;
const create = (body: object) => box.api("POST", base(), body);
const read = async (id: string) => (await box.api("GET", base(`/${id}`))).body;
const version = async () => {
  const { body } = await box.api("GET", "/v1/projects?limit=500");
  return body.projects.find((project: { name: string }) => project.name === name).version;
};
const fields = ({ body }: Answer) =>
  (body.error?.details ?? []).map((detail: { field: string }) => detail.field);

function assertError(got: Answer, status: number, code: string, ...named: string[]): void {
  assert.equal(got.status, status, JSON.stringify(got.body));
  assert.equal(got.body.error.code, code);
  if (named.length > 0) assert.deepEqual(fields(got), named);
}

const webhook = { type: "webhook", url: "http://127.0.0.1:9/hook" };
const telegram = { type: "telegram", token: "12345:telegram-token", chat_id: "-100200" };
const slack = { type: "slack", webhook_url: "http://127.0.0.1:9/services/T0/B0/slack-secret" };

describe("creating", () => {
  test("each type with what it needs", async () => {
    for (const body of [webhook, telegram, slack, { type: "apns" }]) {
      const made = await create({ ...body, name: `my ${body.type}` });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      assert.match(made.body.id, /^[0-9a-f]{16}$/);
      const { health, ...row } = await read(made.body.id);
      assert.equal(health.state, "never_tried");
      assert.deepEqual(row, {
        id: made.body.id,
        project: name,
        name: `my ${body.type}`,
        type: body.type,
        url: { webhook: webhook.url, slack: "http://127.0.0.1:9" }[body.type as string] ?? "",
        enabled: true,
        event_filter: "",
        consecutive_failures: 0,
        last_error: null,
        title_template: "",
        body_template: "",
        shared: false,
        except: [],
        created_at: Math.floor(box.clock.now() / 1000),
        ...(body.type === "apns" ? { device_count: 0 } : {}),
        ...(body.type === "slack" || body.type === "telegram" ? { storm_threshold: 10 } : {}),
      });
    }
    const { body } = await box.api("GET", base());
    assert.equal(body.integrations.length, 4);
  });

  test("a minted secret is answered once, a given one never", async () => {
    const minted = await create(webhook);
    assert.match(minted.body.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const given = await create({ ...webhook, secret: "hush-hush" });
    assert.deepEqual(Object.keys(given.body), ["id"]);
    assert.equal(JSON.stringify(await box.api("GET", base())).includes("hush"), false);
  });

  const missing: [object, string[]][] = [
    [{ type: "webhook" }, ["/url"]],
    [{ type: "webhook", url: "" }, ["/url"]],
    [{ type: "telegram" }, ["/token", "/chat_id"]],
    [{ type: "telegram", token: "1:a", chat_id: "" }, ["/chat_id"]],
    [{ type: "slack" }, ["/webhook_url"]],
  ];
  for (const [body, named] of missing)
    test(`${JSON.stringify(body)} lacks ${named}`, async () =>
      assertError(await create(body), 422, "missing_credential", ...named));

  const foreign: [object, string[]][] = [
    [{ type: "apns", url: "http://a/" }, ["/url"]],
    [{ type: "apns", secret: "s" }, ["/secret"]],
    [
      { type: "apns", token: "t", chat_id: "c", webhook_url: "u" },
      ["/webhook_url", "/token", "/chat_id"],
    ],
    [{ ...webhook, token: "t" }, ["/token"]],
    [{ ...slack, url: "http://a/" }, ["/url"]],
    [{ ...telegram, secret: "s" }, ["/secret"]],
  ];
  for (const [body, named] of foreign)
    test(`${JSON.stringify(body)} has what isn't its own`, async () =>
      assertError(await create(body), 422, "credential_not_allowed", ...named));

  const bad: [string, object, string][] = [
    ["no type", { url: webhook.url }, "/type"],
    ["an unknown type", { ...webhook, type: "pager" }, "/type"],
    [
      "an unknown kind of event",
      { ...webhook, events: ["alert.opened", "alert.burnt"] },
      "/events/1",
    ],
    ["17 events", { ...webhook, events: Array(17).fill("alert.opened") }, "/events"],
    ["no list of events", { ...webhook, events: "alert.opened" }, "/events"],
    ["a url of another scheme", { ...webhook, url: "ftp://a/" }, "/url"],
    ["a url with a password", { ...webhook, url: "http://a:b@c/" }, "/url"],
    ["a url of 2,049 characters", { ...webhook, url: `http://a/${"x".repeat(2040)}` }, "/url"],
    ["a secret of 257 characters", { ...webhook, secret: "x".repeat(257) }, "/secret"],
    ["a name of 129 characters", { ...webhook, name: "x".repeat(129) }, "/name"],
    ["an unknown field", { ...webhook, uri: "x" }, "/uri"],
    ["a Slack url that is none", { type: "slack", webhook_url: "hooks" }, "/webhook_url"],
  ];
  for (const [what, body, field] of bad)
    test(`${what} is 400`, async () =>
      assertError(await create(body), 400, "invalid_request", field));

  test("the limits themselves are taken", async () => {
    const most = {
      type: "webhook",
      name: "😀".repeat(128),
      secret: "s".repeat(256),
      url: `http://127.0.0.1/${"x".repeat(2048 - 17)}`,
      events: Array(16).fill("alert.opened"),
    };
    const made = await create(most);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal((await read(made.body.id)).event_filter, "alert.opened");
  });

  test("an address that may not be called is 403", async () => {
    for (const host of ["169.254.169.254", "[fe80::1]", "0.0.0.0", "2852039166", "224.0.0.1"]) {
      assertError(
        await create({ ...webhook, url: `http://${host}/` }),
        403,
        "address_refused",
        "/url",
      );
      const hook = { type: "slack", webhook_url: `http://${host}/` };
      assertError(await create(hook), 403, "address_refused", "/webhook_url");
    }
  });

  test("an absent project is 404 and not created", async () => {
    const answer = await box.api("POST", "/v1/projects/nowhere/integrations", webhook);
    assertError(answer, 404, "not_found");
    assertError(await box.api("GET", "/v1/projects/nowhere/integrations"), 404, "not_found");
  });
});

describe("changing", () => {
  const put = (id: string, body: object) => box.api("PUT", base(`/${id}`), body);

  test("what is left out stays, what is given changes, the type is pinned", async () => {
    const { id } = (await create({ ...webhook, name: "a", events: ["alert.opened"] })).body;
    assert.deepEqual((await put(id, {})).body, { updated: true });
    assert.deepEqual([(await read(id)).name, (await read(id)).event_filter], ["a", "alert.opened"]);
    await put(id, { type: "slack", name: "", events: [], url: "" });
    const changed = await read(id);
    assert.deepEqual(
      [changed.type, changed.name, changed.event_filter, changed.url],
      ["webhook", "", "", webhook.url],
    );
    await put(id, { url: `${webhook.url}2`, events: ["alert.resolved", "alert.opened"] });
    assert.equal((await read(id)).url, `${webhook.url}2`);
    assert.equal((await read(id)).event_filter, "alert.opened,alert.resolved");
  });

  test("what was read can be put back, of every type", async () => {
    for (const body of [webhook, telegram, slack, { type: "apns" }]) {
      const { id } = (await create(body)).body;
      const before = await read(id);
      const at = await version();
      assert.equal((await put(id, before)).status, 200);
      assert.deepEqual(await read(id), before);
      assert.equal(await version(), at);
    }
  });

  test("a blank secret keeps the stored one, a new one signs from then on", async () => {
    const { id } = (await create({ ...webhook, url: receiver.url, secret: "first-secret" })).body;
    const signature = async () => {
      assert.deepEqual((await box.api("POST", base(`/${id}/test`))).body, { ok: true });
      const request = await receiver.next();
      const { signature: sign } = await import("../../../src/ground/kit/sign.ts");
      const at = String(request.headers["x-service-timestamp"]);
      return (secret: string) =>
        sign(secret, at, request.body) === request.headers["x-service-signature"];
    };
    await put(id, { secret: "" });
    assert.ok((await signature())("first-secret"));
    await put(id, { secret: "second-secret" });
    assert.ok((await signature())("second-secret"));
  });

  test("one of two credentials may change; foreign ones are 422", async () => {
    const { id } = (await create(telegram)).body;
    assert.equal((await put(id, { token: "", chat_id: "7" })).status, 200);
    assertError(await put(id, { webhook_url: "http://a/" }), 422, "credential_not_allowed");
    assertError(await put(id, { url: "http://a/" }), 422, "credential_not_allowed", "/url");
    const pushes = (await create({ type: "apns" })).body.id;
    assertError(await put(pushes, { token: "x" }), 422, "credential_not_allowed", "/token");
    assertError(await put("0".repeat(16), {}), 404, "not_found");
  });

  test("the config version counts what changed something, and only that", async () => {
    const { id } = (await create({ ...webhook, secret: "same-secret" })).body;
    let at = await version();
    const grows = async (by: number, call: Promise<Answer>) => {
      assert.equal((await call).status, 200);
      assert.equal(await version(), at + by);
      at += by;
    };
    await grows(0, put(id, {}));
    await grows(0, put(id, { secret: "same-secret", url: webhook.url, name: "" }));
    await grows(1, put(id, { secret: "other-secret" }));
    await grows(1, put(id, { name: "b" }));
    await grows(1, box.api("POST", base(`/${id}/disable`)));
    await grows(0, box.api("POST", base(`/${id}/disable`)));
    await grows(1, box.api("POST", base(`/${id}/enable`)));
    await grows(0, box.api("POST", base(`/${id}/enable`)));
    await grows(1, box.api("DELETE", base(`/${id}`)));
  });
});

describe("the webhook view", () => {
  const hooks = (path = "") => `/v1/projects/${name}/webhooks${path}`;

  test("creates, lists, switches and deletes the same rows", async () => {
    const made = await box.api("POST", hooks(), { url: webhook.url, events: ["alert.escalated"] });
    assert.equal(made.status, 201);
    assert.deepEqual(Object.keys(made.body).sort(), ["id", "secret", "url"]);
    assert.match(made.body.secret, /^whsec_/);
    await create(telegram);
    const row = await read(made.body.id);
    const { name: _, type, title_template: _title, body_template: _body, ...more } = row;
    const { shared: _shared, except: _except, health: _health, ...endpoint } = more;
    assert.equal(type, "webhook");
    assert.deepEqual((await box.api("GET", hooks())).body, { endpoints: [endpoint] });
    const off = await box.api("PATCH", hooks(`/${made.body.id}`), { enabled: false });
    assert.deepEqual(off.body, { enabled: false });
    assert.equal((await read(made.body.id)).enabled, false);
    const gone = await box.api("DELETE", hooks(`/${made.body.id}`));
    assert.deepEqual(gone.body, { deleted: true });
    assertError(await box.api("GET", base(`/${made.body.id}`)), 404, "not_found");
  });

  test("a given secret is answered too, once", async () => {
    const made = await box.api("POST", hooks(), { url: webhook.url, secret: "mine-alone" });
    assert.equal(made.body.secret, "mine-alone");
  });

  test("refuses what isn't its own", async () => {
    assertError(await box.api("POST", hooks(), {}), 400, "invalid_request", "/url");
    assertError(await box.api("POST", hooks(), { url: "x" }), 400, "invalid_request", "/url");
    const metadata = { url: "http://169.254.169.254/" };
    assertError(await box.api("POST", hooks(), metadata), 403, "address_refused");
    const { id } = (await create(telegram)).body;
    assertError(await box.api("PATCH", hooks(`/${id}`), { enabled: true }), 404, "not_found");
    assertError(await box.api("DELETE", hooks(`/${id}`)), 404, "not_found");
    const mine = (await create(webhook)).body.id;
    assertError(await box.api("PATCH", hooks(`/${mine}`), {}), 400, "invalid_request", "/enabled");
    const other = await box.api("PATCH", hooks(`/${mine}`), { enabled: "no" });
    assertError(other, 400, "invalid_request", "/enabled");
  });
});

describe("test-fire", () => {
  test("goes out like a delivery, and leaves none", async () => {
    const { id, secret } = (await create({ ...webhook, url: `${receiver.url}/hook` })).body;
    assert.deepEqual((await box.api("POST", base(`/${id}/test`))).body, { ok: true });
    const request = await receiver.next();
    const event = JSON.parse(request.body);
    assert.deepEqual(
      [event.event, event.alert_id, event.project, event.test, event.tenant_id],
      ["alert.test", "test", name, true, box.tenant.id],
    );
    const { Webhook } = await import("standardwebhooks");
    // Its clock is the real one: the signature alone is judged.
    const standard = new Webhook(secret).sign(
      event.event_id,
      new Date(box.clock.now()),
      request.body,
    );
    assert.equal(request.headers["webhook-signature"], standard);
    assert.deepEqual((await box.api("GET", base(`/${id}/deliveries`))).body, { deliveries: [] });
  });

  test("a refusal is 200 with the reason, and no failure of the streak", async () => {
    receiver.always(answer(500, "secret stack trace"));
    const { id } = (await create({ ...webhook, url: receiver.url })).body;
    const { status, body } = await box.api("POST", base(`/${id}/test`));
    assert.deepEqual([status, body], [200, { ok: false, error: "http 500" }]);
    const row = await read(id);
    assert.deepEqual([row.consecutive_failures, row.last_error], [0, "http 500"]);
    const ready = await box.api("GET", "/readyz", undefined, null);
    assert.equal(ready.body.status, "degraded");
    assert.ok(JSON.stringify(ready.body).includes("webhook (it answered 500)"));
    receiver.always(answer(204));
    await box.api("POST", base(`/${id}/test`));
    assert.equal((await read(id)).last_error, null);
  });

  test("409 when disabled, 503 for apns on a box, 404 when absent", async () => {
    const { id } = (await create(webhook)).body;
    await box.api("POST", base(`/${id}/disable`));
    assertError(await box.api("POST", base(`/${id}/test`)), 409, "integration_disabled");
    const pushes = (await create({ type: "apns" })).body.id;
    assertError(await box.api("POST", base(`/${pushes}/test`)), 503, "sender_unavailable");
    assertError(await box.api("POST", base(`/${"0".repeat(16)}/test`)), 404, "not_found");
  });
});

describe("deliveries", () => {
  test("newest first, within the limits of the list", async () => {
    const token = await box.project(`${name}-d`);
    name = `${name}-d`;
    await box.api("POST", `/v1/projects/${name}/rules`, { name: "any", identifier_keys: ["k"] });
    const { id } = (await create({ ...webhook, url: receiver.url })).body;
    for (let i = 0; i < 3; i++) await box.ingest(token, { message: "down", keys: { k: i } });
    await settle(box);
    const { body } = await box.api("GET", base(`/${id}/deliveries`));
    assert.deepEqual(
      body.deliveries.map((row: { alert_id: string; status: string; attempts: number }) => [
        row.alert_id,
        row.status,
        row.attempts,
      ]),
      ["3", "2", "1"].map((alert) => [alert, "delivered", 1]),
    );
    assert.deepEqual(Object.keys(body.deliveries[0]).sort(), [
      "alert_id",
      "attempts",
      "created_at",
      "event",
      "id",
      "last_error",
      "next_attempt_at",
      "status",
    ]);
    const limited = await box.api("GET", base(`/${id}/deliveries?limit=1`));
    assert.deepEqual(limited.body.deliveries, [body.deliveries[0]]);
    assert.equal((await box.api("GET", base(`/${id}/deliveries?limit=200`))).status, 200);
    for (const limit of ["0", "201", "-1", "1.5", "x", ""])
      assertError(
        await box.api("GET", base(`/${id}/deliveries?limit=${limit}`)),
        400,
        "invalid_request",
        "?limit",
      );
    assertError(await box.api("GET", base(`/${"0".repeat(16)}/deliveries`)), 404, "not_found");
  });

  test("one can be sent again: a new row, the same event and bytes", async () => {
    const token = await box.project(`${name}-r`);
    name = `${name}-r`;
    await box.api("POST", `/v1/projects/${name}/rules`, { name: "any" });
    const { id } = (await create({ ...webhook, url: receiver.url })).body;
    await box.ingest(token, { message: "down" });
    await settle(box);
    const first = await receiver.next();
    const [row] = (await box.api("GET", base(`/${id}/deliveries`))).body.deliveries;
    const again = await box.api("POST", base(`/${id}/deliveries/${row.id}/resend`));
    assert.equal(again.status, 201);
    const pending = await box.api("POST", base(`/${id}/deliveries/${again.body.id}/resend`));
    assertError(pending, 409, "delivery_not_resendable");
    await settle(box);
    const second = await receiver.next();
    assert.equal(second.body, first.body);
    assert.equal(second.headers["webhook-id"], first.headers["webhook-id"]);
    assertError(await box.api("POST", base(`/${id}/deliveries/999999/resend`)), 404, "not_found");
    assertError(await box.api("POST", base(`/${id}/deliveries/x/resend`)), 404, "not_found");
    await box.api("POST", base(`/${id}/disable`));
    const off = await box.api("POST", base(`/${id}/deliveries/${row.id}/resend`));
    assertError(off, 409, "integration_disabled");
  });
});

describe("the relay's row", () => {
  test("is listed and switched, and neither edited nor deleted", async () => {
    const id = "00000000000000aa";
    box.tenant.store.write((tx) =>
      tx
        .sql(
          `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, relay, created_at)
           SELECT ?, id, 'hosted-relay', 'webhook', 'https://hosted.example/v1/relay/rk_1', 1, 'alert.opened', 1, 0 FROM projects WHERE name = ?`,
        )
        .run(id, name),
    );
    assertError(await box.api("PUT", base(`/${id}`), { name: "x" }), 409, "managed_integration");
    assertError(await box.api("DELETE", base(`/${id}`)), 409, "managed_integration");
    const hook = `/v1/projects/${name}/webhooks/${id}`;
    assertError(await box.api("DELETE", hook), 409, "managed_integration");
    assert.equal((await box.api("PATCH", hook, { enabled: false })).status, 200);
    assert.equal((await box.api("POST", base(`/${id}/enable`))).body.enabled, true);
    assert.equal((await box.api("GET", base())).body.integrations[0].name, "hosted-relay");
  });
});

test("device_count counts the devices of whoever asks", async () => {
  const { id } = (await create({ type: "apns" })).body;
  const member = box.person("member");
  const device = { token: "ab".repeat(32), platform: "ios" };
  assert.equal((await box.api("POST", "/v1/devices", device, member.key)).status, 200);
  const count = async (key: string) =>
    (await box.api("GET", base(`/${id}`), undefined, key)).body.device_count;
  assert.deepEqual([await count(member.key), await count(box.owner.key)], [1, 0]);
});
