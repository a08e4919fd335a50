import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { writeYaml } from "../../src/records/config-file/yaml.ts";
import { importers } from "../../src/records/import/list.ts";
import { teams } from "../records/import/teams.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { scratch } from "../support/scratch.ts";

type Files = Readonly<Record<string, unknown>>;

/** Two boxes: what was imported into the first is exported, and applied on the second. */
async function moved(t: TestContext, system: string) {
  const [old, fresh] = [await testBox(), await testBox()];
  t.after(() => Promise.all([old.stop(), fresh.stop()]));
  const now = Math.floor(old.clock.now() / 1000);
  const folder = scratch(t);
  const command = async (box: TestBox, words: string[], secrets: Record<string, string> = {}) => {
    const env = { BOX_URL: box.url, BOX_KEY: box.owner.key, ...secrets };
    const { code, out, err } = await run(words, { env });
    assert.equal(code, 0, `${system}: box ${words.join(" ")}: ${err}`);
    return out;
  };
  const importInto = (box: TestBox, files: Files) => {
    const given = Object.entries(files).map(([name, value]) => ({
      name,
      text: typeof value === "string" ? value : JSON.stringify(value),
    }));
    const importer = importers.find((one) => one.system === system);
    const { config, secrets = [] } = importer?.read(given, { now, project: null }) ?? {};
    const path = join(folder, "imported.yaml");
    writeFileSync(path, writeYaml(config));
    const texts = Object.fromEntries(secrets.map((one) => [one.env, one.value ?? "x"]));
    return command(box, ["config", "apply", path], texts);
  };
  const move = async (...flags: string[]) => {
    const path = join(folder, "exported.yaml");
    await command(old, ["config", "export", "--with-people", "--out", path, ...flags]);
    await command(fresh, ["config", "apply", path]);
    assert.match(await command(fresh, ["config", "apply", path]), /applied 0 changes/);
  };
  const text = (box: TestBox) => command(box, ["config", "export", "--with-overrides"]);
  const files = teams(now).find((one) => one.system === system)?.files ?? {};
  return { old, fresh, importInto, move, text, files };
}

/** The files with one text in place of another, wherever it is a whole value. */
const having = (files: Files, from: string, to: string): Files =>
  JSON.parse(JSON.stringify(files).replaceAll(JSON.stringify(from), JSON.stringify(to))) as Files;

for (const { system } of teams(1_800_000_000))
  test(`${system}: after export and apply, an import makes nothing twice and renames what it made`, async (t) => {
    const { old, fresh, importInto, move, text, files } = await moved(t, system);
    await importInto(old, files);
    await move("--with-overrides");
    assert.equal(await text(fresh), await text(old));
    assert.match(await importInto(fresh, files), /nothing changes[\s\S]*applied 0 changes/);
    const { ladders } = (await fresh.api("GET", "/v1/ladders")).body;
    const names = ["Primary", "Web", ...ladders.map((one: { name: string }) => one.name)];
    let later = files;
    for (const name of names) later = having(later, name, `${name} of today`);
    const [there, here] = [await importInto(old, later), await importInto(fresh, later)];
    assert.match(here, /rename schedule Primary to Primary of today/);
    for (const { name } of ladders)
      assert.ok(here.includes(`rename ladder ${name} to ${name} of today`), here);
    assert.doesNotMatch(here, /create|keep/);
    assert.equal(here, there);
    assert.equal(await text(fresh), await text(old));
    assert.match(await importInto(fresh, later), /nothing changes[\s\S]*applied 0 changes/);
  });

test("what a person renamed and changed before the move stays as theirs after it", async (t) => {
  const { old, fresh, importInto, move, text, files } = await moved(t, "pagerduty");
  await importInto(old, files);
  const at = "/v1/projects/pagerduty";
  const { id: _id, ...rule } = (await old.api("GET", `${at}/rules/Web`)).body;
  const changed = await old.api("PUT", `${at}/rules/Web`, { ...rule, renotify_minutes: 7 });
  assert.equal(changed.status, 200);
  const { body: ladder } = await old.api("GET", "/v1/ladders/Default");
  const mine = { ...ladder, name: "Mine" };
  assert.equal((await old.api("PUT", "/v1/ladders/Default", mine)).status, 200);
  await move();
  const other = JSON.parse(JSON.stringify(having(files, "Default", "Other")));
  other["services.json"].services[0].acknowledgement_timeout = 1800;
  const here = await importInto(fresh, other);
  assert.equal(here.includes("keep rule Web: it was changed here since the last import"), true);
  assert.doesNotMatch(here, /create|ladder/);
  await importInto(old, other);
  assert.equal(await text(fresh), await text(old));
  // The overrides were not part of the move. The import brings them.
  assert.match(await text(fresh), /overrides:/);
});

test("heartbeats and channels remember it too", async (t) => {
  const goalert = await moved(t, "goalert");
  const beats = (name: string) => {
    const monitors = [{ id: "h", name, timeoutMinutes: 15 }];
    const service = { id: "W", name: "Web", heartbeatMonitors: monitors };
    return { "e.json": { data: { services: { nodes: [service] } } } };
  };
  await goalert.importInto(goalert.old, beats("cron"));
  await goalert.move();
  assert.match(
    await goalert.importInto(goalert.fresh, beats("nightly")),
    /rename heartbeat cron to nightly[\s\S]*applied 1 changes/,
  );
  const { old, fresh, importInto, move, text } = await moved(t, "alertmanager");
  const tree = (receiver: string) => ({
    "alertmanager.yml": `
route: {receiver: ${receiver}}
receivers: [{name: ${receiver}, webhook_configs: [{url: 'https://hooks.example.com/x'}]}]`,
  });
  await importInto(old, tree("chat"));
  await move();
  assert.match(await importInto(fresh, tree("room")), /rename integration chat to room/);
  await importInto(old, tree("room"));
  assert.equal(await text(fresh), await text(old));
});
