import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { long, test } from "../support/long.ts";
import { scratch } from "../support/scratch.ts";

const file = `# what shop has
format: 1
projects:
  - name: shop
    sources:
      - name: app
        retain_logs: true
    integrations:
      - name: chat
        type: telegram
        token: {env: CHAT_TOKEN}
        chat_id: {file: chat-id}
    rules:
      - name: errors
        match:
          min_level: 400
        escalations:
          - accounts: [owner@example.org]
`;

test("a project from a file, by way of a plan, and back to a file", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const directory = scratch(t);
  const path = join(directory, "box.yaml");
  writeFileSync(path, file);
  writeFileSync(join(directory, "chat-id"), "42\n");
  const config = (...words: string[]) =>
    run(["config", ...words], {
      env: { BOX_URL: box.url, BOX_KEY: box.owner.key, CHAT_TOKEN: "1:abc" },
    });

  const plan = await config("apply", path, "--dry-run");
  assert.equal(plan.code, 0, plan.err);
  assert.match(plan.out, /^project shop\n {2}create integration chat\n {2}create rule errors\n/);
  assert.match(plan.out, /\n\+ {7}min_level: 400\n/);
  assert.equal((await box.api("GET", "/v1/projects")).body.projects.length, 0);

  const applied = await config("apply", path);
  assert.equal(applied.code, 0, applied.err);
  const token = /pti_\S+/.exec(applied.out)?.[0] ?? "";
  assert.equal((await box.ingest(token, { message: "hello" })).status, 202);

  const again = await config("apply", path);
  assert.match(again.out, /nothing changes\napplied 0 changes\n$/);

  const exported = await config("export");
  assert.match(exported.out, /token: kept\n {8}chat_id: kept\n/);
  assert.ok(!exported.out.includes("1:abc"));
  const out = join(directory, "exported.yaml");
  await config("export", "--project", "shop", "--out", out);
  assert.equal(readFileSync(out, "utf8"), exported.out);
  assert.match((await config("apply", out)).out, /applied 0 changes/);

  writeFileSync(path, file.replace("name: errors", "name: failures"));
  const renamed = await config("apply", path);
  assert.match(renamed.out, /^ {2}rename rule errors to failures$/m);
  assert.equal((await box.api("GET", "/v1/projects/shop/rules")).body.rules[0].name, "failures");

  writeFileSync(path, file.replace("name: errors", "name: others").replace("400", "300"));
  const refused = await config("apply", path);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /nothing was changed: this would delete\n {2}shop: rule failures\n/);
  assert.equal((await box.api("GET", "/v1/projects/shop/rules")).body.rules[0].name, "failures");
  assert.equal((await config("apply", path, "--delete")).code, 0);
  assert.equal((await box.api("GET", "/v1/projects/shop/rules")).body.rules[0].name, "others");
});

long("a file that takes a rule away says whose ladders end, and does it with --yes", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const path = join(scratch(t), "box.yaml");
  const apply = (...words: string[]) =>
    run(["config", "apply", path, "--delete", ...words], {
      env: { BOX_URL: box.url, BOX_KEY: box.owner.key },
    });
  const step = "escalations: [{accounts: [owner@example.org], after_minutes: 5}]";
  const withRule = `format: 1
projects:
  - name: shop
    sources: [{name: app}]
    rules: [{name: errors, ${step}}]
`;
  writeFileSync(path, withRule);
  assert.equal((await apply("--dry-run", "--exit-code")).code, 2);
  assert.equal((await apply("--exit-code")).code, 2, "it goes with a dry run");
  const token = /pti_\S+/.exec((await apply()).out)?.[0] ?? "";
  assert.deepEqual(
    [(await apply("--dry-run", "--exit-code")).code, (await apply("--dry-run")).code],
    [0, 0],
  );
  await box.ingest(token, { message: "down" });
  writeFileSync(path, withRule.replace(/ {4}rules.*\n/, ""));
  const line = "ends the ladder of alert 1 of rule errors, which named owner@example.org";
  const tried = await apply("--dry-run");
  assert.deepEqual([tried.code, tried.out.includes(`\n  ${line}\n`)], [0, true], tried.out);
  const refused = await apply();
  assert.equal(refused.code, 1);
  assert.ok(refused.err.includes(`shop: this ${line}\n--yes applies it all the same`), refused.err);
  assert.equal((await box.api("GET", "/v1/projects/shop/rules/errors")).status, 200);
  const done = await apply("--yes");
  assert.equal(done.code, 0, done.err);
  assert.ok(done.out.includes(`shop: this ${line}\n`), done.out);
});

test("faults of a file are told with their lines, before the box is asked and after", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const path = join(scratch(t), "box.yaml");
  const apply = async (text: string, env: Record<string, string> = {}) => {
    writeFileSync(path, text);
    return run(["config", "apply", path], {
      env: { BOX_URL: box.url, BOX_KEY: box.owner.key, ...env },
    });
  };
  const broken = await apply("format: 1\nprojects: [\n");
  assert.deepEqual([broken.code, /line \d: /.test(broken.err)], [2, true]);
  const wrong = await apply(file.replace("min_level: 400", "min_level: high\n          max: 1"));
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /line 16: \/projects\/0\/rules\/0\/match\/min_level must be an integer/);
  assert.match(wrong.err, /line 17: \/projects\/0\/rules\/0\/match\/max unknown field/);
  assert.match((await apply(file)).err, /the environment has no CHAT_TOKEN/);
  const plain = file.replace("{env: CHAT_TOKEN}", "1:abc");
  assert.match((await apply(plain)).err, /line 11: .*token must be "kept", \{env: NAME\}/);
  const stranger = file
    .replace(/ {4}integrations:[\s\S]*?rules/, "    rules")
    .replace("owner@", "eve@");
  const refused = await apply(stranger);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /line 13: .*accounts\/0 not_a_member \(eve@example.org\)/);
});

test("a schedule's start is written as its zone's clocks show it, and exported so", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const path = join(scratch(t), "box.yaml");
  const config = (...words: string[]) =>
    run(["config", ...words], { env: { BOX_URL: box.url, BOX_KEY: box.owner.key } });
  const text = (start: string) => `format: 1
projects:
  - name: shop
    schedules:
      - name: primary
        timezone: Europe/Berlin
        layers:
          - name: weekly
            participants:
              - owner@example.org
            rotation_start: ${start}
            shift_minutes: 10080
`;
  writeFileSync(path, text("2026-01-05 09:00"));
  const applied = await config("apply", path);
  assert.equal(applied.code, 0, applied.err);
  const stored = (await box.api("GET", "/v1/projects/shop/oncall/schedules/primary")).body;
  assert.equal(stored.layers[0].rotation_start, Date.UTC(2026, 0, 5, 8) / 1000);
  assert.equal((await config("export")).out, text("2026-01-05 09:00"));
  writeFileSync(path, text(String(stored.layers[0].rotation_start)));
  assert.match((await config("apply", path)).out, /nothing changes/);

  for (const never of ["2026-03-29 02:30", "18:00", "+2h"]) {
    writeFileSync(path, text(never));
    const { code, err } = await config("apply", path);
    assert.equal(code, 2, never);
    assert.match(err, /line 11: .*rotation_start must be a time that Europe\/Berlin has/);
  }
});

test("the schema for editors is one of the file", async () => {
  const { out, code } = await run(["config", "schema"]);
  assert.equal(code, 0);
  const schema = JSON.parse(out);
  assert.equal(schema.title, "box configuration");
  assert.deepEqual(schema.required, ["format"]);
  const rule = schema.properties.projects.items.properties.rules.items;
  assert.ok(rule.properties.fire_after);
});
