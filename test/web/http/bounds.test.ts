import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createRule } from "../../../src/core/alerts/rules.ts";
import { createSchedule } from "../../../src/core/oncall/schedules.ts";
import { bounds } from "../../../src/core/projects/bounds.ts";
import { createProject, getProject } from "../../../src/core/projects/projects.ts";
import { createSource } from "../../../src/core/projects/sources.ts";
import type { Tx } from "../../../src/ground/store/store.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { defaultRule } from "../../support/plane.ts";

let box: TestBox;
before(async () => {
  box = await testBox();
  await box.project("p");
});
after(() => box.stop());

/** Runs `make` with 0, 1, … until there are so many. */
function fill(most: number, make: (tx: Tx, i: number) => unknown) {
  box.tenant.store.write((tx) => {
    for (let i = 0; i < most; i += 1) make(tx, i);
  });
}

async function refused(path: string, body: object, most: number) {
  const answer = await box.api("POST", path, body);
  assert.deepEqual([answer.status, answer.body.error.code], [422, "too_many"], path);
  assert.match(answer.body.error.message, new RegExp(`at most ${most} `));
}

test("a project has so many sources, rules and schedules and no more", async () => {
  // The project came with one source.
  const project = getProject(box.tenant.store, "p");
  fill(bounds.sources - 1, (tx, i) =>
    createSource(tx, project, { tenantId: box.tenant.id, name: `s${i}`, retainLogs: false }),
  );
  await refused("/v1/projects/p/sources", { name: "one more" }, 500);
  fill(bounds.rules, (tx, i) => createRule(tx, project, { name: `r${i}`, body: defaultRule }));
  await refused("/v1/projects/p/rules", { name: "one more" }, 500);
  const schedule = { timezone: "UTC", layers: [] };
  fill(bounds.schedules, (tx, i) => createSchedule(tx, project, { name: `s${i}`, ...schedule }));
  await refused("/v1/projects/p/oncall/schedules", { name: "one more", ...schedule }, 100);
  assert.equal((await box.api("DELETE", "/v1/projects/p/rules/r0")).status, 200);
  assert.equal((await box.api("POST", "/v1/projects/p/rules", { name: "room" })).status, 201);
});

test("channels and actions likewise, whichever way a channel is made; the relay's row is none", async () => {
  const url = "http://127.0.0.1:9/";
  for (let i = 0; i < bounds.integrations; i += 1)
    assert.equal((await box.api("POST", "/v1/projects/p/webhooks", { url })).status, 201);
  await refused("/v1/projects/p/webhooks", { url }, 100);
  await refused("/v1/projects/p/integrations", { type: "webhook", url }, 100);
  const relay = { relay_url: url, relay_secret: "x".repeat(43) };
  assert.equal((await box.api("PUT", "/v1/relay", relay)).status, 200);
  for (let i = 0; i < bounds.actions; i += 1) {
    const action = { name: `a${i}`, method: "POST", url };
    assert.equal((await box.api("POST", "/v1/projects/p/actions", action)).status, 201);
  }
  await refused("/v1/projects/p/actions", { name: "one more", method: "POST", url }, 100);
});

test("a tenant has so many projects", async () => {
  fill(bounds.projects - 1, (tx, i) => createProject(tx, `q${i}`));
  await refused("/v1/projects", { name: "one more" }, 1000);
});
