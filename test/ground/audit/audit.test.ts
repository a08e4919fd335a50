import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { atDesk } from "../../../src/app/offline/desk.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { type TestBox, testBox } from "../../support/box.ts";

/** Who changed what: by a key, a command, a pairing. */

let box: TestBox;
beforeEach(async () => {
  box = await testBox();
});
afterEach(() => box.stop());

interface Entry {
  id: string;
  account_id: string | null;
  via: string;
  hint: string;
  address: string;
  verb: string;
  target: { kind: string; id: string; name: string; project: string | null };
  changes: { field: string; from: unknown; to: unknown }[];
}

const entries = async (query = ""): Promise<Entry[]> =>
  (await box.api("GET", `/v1/audit${query}`)).body.entries;
const latest = async () => (await entries("?limit=1"))[0] as Entry;

describe("an entry", () => {
  test("says who, by what, from where, on what, and old and new of each field", async () => {
    await box.project("shop");
    const rules = "/v1/projects/shop/rules";
    await box.api("POST", rules, { name: "errors", dedup_window_minutes: 5 });
    await box.api("PUT", `${rules}/errors`, { dedup_window_minutes: 7, investigate: true });
    const { body } = await box.api("GET", "/v1/me");
    const entry = await latest();
    assert.deepEqual(
      [entry.account_id, entry.via, entry.hint, entry.address, entry.verb],
      [box.owner.accountId, "key", body.key_id, "127.0.0.1", "replaceRule"],
    );
    assert.deepEqual(
      [entry.target.kind, entry.target.name, entry.target.project],
      ["rule", "errors", "shop"],
    );
    assert.deepEqual(entry.changes, [
      { field: "dedup_window_minutes", from: 5, to: 7 },
      { field: "investigate", from: false, to: true },
    ]);
  });

  test("of a thing that is made or deleted has every field, and keeps the name of what is gone", async () => {
    const token = await box.project("shop");
    await box.api("DELETE", "/v1/projects/shop");
    const gone = await entries("?verb=deleteProject");
    assert.deepEqual(gone.map(({ target }) => [target.kind, target.name, target.project]).sort(), [
      ["project", "shop", "shop"],
      ["source", "app", "shop"],
    ]);
    const [made] = await entries("?target=source&verb=createSource");
    const token_ = made?.changes.find(({ field }) => field === "token");
    assert.deepEqual(token_, { field: "token", from: null, to: "changed" });
    assert.ok(!JSON.stringify(await entries()).includes(token));
  });

  test("is left by nobody who is refused, by no try, and by nothing that changes nothing", async () => {
    const token = await box.project("shop");
    await box.api("POST", "/v1/projects/shop/rules", { name: "any" });
    await box.ingest(token, { message: "down" });
    await box.api("POST", "/v1/alerts/1/ack");
    const before = (await latest()).id;
    await box.api("POST", "/v1/alerts/1/ack");
    await box.api("POST", "/v1/projects", { name: "shop" });
    const config = (await box.api("GET", "/v1/projects/shop/config")).body;
    config.config.rules = [];
    assert.equal(
      (await box.api("PUT", "/v1/projects/shop/config?dry_run=true", config)).status,
      200,
    );
    await box.ingest(token, { message: "down again" });
    await box.clock.turn(3_600_000);
    assert.equal((await latest()).id, before);
  });

  test("of an alert has its state, and one of a device, a heartbeat's pause, an account that is removed", async () => {
    const token = await box.project("shop");
    await box.api("POST", "/v1/projects/shop/rules", { name: "any" });
    await box.ingest(token, { message: "down" });
    await box.api("POST", "/v1/alerts/1/ack");
    assert.deepEqual((await latest()).target, {
      kind: "alert",
      id: "1",
      name: "any",
      project: "shop",
    });
    assert.deepEqual((await latest()).changes, [
      { field: "state", from: "open", to: "acknowledged" },
    ]);
    await box.api("POST", "/v1/devices", { token: "ab".repeat(32), platform: "ios" });
    assert.equal((await latest()).target.kind, "device");
    const beat = { name: "job", period_seconds: 60 };
    const { id } = (await box.api("POST", "/v1/projects/shop/heartbeats", beat)).body;
    await box.api("POST", `/v1/projects/shop/heartbeats/${id}/pause`);
    assert.deepEqual((await latest()).changes, [{ field: "state", from: "new", to: "paused" }]);
    const { accountId } = box.person("member", "cy@example.org");
    await box.api("DELETE", `/v1/accounts/${accountId}`);
    const [, removed] = (await entries("?verb=removeAccount"))
      .sort((a, b) => a.target.kind.localeCompare(b.target.kind))
      .reverse();
    assert.deepEqual([removed?.target.kind, removed?.target.name], ["account", "cy@example.org"]);
  });

  test("comes of a configuration file thing by thing,", async () => {
    await box.project("shop");
    const sent = (await box.api("GET", "/v1/projects/shop/config")).body;
    sent.config.rules = [{ name: "a" }, { name: "b" }];
    sent.config.integrations = [{ name: "ops", type: "webhook", url: "http://127.0.0.1:9/" }];
    const answer = await box.api("PUT", "/v1/projects/shop/config", sent);
    const written = await entries("?verb=putProjectConfig");
    if (answer.status === 200) {
      assert.deepEqual(written.map(({ target }) => `${target.kind} ${target.name}`).sort(), [
        "integration ops",
        "rule a",
        "rule b",
      ]);
    } else assert.fail(JSON.stringify(answer.body));
  });
});

describe("who isn't a key", () => {
  test("the operator on the data directory, by the command", async () => {
    const { accountId } = box.person("member", "bob@example.org");
    const place = { data: box.data, clock: box.clock, random: systemRandom };
    await atDesk(place, "account set-role", "bob@example.org", "admin");
    const entry = await latest();
    assert.deepEqual(
      [entry.account_id, entry.via, entry.hint, entry.address, entry.target.id],
      [null, "command", "box account set-role", "", accountId],
    );
    assert.deepEqual(entry.changes, [{ field: "role", from: "member", to: "admin" }]);
  });

  test("who redeems a pairing code: the account and the key that come of it", async () => {
    const { body } = await box.api("POST", "/v1/pair/codes", { role: "member" });
    await box.api(
      "POST",
      "/v1/pair",
      { code: body.code, email: "new@example.org", password: "correct horse" },
      null,
    );
    const made = await entries("?verb=pair");
    assert.deepEqual(made.map(({ via, target }) => `${via} ${target.kind}`).sort(), [
      "pairing account",
      "pairing key",
      "pairing pairing_code",
    ]);
    const text = JSON.stringify(await entries());
    for (const secret of [body.code, "correct horse"]) assert.ok(!text.includes(secret), secret);
  });
});

describe("the list", () => {
  test("is a manager's; by account, target, verb and time; page by page", async () => {
    assert.equal(
      (await box.api("GET", "/v1/audit", undefined, box.person("member").key)).status,
      403,
    );
    const admin = box.person("admin");
    for (let i = 0; i < 5; i++) await box.api("POST", "/v1/projects", { name: `p${i}` }, admin.key);
    await box.clock.turn(60_000);
    await box.api("POST", "/v1/projects/p3/rename", { name: "q" });
    const names = async (query: string) => (await entries(query)).map(({ target }) => target.name);
    assert.deepEqual(await names(`?account=${admin.accountId}&limit=2`), ["p4", "p3"]);
    assert.deepEqual(await names("?target=project:p1"), ["p1"]);
    assert.deepEqual(await names("?target=project:4"), ["q", "p3"]);
    assert.deepEqual(await names("?target=rule"), []);
    assert.deepEqual(await names(`?since=${Math.floor(box.clock.now() / 1000) - 1}`), ["q"]);
    const seen: string[] = [];
    for (let before = ""; ; ) {
      const { body } = await box.api("GET", `/v1/audit?limit=2${before}`);
      seen.push(...body.entries.map(({ target }: Entry) => target.name));
      if (body.next === null) break;
      before = `&before=${body.next}`;
    }
    assert.deepEqual(seen, ["q", "p4", "p3", "p2", "p1", "p0"]);
  });

  test("keeps 400 days", async () => {
    await box.api("POST", "/v1/projects", { name: "old" });
    await box.api("POST", "/v1/projects", { name: "new" });
    const days = (n: number, name: string) =>
      box.tenant.store.write((tx) =>
        tx.sql("UPDATE audit SET at = at - ? WHERE target_name = ?").run(n * 86_400, name),
      );
    days(401, "old");
    days(399, "new");
    for (let i = 0; i < 3; i++) await box.clock.turn(61_000);
    assert.deepEqual(
      (await entries("?verb=createProject")).map(({ target }) => target.name),
      ["new"],
    );
  });
});

test("a full disk refuses a change that it can't tell of; an acknowledgement goes on, and its history says who", async () => {
  const token = await box.project("shop");
  await box.api("POST", "/v1/projects/shop/rules", { name: "any" });
  await box.ingest(token, { message: "down" });
  const { store } = box.tenant;
  const pages = store.db.pragma("page_count", { simple: true });
  store.db.pragma(`max_page_count = ${pages}`);
  const fill =
    "INSERT INTO audit VALUES (NULL, 1, NULL, 'key', '', '', 'x', 'x', ?, ?, NULL, '[]')";
  const full = (length: number) => {
    try {
      for (;;) store.db.prepare(fill).run(systemRandom.bytes(length).toString("hex"), "");
    } catch (error) {
      assert.match(String(error), /full/);
    }
  };
  for (const length of [2000, 200, 20, 2]) full(length);
  const refused = await box.api("POST", "/v1/projects", { name: "more" });
  assert.deepEqual([refused.status, refused.body.error?.code], [429, "storage_full"]);
  assert.equal((await box.api("GET", "/v1/projects/more/rules")).status, 404);
  const acked = await box.api("POST", "/v1/alerts/1/ack");
  assert.deepEqual([acked.status, acked.body.state], [200, "acknowledged"]);
  const { timeline } = (await box.api("GET", "/v1/alerts/1/timeline")).body;
  assert.equal(timeline.at(-1).account_id, box.owner.accountId);
  assert.equal((await entries("?target=alert")).length, 0);
});
