import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { type FakeApns, startFakeApns } from "../support/apns.ts";
import type { Answer } from "../support/box.ts";
import {
  ask,
  type HostedPerson,
  signature,
  type TestHosted,
  testHosted,
  useApns,
} from "../support/hosted-role.ts";
import { answer, type Receiver, startReceiver } from "../support/receiver.ts";

let hosted: TestHosted;
let apns: FakeApns;
let box: Receiver;
let people = 0;

before(async () => {
  hosted = await testHosted({ lab: true });
  apns = await startFakeApns();
  box = await startReceiver();
  await useApns(hosted, apns);
});
after(async () => {
  await hosted.stop();
  await apns.close();
  await box.close();
});

const RECEIPT = "ab".repeat(24);
const token = (n: number) => n.toString(16).padStart(64, "0");
const person = () => hosted.person(`p${++people}@example.com`);
const code = ({ status, body }: Answer) => [status, body.error?.code];

const addTenant = (flags: { kind: "box" | "hosted"; owner?: string; boxUrl?: string }) =>
  hosted.desk(async (desk) => (await desk.addTenant(flags)).tenant_id);

const pair = (tid: string, who: HostedPerson, boxAccount: string, receipt = RECEIPT) =>
  hosted.call("POST", `/v1/tenants/${tid}/pair`, {
    token: who.token,
    body: { box_account_id: boxAccount, receipt },
  });

interface Paired {
  tid: string;
  owner: HostedPerson;
  credential: { keyId: string; secret: string };
  url: string;
}

async function paired(): Promise<Paired> {
  const owner = await person();
  const tid = await addTenant({ kind: "box", boxUrl: box.url });
  const { body } = await pair(tid, owner, "box-owner");
  const { relay_key_id: keyId, relay_secret: secret, relay_url: url } = body.relay;
  return { tid, owner, credential: { keyId, secret }, url };
}

/** A receipt that the box accepts for this account. */
const redeems = (boxAccount: string, boxTenant = "b0b0b0b0b0b0b0b0") =>
  box.once(answer(200, { box_account_id: boxAccount, tenant_id: boxTenant }));

const event = (fields: object = {}) =>
  JSON.stringify({
    event: "alert.opened",
    alert_id: "1",
    project: "shop",
    rule: "disk",
    template: "full",
    count: 1,
    level: 400,
    timestamp: Math.floor(hosted.clock.now() / 1000),
    ...fields,
  });

const relay = (box: Paired, body: string, skew = 0) =>
  ask(box.url, { method: "POST", body, headers: signature(hosted, box.credential, body, skew) });

test("devices of the session's account: registered, listed, removed, at most twenty", async () => {
  const { token: session } = await person();
  const put = (n: number, more = {}) =>
    hosted.call("POST", "/v1/account/devices", {
      token: session,
      body: { token: token(n), platform: "ios", ...more },
    });
  assert.deepEqual((await put(1, { critical_alerts: true })).body, { registered: true });
  const { body } = await hosted.call("GET", "/v1/account/devices", { token: session });
  const created_at = new Date(hosted.clock.now()).toISOString().replace(".000Z", "Z");
  assert.deepEqual(body.devices, [
    {
      token: token(1),
      platform: "ios",
      critical_alerts: true,
      created_at,
      last_seen_at: created_at,
    },
  ]);
  for (let n = 2; n <= 20; n++) assert.equal((await put(n)).status, 200);
  assert.deepEqual(code(await put(21)), [422, "too_many_devices"]);
  assert.deepEqual(code(await put(1, { token: "short" })), [422, "invalid_device_token"]);
  assert.deepEqual(code(await put(1, { platform: "" })), [400, "invalid_request"]);
  const remove = (path: string) =>
    hosted.call("DELETE", `/v1/account/devices/${path}`, { token: session });
  assert.equal((await remove(token(20))).status, 204);
  assert.deepEqual(code(await remove(token(20))), [404, "not_found"]);
});

test("the account routes accept a session and no other token", async () => {
  const tid = await addTenant({ kind: "hosted" });
  const { api_key: key } = await hosted.desk((desk) =>
    desk.addKey({ tenant: tid, email: "keeper@example.com" }),
  );
  const routes = [
    ["GET", "/v1/account/devices"],
    ["POST", "/v1/account/devices"],
    ["DELETE", `/v1/account/devices/${token(1)}`],
    ["POST", `/v1/tenants/${tid}/pair`],
    ["GET", `/v1/tenants/${tid}/pairings`],
    ["DELETE", `/v1/tenants/${tid}/pairings/0123456789abcdef`],
    ["POST", `/v1/tenants/${tid}/relay-key`],
  ] as const;
  const bearers = [
    undefined,
    key,
    "pts_nothing",
    `pts_${"x".repeat(43)}`,
    `pti_${tid}_${"x".repeat(43)}`,
  ];
  for (const [method, path] of routes) {
    for (const bearer of bearers) {
      const refused = await hosted.call(
        method,
        path,
        bearer === undefined ? {} : { token: bearer },
      );
      assert.deepEqual(code(refused), [401, "unauthorized"], `${method} ${path} ${bearer}`);
      assert.equal(refused.headers.get("www-authenticate"), "Bearer");
    }
  }
  const { token: session } = await person();
  for (const path of ["/v1/projects", "/v1/pull", "/v1/devices", "/v1/relay"])
    assert.deepEqual(code(await hosted.call("GET", path, { token: session })), [
      401,
      "unauthorized",
    ]);
});

test("the first pairing needs no receipt and is the only one that gets the credential", async () => {
  const { tid, owner, url, credential } = await paired();
  assert.match(credential.keyId, /^rk_[0-9a-f]{16}$/);
  assert.match(credential.secret, /^[0-9A-Za-z]{43}$/);
  assert.equal(url, `${hosted.url}/v1/relay/${credential.keyId}`);

  const second = await person();
  redeems("box-second");
  const later = await pair(tid, second, "box-second");
  assert.deepEqual([later.status, Object.keys(later.body)], [201, ["pairing"]]);
  const asked = box.received.at(-1);
  assert.deepEqual([asked?.method, asked?.path], ["GET", `/v1/pair/verify?receipt=${RECEIPT}`]);

  const created_at = Math.floor(hosted.clock.now() / 1000);
  const list = await hosted.call("GET", `/v1/tenants/${tid}/pairings`, { token: second.token });
  const row = { created_at, revoked_at: null };
  assert.deepEqual(list.body.pairings, [
    { account_id: owner.accountId, box_account_id: "box-owner", ...row },
    { account_id: second.accountId, box_account_id: "box-second", ...row },
  ]);
});

test("a receipt that the box refuses is a 401 that says why, and it is checked only once", async () => {
  const { tid } = await paired();
  const cases = [
    { box: answer(400, { error: {} }), says: /did not accept/ },
    { box: answer(302, "", { location: "/v1/pair/verify" }), says: /did not accept/ },
    { box: answer(200, { box_account_id: "box-x" }), says: /did not accept/ },
    {
      box: answer(200, { box_account_id: "other", tenant_id: "b0b0b0b0b0b0b0b0" }),
      says: /did not accept/,
    },
    { box: answer(200, `{"pad":"${"x".repeat(5000)}"}`), says: /did not accept/ },
    { box: answer(503, ""), says: /could not be reached/ },
  ];
  for (const { box: behaviour, says } of cases) {
    const before = box.received.length;
    box.once(behaviour);
    const refused = await pair(tid, await person(), "box-x");
    assert.deepEqual(code(refused), [401, "receipt_not_accepted"]);
    assert.match(refused.body.error.message, says);
    assert.equal(box.received.length, before + 1);
  }
  const unknown = await addTenant({ kind: "box" });
  await pair(unknown, await person(), "box-owner");
  assert.match((await pair(unknown, await person(), "box-x")).body.error.message, /no address yet/);
});

test("outside a lab a receipt is checked only over public https", async () => {
  const strict = await testHosted();
  try {
    for (const boxUrl of [
      box.url,
      "https://127.0.0.1:9",
      "https://10.0.0.1",
      "https://example.com:22",
      "https://example.com/?x=1",
    ]) {
      const before = box.received.length;
      const tid = await strict.desk(
        async (desk) => (await desk.addTenant({ kind: "box", boxUrl })).tenant_id,
      );
      const [first, second] = [
        await strict.person("a@example.com"),
        await strict.person("b@example.com"),
      ];
      const post = (who: HostedPerson, id: string) =>
        strict.call("POST", `/v1/tenants/${tid}/pair`, {
          token: who.token,
          body: { box_account_id: id, receipt: RECEIPT },
        });
      assert.equal((await post(first, "box-a")).status, 201);
      const refused = await post(second, "box-b");
      assert.deepEqual(code(refused), [401, "receipt_not_accepted"], boxUrl);
      assert.match(refused.body.error.message, /no public https address/, boxUrl);
      assert.equal(box.received.length, before, "nothing was called");
    }
  } finally {
    await strict.stop();
  }
});

test("which roles may list and end a tenant's pairings and rotate its key", async () => {
  const { tid, owner } = await paired();
  const [member, other, stranger] = [await person(), await person(), await person()];
  for (const [who, id] of [
    [member, "box-member"],
    [other, "box-other"],
  ] as const) {
    redeems(id);
    assert.equal((await pair(tid, who, id)).status, 201);
  }
  const list = (who: HostedPerson) =>
    hosted.call("GET", `/v1/tenants/${tid}/pairings`, { token: who.token });
  const rotate = (who: HostedPerson) =>
    hosted.call("POST", `/v1/tenants/${tid}/relay-key`, { token: who.token });
  const revoke = (who: HostedPerson, whose: string) =>
    hosted.call("DELETE", `/v1/tenants/${tid}/pairings/${whose}`, { token: who.token });

  assert.deepEqual([(await list(owner)).status, (await list(member)).status], [200, 200]);
  assert.deepEqual(code(await list(stranger)), [404, "not_found"]);
  assert.deepEqual(code(await rotate(member)), [403, "forbidden"]);
  assert.deepEqual(code(await rotate(stranger)), [404, "not_found"]);
  assert.deepEqual(Object.keys((await rotate(owner)).body).sort(), [
    "relay_key_id",
    "relay_secret",
  ]);
  assert.deepEqual(code(await revoke(member, other.accountId)), [403, "forbidden"]);
  assert.deepEqual(code(await revoke(stranger, other.accountId)), [404, "not_found"]);
  assert.deepEqual(code(await revoke(owner, stranger.accountId)), [404, "not_found"]);
  assert.deepEqual(code(await revoke(owner, "NO")), [400, "invalid_request"]);
  assert.deepEqual((await revoke(member, member.accountId)).body, { revoked: true });
  assert.deepEqual((await revoke(owner, member.accountId)).body, { revoked: false });
  assert.deepEqual((await revoke(owner, other.accountId)).body, { revoked: true });
  assert.deepEqual((await revoke(owner, owner.accountId)).body, { revoked: true });
  // Revoked, but still a member: a former member can look, and needs a receipt to come back.
  assert.equal(
    (await list(member)).body.pairings.filter(
      (row: { revoked_at: number | null }) => row.revoked_at !== null,
    ).length,
    3,
  );
  assert.deepEqual(code(await pair(tid, member, "box-owner", "short")), [400, "invalid_request"]);
  redeems("box-member");
  assert.equal((await pair(tid, member, "box-member")).status, 201);
  assert.deepEqual(code(await pair(tid, member, "box-other")), [409, "already_paired"]);
});

test("a tenant reserved for an owner pairs only with that account first, and a hosted tenant with none", async () => {
  const [owner, other] = [await person(), await person()];
  const email = `p${people - 1}@example.com`;
  const tid = await addTenant({ kind: "box", owner: email.toUpperCase() });
  assert.deepEqual(code(await pair(tid, other, "box-a")), [404, "not_found"]);
  assert.equal((await pair(tid, owner, "box-a")).status, 201);
  assert.deepEqual(code(await pair("0123456789abcdef", owner, "box-a")), [404, "not_found"]);

  const none = await addTenant({ kind: "hosted" });
  await hosted.desk((desk) => desk.addKey({ tenant: none, email }));
  assert.deepEqual(code(await pair(none, owner, "box-a")), [409, "hosted_tenant"]);
  const list = await hosted.call("GET", `/v1/tenants/${none}/pairings`, { token: owner.token });
  assert.deepEqual(code(list), [409, "hosted_tenant"]);
  const key = await hosted.call("POST", `/v1/tenants/${none}/relay-key`, { token: owner.token });
  assert.deepEqual(code(key), [409, "hosted_tenant"]);
});

test("fifty first pairings at once: one credential", async () => {
  const tid = await addTenant({ kind: "box", boxUrl: box.url });
  box.always(answer(400, {}));
  const sessions = await Promise.all(Array.from({ length: 50 }, person));
  const answers = await Promise.all(sessions.map((who, n) => pair(tid, who, `box-${n}`)));
  box.always(answer(204));
  const count = (status: number) => answers.filter((a) => a.status === status).length;
  assert.deepEqual([count(201), count(401)], [1, 49]);
  assert.equal(answers.filter(({ body }) => body.relay !== undefined).length, 1);
});

test("a box's clock may differ by 300 s either way, not 301", async () => {
  const to = await paired();
  const off = async (skew: number) => relay(to, event({ alert_id: String(skew) }), skew);
  assert.deepEqual((await off(300)).body, { relayed: false, devices: 0 });
  assert.equal((await off(-300)).status, 200);
  for (const skew of [301, -301]) {
    const refused = await off(skew);
    assert.deepEqual(code(refused), [400, "clock_skew"]);
    assert.match(refused.body.error.message, skew > 0 ? /301 s ahead/ : /301 s behind/);
    const now = Math.floor(hosted.clock.now() / 1000);
    assert.equal(refused.body.error.details[0].value, String(now));
    assert.equal(Date.parse(refused.headers.get("date") ?? "") / 1000, now);
  }
});

test("a relayed body of 65,536 bytes is accepted, one of 65,537 is refused unread", async () => {
  const to = await paired();
  const padded = (bytes: number) =>
    event({ pad: "" }).replace(
      '"pad":""',
      `"pad":"${"x".repeat(bytes - event({ pad: "" }).length)}"`,
    );
  assert.equal(Buffer.byteLength(padded(65_536)), 65_536);
  assert.equal((await relay(to, padded(65_536))).status, 200);
  const over = await raw(to.url, {
    "content-length": "65537",
    ...signature(hosted, to.credential, ""),
  });
  assert.deepEqual([over.status, over.body.error.code], [413, "body_too_large"]);
  assert.equal(over.connection, "close");
});

test("a relayed body without Content-Length is refused, chunked or not", async () => {
  const to = await paired();
  const headers = signature(hosted, to.credential, event());
  const chunked = await raw(to.url, { ...headers, "transfer-encoding": "chunked" }, event());
  assert.deepEqual([chunked.status, chunked.body.error.code], [411, "length_required"]);
  const bare = await raw(to.url, headers);
  assert.equal(bare.status, 411);
});

test("unknown key, revoked key and bad signature are one answer, byte for byte", async () => {
  const to = await paired();
  const body = event();
  const headers = signature(hosted, to.credential, body);
  const post = async (url: string, given: Record<string, string>) => {
    const refused = await fetch(url, { method: "POST", body, headers: given });
    const kept = [...refused.headers].filter(([name]) => !["x-request-id", "date"].includes(name));
    return JSON.stringify([refused.status, kept, await refused.text()]);
  };
  const unknown = await post(`${hosted.url}/v1/relay/rk_0123456789abcdef`, headers);
  const bad = await post(to.url, { ...headers, "x-service-signature": "0".repeat(64) });
  const misshapen = await post(to.url, { ...headers, "x-service-signature": "no" });
  const path = `/v1/tenants/${to.tid}/relay-key`;
  await hosted.call("POST", path, { token: to.owner.token });
  const revoked = await post(to.url, headers);
  assert.deepEqual(new Set([unknown, bad, misshapen, revoked]).size, 1);
  assert.match(unknown, /^\[401,/);
  const noTime = await ask(to.url, {
    method: "POST",
    body,
    headers: { "x-service-signature": "0".repeat(64) },
  });
  assert.deepEqual(code(noTime), [400, "invalid_request"]);
});

test("a page rings once, a replay is answered as a duplicate, and a failed page may be tried again", async () => {
  const to = await paired();
  const device = token(1000);
  await hosted.call("POST", "/v1/account/devices", {
    token: to.owner.token,
    body: { token: device, platform: "ios" },
  });
  const body = event({ alert_id: "7" });
  assert.deepEqual((await relay(to, body)).body, { relayed: true, devices: 1 });
  assert.deepEqual((await relay(to, body)).body, { relayed: true, devices: 1, duplicate: true });
  assert.deepEqual(apns.delivered(), [device]);

  apns.script(device, { status: 503, reason: "ServiceUnavailable", retryAfter: "7" });
  const next = event({ alert_id: "8" });
  const failed = await relay(to, next);
  assert.deepEqual(code(failed), [502, "push_failed"]);
  assert.equal(failed.headers.get("retry-after"), "7");
  assert.deepEqual((await relay(to, next)).body, { relayed: true, devices: 1 });

  let release = () => {};
  const until = new Promise<void>((done) => {
    release = done;
  });
  apns.script(device, { until, next: { status: 200 } });
  const slow = event({ alert_id: "9" });
  const seen = apns.seen(apns.received.length + 1);
  const first = relay(to, slow);
  await seen;
  const busy = await relay(to, slow);
  assert.deepEqual(code(busy), [409, "push_in_flight"]);
  assert.equal(busy.headers.get("retry-after"), "2");
  release();
  assert.deepEqual((await first).body, { relayed: true, devices: 1 });

  assert.deepEqual(code(await relay(to, "[]")), [400, "invalid_request"]);
});

test("a box that sends too much gets 503 and Retry-After, another box doesn't", async () => {
  const small = await testHosted({ relayRate: "1" });
  try {
    const boxes = [];
    for (const name of ["a", "b"]) {
      const who = await small.person(`${name}@example.com`);
      const tid = await small.desk(
        async (desk) => (await desk.addTenant({ kind: "box" })).tenant_id,
      );
      const { body } = await small.call("POST", `/v1/tenants/${tid}/pair`, {
        token: who.token,
        body: { box_account_id: "x", receipt: RECEIPT },
      });
      boxes.push(body.relay);
    }
    const [loud, quiet] = boxes;
    const post = (to: { relay_url: string; relay_secret: string }, n: number) => {
      const body = event({ alert_id: String(n) });
      const headers = signature(small, { secret: to.relay_secret }, body);
      return ask(to.relay_url, { method: "POST", body, headers });
    };
    const answers = [];
    for (let n = 0; n < 61; n++) answers.push(await post(loud, n));
    assert.deepEqual(
      answers.map(({ status }) => status).filter((status) => status !== 200),
      [503],
    );
    assert.deepEqual(code(answers[60] as Answer), [503, "relay_unavailable"]);
    assert.equal(answers[60]?.headers.get("retry-after"), "1");
    assert.equal((await post(quiet, 1)).status, 200);
    await small.clock.turn(1000);
    assert.equal((await post(loud, 99)).status, 200);
  } finally {
    await small.stop();
  }
});

test("the hosted role has no routes of the box, and its OpenAPI document shows its own", async () => {
  for (const [method, path] of [
    ["POST", "/v1/pair"],
    ["GET", "/v1/pair"],
    ["GET", "/v1/pair/verify?receipt=x"],
    ["POST", "/v1/pair/codes"],
  ] as const)
    assert.deepEqual(
      code(await hosted.call(method, path)),
      [404, "not_found"],
      `${method} ${path}`,
    );
  const tid = await addTenant({ kind: "hosted" });
  const { api_key: key } = await hosted.desk((desk) =>
    desk.addKey({ tenant: tid, email: "k@example.com" }),
  );
  const read = await hosted.call("GET", "/v1/relay", { token: key });
  assert.deepEqual(read.body, { configured: false, name: "", relay_url: "" });
  const relay_url = "https://relay.example";
  const put = await hosted.call("PUT", "/v1/relay", {
    token: key,
    body: { relay_url, relay_secret: "x".repeat(32) },
  });
  assert.deepEqual(code(put), [404, "not_found"]);
  const { body } = await hosted.call("GET", "/v1/openapi.json");
  const paths = Object.keys(body.paths);
  for (const path of [
    "/v1/relay/{key_id}",
    "/v1/account/devices",
    "/v1/tenants/{tid}/pair",
    "/v1/projects",
    "/v1/ingest",
  ])
    assert.ok(paths.includes(path), path);
  assert.ok(!paths.some((path) => path.startsWith("/v1/pair")));
  assert.deepEqual(Object.keys(body.paths["/v1/relay"]), ["get"]);
  assert.deepEqual(body.paths["/v1/account/devices"].get.security, [{ session: [] }]);
});

test("readiness names what is missing, and metrics are closed unless configured", async () => {
  const { body, status } = await hosted.call("GET", "/readyz");
  assert.deepEqual(
    [status, body.checks.map(({ name }: { name: string }) => name)],
    [200, ["registry", "apns", "tenants", "boxes"]],
  );
  assert.deepEqual(code(await hosted.call("GET", "/metrics")), [401, "unauthorized"]);
  const open = await testHosted({ metricsOpen: true });
  try {
    assert.match((await open.call("GET", "/metrics")).body, /box_hosted_tenants_open 0/);
    await open.clock.turn(1000);
    const ready = await until(async () => {
      const { body: health } = await open.call("GET", "/readyz");
      return health.status === "degraded" ? health : null;
    });
    assert.match(ready.checks[1].detail, /no APNs key/);
  } finally {
    await open.stop();
  }
});

/** Calls until there is an answer; the test's time limit ends it. */
async function until<T>(look: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== null) return found;
  }
}

/** A request with exactly these headers, and nothing after them without `body`. */
function raw(
  url: string,
  headers: Record<string, string>,
  body?: string,
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
): Promise<{ status: number; connection: string | undefined; body: any }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, agent: false }, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8");
      incoming.on("data", (part: string) => {
        text += part;
      });
      incoming.on("end", () => {
        sent.destroy();
        resolve({
          status: incoming.statusCode ?? 0,
          connection: incoming.headers.connection,
          body: JSON.parse(text),
        });
      });
    });
    sent.on("error", (error) => (sent.destroyed ? undefined : reject(error)));
    if (headers["content-length"] !== undefined) sent.flushHeaders();
    else if (body === undefined) {
      // Otherwise Node adds a length to a POST without a body.
      sent.useChunkedEncodingByDefault = false;
      sent.end();
    } else sent.end(body);
  });
}
