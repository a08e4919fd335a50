import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { scratch } from "../support/scratch.ts";

const file = (after: number) => `format: 1
tenant:
  ladders:
    - name: team
      steps:
        - accounts: [owner@example.org]
        - schedules: [shop/night]
          after_minutes: ${after}
      passes: 2
      pass_after_minutes: 30
projects:
  - name: shop
    default_ladder: team
    schedules:
      - name: night
        timezone: UTC
        shared: true
    rules:
      - name: errors
        ladder: team
`;

test("ladders of a file are made before the rules that refer to them, change with it, and come back", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const directory = scratch(t);
  const path = join(directory, "box.yaml");
  const config = (...words: string[]) =>
    run(["config", ...words], { env: { BOX_URL: box.url, BOX_KEY: box.owner.key } });
  writeFileSync(path, file(10));
  const plan = await config("apply", path, "--dry-run");
  assert.equal(plan.code, 0, plan.err);
  assert.match(plan.out, /create default_ladder shop\n/);
  assert.match(plan.out, /the whole box\n {2}create ladder team\n\+ name: team\n\+ steps:\n/);
  assert.deepEqual((await box.api("GET", "/v1/ladders")).body.ladders, [], "it was only tried");
  const applied = await config("apply", path);
  assert.equal(applied.code, 0, applied.err);
  const rule = async () => (await box.api("GET", "/v1/projects/shop/rules/errors")).body;
  const first = await rule();
  assert.deepEqual([first.ladder, first.escalations[1].after_minutes], ["team", 10]);
  const usual = async () =>
    (await box.api("GET", "/v1/projects")).body.projects[0].default_ladder as string | null;
  assert.equal(await usual(), "team");
  const again = await config("apply", path);
  assert.match(again.out, /applied 0 changes\n$/);

  const exported = await config("export");
  assert.match(exported.out, /^tenant:\n {2}ladders:\n {4}- name: team\n/m);
  assert.match(exported.out, /ladder: team/);
  writeFileSync(path, exported.out);
  const back = await config("apply", path);
  assert.match(back.out, /applied 0 changes\n$/, back.err);

  writeFileSync(path, file(20));
  const changed = await config("apply", path);
  assert.equal(changed.code, 0, changed.err);
  assert.match(
    changed.out,
    /update ladder team\n(.*\n)*- +after_minutes: 10\n\+ +after_minutes: 20\n/,
  );
  assert.equal((await rule()).escalations[1].after_minutes, 20);
  writeFileSync(path, file(20).replace(/ +default_ladder: team\n/, ""));
  assert.match((await config("apply", path)).out, /applied 0 changes\n$/, "left out it stays");
  const gone = exported.out
    .replace("default_ladder: team", "default_ladder: null")
    .replace(/ {2}ladders:[\s\S]*?(?=^\S)/m, "  ladders: []\n")
    .replace(/ +ladder: team\n/, "");
  writeFileSync(path, gone);
  const refused = await config("apply", path);
  assert.match(refused.err, /would delete\n {2}shop: default_ladder shop\n {2}ladder team/);
  const deleted = await config("apply", path, "--delete", "--yes");
  assert.equal(deleted.code, 0, deleted.err);
  assert.deepEqual((await box.api("GET", "/v1/ladders")).body.ladders, []);
  assert.deepEqual([(await rule()).ladder, await usual()], [null, null]);
});

test("a ladder's people are the same in any case, and nothing is changed for one who isn't there", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const path = join(scratch(t), "box.yaml");
  const apply = async (text: string, ...more: string[]) => {
    writeFileSync(path, text);
    const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
    return run(["config", "apply", path, ...more], { env });
  };
  assert.equal((await apply(file(10))).code, 0);
  const shouted = file(10).replace("owner@example.org", "OWNER@Example.org");
  assert.match((await apply(shouted)).out, /applied 0 changes\n$/);
  const holidays = "  holidays:\n    - name: de\n      dates: [2026-12-25]\n  ladders:\n";
  const stranger = file(20)
    .replace("  ladders:\n", holidays)
    .replace("owner@example.org", "nobody@example.org");
  for (const more of [["--dry-run"], []]) {
    const { code, err } = await apply(stranger, ...more);
    assert.notEqual(code, 0);
    assert.match(err, /ladder team: there is no account "nobody@example\.org"/);
  }
  assert.deepEqual((await box.api("GET", "/v1/holidays")).body.holidays, []);
});

test("a ladder that is still named can't go, which the dry run says", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const path = join(scratch(t), "box.yaml");
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const config = (text: string, ...more: string[]) => {
    writeFileSync(path, text);
    return run(["config", "apply", path, ...more], { env });
  };
  const applied = await config(file(10));
  assert.equal(applied.code, 0, applied.err);
  const gone = "format: 1\ntenant:\n  ladders: []\nprojects:\n";
  const unused = "  - name: shop\n    default_ladder: null\n";
  const schedule =
    "    schedules:\n      - name: night\n        timezone: UTC\n        shared: true\n";
  const ruled = `${unused}${schedule}    rules:\n      - name: errors\n        ladder: team\n`;
  const named: [projects: string, by: string][] = [
    ["  - name: other\n", "shop/errors"],
    [ruled, "shop/errors"],
    [`  - name: shop\n    default_ladder: team\n${schedule}`, "shop"],
    [`  - name: shop\n${schedule}`, "shop"],
  ];
  for (const [projects, by] of named) {
    const { code, err } = await config(gone + projects, "--dry-run");
    assert.notEqual(code, 0, projects);
    assert.match(
      err,
      new RegExp(`ladder team: the file has none of this name, and ${by} names it`),
    );
  }
  // No rule has it any more: it is the default of a project that the file lacks.
  const ruleless = await config(
    `format: 1\nprojects:\n  - name: shop\n${schedule}`,
    "--delete",
    "--yes",
  );
  assert.equal(ruleless.code, 0, ruleless.err);
  const { err } = await config(`${gone}  - name: other\n`, "--dry-run");
  assert.match(err, /ladder team: the file has none of this name, and shop names it/);
  const deleted = await config(gone + unused + schedule, "--delete", "--yes");
  assert.equal(deleted.code, 0, deleted.err);
  assert.deepEqual((await box.api("GET", "/v1/ladders")).body.ladders, []);
});
