import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let box: TestBox;
before(async () => {
  box = await testBox({ trustedProxy: ["127.0.0.1/32"] });
  await box.project("p");
});
after(() => box.stop());

/** A reader with a browser's habits: keeps cookies by path, follows nothing by itself. */
function reader(address = "203.0.113.7") {
  const jar = new Map<string, { value: string; path: string }>();
  const ask = async (path: string, init: RequestInit = {}) => {
    const cookie = [...jar]
      .filter(([, kept]) => path === kept.path || path.startsWith(`${kept.path}/`))
      .map(([name, { value }]) => `${name}=${value}`)
      .join("; ");
    const headers = { "x-forwarded-for": address, cookie, ...init.headers };
    const answer = await fetch(box.url + path, { redirect: "manual", ...init, headers });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = "", value = "", its = ""] = /^([^=]+)=([^;]*);.*Path=([^;]*)/.exec(set) ?? [];
      jar.set(name, { value, path: its });
    }
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  return {
    jar,
    ask,
    enter: (path: string, password: string, headers = {}) =>
      ask(path, { method: "POST", body: new URLSearchParams({ password }), headers }),
  };
}

const JSON_ONLY = { headers: { accept: "application/json" } };

async function report(body: object = {}) {
  const made = await box.api("POST", "/v1/projects/p/reports", { title: "Slow payments", ...body });
  assert.equal(made.status, 201);
  const { id, public_uuid: uuid } = made.body;
  return { id, uuid, base: `/v1/projects/p/reports/${id}`, path: `/public/reports/${uuid}` };
}

const add = (base: string, body: object) => box.api("POST", `${base}/entries`, body);

/** Sets the wall clock, and lets the box see it; it is then exactly `ms`. */
async function setTime(ms: number): Promise<void> {
  box.clock.setWall(ms - 5000);
  await box.clock.turn(5000);
  assert.equal(box.tenant.clock.now(), ms);
}

/** All that one answer has in common with another of its kind. */
function constant({
  status,
  headers,
  text,
}: Awaited<ReturnType<ReturnType<typeof reader>["ask"]>>) {
  const kept = [...headers].filter(([name]) => !["x-request-id", "date"].includes(name));
  return { status, headers: kept, text };
}

test("an incident as its readers see it, from the first line to the last", async () => {
  const { base, path } = await report({ description: "Cards fail.\n\nTransfers <b>work</b>." });
  const { ask } = reader();
  const page = async () => (await ask(path)).text;
  const first = await ask(path);
  assert.equal(first.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(first.headers.get("refresh"), "60");
  assert.equal(first.headers.get("cache-control"), "no-cache");
  assert.match(
    first.headers.get("content-security-policy") ?? "",
    /^default-src 'none'; style-src /,
  );
  assert.match(first.text, /<strong>Reported<\/strong>/);
  assert.match(first.text, /Transfers &lt;b&gt;work&lt;\/b&gt;\./);

  await add(base, { content_md: "One in **ten**", title: "We are <looking>" });
  await box.clock.turn(5 * MINUTE);
  await add(base, { content_md: "A disk", entry_type: "analysis" });
  assert.match(await page(), /<strong>Investigating<\/strong>/);
  await box.clock.turn(10 * MINUTE);
  await add(base, { content_md: "All is well", entry_type: "resolution" });
  const last = await page();
  assert.ok(last.indexOf("All is well") < last.indexOf("A disk"), "newest first");
  assert.ok(last.indexOf("A disk") < last.indexOf("One in <strong>ten</strong>"));
  assert.match(last, /We are &lt;looking&gt;/);
  assert.match(last, /15 min ago, /);
  assert.equal((await ask(path)).headers.get("refresh"), null, "over is over");
  assert.ok(last.length < 30 * 1024);
});

test("JSON and feed say the same; HEAD says it without a body", async () => {
  const { base, path, id } = await report({ description: "d" });
  await add(base, { content_md: "one", title: "t" });
  await box.clock.turn(1000);
  await add(base, { content_md: "two", entry_type: "resolution" });
  const { ask } = reader();
  const { entries } = (await box.api("GET", base)).body;
  const body = JSON.parse((await ask(path, JSON_ONLY)).text);
  const shown = (entry: Record<string, unknown>) => ({
    title: entry["title"],
    entry_type: entry["entry_type"],
    content_html: entry["content_html"],
    created_at: entry["created_at"],
  });
  assert.deepEqual(body, {
    title: "Slow payments",
    description: "d",
    entries: entries.map(shown).reverse(),
    updated_at: entries[1].created_at,
  });
  const feed = await ask(`${path}/feed.xml`);
  assert.equal(feed.headers.get("content-type"), "application/atom+xml; charset=utf-8");
  assert.match(feed.text, /^<\?xml version="1\.0" encoding="utf-8"\?>\n<feed /);
  assert.ok(
    feed.text.includes(
      `<link rel="self" type="application/atom+xml" href="${box.url}${path}/feed.xml"/>`,
    ),
  );
  assert.equal(feed.text.match(/<entry>/g)?.length, 2);
  assert.ok(feed.text.includes(`href="${box.url}${path}#entry-${entries[0].id}"`));
  for (const each of [path, `${path}/feed.xml`]) {
    const head = await ask(each, { method: "HEAD" });
    assert.deepEqual([head.status, head.text], [200, ""]);
  }
  const wrong = await ask(path, { method: "PUT" });
  assert.deepEqual([wrong.status, wrong.headers.get("allow")], [405, "GET, HEAD, POST"]);
  assert.ok(!feed.text.includes(id), "the id is the writers' own");
});

test("a page that stays as it is, for who asks for one", async () => {
  const { path } = await report();
  const still = await reader().ask(`${path}?refresh=off`);
  assert.deepEqual([still.status, still.headers.get("refresh")], [200, null]);
});

test("wrong, rotated, deleted and malformed addresses are the same answer, byte for byte", async () => {
  const rotated = await report();
  await box.api("POST", `${rotated.base}/rotate-uuid`);
  const deleted = await report({ view_password: "x" });
  await box.api("DELETE", deleted.base);
  const live = await report();
  const { ask } = reader();
  const paths = [
    rotated.path,
    deleted.path,
    "/public/reports/00000000-0000-4000-8000-000000000000",
    "/public/reports/x",
    "/public/reports/%00",
    `/public/reports/${live.uuid.toUpperCase()}`,
    `/public/reports/${"a".repeat(4000)}`,
    `${live.path}/`,
    `${rotated.path}/feed.xml`,
  ];
  const ways: RequestInit[] = [{}, JSON_ONLY, { method: "POST", body: "password=x" }];
  for (const how of ways) {
    const some = how.method === "POST" ? paths.filter((path) => !/[/]$|xml$/.test(path)) : paths;
    const answers = await Promise.all(some.map(async (path) => constant(await ask(path, how))));
    const [first] = answers;
    assert.equal(first?.status, 404);
    assert.ok(
      first?.headers.some(([name, value]) => name === "cache-control" && value === "no-store"),
    );
    assert.ok(!first?.headers.some(([name]) => name === "set-cookie"));
    for (const [index, answer] of answers.entries())
      assert.deepEqual(answer, first, String(some[index]));
  }
  const { text, headers } = await ask("/public/reports/x", JSON_ONLY);
  assert.equal(JSON.parse(text).error.code, "not_found");
  assert.equal(headers.get("content-type"), "application/json");
  assert.match((await ask("/public/reports/x")).text, /There is no report at this address/);
  const { path } = await report();
  assert.equal((await ask(path)).status, 200);
});

describe("a report with a password", () => {
  const SECRET = "correct horse é";
  const gated = async () => {
    const made = await report({ view_password: SECRET, description: "the secret story" });
    await add(made.base, { content_md: "told to few" });
    return made;
  };

  test("says nothing until it is told the password, then opens for twelve hours", async () => {
    const { path } = await gated();
    const { ask, enter, jar } = reader();
    const asked = await ask(path);
    assert.deepEqual([asked.status, asked.headers.get("cache-control")], [401, "no-store"]);
    assert.match(asked.text, /<form method="post">/);
    assert.match(asked.headers.get("www-authenticate") ?? "", /^Cookie$/);
    for (const word of ["payments", "secret", "told to few"]) assert.ok(!asked.text.includes(word));
    for (const [at, how] of [
      [path, JSON_ONLY],
      [`${path}/feed.xml`, {}],
    ] as const) {
      const refused = await ask(at, how);
      const { code } = JSON.parse(refused.text).error;
      assert.deepEqual([refused.status, code], [401, "password_required"], at);
    }
    for (const wrong of ["", "correct horse", SECRET.toUpperCase()]) {
      const answer = await enter(path, wrong);
      assert.equal(answer.status, 401);
      assert.match(answer.text, /That password isn&#39;t right\./);
      assert.equal(jar.size, 0);
    }
    const opened = box.clock.now();
    const entered = await enter(path, SECRET);
    assert.deepEqual([entered.status, entered.headers.get("location")], [303, path]);
    assert.match(
      entered.headers.getSetCookie().join(),
      new RegExp(`^report=[^;]+; Path=${path}; Max-Age=43200; HttpOnly; SameSite=Strict$`),
    );
    const shown = await ask(path);
    assert.match(shown.text, /told to few/);
    assert.deepEqual([shown.status, shown.headers.get("cache-control")], [200, "no-store"]);
    assert.equal((await ask(path, JSON_ONLY)).status, 200);
    assert.equal((await ask(`${path}/feed.xml`)).status, 200);
    assert.equal((await reader().ask(path)).status, 401, "it opened for one reader alone");

    await box.restart();
    assert.equal((await ask(path)).status, 200, "a restart asks nobody again");
    // By setting the clock, because so many hours of due work take long to turn through.
    await setTime(opened + 12 * HOUR - 1000);
    assert.equal((await ask(path)).status, 200);
    await setTime(opened + 12 * HOUR);
    assert.equal((await ask(path)).status, 401, "twelve hours are over");
  });

  test("a cookie is void once the password or the address changes", async () => {
    const { base, path } = await gated();
    const { ask, enter, jar } = reader();
    const put = (body: object) => box.api("PUT", base, { title: "a", ...body });
    await enter(path, SECRET);
    await put({});
    assert.equal(
      (await ask(path)).status,
      200,
      "an omitted password is kept, and so is the cookie",
    );
    await put({ view_password: "another" });
    assert.equal((await ask(path)).status, 401);
    assert.equal((await enter(path, SECRET)).status, 401);
    assert.equal((await enter(path, "another")).status, 303);
    assert.equal((await ask(path)).status, 200);
    await put({ view_password: "another" });
    assert.equal((await ask(path)).status, 401, "set anew is changed");
    await put({ view_password: "" });
    assert.equal((await reader().ask(path)).status, 200, "cleared: open to all");
    assert.equal((await enter(path, "whatever")).status, 303, "a form from before leads on");

    await put({ view_password: SECRET });
    await enter(path, SECRET);
    const { body } = await box.api("POST", `${base}/rotate-uuid`);
    const moved = `/public/reports/${body.public_uuid}`;
    for (const kept of jar.values()) kept.path = moved;
    assert.deepEqual([(await ask(path)).status, (await ask(moved)).status], [404, 401]);
  });

  test("where box.key is lost the password opens it anew", async () => {
    const { path } = await gated();
    const { ask, enter } = reader();
    await enter(path, SECRET);
    assert.equal((await ask(path)).status, 200);
    rmSync(join(box.data, "box.key"));
    await box.restart();
    assert.equal((await ask(path)).status, 401);
    assert.equal((await enter(path, SECRET)).status, 303);
    assert.equal((await ask(path)).status, 200);
  });

  test("a cookie of one report opens no other", async () => {
    const [mine, other] = [await gated(), await gated()];
    const { ask, enter, jar } = reader();
    await enter(mine.path, SECRET);
    assert.equal((await ask(mine.path)).status, 200);
    for (const kept of jar.values()) kept.path = other.path;
    assert.equal((await ask(other.path)).status, 401);
  });

  test("ten tries a minute for each address and report, the right password too", async () => {
    const [one, other] = [await gated(), await gated()];
    const { ask, enter } = reader("198.51.100.9");
    for (let n = 0; n < 10; n++) {
      assert.equal((await enter(one.path, `wrong ${n}`)).status, 401, `try ${n + 1}`);
    }
    const over = await enter(one.path, SECRET);
    assert.deepEqual([over.status, over.headers.get("retry-after")], [429, "6"]);
    assert.equal(over.headers.get("ratelimit-policy"), '"tries";q=10;w=60');
    assert.match(over.text, /Too many tries\. Wait 6 seconds/);
    const json = await enter(one.path, SECRET, JSON_ONLY.headers);
    assert.deepEqual([json.status, JSON.parse(json.text).error.code], [429, "rate_limited"]);
    assert.equal(json.headers.get("retry-after"), "6");
    assert.equal((await ask(one.path)).status, 401, "the form itself is still there");
    assert.equal((await enter(other.path, SECRET)).status, 303, "another report");
    assert.equal((await reader("198.51.100.10").enter(one.path, SECRET)).status, 303);
    await box.clock.turn(6000);
    assert.equal((await enter(one.path, SECRET)).status, 303);
  });

  test("the eleventh try costs no work", async () => {
    const { path } = await gated();
    const { enter } = reader("198.51.100.11");
    let checks = 0;
    const { passwords } = box.tenant;
    const { verify } = passwords;
    passwords.verify = (...given) => {
      checks += 1;
      return verify(...given);
    };
    try {
      for (let n = 0; n < 12; n++) await enter(path, "wrong");
    } finally {
      passwords.verify = verify;
    }
    assert.equal(checks, 10);
  });

  test("a form over 4 KiB is refused, one just under it is a wrong password", async () => {
    const { path } = await gated();
    const { ask } = reader("198.51.100.12");
    const sized = (bytes: number) =>
      ask(path, { method: "POST", body: "password=".padEnd(bytes, "a") });
    assert.deepEqual([(await sized(4096)).status, (await sized(4097)).status], [401, 413]);
    const json = await ask(path, { method: "POST", body: JSON.stringify({ password: SECRET }) });
    assert.equal(json.status, 401, "a form, not JSON");
  });
});

test("behind a public https address under a path, the cookie is for there and secure", async (t) => {
  const plain = box;
  box = await testBox({ publicUrl: "https://status.example/box" });
  t.after(async () => {
    await box.stop();
    box = plain;
  });
  await box.project("p");
  const { path } = await report({ view_password: "x" });
  const { ask, enter, jar } = reader();
  const entered = await enter(path, "x");
  assert.equal(entered.headers.get("location"), `/box${path}`);
  const [cookie = ""] = entered.headers.getSetCookie();
  assert.match(cookie, /^__Secure-report=[^;]+; Path=\/box\/.*; SameSite=Strict; Secure$/);
  assert.equal(entered.headers.get("strict-transport-security"), null, "TLS isn't ours to promise");
  for (const kept of jar.values()) kept.path = path;
  const feed = await ask(`${path}/feed.xml`);
  assert.ok(feed.text.includes(`href="https://status.example/box${path}/feed.xml"`));
});
