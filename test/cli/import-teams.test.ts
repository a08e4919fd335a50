import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { writeYaml } from "../../src/records/config-file/yaml.ts";
import { importers } from "../../src/records/import/list.ts";
import { teams } from "../records/import/teams.ts";
import { testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { scratch } from "../support/scratch.ts";

test("what each on-call tool exports is applied to a box, which has on call whom that tool says", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const now = Math.floor(box.clock.now() / 1000);
  const path = join(scratch(t), "box.yaml");
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  for (const { system, files, onCall } of teams(now)) {
    const importer = importers.find((one) => one.system === system);
    assert.ok(importer, system);
    const given = Object.entries(files).map(([name, value]) => ({
      name,
      text: JSON.stringify(value),
    }));
    const { config } = importer.read(given, { now, project: null });
    writeFileSync(path, writeYaml(config));
    const applied = await run(["config", "apply", path], { env });
    assert.equal(applied.code, 0, `${system}: ${applied.err}`);
    const again = await run(["config", "apply", path], { env });
    assert.match(again.out, /applied 0 changes/, `${system} twice is once`);
    for (const { schedules, at, people } of onCall) {
      const found = new Set<string>();
      for (const name of schedules) {
        const place = `/v1/projects/${system}/oncall/schedules/${encodeURIComponent(name)}/preview`;
        const { body } = await box.api("GET", `${place}?from=${at}&until=${at + 1}`);
        for (const { email } of body.shifts) found.add(email);
      }
      assert.deepEqual(
        [...found].sort(),
        people,
        `${system} ${schedules} ${new Date(at * 1000).toISOString()}`,
      );
    }
  }
});

test("the commands of a report let a sender in with the key that it has, and its alert takes the ladder", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const now = Math.floor(box.clock.now() / 1000);
  const [{ files }] = teams(now) as [ReturnType<typeof teams>[number]];
  const importer = importers.find(({ system }) => system === "pagerduty");
  const given = Object.entries(files).map(([name, value]) => ({
    name,
    text: JSON.stringify(value),
  }));
  const { config, commands, secrets } = importer?.read(given, { now, project: null }) ?? {};
  const path = join(scratch(t), "box.yaml");
  writeFileSync(path, writeYaml(config));
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  assert.equal((await run(["config", "apply", path], { env })).code, 0);
  const [key] = secrets ?? [];
  assert.deepEqual(commands, [`printf %s "$${key?.env}" | box source add-key pagerduty Web -`]);
  const event = {
    routing_key: key?.value,
    event_action: "trigger",
    payload: { summary: "down", source: "db", severity: "critical" },
  };
  const send = () =>
    fetch(`${box.url}/v1/in/pagerduty`, { method: "POST", body: JSON.stringify(event) });
  assert.equal((await send()).status, 400, "as PagerDuty answers an unknown key");
  writeFileSync(path, key?.value ?? "");
  const added = await run(["source", "add-key", "pagerduty", "Web", path], { env });
  assert.equal(added.code, 0, added.err);
  assert.equal((await send()).status, 202);
  const { alerts } = (await box.api("GET", "/v1/alerts?state=open")).body;
  assert.deepEqual(
    alerts.map((one: { rule: string }) => one.rule),
    ["Web"],
  );
});

test("a folder of PagerDuty's answers becomes a file by the command, with the keys of its senders beside it", async (t) => {
  const folder = scratch(t);
  const [{ files }] = teams(Math.floor(Date.now() / 1000)) as [ReturnType<typeof teams>[number]];
  for (const [name, value] of Object.entries(files))
    writeFileSync(join(folder, name), JSON.stringify(value));
  const output = join(scratch(t), "box.yaml");
  const { code, err } = await run(["import", "pagerduty", folder, "--output", output]);
  assert.equal(code, 0, err);
  assert.match(err, /^From PagerDuty: \d+ exact/m);
  assert.match(
    readFileSync(`${output}.env`, "utf8"),
    /PAGERDUTY_WEB_PROMETHEUS_KEY=0123456789abcdef/,
  );
});
