import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { writeYaml } from "../../src/records/config-file/yaml.ts";
import type { Imported } from "../../src/records/import/importer.ts";
import { importers } from "../../src/records/import/list.ts";
import { teams } from "../records/import/teams.ts";
import { testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { scratch } from "../support/scratch.ts";
import { pass } from "../support/until.ts";

type Config = Imported["config"];
type Files = Readonly<Record<string, unknown>>;

/** A box into which a system is imported again and again. */
async function imports(t: TestContext, system: string) {
  const box = await testBox();
  t.after(() => box.stop());
  const now = Math.floor(box.clock.now() / 1000);
  const path = join(scratch(t), "box.yaml");
  const importer = importers.find((one) => one.system === system);
  const apply = async (files: Files, ...flags: string[]) => {
    const given = Object.entries(files).map(([name, value]) => ({
      name,
      text: typeof value === "string" ? value : JSON.stringify(value),
    }));
    const { config, secrets } = importer?.read(given, { now, project: null }) ?? {};
    writeFileSync(path, writeYaml(config));
    const all = Object.fromEntries((secrets ?? []).map((one) => [one.env, one.value ?? "x"]));
    const env = { BOX_URL: box.url, BOX_KEY: box.owner.key, ...all };
    const { code, out, err } = await run(["config", "apply", path, ...flags], { env });
    assert.equal(code, 0, `${system}: ${err}`);
    return out;
  };
  const at = `/v1/projects/${system}`;
  const config = async () => (await box.api("GET", `${at}/config?overrides=true`)).body.config;
  const schedule = async (name: string) =>
    (await box.api("GET", `${at}/oncall/schedules/${encodeURIComponent(name)}`)).body;
  const files = teams(now).find((one) => one.system === system)?.files ?? {};
  return { box, now, at, apply, config, schedule, files };
}

/** The files with a text in place of another, wherever it is a whole value. */
const having = (files: Files, from: string, to: string): Files =>
  JSON.parse(JSON.stringify(files).replaceAll(JSON.stringify(from), JSON.stringify(to))) as Files;

const names = (list: { name: string }[]) => list.map(({ name }) => name).sort();

for (const { system } of teams(1_800_000_000))
  test(`${system}: a schedule that got another name there gets it here, and a third import changes nothing`, async (t) => {
    const { apply, config, schedule, files } = await imports(t, system);
    await apply(files);
    assert.match(await apply(files), /nothing changes[\s\S]*applied 0 changes/);
    const before = await schedule("Primary");
    const { schedules, rules } = await config();
    const renamed = having(files, "Primary", "First line");
    const planned = await apply(renamed, "--dry-run");
    assert.match(planned, /rename schedule Primary to First line/);
    assert.equal((await schedule("Primary")).id, before.id, "a dry run changes nothing");
    await apply(renamed);
    assert.equal((await schedule("First line")).id, before.id);
    const after = await config();
    const wanted = names(schedules).map((name) => name.replace("Primary", "First line"));
    assert.deepEqual(names(after.schedules), wanted);
    assert.deepEqual(
      after.rules,
      JSON.parse(JSON.stringify(rules).replaceAll("Primary", "First line")),
      "ladders name it",
    );
    assert.match(await apply(renamed), /nothing changes[\s\S]*applied 0 changes/);
  });

const alertmanager = (receiver: string, more = "") => ({
  "alertmanager.yml": `
route:
  receiver: ${receiver}
  routes:
    - matchers: [team="db"]
      receiver: storage
receivers:
  - name: ${receiver}
    slack_configs: [{api_url: 'https://hooks.slack.com/services/T0/B0/x'}]
  - name: storage
    webhook_configs: [{url: 'https://hooks.example.com/storage'}]
${more}`,
});

test("alertmanager: a receiver that got another name there gives it to its rule and its channel", async (t) => {
  const { apply, config } = await imports(t, "alertmanager");
  await apply(alertmanager("chat"));
  assert.match(await apply(alertmanager("chat")), /applied 0 changes/);
  const said = await apply(alertmanager("room"));
  assert.match(said, /rename rule chat: everything else to room: everything else/);
  assert.match(said, /rename integration chat to room/);
  const { rules, integrations } = await config();
  assert.deepEqual(names(rules), ["room: everything else", 'storage: team="db"']);
  assert.deepEqual(names(integrations), ["room", "storage"]);
  assert.match(await apply(alertmanager("room")), /applied 0 changes/);
});

test("what a person made, changed, renamed or put on call since stays, and is named", async (t) => {
  const { box, now, at, apply, config, schedule, files } = await imports(t, "pagerduty");
  await apply(files);
  const put = async (name: string, change: object) => {
    const place = `${at}/rules/${encodeURIComponent(name)}`;
    const { id: _id, ...rule } = (await box.api("GET", place)).body;
    const { body, status } = await box.api("PUT", place, { ...rule, ...change });
    assert.equal(status, 200, JSON.stringify(body));
  };
  const made = await box.api("POST", `${at}/rules`, { name: "by hand" });
  assert.equal(made.status, 201);
  const { people: _people, ...first } = await schedule("Primary");
  const { id, project, created_at, updated_at, ...body } = first;
  const schedulePlace = `${at}/oncall/schedules/Primary`;
  assert.equal((await box.api("PUT", schedulePlace, { ...body, name: "Mine" })).status, 200);
  const [override] = (await config()).schedules[0].overrides;
  const hand = { account_id: box.owner.accountId, starts_at: now + 100, ends_at: now + 200 };
  assert.equal((await box.api("POST", `${at}/oncall/schedules/Mine/overrides`, hand)).status, 201);
  // A renamed schedule is no change of the rule which names it.
  const longer = having(having(files, "Web", "Website"), "Primary", "First line");
  const renamed = await apply(longer);
  assert.match(renamed, /rename rule Web to Website/);
  const after = await config();
  assert.deepEqual(names(after.rules), ["Website", "by hand"]);
  assert.deepEqual(names(after.schedules), ["Mine"]);
  assert.deepEqual(
    after.schedules[0].overrides.map((one: { starts_at: number }) => one.starts_at),
    [override.starts_at, hand.starts_at],
    "the person's own is last, and wins",
  );
  const { body: ladder } = await box.api("GET", "/v1/ladders/Default");
  assert.deepEqual(ladder.steps[0].schedules, ["pagerduty/Mine"]);
  assert.equal(ladder.imported_from, "pagerduty:PE1");
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const { out: exported } = await run(["config", "export"], { env });
  assert.match(
    exported,
    /ladders:\n[\s\S]*name: Default[\s\S]*imported_from: pagerduty:PE1[\s\S]*projects:/,
  );
  await put("Website", { renotify_minutes: 7 });
  const other = JSON.parse(JSON.stringify(longer).replace('"acknowledgement_timeout":null', ""));
  other["services.json"].services[0].acknowledgement_timeout = 1800;
  const said = await apply(other);
  assert.match(said, /keep rule Website: it was changed here since the last import/);
  assert.match(said, /applied 0 changes/);
  const rule = (await config()).rules.find((one: { name: string }) => one.name === "Website");
  assert.deepEqual([rule.renotify_minutes, rule.ack_expires_minutes], [7, 0]);
  const gone = { ...other, "services.json": { services: [] } };
  const vanished = await apply(gone);
  assert.match(vanished, /keep rule Website: the other system has it no more/);
  assert.match(vanished, /keep source Website: the other system has it no more/);
  const { rules } = await config();
  assert.ok(names(rules).includes("Website") && names(rules).includes("by hand"));
});

test("a ladder of the same name that a person made isn't the import's, and two names may change places", async (t) => {
  const { box, apply, config } = await imports(t, "pagerduty");
  const people = ["ann", "bob", "eve"].map((id) => ({ id, email: `${id}@example.org` }));
  const policy = (id: string, name: string, who: string) => ({
    id,
    name,
    escalation_rules: [{ targets: [{ id: who, type: "user_reference" }] }],
  });
  const service = { id: "S", name: "web", escalation_policy: { id: "P1" } };
  const files = (a: string, b: string, who = "ann") => ({
    "u.json": { users: people },
    "p.json": { escalation_policies: [policy("P1", a, who), policy("P2", b, "bob")] },
    "s.json": { services: [service] },
  });
  assert.equal((await box.api("POST", "/v1/ladders", { name: "A" })).status, 201);
  const ladders = async (): Promise<[string, string[]][]> =>
    (await box.api("GET", "/v1/ladders")).body.ladders.map(
      (one: { name: string; people: { email: string }[] }) => [
        one.name,
        one.people.map(({ email }) => email.slice(0, 3)),
      ],
    );
  const said = await apply(files("A", "B"));
  assert.match(said, /create ladder A \(2\)[\s\S]*create ladder B/);
  const hand = ["A", []];
  assert.deepEqual(await ladders(), [hand, ["A (2)", ["ann"]], ["B", ["bob"]]]);
  assert.equal((await config()).rules[0].ladder, "A (2)", "the rule has the import's");
  assert.match(await apply(files("A", "B")), /applied 0 changes/);
  await apply(files("C", "B"));
  assert.deepEqual(await ladders(), [hand, ["B", ["bob"]], ["C", ["ann"]]]);
  assert.match(await apply(files("B", "C")), /rename ladder C to B[\s\S]*rename ladder B to C/);
  assert.deepEqual(await ladders(), [hand, ["B", ["ann"]], ["C", ["bob"]]]);
  assert.equal((await config()).rules[0].ladder, "B");
  assert.match(
    await apply(files("B", "C", "eve")),
    /update ladder B: open alerts of its rules follow it/,
  );
  assert.deepEqual(await ladders(), [hand, ["B", ["eve"]], ["C", ["bob"]]]);
  const mine = { name: "Mine", steps: [{ accounts: [box.owner.accountId], after_minutes: 0 }] };
  assert.equal((await box.api("PUT", "/v1/ladders/B", mine)).status, 200);
  assert.match(
    await apply(files("D", "C", "ann")),
    /keep ladder Mine: it was changed here since the last import/,
  );
  assert.deepEqual((await ladders()).at(-1)?.[0], "Mine");
  assert.equal((await config()).rules[0].ladder, "Mine");
  const left = { ...files("D", "C", "ann"), "p.json": { escalation_policies: [] } };
  assert.match(await apply(left), /keep ladder C: the other system has it no more/);
  assert.equal((await ladders()).length, 3);
});

test("rules with copies, as an earlier version imported them, get the ladder, and nobody is paged less or again", async (t) => {
  const { box, now, apply, config, files } = await imports(t, "pagerduty");
  const importer = importers.find((one) => one.system === "pagerduty");
  const policies = JSON.parse(JSON.stringify(files["policies.json"]));
  policies.escalation_policies[0].num_loops = 1;
  policies.escalation_policies[0].escalation_rules.push({
    escalation_delay_in_minutes: 10,
    targets: [{ id: "PANN", type: "user_reference" }],
  });
  const looped = { ...files, "policies.json": policies };
  const given = Object.entries(looped).map(([name, value]) => ({
    name,
    text: JSON.stringify(value),
  }));
  assert.ok(importer);
  const { tenant: _none, ...old }: Config = importer.read(given, { now, project: null }).config;
  const [project] = old.projects ?? [];
  for (const rule of project?.rules ?? []) {
    delete rule.ladder;
    rule.escalations = [
      { schedules: ["Primary"], after_minutes: 0 },
      { accounts: ["ann@example.org"], after_minutes: 30 },
      { schedules: ["Primary"], after_minutes: 40 },
      { accounts: ["ann@example.org"], after_minutes: 70 },
    ];
  }
  for (const one of project?.schedules ?? []) delete one.shared;
  const path = join(scratch(t), "old.yaml");
  writeFileSync(path, writeYaml(old));
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const first = await run(["config", "apply", path], { env });
  assert.equal(first.code, 0, first.err);
  const body = JSON.stringify({
    event_action: "trigger",
    payload: { summary: "down", source: "db", severity: "critical" },
  });
  const token = /pti_\w+/.exec(first.out)?.[0];
  const sent = await fetch(`${box.url}/v1/in/pagerduty/${token}`, { method: "POST", body });
  assert.equal(sent.status, 202);
  const alert = async () => {
    const [{ id }] = (await box.api("GET", "/v1/alerts")).body.alerts;
    const { timeline } = (await box.api("GET", `/v1/alerts/${id}/timeline`)).body;
    return timeline
      .filter((one: { kind: string }) => one.kind === "escalated")
      .map((one: { at: number; detail: { level: number } }) => [
        Math.floor((one.at - now) / 60),
        one.detail.level,
      ]);
  };
  await pass(box, 35 * 60, 30);
  const soFar = [
    [0, 1],
    [30, 2],
  ];
  assert.deepEqual(await alert(), soFar);
  const said = await apply(looped);
  assert.match(said, /create ladder Default[\s\S]*update rule Web[\s\S]*update schedule Primary/);
  assert.equal((await config()).rules[0].ladder, "Default");
  await pass(box, 60, 30);
  assert.deepEqual(await alert(), soFar, "nobody is paged again");
  await pass(box, 50 * 60, 30);
  assert.deepEqual(await alert(), [...soFar, [40, 1], [70, 2]], "and nobody less");
  assert.match(await apply(looped), /applied 0 changes/);
});

test("a heartbeat and a channel get their new names, and one that a person called the same is another", async (t) => {
  const goalert = await imports(t, "goalert");
  const service = (name: string) => ({
    id: "W",
    name: "Web",
    heartbeatMonitors: [{ id: "h", name, timeoutMinutes: 15 }],
  });
  const beats = (name: string) => ({
    "e.json": { data: { services: { nodes: [service(name)] } } },
  });
  await goalert.apply(beats("cron"));
  assert.match(await goalert.apply(beats("nightly")), /rename heartbeat cron to nightly/);
  assert.deepEqual(names((await goalert.config()).heartbeats), ["nightly"]);
  assert.match(await goalert.apply(beats("nightly")), /applied 0 changes/);
  const { box, at, apply, config } = await imports(t, "alertmanager");
  await apply(alertmanager("chat"));
  const hand = { type: "webhook", name: "chat", url: "https://hooks.example.com/mine" };
  assert.equal((await box.api("POST", `${at}/integrations`, hand)).status, 201);
  await apply(alertmanager("room"));
  const { integrations } = await config();
  assert.deepEqual(
    integrations.map(({ name, url }: { name: string; url?: string }) => [name, url]),
    [
      ["chat", "https://hooks.example.com/mine"],
      ["room", undefined],
      ["storage", "https://hooks.example.com/storage"],
    ],
  );
  assert.match(await apply(alertmanager("room")), /applied 0 changes/);
});
