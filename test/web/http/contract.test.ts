import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { type Answer, type TestBox, testBox } from "../../support/box.ts";
import { until } from "../../support/until.ts";

let box: TestBox;
let token: string;
before(async () => {
  box = await testBox();
  token = await box.project("p", { retain_logs: true });
});
after(() => box.stop());

const fields = (answer: Answer) =>
  (answer.body.error.details ?? []).map((detail: { field?: string }) => detail.field);

function assertError(answer: Answer, status: number, code: string, field?: string): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.error.code, code);
  assert.equal(answer.body.error.request_id, answer.headers.get("x-request-id"));
  assert.ok(answer.body.error.message.length > 0);
  if (field !== undefined) assert.ok(fields(answer).includes(field), JSON.stringify(answer.body));
}

describe("every answer", () => {
  test("carries a request id, no-store and nosniff", async () => {
    const answer = await box.api("GET", "/v1/projects");
    assert.match(answer.headers.get("x-request-id") ?? "", /^[0-9a-f]{16}$/);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  });

  test("unknown route, wrong method and bad path are errors of the one shape", async () => {
    assertError(await box.api("GET", "/v1/nothing"), 404, "not_found");
    const wrong = await box.api("DELETE", "/v1/projects");
    assertError(wrong, 405, "method_not_allowed");
    assert.equal(wrong.headers.get("allow"), "GET, HEAD, POST");
    assertError(await box.api("GET", "/v1/projects/%E0%A4%A/sources"), 400, "invalid_request");
  });

  test("HEAD never runs a GET that waits", async () => {
    const pulled = await fetch(`${box.url}/v1/pull?wait=60`, {
      method: "HEAD",
      headers: { authorization: `Bearer ${box.owner.key}` },
    });
    assert.equal(pulled.status, 405);
    assert.equal((await fetch(`${box.url}/healthz`, { method: "HEAD" })).status, 200);
  });
});

describe("tokens", () => {
  const bad = ["", "x", "ptk_", "pts_abc", `ptk_${"0".repeat(16)}_${"a".repeat(43)}`];
  for (const key of bad) {
    test(`"${key.slice(0, 8)}" opens nothing`, async () => {
      const answer = await box.api("GET", "/v1/projects", undefined, key);
      assertError(answer, 401, "unauthorized");
      assert.equal(answer.headers.get("www-authenticate"), "Bearer");
    });
  }

  test("the planes don't cross", async () => {
    assertError(await box.api("GET", "/v1/projects", undefined, token), 401, "unauthorized");
    assertError(await box.ingest(box.owner.key, { message: "x" }), 401, "unauthorized");
    assertError(await box.api("GET", "/v1/projects", undefined, null), 401, "unauthorized");
  });

  test("manager operations need a live role of owner or admin", async () => {
    const member = box.person("member");
    await box.api("POST", "/v1/projects", { name: "managed" });
    assertError(
      await box.api("DELETE", "/v1/projects/managed", undefined, member.key),
      403,
      "forbidden",
    );
    assertError(
      await box.api("POST", "/v1/projects/managed/rename", { name: "x" }, member.key),
      403,
      "forbidden",
    );
    box.tenant.store.write((tx) =>
      tx.sql("UPDATE accounts SET role = 'admin' WHERE id = ?").run(member.accountId),
    );
    assert.equal(
      (await box.api("DELETE", "/v1/projects/managed", undefined, member.key)).status,
      200,
    );
  });
});

describe("bodies", () => {
  const post = (body: unknown) => box.api("POST", "/v1/projects", body);
  const cases: [string, unknown, string][] = [
    ["no name", {}, "/name"],
    ["an unknown field", { name: "ok", nmae: "x" }, "/nmae"],
    ["a number for a name", { name: 5 }, "/name"],
    ["129 characters", { name: "a".repeat(129) }, "/name"],
    ["an empty name", { name: "" }, "/name"],
    ["a dot", { name: "." }, "/name"],
    ["two dots", { name: ".." }, "/name"],
    ["a slash", { name: "a/b" }, "/name"],
    ["a control character", { name: "a\nb" }, "/name"],
    ["white space at an end", { name: " a" }, "/name"],
    ["NUL", { name: "a\0b" }, "/name"],
    ["half a surrogate pair", '{"name":"\\ud800"}', "/name"],
  ];
  for (const [what, body, field] of cases) {
    test(`${what} is refused by name`, async () =>
      assertError(await post(body), 400, "invalid_request", field));
  }

  test("128 code points are taken, surrogate pairs counted once", async () => {
    assert.equal((await post({ name: "😀".repeat(128) })).status, 201);
    assertError(await post({ name: "😀".repeat(129) }), 400, "invalid_request", "/name");
  });

  test("bytes that are no UTF-8 are refused; an event's become U+FFFD", async () => {
    const sent = async (path: string, key: string, body: Buffer) => {
      const headers = { authorization: `Bearer ${key}` };
      const answer = await fetch(box.url + path, { method: "POST", headers, body });
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    };
    for (const byte of [0xff, 0xfc, 0x80, 0xc3]) {
      const body = Buffer.concat([Buffer.from('{"name":"p'), Buffer.of(byte, 0x22, 0x7d)]);
      assertError(await sent("/v1/projects", box.owner.key, body), 400, "invalid_json");
    }
    const event = Buffer.from('{"message":"grün"}', "latin1");
    assert.equal((await sent("/v1/ingest", token, event)).status, 202);
    const { messages } = (await box.api("GET", "/v1/projects/p/logtail?limit=1")).body;
    assert.equal(messages[0].message, "gr\ufffdn");
  });

  test("JSON that is none, or too deep, is 400; a body over 128 KiB 413; an encoding 415", async () => {
    assertError(await post("{"), 400, "invalid_json");
    assertError(await post(`${'{"a":'.repeat(33)}1${"}".repeat(33)}`), 400, "invalid_json");
    assertError(await post(`{"name":"${"a".repeat(128 * 1024)}"}`), 413, "body_too_large");
    const answer = await fetch(`${box.url}/v1/projects`, {
      method: "POST",
      headers: { authorization: `Bearer ${box.owner.key}`, "content-encoding": "gzip" },
      body: "{}",
    });
    assert.equal(answer.status, 415);
  });

  test("a body over the cap is refused when it comes in chunks", async () => {
    const chunks = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 40; i++) controller.enqueue(new TextEncoder().encode("a".repeat(4096)));
        controller.close();
      },
    });
    const answer = await fetch(`${box.url}/v1/projects`, {
      method: "POST",
      headers: { authorization: `Bearer ${box.owner.key}` },
      body: chunks,
      duplex: "half",
    } as RequestInit);
    assert.equal(answer.status, 413);
  });

  test("whoever goes on sending is cut off soon after the answer, not with it", async () => {
    const { hostname, port } = new URL(box.url);
    for (const [path, key] of [
      ["/v1/projects", box.owner.key],
      ["/v1/ingest", token],
    ] as const) {
      const socket = connect(Number(port), hostname);
      let heard = "";
      socket.on("data", (data) => (heard += data));
      socket.on("error", () => {});
      const head = `Host: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${2 ** 40}`;
      socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n\r\n`);
      const more = setInterval(() => socket.write(Buffer.alloc(4096)), 10);
      const closed = new Promise((done) => socket.on("close", done));
      await until(() => heard !== "", "an answer");
      await box.clock.turn(2_000);
      await closed;
      clearInterval(more);
      assert.match(heard, /^HTTP\/1\.1 413 /, path);
      assert.doesNotMatch(heard, /^connection: close/im, path);
    }
  });
});

describe("what only a read returns", () => {
  test("is passed over; what another write takes is refused by its name", async () => {
    const made = async (path: string, body: object) => await box.api("POST", path, body);
    const source = { name: "whole", retain_logs: false, created_at: 1 };
    assert.equal((await made("/v1/projects/p/sources", source)).status, 201);
    for (const [path, body] of [
      ["/v1/projects", { name: "with-ladder", default_ladder: "night" }],
      ["/v1/projects/p/sources", { name: "signed", signed: true }],
    ] as const) {
      const refused = await made(path, body);
      assert.equal(refused.status, 400, path);
      assert.match(refused.body.error.message, /default_ladder|signed/);
    }
  });

  test("a body that calls what its address names something else is refused", async () => {
    const days = { dates: ["2026-12-25"] };
    for (const [path, body] of [
      ["/v1/holidays/de", { ...days, name: "fr" }],
      ["/v1/projects/p/sources/app", { retain_logs: false, name: "other" }],
      ["/v1/gateways/email", { kind: "twilio", url: "smtp://mail.example.com" }],
    ] as const) {
      const refused = await box.api("PUT", path, body);
      assertError(refused, 409, "name_mismatch");
      assert.match(refused.body.error.details[0].field, /^\/(?:name|kind)$/, path);
    }
    assert.equal((await box.api("GET", "/v1/holidays/de")).status, 404);
    assert.equal((await box.api("PUT", "/v1/holidays/de", { ...days, name: "de" })).status, 200);
  });
});

describe("queries", () => {
  const cases: [string, string][] = [
    ["/v1/projects?limit=0", "?limit"],
    ["/v1/projects?limit=501", "?limit"],
    ["/v1/projects?limit=05", "?limit"],
    ["/v1/projects?limit=5.0", "?limit"],
    ["/v1/projects?limit=1&limit=2", "?limit"],
    ["/v1/projects?limti=1", "?limti"],
    [`/v1/projects?after=${"a".repeat(201)}`, "?after"],
    ["/v1/pull?wait=61", "?wait"],
    ["/v1/pull?cursor=-1", "?cursor"],
    ["/v1/pull?cursor=9007199254740993", "?cursor"],
    ["/v1/projects/p/logtail?limit=201", "?limit"],
    [`/v1/projects/p/logtail?template=${"a".repeat(129)}`, "?template"],
    ["/v1/alerts?state=closed", "?state"],
  ];
  for (const [path, field] of cases) {
    test(`${path.slice(0, 60)} names ${field}`, async () =>
      assertError(await box.api("GET", path), 400, "invalid_request", field));
  }
  test("the limits themselves are taken", async () => {
    for (const path of [
      "/v1/projects?limit=500",
      "/v1/pull?cursor=0&wait=0",
      "/v1/projects/p/logtail?limit=200",
    ]) {
      assert.equal((await box.api("GET", path)).status, 200);
    }
  });
});

describe("projects", () => {
  test("pages go by name and say where to go on", async () => {
    for (const name of ["page-a", "page-b", "page-c"])
      await box.api("POST", "/v1/projects", { name });
    const first = await box.api("GET", "/v1/projects?after=page-&limit=2");
    assert.deepEqual(
      [first.body.projects.map((p: { name: string }) => p.name), first.body.next],
      [["page-a", "page-b"], "page-b"],
    );
    const entry = first.body.projects[0];
    assert.deepEqual(Object.keys(entry).sort(), [
      "created_at",
      "default_ladder",
      "name",
      "open_alert_count",
      "rule_count",
      "source_count",
      "version",
    ]);
  });

  test("a taken name is 409; renaming keeps tokens, to the same name changes nothing", async () => {
    const renamed = await box.project("before");
    assertError(await box.api("POST", "/v1/projects", { name: "before" }), 409, "name_taken");
    assertError(
      await box.api("POST", "/v1/projects/before/rename", { name: "p" }),
      409,
      "name_taken",
    );
    assert.deepEqual(
      (await box.api("POST", "/v1/projects/before/rename", { name: "after" })).body,
      { name: "after" },
    );
    assert.equal((await box.ingest(renamed, { message: "x" })).status, 202);
    const version = async () =>
      (await box.api("GET", "/v1/projects?after=afte&limit=1")).body.projects[0].version as number;
    const before = await version();
    assert.equal(
      (await box.api("POST", "/v1/projects/after/rename", { name: "after" })).status,
      200,
    );
    assert.equal(await version(), before);
    assertError(
      await box.api("POST", "/v1/projects/before/rename", { name: "x" }),
      404,
      "not_found",
    );
  });

  test("a deleted project takes all with it and its alert ids are never used again", async () => {
    const doomed = await box.project("doomed");
    await box.api("POST", "/v1/projects/doomed/rules", { name: "any" });
    await box.ingest(doomed, { message: "the last words" });
    const [alert] = (await box.api("GET", "/v1/alerts?project=doomed")).body.alerts;
    assert.deepEqual((await box.api("DELETE", "/v1/projects/doomed")).body, { deleted: true });
    assertError(await box.api("GET", `/v1/alerts/${alert.id}`), 404, "not_found");
    assertError(await box.ingest(doomed, { message: "x" }), 401, "unauthorized");
    const next = await box.project("heir");
    await box.api("POST", "/v1/projects/heir/rules", { name: "any" });
    await box.ingest(next, { message: "the first words" });
    const [heir] = (await box.api("GET", "/v1/alerts?project=heir")).body.alerts;
    assert.ok(Number(heir.id) > Number(alert.id));
  });
});

describe("sources", () => {
  test("create, list without tokens, update, rotate, delete", async () => {
    await box.api("POST", "/v1/projects", { name: "src" });
    const made = await box.api("POST", "/v1/projects/src/sources", { name: "a b%c" });
    assert.match(made.body.token, new RegExp(`^pti_${box.tenant.id}_[0-9A-Za-z]{43}$`));
    assertError(
      await box.api("POST", "/v1/projects/src/sources", { name: "a b%c" }),
      409,
      "name_taken",
    );
    const list = await box.api("GET", "/v1/projects/src/sources");
    assert.deepEqual(list.body.sources.map(Object.keys), [
      ["created_at", "name", "retain_logs", "kind", "room", "options", "signed"],
    ]);
    assert.equal(list.body.sources[0].retain_logs, false);
    const path = `/v1/projects/src/sources/${encodeURIComponent("a b%c")}`;
    assertError(await box.api("PUT", path, {}), 400, "invalid_request", "/retain_logs");
    assert.deepEqual((await box.api("PUT", path, { name: "a b%c", retain_logs: true })).body, {
      name: "a b%c",
      retain_logs: true,
    });
    const options = { logfmt: true, level_from_text: false };
    await box.api("PUT", path, { retain_logs: true, options });
    await box.api("PUT", path, { retain_logs: true });
    const [kept] = (await box.api("GET", "/v1/projects/src/sources")).body.sources;
    assert.deepEqual(kept.options, options);
    assertError(
      await box.api("PUT", path, { retain_logs: true, options: { colour: "red" } }),
      400,
      "invalid_request",
      "/options/colour",
    );
    const rotated = await box.api("POST", `${path}/rotate-token`);
    assertError(await box.ingest(made.body.token, { message: "x" }), 401, "unauthorized");
    assert.equal((await box.ingest(rotated.body.token, { message: "x" })).status, 202);
    await box.api("POST", "/v1/projects/src/rules", {
      name: "names it",
      match: { sources: ["a b%c"] },
    });
    const used = await box.api("DELETE", path);
    assertError(used, 409, "source_in_use");
    assert.equal(used.body.error.details[0].value, "names it");
    await box.api("DELETE", `/v1/projects/src/rules/${encodeURIComponent("names it")}`);
    assert.equal((await box.api("DELETE", path)).status, 200);
    assertError(await box.ingest(rotated.body.token, { message: "x" }), 401, "unauthorized");
    assertError(await box.api("DELETE", path), 404, "not_found");
  });
});

describe("rules", () => {
  const post = (body: unknown) => box.api("POST", "/v1/projects/p/rules", body);
  const cases: [string, object, string][] = [
    ["no name", {}, "/name"],
    ["a name of 201", { name: "a".repeat(201) }, "/name"],
    [
      "an unknown operator",
      { name: "r", conditions: [{ key: "a", op: "like", value: 1 }] },
      "/conditions/0/op",
    ],
    [
      "a condition without a key",
      { name: "r", conditions: [{ op: "eq", value: 1 }] },
      "/conditions/0/key",
    ],
    ["a count of 0", { name: "r", fire_after: { count: 0 } }, "/fire_after/count"],
    [
      "a window of 0",
      { name: "r", fire_after: { window_minutes: 0 } },
      "/fire_after/window_minutes",
    ],
    ["a level below 0", { name: "r", match: { min_level: -1 } }, "/match/min_level"],
    ["a level as text", { name: "r", match: { min_level: "400" } }, "/match/min_level"],
    ["a misspelt match", { name: "r", match: { minlevel: 1 } }, "/match/minlevel"],
    [
      "501 characters",
      { name: "r", match: { template_contains: "a".repeat(501) } },
      "/match/template_contains",
    ],
    ["11 steps", { name: "r", escalations: Array(11).fill({}) }, "/escalations"],
    [
      "21 accounts",
      { name: "r", escalations: [{ accounts: Array(21).fill("a") }] },
      "/escalations/0/accounts",
    ],
    [
      "a negative repeat",
      { name: "r", escalations: [{ repeat_minutes: -1 }] },
      "/escalations/0/repeat_minutes",
    ],
    ["renotify as a fraction", { name: "r", renotify_minutes: 1.5 }, "/renotify_minutes"],
  ];
  for (const [what, body, field] of cases) {
    test(`${what} is refused by name`, async () =>
      assertError(await post(body), 400, "invalid_request", field));
  }

  test("what a rule names and isn't there is 422, each listed", async () => {
    const answer = await post({
      name: "r",
      escalations: [
        { accounts: [box.owner.accountId, "nobody"], schedules: ["nights"] },
        { accounts: ["none"] },
      ],
    });
    assertError(answer, 422, "not_a_member", "/escalations/0/accounts/1");
    assert.deepEqual(fields(answer), [
      "/escalations/0/accounts/1",
      "/escalations/1/accounts/0",
      "/escalations/0/schedules/0",
    ]);
    assertError(
      await post({ name: "r", actions: ["0123456789abcdef"] }),
      422,
      "unknown_action",
      "/actions/0",
    );
  });

  test("a rule can be read and put back; PUT replaces all, its name can't change", async () => {
    const body = {
      name: "full",
      match: { min_level: 300, tags: ["db"] },
      conditions: [{ key: "region", op: "eq", value: "eu" }],
    };
    const made = await post(body);
    assert.equal(made.status, 201);
    assert.equal(typeof made.body.created_at, "number");
    assertError(await post(body), 409, "name_taken");
    const back = await box.api("PUT", "/v1/projects/p/rules/full", made.body);
    assert.deepEqual(back.body, made.body);
    assertError(
      await box.api("PUT", "/v1/projects/p/rules/full", { name: "other" }),
      409,
      "name_mismatch",
    );
    const emptied = await box.api("PUT", "/v1/projects/p/rules/full", {});
    assert.deepEqual([emptied.body.conditions, emptied.body.match.tags], [[], []]);
    assertError(await box.api("PUT", "/v1/projects/p/rules/absent", {}), 404, "not_found");
    assert.deepEqual((await box.api("DELETE", "/v1/projects/p/rules/full")).body, {
      deleted: true,
    });
    assertError(await box.api("GET", "/v1/projects/p/rules/full"), 404, "not_found");
  });
});

describe("ingest", () => {
  const cases: [string, unknown, string][] = [
    ["no message", {}, "/message"],
    ["a number", { message: 5 }, "/message"],
    ["65,537 characters", { message: "a".repeat(65_537) }, "/message"],
    ["a level below 0", { message: "x", level: -1 }, "/level"],
    ["a level as text", { message: "x", level: "200" }, "/level"],
    [
      "129 keys",
      {
        message: "x",
        keys: Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`k${i}`, 1])),
      },
      "/keys",
    ],
    ["an object as a value", { message: "x", keys: { a: {} } }, "/keys/a"],
    ["a value of 4,097", { message: "x", keys: { a: "v".repeat(4097) } }, "/keys/a"],
    ["an empty key", { message: "x", keys: { "": 1 } }, "/keys/"],
    ["65 tags", { message: "x", tags: Array(65).fill("t") }, "/tags"],
    ["an empty tag", { message: "x", tags: [""] }, "/tags/0"],
    ["a tag with NUL", { message: "x", tags: ["a\0"] }, "/tags/0"],
    ["an array", [], ""],
  ];
  for (const [what, body, field] of cases) {
    test(`${what} is refused by name`, async () =>
      assertError(await box.ingest(token, body), 400, "invalid_request", field));
  }

  test("everything within its limits is taken, unknown fields are ignored", async () => {
    const event = {
      message: "😀".repeat(65_536),
      level: 0,
      keys: Object.fromEntries(Array.from({ length: 128 }, (_, i) => [`k${i}`, "v".repeat(100)])),
      tags: Array(64).fill("t".repeat(256)),
      project: "elsewhere",
    };
    assert.equal((await box.ingest(token, event)).status, 202);
    assert.equal((await box.ingest(token, { message: "" })).status, 202);
  });

  test("values are kept as they were written", async () => {
    await box.ingest(
      token,
      '{"message":"numbers","keys":{"a":1.0,"b":12345678901234567890,"c":true,"d":null,"e":1e3,"f":5,"__proto__":"x"}}',
    );
    const { messages } = (await box.api("GET", "/v1/projects/p/logtail?limit=1")).body;
    assert.deepEqual(Object.entries(messages[0].keys).sort(), [
      ["__proto__", "x"],
      ["a", "1.0"],
      ["b", "12345678901234567890"],
      ["c", "true"],
      ["d", "null"],
      ["e", "1e3"],
      ["f", "5"],
    ]);
  });

  test("a message's lone surrogates and NUL become U+FFFD", async () => {
    assert.equal((await box.ingest(token, '{"message":"a\\ud800b\\u0000c"}')).status, 202);
    const { messages } = (await box.api("GET", "/v1/projects/p/logtail?limit=1")).body;
    assert.equal(messages[0].message, "a\uFFFDb\uFFFDc");
  });

  test("NDJSON answers each line in order; a bad one never fails a good one", async () => {
    const send = (body: string) =>
      fetch(`${box.url}/v1/ingest`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
        body,
      });
    const answer = await send('{"message":"one"}\n{"level":1}\n\nnot json\n{"message":"two"}\n');
    assert.equal(answer.status, 202);
    const body = (await answer.json()) as {
      accepted: number;
      rejected: number;
      results: { template_id?: string; error?: { code: string } }[];
    };
    assert.deepEqual([body.accepted, body.rejected], [2, 2]);
    assert.deepEqual(
      body.results.map((r) => r.error?.code ?? "ok"),
      ["ok", "invalid_request", "invalid_json", "ok"],
    );
    assert.equal((await send('{"message":"x"}\n'.repeat(1000))).status, 202);
    assert.equal((await send('{"message":"x"}\n'.repeat(1001))).status, 413);
    assert.equal((await send(`{"message":"${"a".repeat(60_000)}"}\n`.repeat(71))).status, 413);
  });
});

describe("pull", () => {
  test("a parked reader wakes when an alert opens, and goes when its time is up", async () => {
    const fresh = await box.project("parked");
    await box.api("POST", "/v1/projects/parked/rules", { name: "any" });
    const { cursor } = (await box.api("GET", "/v1/pull?cursor=0")).body;
    const waiting = box.api("GET", `/v1/pull?cursor=${cursor}&wait=60`);
    while (box.tenant.waiters.parked === 0) await new Promise((resolve) => setImmediate(resolve));
    await box.ingest(fresh, { message: "wake up" });
    const woken = await waiting;
    assert.equal(woken.body.alerts.length, 1);
    assert.equal(String(woken.body.cursor), woken.body.alerts[0].id);
    assert.equal(box.tenant.waiters.parked, 0);

    const patient = box.api("GET", `/v1/pull?cursor=${woken.body.cursor}&wait=5`);
    while (box.tenant.waiters.parked === 0) await new Promise((resolve) => setImmediate(resolve));
    await box.clock.turn(5000);
    assert.deepEqual((await patient).body.alerts, []);
  });
});
