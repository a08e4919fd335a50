import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { long, test } from "../support/long.ts";
import { scratch } from "../support/scratch.ts";

async function scene(t: TestContext) {
  const box = await testBox();
  t.after(() => box.stop());
  const path = join(scratch(t), "box.yaml");
  const write = (text: string) => writeFileSync(path, text);
  const config = (words: string[], key = box.owner.key) =>
    run(["config", ...words], { env: { BOX_URL: box.url, BOX_KEY: key } });
  const apply = (words: string[] = [], key = box.owner.key) =>
    config(["apply", path, ...words], key);
  return { box, write, config, apply };
}

const file = `format: 1
people:
  - email: ann@example.org
    display_name: Ann Ahn
    role: admin
  - email: bob@example.org
  - email: owner@example.org
    role: member
tenant:
  fallback:
    people: [ann@example.org]
projects:
  - name: shop
    schedules:
      - name: primary
        timezone: Europe/Berlin
        layers:
          - name: weekly
            participants: [ann@example.org, bob@example.org]
            rotation_start: 2026-01-05 09:00
            shift_minutes: 10080
        overrides:
          - person: bob@example.org
            starts_at: 2040-12-24 08:00
            ends_at: 2040-12-27 08:00
    rules:
      - name: errors
        match:
          min_level: 400
        escalations:
          - accounts: [bob@example.org]
`;

long(
  "people of a file who have no account get one without a password, and come in by their code",
  async (t) => {
    const { box, write, apply } = await scene(t);
    write(file);
    const emails = async () =>
      (await box.api("GET", "/v1/accounts")).body.accounts.map(
        (one: { email: string }) => one.email,
      );
    const plan = await apply(["--dry-run"]);
    assert.equal(plan.code, 0, plan.err);
    assert.match(
      plan.out,
      /^people\n {2}create admin ann@example\.org\n {2}create member bob@example\.org\n {2}owner@example\.org stays owner, although the file says member\nproject shop\n {2}create rule errors\n/,
    );
    assert.deepEqual(await emails(), ["owner@example.org"], "a plan makes nobody");

    const applied = await apply(["--invite"]);
    assert.equal(applied.code, 0, applied.err);
    assert.match(applied.out, /\napplied 5 changes\n/);
    assert.deepEqual(await emails(), ["ann@example.org", "bob@example.org", "owner@example.org"]);
    const again = await apply(["--invite"]);
    assert.match(again.out, /applied 0 changes\n$/, "twice is once, and nobody is asked in again");

    const code = /invitation of ann@example\.org +\S+#code=(\w{48})/.exec(applied.out)?.[1];
    const pair = (body: object) => box.api("POST", "/v1/pair", body, null);
    const nobody = { email: "bob@example.org", password: "correct horse" };
    assert.equal((await pair({ ...nobody, code })).status, 401, "it is Ann's alone");
    const seat = await pair({ code, password: "correct horse" });
    assert.equal(seat.status, 200, JSON.stringify(seat.body));
    const me = (await box.api("GET", "/v1/me", undefined, seat.body.api_key)).body.account;
    assert.deepEqual([me.email, me.role, me.display_name], ["ann@example.org", "admin", "Ann Ahn"]);
    const fallback = (await box.api("GET", "/v1/fallback")).body;
    assert.deepEqual(fallback.accounts, [me.id]);
  },
);

test("nobody takes an awaited seat by a code that isn't for it, or is for less", async (t) => {
  const { box } = await scene(t);
  const admin = box.person("admin", "eve@example.org");
  const make = (body: object, key = box.owner.key) => box.api("POST", "/v1/accounts", body, key);
  assert.equal((await make({ email: "x@example.org", role: "owner" }, admin.key)).status, 403);
  const made = await make({ email: "chief@example.org", role: "owner" });
  assert.equal(made.status, 201);
  assert.equal((await make({ email: "CHIEF@example.org" })).body.error.code, "name_taken");
  const issue = async (body: object, key = admin.key) =>
    (await box.api("POST", "/v1/pair/codes", body, key)).body.code;
  const claim = (code: string) =>
    box.api(
      "POST",
      "/v1/pair",
      { code, email: "chief@example.org", password: "correct horse" },
      null,
    );
  assert.equal((await claim(await issue({}, box.owner.key))).status, 401, "anybody's code");
  assert.equal(
    (await claim(await issue({ email: "chief@example.org" }))).status,
    401,
    "a member's",
  );
  const good = await issue({ email: "chief@example.org", role: "owner" }, box.owner.key);
  assert.equal((await claim(good)).status, 200);
  // From now on they have a password, and a code of any rank asks for it.
  const later = await issue({ email: "chief@example.org", role: "owner" }, box.owner.key);
  const stranger = { code: later, password: "wrong horse" };
  assert.equal((await box.api("POST", "/v1/pair", stranger, null)).status, 401);
});

long(
  "what is exported with its overrides changes nothing where it is applied, and makes the same elsewhere",
  async (t) => {
    const { box, write, config, apply } = await scene(t);
    const there = await scene(t);
    write(file);
    assert.equal((await apply()).code, 0);
    assert.doesNotMatch((await config(["export"])).out, /overrides|Ann Ahn/);
    const exported = (await config(["export", "--with-people", "--with-overrides"])).out;
    assert.match(
      exported,
      /^format: 1\npeople:\n {2}- email: ann@example\.org\n {4}display_name: Ann Ahn\n {4}role: admin\n {2}- email: bob@example\.org\n/,
    );
    assert.match(
      exported,
      /overrides:\n {10}- person: bob@example\.org\n {12}starts_at: 2040-12-24 08:00\n/,
    );
    write(exported);
    const same = await apply();
    assert.match(same.out, /nothing changes\n/, same.err);
    assert.match(same.out, /applied 0 changes\n$/);
    there.write(exported);
    assert.equal((await there.apply()).code, 0);
    assert.equal(
      (await there.config(["export", "--with-people", "--with-overrides"])).out,
      exported,
    );

    const overrides = async () =>
      (await box.api("GET", "/v1/projects/shop/oncall/schedules/primary/overrides")).body.overrides;
    const [{ id }] = await overrides();
    write(
      exported.replace(
        /ends_at: 2040-12-27 08:00\n/,
        "ends_at: 2040-12-27 08:00\n          - person: ann@example.org\n            starts_at: 2041-01-01 08:00\n            ends_at: 2041-01-02 08:00\n          - person: ann@example.org\n            starts_at: 2020-01-01 08:00\n            ends_at: 2020-01-02 08:00\n",
      ),
    );
    const more = await apply();
    assert.match(more.out, /update schedule primary\n/, more.err);
    const after = await overrides();
    assert.deepEqual(
      [after.length, after[0].id],
      [2, id],
      "the first stays, what is over isn't made",
    );
    write(
      exported.replace(/ {8}overrides:\n[\s\S]*? {4}rules/, "        overrides: []\n    rules"),
    );
    assert.match((await apply()).out, /applied 1 changes\n$/);
    assert.deepEqual(await overrides(), []);
    write(exported.replace("2040-12-27 08:00", "2041-12-27 08:00"));
    const long = await apply();
    assert.match(
      long.err,
      /line \d+: \/projects\/0\/schedules\/0\/overrides\/0\/ends_at must be at most 90 days/,
    );
    write(exported.replace("person: bob@", "person: eve@"));
    assert.match((await apply()).err, /overrides\/0\/person\/0 not_a_member \(eve@example\.org\)/);
  },
);
