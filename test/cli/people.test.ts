import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import test from "node:test";
import { signInByPassword } from "../../src/people/sign-in.ts";
import { testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box as run } from "../support/command-line.ts";
import { newData } from "../support/data.ts";

const box = (data: string, ...words: string[]) => run([...words, "--data", data]);

async function json(data: string, ...args: string[]) {
  const { code, out, err } = await box(data, ...args, "--json");
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

test("the first seat is an owner's", async (t) => {
  const data = newData("box-cli-");
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const first = await json(data, "pair-code");
  const fields = ["code", "email", "expires_at", "id", "link", "role"];
  assert.deepEqual(Object.keys(first).sort(), fields);
  assert.deepEqual([first.role, first.email], ["owner", null]);
  assert.equal(first.link, `/pair#code=${first.code}`);
  const second = await json(data, "pair-code", "--public-url", "https://box.example/x/");
  assert.equal(second.link, `https://box.example/x/pair#code=${second.code}`);
  assert.deepEqual(await json(data, "account", "list"), { accounts: [] });
});

test("beside a serving box: what is changed holds for its next request", async (t) => {
  // The commands live in the machine's time.
  const served = await testBox({}, handClock(Date.now()));
  t.after(() => served.stop());
  const { data } = served;
  const code = await json(data, "pair-code", "--email", "Bob@example.org", "--ttl", "60");
  assert.deepEqual([code.role, code.email], ["member", "Bob@example.org"]);
  assert.equal(code.link, `${served.url}/pair#code=${code.code}`);

  const claim = { code: code.code, password: "correct horse" };
  const paired = await served.api("POST", "/v1/pair", claim, null);
  assert.equal(paired.status, 200);
  const { api_key: key, api_key_id: keyId, box_account_id: id } = paired.body;

  const role = async () => (await served.api("GET", "/v1/me", undefined, key)).body.account.role;
  const changed = await json(data, "account", "set-role", "bob@example.org", "admin");
  assert.deepEqual([changed.id, changed.role, await role()], [id, "admin", "admin"]);
  const { accounts } = await json(data, "account", "list");
  assert.deepEqual(
    accounts.map((account: { email: string }) => account.email),
    ["Bob@example.org", "owner@example.org"],
  );

  const { keys } = await json(data, "key", "list", "--account", id);
  assert.deepEqual([keys.length, keys[0].id, keys[0].email], [1, keyId, "Bob@example.org"]);
  assert.deepEqual(await json(data, "key", "revoke", keyId), { deleted: true, id: keyId });
  assert.equal((await served.api("GET", "/v1/me", undefined, key)).status, 401);

  assert.deepEqual(await json(data, "account", "remove", id), { deleted: true, id });
  const last = await box(data, "account", "remove", "owner@example.org");
  assert.deepEqual([last.code, last.out], [1, ""]);
  assert.match(last.err, /last owner/);
});

test("a person reads a table; no answer shows a key", async (t) => {
  const served = await testBox();
  t.after(() => served.stop());
  const { data, owner } = served;
  const accounts = await box(data, "account", "list");
  assert.match(
    accounts.out,
    /^ID +EMAIL +ROLE +NAME +SINCE\n[0-9a-f]{16} +owner@example\.org +owner/,
  );
  const keys = await box(data, "key", "list");
  assert.match(keys.out, new RegExp(`owner@example.org +…${owner.key.slice(-4)} .* never\n`));
  assert.ok(!keys.out.includes(owner.key));
  const code = await box(data, "pair-code", "--role", "admin");
  assert.match(code.out, /^pairing code {2}[0-9a-f]{48}\nrole +admin\nfor +anyone/);
});

test("a code is good for as long as is said, in seconds or as a length", async (t) => {
  const data = newData("box-cli-");
  t.after(() => rmSync(data, { recursive: true, force: true }));
  for (const [ttl, seconds] of [
    ["2d", 172_800],
    ["90", 90],
  ] as const) {
    const { expires_at } = await json(data, "pair-code", "--ttl", ttl);
    assert.ok(Math.abs(expires_at - Date.now() / 1000 - seconds) < 30, ttl);
  }
});

test("a bad value is wrong usage, every fault named; what isn't there is a failure", async (t) => {
  const data = newData("box-cli-");
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const faulty = ["--role", "king", "--ttl", "59", "--email", "x", "--public-url", "y"];
  const bad = await box(data, "pair-code", ...faulty);
  assert.equal(bad.code, 2);
  for (const part of ["owner, admin, member", "60 to 604800", '"x"', "--public-url"])
    assert.ok(bad.err.includes(part), bad.err);
  const others = await Promise.all([
    box(data, "account", "set-role", "x", "king"),
    box(data, "account", "remove", "nobody@example.org"),
    box(data, "key", "revoke", "0000000000000000"),
    box(data, "account", "remove"),
  ]);
  assert.deepEqual(
    others.map(({ code }) => code),
    [2, 1, 1, 2],
  );
});

test("on the machine: a password is set, sessions are seen and ended, a key is made", async (t) => {
  const served = await testBox({}, handClock(Date.now()));
  t.after(() => served.stop());
  const { data } = served;
  const signIn = (password: string) =>
    signInByPassword(served.tenant, {
      email: "owner@example.org",
      password,
      address: "192.0.2.7",
      agent: "Firefox",
    });
  const set = (password: string) =>
    run(["account", "set-password", "OWNER@example.org", "--password-file", "-", "--data", data], {
      input: `${password}\n`,
    });
  const short = await set("short");
  assert.deepEqual([short.code, /8 to 72/.test(short.err)], [2, true]);
  const { code, out } = await set("correct horse");
  assert.deepEqual([code, out], [0, "owner@example.org has a new password\n"]);
  const { sessionId } = await signIn("correct horse");
  const table = await box(data, "session", "list", "--account", "owner@example.org");
  assert.match(
    table.out,
    new RegExp(`${sessionId} +owner@example.org +password .*192.0.2.7 +Firefox`),
  );
  await box(data, "session", "end", sessionId);
  const left = async () => (await json(data, "session", "list")).sessions.length;
  assert.equal(await left(), 0);
  assert.equal((await box(data, "session", "end", sessionId)).code, 1);
  await signIn("correct horse");
  assert.equal(await left(), 1);
  await set("battery staple");
  assert.equal(await left(), 0);
  await assert.rejects(signIn("correct horse"), { code: "sign_in_refused" });

  const made = await json(data, "key", "create", "owner@example.org", "--label", "spare");
  const me = await served.api("GET", "/v1/me", undefined, made.key);
  assert.deepEqual([me.body.account.id, me.body.key_id], [served.owner.accountId, made.id]);
  assert.match((await box(data, "key", "list")).out, /….{4} +spare /);
  const { entries } = (await served.api("GET", "/v1/audit?limit=50")).body;
  const commands = entries
    .filter(({ via }: { via: string }) => via === "command")
    .map(({ verb }: { verb: string }) => verb);
  for (const verb of ["account set-password", "session end", "key create"])
    assert.ok(commands.includes(verb), verb);
});
