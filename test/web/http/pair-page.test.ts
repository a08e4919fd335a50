import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, before, describe, test } from "node:test";
import { parse } from "parse5";
import pino from "pino";
import { type TestBox, testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";

let box: TestBox;
const logged: string[] = [];
before(async () => {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  box = await testBox({ pairRate: "10" }, handClock(), pino({ level: "trace" }, sink));
});
after(() => box.stop());

const PASSWORD = "correct horse é";

async function link(seat: object = {}): Promise<{ link: string; code: string }> {
  const { body } = await box.api("POST", "/v1/pair/codes", { role: "member", ...seat });
  return body;
}

/** A minute after the one before: no test has another's tries. */
async function submit(fields: Record<string, string>, headers: Record<string, string> = {}) {
  await box.clock.turn(60_000);
  const answer = await fetch(`${box.url}/pair`, {
    method: "POST",
    redirect: "manual",
    headers,
    body: new URLSearchParams(fields),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

const shown = (body: string, id: string) =>
  new RegExp(`<pre id="${id}">([^<]*)</pre>`).exec(body)?.[1] ?? "";
const complaintOf = (body: string) => /role="alert">([^<]*)</.exec(body)?.[1] ?? null;

const codesLeft = () =>
  box.tenant.store.sql("SELECT count(*) FROM pair_codes WHERE used_at IS NULL").pluck().get();

describe("the page at a pairing link", () => {
  test("is there, and looking at it in any way consumes nothing", async () => {
    const { link: url, code } = await link();
    assert.equal(url, `${box.url}/pair#code=${code}`);
    const before = codesLeft();
    for (const method of ["GET", "HEAD"])
      for (const path of ["/pair", `/pair?code=${code}`]) {
        const answer = await fetch(box.url + path, { method, redirect: "manual" });
        await answer.text();
        assert.equal(answer.status, path === "/pair" ? 200 : 303, `${method} ${path}`);
        assert.equal(answer.headers.get("cache-control"), "no-store");
        assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
      }
    assert.equal(codesLeft(), before);
    assert.equal(
      (await submit({ code, email: "look@example.org", password: PASSWORD })).status,
      200,
    );
  });

  test("a code in the query goes behind the #, whole or not at all", async () => {
    const { code } = await link();
    const to = async (query: string) => {
      const answer = await fetch(`${box.url}/pair?code=${query}`, { redirect: "manual" });
      return answer.headers.get("location");
    };
    assert.equal(await to(code), `pair#code=${code}`);
    for (const bad of [
      "",
      "x",
      `${code}0`,
      "%0d%0aset-cookie:a=b",
      "//evil.test/",
      code.toUpperCase(),
    ])
      assert.equal(await to(bad), "pair", bad);
  });

  test("holds no code, runs one script and loads nothing", async () => {
    const { code } = await link();
    const answer = await fetch(`${box.url}/pair?code=${code}`);
    const body = await answer.text();
    assert.ok(!body.includes(code));
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'; /);
    for (const part of ["form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
      assert.ok(policy.includes(part), part);
    assert.ok(!/unsafe|\*|https?:/.test(policy), policy);
    assert.ok(!/<link|src=|\son[a-z]+=|style=/i.test(body), "nothing but what the policy names");
    assert.equal(parse(body).childNodes.length, 2);
  });

  test("whoever asks for JSON gets the error that every unknown route has", async () => {
    for (const method of ["GET", "POST"]) {
      const answer = await fetch(`${box.url}/pair`, {
        method,
        headers: { accept: "application/json" },
      });
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      assert.deepEqual([answer.status, error.code], [404, "not_found"]);
      assert.match(error.message, /POST \/v1\/pair/);
    }
  });
});

describe("who invites to what", () => {
  const look = (code: string) => submit({ code, look: "yes" });
  const told = (headers: Headers) =>
    JSON.parse(decodeURIComponent(headers.get("x-invited") ?? "null"));
  const lead = (body: string) => /id="invited"[^>]*>([^<]*)</.exec(body)?.[1];

  test("is said of a code that is right, and spends nothing", async () => {
    const boss = box.person("admin", "boss@example.org");
    box.tenant.store.write((tx) =>
      tx.sql("UPDATE accounts SET display_name = 'Ann <b>é' WHERE id = ?").run(boss.accountId),
    );
    const issued = async (seat: object, key: string) =>
      (await box.api("POST", "/v1/pair/codes", seat, key)).body;
    const { code } = await issued({ role: "member" }, boss.key);
    const before = codesLeft();
    const seen = await look(code);
    assert.equal(seen.status, 200);
    assert.equal(lead(seen.body), "You join this box as a member.");
    const sentence = "You join this box as a member.";
    assert.deepEqual(told(seen.headers), { title: "Ann <b>é invites you", sentence, email: null });
    assert.ok(seen.body.includes(`value="${code}"`));
    assert.equal(codesLeft(), before);
    const bound = await look(
      (await issued({ role: "admin", email: "eve@example.org" }, boss.key)).code,
    );
    assert.match(bound.body, /value="eve@example\.org" readonly/);
    assert.equal(told(bound.headers).email, "eve@example.org");
    const reset = await box.api("POST", `/v1/accounts/${boss.accountId}/reset`);
    assert.equal(
      lead((await look(reset.body.code)).body),
      "This link sets a new password for boss@example.org.",
    );
    const taken = await submit({ code, email: "fay@example.org", password: PASSWORD });
    assert.equal(taken.status, 200);
  });

  test("isn't said of any other code, nor before one is sent, and each look is a try", async () => {
    const used = await link({ email: "gus@example.org" });
    await submit({ code: used.code, password: PASSWORD });
    const said = new Set<string | null>();
    for (const code of ["", "x", "0".repeat(48), used.code]) {
      const { status, headers, body } = await look(code);
      const nobody = "A pairing code makes you an account on this box.";
      assert.deepEqual([status, headers.get("x-invited"), lead(body)], [401, null, nobody], code);
      said.add(complaintOf(body));
    }
    const wrong = await submit({
      code: "0".repeat(48),
      email: "a@example.org",
      password: PASSWORD,
    });
    said.add(complaintOf(wrong.body));
    assert.equal(said.size, 1, "one sentence for all");
    await box.clock.turn(60_000);
    const answers = await Promise.all(
      Array.from({ length: 11 }, () =>
        fetch(`${box.url}/pair`, {
          method: "POST",
          body: new URLSearchParams({ code: "0".repeat(48), look: "yes" }),
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(10).fill(401), 429]);
    const page = await (await fetch(`${box.url}/pair`)).text();
    assert.equal(lead(page), "A pairing code makes you an account on this box.");
  });
});

describe("taking the seat", () => {
  test("shows a key that works, the receipt, and the lines to paste", async () => {
    const { code } = await link({ role: "admin" });
    const fields = { code, email: "Ann@example.org", display_name: "Ann", password: PASSWORD };
    const { status, headers, body } = await submit(fields);
    assert.equal(status, 200, body);
    assert.equal(headers.get("cache-control"), "no-store");
    const key = shown(body, "api-key");
    const me = await box.api("GET", "/v1/me", undefined, key);
    assert.equal(me.status, 200, JSON.stringify(me.body));
    assert.ok(JSON.stringify(me.body).includes("Ann"));
    assert.equal(shown(body, "login"), `box login --url ${box.url}`);
    assert.equal(shown(body, "export"), `export BOX_URL=${box.url}\nexport BOX_KEY=${key}`);
    const receipt = await box.api(
      "GET",
      `/v1/pair/verify?receipt=${shown(body, "receipt")}`,
      undefined,
      null,
    );
    assert.equal(receipt.body.box_account_id, shown(body, "account"));
    assert.equal((await submit(fields)).status, 401, "a reload takes no second seat");
  });

  test("takes a whole link for a code, and no email where the code is for one", async () => {
    const { link: url } = await link({ email: "bob@example.org" });
    const { status, body } = await submit({ code: ` ${url}\n`, email: "", password: PASSWORD });
    assert.equal(status, 200, body);
  });

  test("every refusal is one sentence, and what was entered stays, save the password", async () => {
    const { code } = await link({ email: "cy@example.org" });
    const { code: open } = await link();
    const said = new Set<string | null>();
    for (const fields of [
      { code: "ab".repeat(24), email: "cy@example.org" },
      { code, email: "other@example.org" },
      { code: open, email: "" },
      { code: open, email: "Ann@example.org", password: "the wrong one" },
    ]) {
      const { status, headers, body } = await submit({ password: PASSWORD, ...fields });
      assert.equal(status, 401, JSON.stringify(fields));
      assert.ok(headers.has("www-authenticate"));
      assert.ok(
        body.includes(`value="${fields.code}"`) && body.includes(`value="${fields.email}"`),
      );
      assert.ok(!body.includes(PASSWORD) && !body.includes("the wrong one"));
      said.add(complaintOf(body));
    }
    assert.equal(said.size, 1);
  });

  test("a field that can't be right is named, and markup in it is text", async () => {
    const vector = `"><script>alert(1)</script>`;
    const { status, body } = await submit({ code: vector, email: vector, password: "short" });
    assert.equal(status, 400);
    assert.match(complaintOf(body) ?? "", /48 characters.*e-mail address.*8 to 72/s);
    assert.ok(!body.includes("<script>alert"));
    assert.equal((await submit({ code: "a".repeat(20_000) })).status, 413);
  });

  test("tries are those of the route for programs, and the page says how long to wait", async () => {
    await box.clock.turn(60_000);
    const { code } = await link();
    const body = { code: "ab".repeat(24), email: "a@example.org", password: PASSWORD };
    for (let n = 0; n < 10; n++)
      assert.equal((await box.api("POST", "/v1/pair", body, null)).status, 401);
    const answer = await fetch(`${box.url}/pair`, {
      method: "POST",
      body: new URLSearchParams({ ...body, code }),
    });
    assert.equal(answer.status, 429);
    const wait = answer.headers.get("retry-after");
    assert.equal(
      complaintOf(await answer.text()),
      `Too many tries. Wait ${wait} seconds, then try again.`,
    );
    assert.ok(answer.headers.has("ratelimit"));
    await box.clock.turn(60_000);
    assert.equal((await submit({ ...body, code })).status, 200, "and the code is still good");
  });
});

test("neither a code nor a key nor a password is in the log", async () => {
  const { code } = await link();
  await fetch(`${box.url}/pair?code=${code}`);
  const { body } = await submit({ code, email: "dee@example.org", password: "canary-password" });
  box.tenant.log.info("the log is listened to");
  const secrets = [code, shown(body, "api-key"), shown(body, "receipt"), "canary-password"];
  assert.ok(secrets.every((secret) => secret.length > 10));
  const log = logged.join("\n");
  assert.ok(log.length > 0, "the log was listened to");
  assert.deepEqual(
    secrets.filter((secret) => log.includes(secret)),
    [],
  );
});
