import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { type Answer, type TestBox, testBox } from "../../support/box.ts";

const BASE = "/v1/projects/p/reports";
const NO_ID = "0000000000000000";

let box: TestBox;
let alertId: string;
let elsewhere: string;
before(async () => {
  box = await testBox();
  alertId = await openAlert("p");
  elsewhere = await openAlert("other");
});
after(() => box.stop());

async function openAlert(project: string): Promise<string> {
  const token = await box.project(project);
  await box.api("POST", `/v1/projects/${project}/rules`, { name: "any" });
  await box.ingest(token, { message: "disk is failing" });
  const { body } = await box.api("GET", `/v1/alerts?project=${project}`);
  return body.alerts[0].id;
}

const make = (body: object) => box.api("POST", BASE, body);
async function made(body: object = { title: "Slow payments" }) {
  const answer = await make(body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body as { id: string; public_uuid: string };
}

async function read(id: string) {
  const answer = await box.api("GET", `${BASE}/${id}`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

const publicStatus = async (uuid: string) =>
  (await box.api("GET", `/public/reports/${uuid}`, undefined, null)).status;

function assertError(answer: Answer, status: number, code: string, field?: string): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.error.code, code);
  const fields = (answer.body.error.details ?? []).map((each: { field: string }) => each.field);
  if (field !== undefined) assert.deepEqual(fields, [field]);
}

describe("reports", () => {
  test("create, read, list, and put back what was read", async () => {
    const first = await made();
    assert.match(first.id, /^[0-9a-f]{16}$/);
    assert.match(first.public_uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
    const now = Math.floor(box.clock.now() / 1000);
    const { report, entries } = await read(first.id);
    assert.deepEqual(entries, []);
    assert.deepEqual(report, {
      id: first.id,
      project: "p",
      title: "Slow payments",
      description: "",
      alert_id: "",
      password_protected: false,
      public_uuid: first.public_uuid,
      created_at: now,
      updated_at: now,
      created_by: box.owner.accountId,
    });
    await box.clock.turn(2000);
    const put = await box.api("PUT", `${BASE}/${first.id}`, report);
    assert.deepEqual([put.status, put.body], [200, { updated: true }]);
    assert.deepEqual((await read(first.id)).report, report, "nothing changed, nothing is news");
    await box.clock.turn(1000);
    const second = await made({ title: "Newer" });
    const { body } = await box.api("GET", BASE);
    assert.deepEqual(body.reports[0], (await read(second.id)).report);
    assert.ok(body.reports.some((each: object) => JSON.stringify(each) === JSON.stringify(report)));
  });

  test("a PUT keeps an omitted description, and what it is tied to", async () => {
    const { id } = await made({ title: "a", description: "what is known", alert_id: alertId });
    await box.clock.turn(5000);
    await box.api("PUT", `${BASE}/${id}`, { title: "b", alert_id: "" });
    const { report } = await read(id);
    assert.deepEqual(
      [report.title, report.description, report.alert_id, report.updated_at - report.created_at],
      ["b", "what is known", alertId, 5],
    );
    await box.api("PUT", `${BASE}/${id}`, { title: "b", description: "" });
    assert.equal((await read(id)).report.description, "");
  });

  test("the password is tri-state and never read back", async () => {
    const { id, public_uuid: uuid } = await made({ title: "a", view_password: "secret" });
    const put = (body: object) => box.api("PUT", `${BASE}/${id}`, { title: "a", ...body });
    const state = async () => [
      (await read(id)).report.password_protected,
      await publicStatus(uuid),
    ];
    const version = () =>
      box.tenant.store.sql("SELECT password_version FROM reports WHERE id = ?").pluck().get(id);
    assert.deepEqual([...(await state()), version()], [true, 401, 1]);
    await put({});
    assert.deepEqual([...(await state()), version()], [true, 401, 1]);
    await put({ view_password: "secret" });
    assert.deepEqual([...(await state()), version()], [true, 401, 2]);
    await put({ view_password: "" });
    assert.deepEqual([...(await state()), version()], [false, 200, 3]);
    await put({ view_password: "" });
    assert.deepEqual([...(await state()), version()], [false, 200, 3]);
    await put({ view_password: "again" });
    assert.deepEqual([...(await state()), version()], [true, 401, 4]);
    assert.ok(!JSON.stringify(await read(id)).includes("argon2"));
    const kept = box.tenant.store
      .sql("SELECT password_hash FROM reports WHERE id = ?")
      .pluck()
      .get(id);
    assert.match(String(kept), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  test("an alert must be a live one of the project", async () => {
    assert.equal(
      (await read((await made({ title: "a", alert_id: alertId })).id)).report.alert_id,
      alertId,
    );
    for (const alert_id of [elsewhere, "999999", "x", "01", ` ${alertId}`, "9".repeat(64)]) {
      assertError(await make({ title: "a", alert_id }), 422, "unknown_alert", "/alert_id");
    }
    await box.api("POST", `/v1/alerts/${alertId}/resolve`);
    await made({ title: "resolved is live", alert_id: alertId });
  });

  test("rotation and deletion hold at the next request", async () => {
    const { id, public_uuid: old } = await made();
    assert.equal(await publicStatus(old), 200);
    const rotated = await box.api("POST", `${BASE}/${id}/rotate-uuid`);
    assert.equal(rotated.status, 200);
    assert.deepEqual(Object.keys(rotated.body), ["public_uuid"]);
    const fresh = rotated.body.public_uuid;
    assert.deepEqual([await publicStatus(old), await publicStatus(fresh)], [404, 200]);
    assert.equal((await read(id)).report.public_uuid, fresh);
    const gone = await box.api("DELETE", `${BASE}/${id}`);
    assert.deepEqual([gone.status, gone.body], [200, { deleted: true }]);
    assert.equal(await publicStatus(fresh), 404);
    assertError(await box.api("DELETE", `${BASE}/${id}`), 404, "not_found");
  });

  test("they go with their project, and count as no configuration", async () => {
    await box.api("POST", "/v1/projects", { name: "gone" });
    const { body: report } = await box.api("POST", "/v1/projects/gone/reports", { title: "a" });
    const entries = `/v1/projects/gone/reports/${report.id}/entries`;
    assert.equal((await box.api("POST", entries, { content_md: "x" })).status, 201);
    const { body } = await box.api("GET", "/v1/pull");
    const versions = new Map(
      body.config_versions.map((each: { project: string; version: number }) => [
        each.project,
        each.version,
      ]),
    );
    assert.equal(versions.get("gone"), 1);
    assert.equal(await publicStatus(report.public_uuid), 200);
    await box.api("POST", "/v1/projects/gone/rename", { name: "going" });
    assert.equal(
      (await box.api("GET", `/v1/projects/going/reports`)).body.reports[0].project,
      "going",
    );
    await box.api("DELETE", "/v1/projects/going");
    assert.equal(await publicStatus(report.public_uuid), 404);
    const left = box.tenant.store.sql("SELECT count(*) FROM report_entries WHERE report_id = ?");
    assert.equal(left.pluck().get(report.id), 0);
  });
});

describe("entries", () => {
  let base: string;
  let id: string;
  beforeEach(async () => {
    ({ id } = await made());
    base = `${BASE}/${id}/entries`;
  });
  const add = (body: object) => box.api("POST", base, body);

  test("rendered once at the write, newest last", async () => {
    await box.clock.turn(3000);
    const first = await add({ content_md: "**Slow** <script>x</script>" });
    assert.equal(first.status, 201);
    assert.match(first.body.id, /^[0-9a-f]{16}$/);
    const more = { content_md: "done", entry_type: "resolution", title: "Over" };
    const second = await add(more);
    const { report, entries } = await read(id);
    const common = {
      report_id: id,
      created_by: box.owner.accountId,
      created_at: Math.floor(box.clock.now() / 1000),
    };
    assert.deepEqual(entries, [
      {
        id: first.body.id,
        ...common,
        title: "",
        entry_type: "update",
        content_md: "**Slow** <script>x</script>",
        content_html: "<p><strong>Slow</strong> </p>",
      },
      { id: second.body.id, ...common, ...more, content_html: "<p>done</p>" },
    ]);
    assert.equal(report.updated_at, report.created_at + 3);
  });

  test("a PUT renders anew and keeps an omitted title and type", async () => {
    const { body } = await add({ content_md: "a", entry_type: "analysis", title: "Why" });
    const path = `${base}/${body.id}`;
    const [entry] = (await read(id)).entries;
    assert.deepEqual((await box.api("PUT", path, entry)).body, { updated: true });
    assert.deepEqual((await read(id)).entries, [entry]);
    await box.clock.turn(4000);
    assert.equal((await box.api("PUT", path, { content_md: "*b*" })).status, 200);
    const changed = await read(id);
    assert.deepEqual(changed.entries, [
      { ...entry, content_md: "*b*", content_html: "<p><em>b</em></p>" },
    ]);
    assert.equal(changed.report.updated_at, entry.created_at + 4);
    await box.api("PUT", path, { content_md: "*b*", entry_type: "update", title: "" });
    const [last] = (await read(id)).entries;
    assert.deepEqual([last.entry_type, last.title], ["update", ""]);
    await box.clock.turn(1000);
    assert.deepEqual((await box.api("DELETE", path)).body, { deleted: true });
    const after = await read(id);
    assert.deepEqual([after.entries, after.report.updated_at], [[], entry.created_at + 5]);
    assertError(await box.api("DELETE", path), 404, "not_found");
  });

  test("an entry is found under its own report alone", async () => {
    const { body } = await add({ content_md: "a" });
    const other = `${BASE}/${(await made()).id}/entries/${body.id}`;
    assertError(await box.api("PUT", other, { content_md: "b" }), 404, "not_found");
    assertError(await box.api("DELETE", other), 404, "not_found");
    assert.equal((await read(id)).entries[0].content_md, "a");
  });

  test("a report holds no more than can be read", async () => {
    box.tenant.store.write((tx) => {
      const row = tx.sql(
        "INSERT INTO report_entries (id, report_id, title, entry_type, content_md, content_html, created_at, created_by) VALUES (?, ?, '', 'update', '', ?, 0, '')",
      );
      for (let n = 0; n < 999; n++) row.run(`${id}-${n}`, id, "");
    });
    assert.equal((await add({ content_md: "the thousandth" })).status, 201);
    assertError(await add({ content_md: "one more" }), 400, "content_too_complex");
    assert.equal((await read(id)).entries.length, 1000);
  });

  test("a draft tells the alert's history and stores nothing", async () => {
    const tied = await made({ title: "a", alert_id: alertId });
    const path = `${BASE}/${tied.id}/entries/draft`;
    const { status, body } = await box.api("POST", path);
    assert.equal(status, 200);
    assert.deepEqual([body.title, body.entry_type], ["Resolved", "resolution"]);
    assert.match(body.content_md, /- \*\*09:\d\d\*\* The problem was detected automatically\.\n/);
    assert.deepEqual((await read(tied.id)).entries, []);
    assert.equal((await box.api("POST", `${BASE}/${tied.id}/entries`, body)).status, 201);
    assertError(await box.api("POST", `${base}/draft`), 422, "unknown_alert");
    box.tenant.store.write((tx) =>
      tx.sql("UPDATE reports SET alert_id = 999999 WHERE id = ?").run(tied.id),
    );
    assertError(await box.api("POST", path), 422, "unknown_alert");
  });

  test("the whole report goes out as Markdown, oldest entry first", async () => {
    await add({ content_md: "first" });
    await box.clock.turn(60_000);
    await add({ content_md: "second", title: "Over", entry_type: "resolution" });
    const answer = await box.api("GET", `${BASE}/${id}/export.md`);
    assert.equal(answer.headers.get("content-type"), "text/markdown; charset=utf-8");
    assert.match(answer.body, /^# Slow payments\n.*\nfirst\n\n## Resolution: Over\n.*\nsecond\n$/s);
  });
});

test("limits hold to the character, and the next one is named", async () => {
  const { id } = await made();
  const report = (body: object) => [BASE, "POST", { title: "a", ...body }, 201] as const;
  const put = (body: object) => [`${BASE}/${id}`, "PUT", { title: "a", ...body }, 200] as const;
  const entry = (body: object) =>
    [`${BASE}/${id}/entries`, "POST", { content_md: "a", ...body }, 201] as const;
  // Twice as many units as characters: a pair counts once.
  const rows = [
    [report, "title", 256, "😀"],
    [report, "description", 4096, "é"],
    [report, "view_password", 72, "😀"],
    [put, "title", 256, "a"],
    [put, "description", 4096, "😀"],
    [put, "view_password", 72, "a"],
    [entry, "title", 256, "😀"],
    [entry, "content_md", 65_536, "😀"],
    [entry, "content_md", 65_536, "<"],
  ] as const;
  for (const [call, field, most, piece] of rows) {
    const [path, method, body, status] = call({ [field]: piece.repeat(most) });
    const taken = await box.api(method, path, body);
    assert.equal(taken.status, status, `${method} ${field} ${most}: ${JSON.stringify(taken.body)}`);
    const over = { ...body, [field]: piece.repeat(most + 1) };
    assertError(await box.api(method, path, over), 400, "invalid_request", `/${field}`);
  }
  // The longest that is no 400 is an alert that isn't there.
  assertError(await make({ title: "a", alert_id: "1".repeat(64) }), 422, "unknown_alert");
  const long = { title: "a", alert_id: "1".repeat(65) };
  assertError(await make(long), 400, "invalid_request", "/alert_id");
  await made({ title: "", description: "", alert_id: "", view_password: "" });
  assert.equal((await box.api("POST", `${BASE}/${id}/entries`, { content_md: "" })).status, 201);
});

test("65,536 characters fit however they are escaped; a body over 1 MiB doesn't", async () => {
  const { id } = await made();
  const path = `${BASE}/${id}/entries`;
  const escaped = `{"content_md":"${"\\ud83d\\ude00".repeat(65_536)}"}`;
  assert.equal((await box.api("POST", path, escaped)).status, 201);
  const large = `{"content_md":"${"a".repeat(1024 * 1024)}"}`;
  assertError(await box.api("POST", path, large), 413, "body_too_large");
  assertError(
    await make({ title: "a", description: "b".repeat(128 * 1024) }),
    413,
    "body_too_large",
  );
});

test("what is missing, unknown or of another kind is named", async () => {
  const { id } = await made();
  const bad: [string, string, object, string][] = [
    ["POST", BASE, {}, "/title"],
    ["POST", BASE, { title: null }, "/title"],
    ["POST", BASE, { title: "a\0" }, "/title"],
    ["POST", BASE, { title: "a", alert_id: 1 }, "/alert_id"],
    ["POST", BASE, { title: "a", view_password: null }, "/view_password"],
    ["POST", BASE, { title: "a", password: "x" }, "/password"],
    ["PUT", `${BASE}/${id}`, { description: "a" }, "/title"],
    ["PUT", `${BASE}/${id}`, { title: "a", view_password: 5 }, "/view_password"],
    ["POST", `${BASE}/${id}/entries`, {}, "/content_md"],
    ["POST", `${BASE}/${id}/entries`, { content_md: "a", entry_type: "Update" }, "/entry_type"],
    ["POST", `${BASE}/${id}/entries`, { content_md: "a", type: "update" }, "/type"],
  ];
  for (const [method, path, body, field] of bad) {
    assertError(await box.api(method, path, body), 400, "invalid_request", field);
  }
});

test("every route: 404 for what isn't there, 401 without a key", async () => {
  const { id } = await made();
  const content = { content_md: "a" };
  const routes: [string, string, object?][] = [
    ["GET", ""],
    ["POST", "", { title: "a" }],
    ["GET", `/${id}`],
    ["PUT", `/${id}`, { title: "a" }],
    ["DELETE", `/${id}`],
    ["POST", `/${id}/rotate-uuid`],
    ["GET", `/${id}/export.md`],
    ["POST", `/${id}/entries`, content],
    ["POST", `/${id}/entries/draft`],
    ["PUT", `/${id}/entries/${NO_ID}`, content],
    ["DELETE", `/${id}/entries/${NO_ID}`],
  ];
  for (const [method, path, body] of routes) {
    const nowhere = await box.api(method, `/v1/projects/nowhere/reports${path}`, body);
    assertError(nowhere, 404, "not_found");
    // A report is found under its own project alone.
    if (path !== "") {
      const other = await box.api(method, `/v1/projects/other/reports${path}`, body);
      assertError(other, 404, "not_found");
      const unknown = await box.api(method, `${BASE}${path.replace(id, NO_ID)}`, body);
      assertError(unknown, 404, "not_found");
    }
    assertError(await box.api(method, `${BASE}${path}`, body, null), 401, "unauthorized");
  }
  assert.equal((await read(id)).report.id, id);
});

test("the interface's description has the public pages, and each of their answers", async () => {
  const { id, public_uuid: uuid } = await made({ title: "a", view_password: "x" });
  const { body } = await box.api("GET", "/v1/openapi.json", undefined, null);
  const seen: string[] = [];
  for (const [pattern, methods] of Object.entries<object>(body.paths)) {
    if (!pattern.startsWith("/public/")) continue;
    for (const [method, operation] of Object.entries(methods)) {
      const path = pattern.replace("{uuid}", uuid);
      const { status } = await box.api(method.toUpperCase(), path, undefined, null);
      assert.ok(operation.responses[status], `${method} ${pattern} answers ${status}`);
      seen.push(`${method} ${pattern}`);
    }
  }
  const page = "/public/reports/{uuid}";
  assert.deepEqual(seen, [`get ${page}`, `post ${page}`, `get ${page}/feed.xml`]);
  await box.api("DELETE", `${BASE}/${id}`);
});

test("a preview is what the entry then is, byte for byte, says what was left out, and stores nothing", async () => {
  const { id } = await made();
  const content_md = [
    "# We *know*",
    "![plan](https://example.org/p.png) and <img src=x> [here](/relative)",
    "<script>alert(1)</script><div class=x>text</div> [there](https://example.org)",
  ].join("\n\n");
  const entry = { title: "t", entry_type: "analysis", content_md };
  const preview = await box.api("POST", `${BASE}/${id}/preview`, entry);
  assert.equal(preview.status, 200, JSON.stringify(preview.body));
  assert.deepEqual(preview.body.dropped.toSorted(), ["<div>", "<script>", "image", "link"]);
  assert.deepEqual((await read(id)).entries, []);
  await box.api("POST", `${BASE}/${id}/entries`, entry);
  const [stored] = (await read(id)).entries;
  assert.equal(preview.body.content_html, stored.content_html);
  const plain = await box.api("POST", `${BASE}/${id}/preview`, { content_md: "*a* `b`" });
  assert.deepEqual(plain.body.dropped, []);
  const refused = await box.api("POST", `${BASE}/${id}/preview`, {
    content_md: "x".repeat(65_537),
  });
  assert.equal(refused.status, 400);
  const at = `${BASE}/${NO_ID}/preview`;
  assert.equal((await box.api("POST", at, { content_md: "a" })).status, 404);
});
