import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createReachWatch } from "../../src/app/operate/reach.ts";
import { box as run } from "../support/command-line.ts";
import { pagedStory } from "../support/contacts.ts";
import { scratch } from "../support/scratch.ts";
import { settle } from "../support/until.ts";

/** One schedule that the ladders of every project name. */

async function story(t: TestContext) {
  const scene = await pagedStory(t);
  const { box, ann } = scene;
  await box.project("ops");
  const now = Math.floor(box.clock.now() / 1000);
  const schedules = "/v1/projects/ops/oncall/schedules";
  const primary = (more: object = {}) => ({
    name: "primary",
    timezone: "UTC",
    layers: [
      {
        name: "week",
        participants: [ann.accountId],
        rotation_start: now,
        shift_minutes: 10_080,
      },
    ],
    ...more,
  });
  assert.equal((await box.api("POST", schedules, primary())).status, 201);
  const put = (name: string, more: object) => box.api("PUT", `${schedules}/${name}`, primary(more));
  const ladder = async () =>
    (await box.api("GET", "/v1/projects/shop/rules/errors")).body.escalations[0].schedules;
  const paged = async (n: number) => {
    const id = await scene.fire(n);
    return (await box.api("GET", `/v1/alerts/${id}`)).body.page_accounts as string[];
  };
  return { ...scene, schedules, put, ladder, paged };
}

const named = (...schedules: string[]) => [{ schedules, after_minutes: 0 }];

test("a shared schedule pages from every project's ladder, overrides and all, and names follow what it and its home are called", async (t) => {
  const { box, ann, bob, rule, put, schedules, ladder, paged } = await story(t);
  const early = await box.api("POST", "/v1/projects/shop/rules", {
    name: "early",
    escalations: named("ops/primary"),
  });
  assert.deepEqual(
    [early.status, early.body.error.code, early.body.error.details[0].field],
    [422, "unknown_schedule", "/escalations/0/schedules/0"],
  );
  assert.equal((await put("primary", { shared: true })).body.shared, true);
  await rule(named("ops/primary"));
  assert.deepEqual(await paged(1), [ann.accountId]);
  const simulated = await box.api("POST", "/v1/projects/shop/rules/simulate", { rule: "errors" });
  assert.deepEqual(
    simulated.body.rungs[0]?.people.map((one: { account_id: string }) => one.account_id),
    [ann.accountId],
    JSON.stringify(simulated.body).slice(0, 300),
  );
  const cover = { account_id: bob.accountId, ends_at: Math.floor(box.clock.now() / 1000) + 600 };
  assert.equal((await box.api("POST", `${schedules}/primary/overrides`, cover)).status, 201);
  assert.deepEqual(await paged(2), [bob.accountId]);

  await box.api("PUT", "/v1/fallback", { accounts: [], schedules: ["ops/primary"] });
  assert.equal((await put("primary", { name: "first line" })).status, 200);
  assert.deepEqual(await ladder(), ["ops/first line"]);
  const renamed = await box.api("POST", "/v1/projects/ops/rename", { name: "team" });
  assert.equal(renamed.status, 200);
  assert.deepEqual(await ladder(), ["team/first line"]);
  assert.deepEqual((await box.api("GET", "/v1/fallback")).body.schedules, ["team/first line"]);
  assert.deepEqual(await paged(3), [bob.accountId]);
  const lists = async (path: string) =>
    (await box.api("GET", path)).body.schedules.map(
      (one: { name: string; project: string }) => `${one.project}/${one.name}`,
    );
  const own = "/v1/projects/shop/oncall/schedules";
  assert.deepEqual(
    [await lists(own), await lists(`${own}?shared=true`)],
    [[], ["team/first line"]],
  );
  const assigned = await box.api("POST", "/v1/alerts/1/assign", { schedules: ["team/first line"] });
  assert.deepEqual([assigned.status, assigned.body.page_accounts], [200, [bob.accountId]]);
});

test("it can't be deleted or become its project's own while rules of others name it, nor go with its project", async (t) => {
  const { box, rule, put, schedules } = await story(t);
  await put("primary", { shared: true });
  await rule(named("ops/primary"));
  const refusals = [
    await put("primary", { shared: false }),
    await box.api("DELETE", `${schedules}/primary`),
    await box.api("DELETE", "/v1/projects/ops"),
  ];
  for (const { status, body } of refusals)
    assert.deepEqual(
      [status, body.error.code, body.error.details],
      [409, "schedule_in_use", [{ reason: "named_by_rule", value: "shop/errors" }]],
    );
  // What is left out stays, as for a caller that has never heard of sharing.
  assert.equal((await put("primary", {})).body.shared, true);
  await box.api("DELETE", "/v1/projects/shop/rules/errors");
  await box.api("PUT", "/v1/fallback", { accounts: [], schedules: ["ops/primary"] });
  for (const path of [`${schedules}/primary`, "/v1/projects/ops"]) {
    const { status, body } = await box.api("DELETE", path);
    assert.deepEqual(
      [status, body.error.details],
      [409, [{ reason: "named_by_fallback", value: "ops/primary" }]],
    );
  }
  assert.equal(
    (await put("primary", { shared: false })).body.shared,
    false,
    "any may be named there",
  );
  await box.api("PUT", "/v1/fallback", { accounts: [], schedules: [] });
  assert.equal((await box.api("DELETE", "/v1/projects/ops")).status, 200);
});

test("who is out of reach is found through another project's schedule, also when that changes later", async (t) => {
  const { box, bob, rule, put } = await story(t);
  await put("primary", { shared: true, layers: [] });
  await rule(named("ops/primary"));
  const watch = createReachWatch();
  const said = () =>
    watch
      .look(box.tenant.store)
      .unreached.map(({ sentence }) => sentence)
      .join();
  assert.match(said(), /ladder's schedules have no participants/);
  const layer = { name: "l", participants: [bob.accountId], rotation_start: 0, shift_minutes: 60 };
  await put("primary", { layers: [layer] });
  assert.match(
    said(),
    /bob@example\.org is paged by rule errors \(schedule ops\/primary\) of shop/,
  );
});

test("a rule made in passing takes the team's ladder; where it would be a guess it pages an owner", async (t) => {
  const { box, rule, put, schedules } = await story(t);
  const connected = async (project: string) => {
    await box.project(project);
    const path = `/v1/projects/${project}`;
    const made = await box.api("POST", `${path}/connect`, { kind: "alertmanager" });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { escalations } = (await box.api("GET", `${path}/rules/${made.body.made_rule}`)).body;
    return escalations.map((step: { accounts: string[]; schedules: string[] }) => [
      ...step.accounts,
      ...step.schedules,
    ]);
  };
  assert.deepEqual(await connected("none"), [[box.owner.accountId]]);
  await put("primary", { shared: true });
  assert.deepEqual(await connected("one"), [["ops/primary"]]);
  await box.api("POST", schedules, { name: "second", timezone: "UTC", layers: [], shared: true });
  for (const name of ["none", "one"]) await box.api("DELETE", `/v1/projects/${name}`);
  assert.deepEqual(await connected("two"), [[box.owner.accountId]]);
  await rule([...named("ops/second"), { schedules: ["ops/primary"], after_minutes: 15 }]);
  assert.deepEqual(await connected("team"), [["ops/second"], ["ops/primary"]]);
});

const file = `format: 1
projects:
  - name: bakery
    rules:
      - name: errors
        escalations:
          - schedules: [ops/primary]
  - name: ops
    integrations:
      - name: room
        type: webhook
        url: http://127.0.0.1:9/
        shared: true
    schedules:
      - name: primary
        timezone: UTC
        shared: true
`;

test("a file names schedules that the same file shares, in whichever order; a second time it changes nothing", async (t) => {
  const { box } = await pagedStory(t);
  const path = join(scratch(t), "box.yaml");
  writeFileSync(path, file);
  const config = (...words: string[]) =>
    run(["config", ...words], { env: { BOX_URL: box.url, BOX_KEY: box.owner.key } });
  const plan = await config("apply", path, "--dry-run");
  assert.equal(plan.code, 0, plan.err);
  assert.deepEqual(
    (await box.api("GET", "/v1/projects")).body.projects.map((one: { name: string }) => one.name),
    ["shop"],
  );
  const applied = await config("apply", path);
  assert.equal(applied.code, 0, applied.err);
  assert.match((await config("apply", path)).out, /applied 0 changes\n$/);
  assert.match(
    (await config("export", "--project", "ops")).out,
    /timezone: UTC\n {8}shared: true\n/,
  );
  writeFileSync(
    path,
    file.replaceAll("errors", "faults").replace(/ {8}shared: true\n {4}sched/, "    sched"),
  );
  const again = await config("apply", path, "--delete");
  assert.equal(again.code, 0, again.err);

  const cli = (...words: string[]) =>
    run(words, { env: { BOX_URL: box.url, BOX_KEY: box.owner.key } });
  const list = await cli("schedule", "list", "bakery", "--shared");
  assert.match(list.out, /^ops\/primary +UTC +0 +yes/m);
  const off = await cli("schedule", "share", "ops", "primary", "--off");
  assert.match(off.err, /Rules still name this schedule: bakery\/faults/);
  await settle(box);
});
