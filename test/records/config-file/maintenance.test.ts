import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { parseConfigFile, printConfigFile } from "../../../src/records/config-file/document.ts";
import { testApp } from "../../support/app.ts";
import { testBox } from "../../support/box.ts";
import { startReceiver } from "../../support/receiver.ts";
import { settle } from "../../support/until.ts";

const empty = { sources: [], schedules: [], actions: [], integrations: [], rules: [] };
const PATH = "/v1/projects/shop/config";
const NOWHERE = { env: {}, directory: "/nonexistent" };

const FILE = `format: 1
projects:
  - name: shop
    maintenance:
      - name: weekly update
        match:
          rule: errors
        critical: true
        reason: hosts restart
        timezone: Europe/Vienna
        repeat: weekly
        starts_at: 2026-01-12 18:00
        ends_at: 2026-01-12 20:00
        repeat_until: 2026-12-31 00:00
`;
const [weekly] = parseConfigFile(FILE, NOWHERE).projects[0]?.config.maintenance ?? [];
assert.ok(weekly);

function desk(t: TestContext) {
  const app = testApp(t);
  const { key } = app.person("owner", "ann@example.org");
  let version = 0;
  return {
    app,
    /** What applying it changes; `query` as of the route. */
    async apply(maintenance?: readonly object[], query = "") {
      const config = { ...empty, ...(maintenance && { maintenance }) };
      const { status, body } = await app.call("PUT", PATH + query, {
        key,
        body: { version, config },
      });
      if (status !== 200) return body.error;
      if (query === "") version = body.version;
      return body.changes.map(
        ({ kind, name, change }: Record<string, string>) => `${change} ${kind} ${name}`,
      );
    },
    config: async () => (await app.call("GET", PATH, { key })).body.config,
    add: (body: object) => app.call("POST", "/v1/silences", { key, body }),
    end: (id: string) => app.call("DELETE", `/v1/silences/${id}`, { key }),
    /** Those that aren't over, as name and whether the file owns them. */
    async standing() {
      const { body } = await app.call("GET", "/v1/silences", { key });
      return body.silences
        .filter(({ state }: { state: string }) => state !== "over")
        .map(({ name, reason, managed }: Record<string, unknown>) => [name || reason, managed])
        .sort();
    },
  };
}

test("windows that repeat stand in the file by the clocks of their zone, and come back to the byte", async (t) => {
  const { apply, config, standing } = desk(t);
  assert.deepEqual(await apply([weekly]), ["create maintenance weekly update"]);
  assert.deepEqual(await standing(), [["weekly update", true]]);
  assert.equal(printConfigFile([{ name: "shop", config: await config() }]), FILE);
  assert.deepEqual(await apply([weekly]), [], "the same again changes nothing");
  assert.deepEqual(await apply([{ ...weekly, critical: false }], "?dry_run=true"), [
    "update maintenance weekly update",
  ]);
  assert.equal((await config()).maintenance[0].critical, true, "a try changes nothing");
  assert.deepEqual(await apply([{ ...weekly, critical: false }]), [
    "update maintenance weekly update",
  ]);
  assert.deepEqual(await standing(), [["weekly update", true]], "in place of the one before");
});

test("the file ends what it made, and nothing that somebody planned by hand", async (t) => {
  const { app, apply, add, standing } = desk(t);
  await apply([weekly]);
  const now = Math.floor(app.clock.now() / 1000);
  const own = { project: "shop", match: { rule: "errors" }, ends_at: now + 3600 };
  await add({ ...own, reason: "deploy 41" });
  await add({ ...own, kind: "maintenance", name: "once", reason: "a disk" });
  const nightly = { repeat: "daily", repeat_until: now + 9 * 86_400, kind: "maintenance" };
  await add({ ...own, ...nightly, name: "by hand", reason: "backups" });
  const others = [
    ["by hand", false],
    ["deploy 41", false],
    ["once", false],
  ];
  assert.deepEqual(await apply(), [], "a file that says nothing of them leaves all");
  assert.deepEqual(await standing(), [...others, ["weekly update", true]]);
  assert.deepEqual(await apply([]), ["delete maintenance weekly update"]);
  assert.deepEqual(await standing(), others);
});

test("what was planned by hand belongs to the file once that names it", async (t) => {
  const { app, apply, add, config, standing } = desk(t);
  await apply();
  const now = Math.floor(app.clock.now() / 1000);
  await add({
    project: "shop",
    match: { rule: "errors" },
    kind: "maintenance",
    name: "nightly",
    reason: "backups",
    ends_at: now + 60,
    repeat: "daily",
    repeat_until: now + 9 * 86_400,
  });
  const { maintenance } = await config();
  assert.deepEqual(await apply(maintenance), ["update maintenance nightly"]);
  assert.deepEqual(await standing(), [["nightly", true]]);
  assert.deepEqual(await apply([]), ["delete maintenance nightly"]);
});

test("one that is over is no fault of the file; one that was ended by hand is made again", async (t) => {
  const { app, apply, config, end, standing } = desk(t);
  await apply([weekly]);
  const { key } = app.person("owner");
  const { body } = await app.call("GET", "/v1/silences", { key });
  await end(body.silences[0].id);
  assert.deepEqual(await standing(), []);
  assert.deepEqual(await apply([weekly]), ["create maintenance weekly update"]);
  const now = Math.floor(app.clock.now() / 1000);
  const times = { starts_at: now, ends_at: now + 60, repeat_until: now + 90 };
  const short = { ...weekly, repeat: "daily", ...times };
  assert.deepEqual(await apply([short]), ["update maintenance weekly update"]);
  await app.clock.turn(90_000);
  assert.deepEqual(await apply([short]), []);
  assert.equal((await config()).maintenance, undefined);
});

test("what a silence may not be is told at its place in the file", async (t) => {
  const { apply } = desk(t);
  await apply();
  const refused = async (window: object) => (await apply([weekly, window])).details[0];
  assert.deepEqual(await refused({ ...weekly, name: "all", match: {} }), {
    field: "/config/maintenance/1/all",
    reason: "must be true if nothing but a project or a level limits the silence",
  });
  assert.equal((await refused(weekly)).field, "/config/maintenance/1/name");
  assert.equal(
    (await refused({ ...weekly, name: "x", repeat: "none" })).field,
    "/config/maintenance/1/repeat",
  );
  const long = { ...weekly, name: "x", repeat_until: weekly.starts_at + 400 * 86_400 };
  assert.equal((await refused(long)).reason, "must be at most a year after starts_at");
  assert.throws(
    () => parseConfigFile(FILE.replace("01-12 18:00", "03-29 02:30"), NOWHERE),
    /line 12: .*starts_at must be a time that Europe\/Vienna has/,
  );
});

test("a window that the file changes while it holds an alert goes on holding it; one that leaves the file lets it ring", async (t) => {
  const receiver = await startReceiver();
  const box = await testBox();
  t.after(async () => {
    await box.stop();
    await receiver.close();
  });
  const token = await box.project("shop");
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors" });
  await box.api("POST", "/v1/projects/shop/webhooks", { url: `${receiver.url}/hook` });
  const now = Math.floor(box.clock.now() / 1000);
  const times = { starts_at: now - 60, ends_at: now + 3600, repeat_until: now + 9 * 86_400 };
  const apply = async (maintenance: object[]) => {
    const { body } = await box.api("GET", PATH);
    const config = { ...body.config, maintenance };
    const put = await box.api("PUT", PATH, { version: body.version, config });
    assert.equal(put.status, 200, JSON.stringify(put.body));
    await box.clock.turn(10_000);
    await settle(box);
  };
  await apply([{ ...weekly, ...times }]);
  await box.ingest(token, { message: "it broke", level: 400 });
  await settle(box);
  const heldBy = async () => (await box.api("GET", "/v1/alerts/1")).body.silenced_by;
  const first = await heldBy();
  assert.ok(first);
  await apply([{ ...weekly, ...times, reason: "another" }]);
  assert.notEqual(await heldBy(), first);
  assert.ok(await heldBy());
  assert.deepEqual(receiver.received, []);
  await apply([]);
  assert.equal(await heldBy(), null);
  assert.deepEqual(
    receiver.received.map(({ body }) => JSON.parse(body).event),
    ["alert.opened"],
  );
});
