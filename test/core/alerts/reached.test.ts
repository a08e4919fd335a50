import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { reachReport } from "../../../src/core/alerts/reach-report.ts";
import { type Person, testBox } from "../../support/box.ts";
import { box as run } from "../../support/command-line.ts";
import { reachBy } from "../../support/contacts.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { pass, settle } from "../../support/until.ts";

async function shop(t: TestContext) {
  const receiver = await startReceiver();
  const box = await testBox({ publicUrl: "https://box.test" });
  t.after(async () => {
    await box.stop();
    await receiver.close();
  });
  const token = await box.project("shop");
  const people = Object.fromEntries(
    ["ann", "bob", "cid", "dan", "eve"].map((name) => [
      name,
      box.person("member", `${name}@example.org`),
    ]),
  ) as Record<"ann" | "bob" | "cid" | "dan" | "eve", Person>;
  const ids = Object.fromEntries(
    Object.entries(people).map(([name, { accountId }]) => [accountId, name]),
  );
  let n = 0;
  return {
    box,
    receiver,
    people,
    async rule(escalations: object[]) {
      const write = { name: "errors", identifier_keys: ["n"], escalations };
      const made = await box.api("PUT", "/v1/projects/shop/rules/errors", write);
      const again =
        made.status === 404 ? await box.api("POST", "/v1/projects/shop/rules", write) : made;
      assert.ok(again.status < 300, JSON.stringify(again.body));
    },
    async fire(): Promise<string> {
      await box.ingest(token, { message: "disk is full", level: 500, keys: { n: `${++n}` } });
      await settle(box);
      return String(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get());
    },
    /** `ann webhook /ann answered`: who, by what, why. */
    async reach(id: string): Promise<string[]> {
      const got = await box.api("GET", `/v1/alerts/${id}/pages`, undefined, people.eve.key);
      assert.equal(got.status, 200, JSON.stringify(got.body));
      return got.body.pages.map((page: Record<string, string | number | null>) =>
        [
          ids[page["account_id"] ?? ""] ?? page["account_id"],
          page["address"],
          page["reason"],
          page["outcome"],
          page["error"],
          page["by"] === null ? null : (ids[page["by"] ?? ""] ?? null),
        ]
          .filter((part) => part !== null)
          .join(" "),
      );
    },
  };
}

test("who was told by what, and who wasn't and why: each way once, as it stands", async (t) => {
  const { box, receiver, people, rule, fire, reach } = await shop(t);
  const { ann, bob, cid, dan, eve } = people;
  const [fast, slow] = [
    await reachBy(box, ann, receiver, "/ann"),
    await reachBy(box, ann, receiver, "/late"),
  ];
  const rules = [
    { after_seconds: 0, contacts: [fast] },
    { after_seconds: 600, contacts: [slow] },
  ];
  await box.api("PUT", "/v1/accounts/me/notify", { rules }, ann.key);
  await reachBy(box, bob, receiver, "/bob");
  const start = Math.floor(box.clock.now() / 1000);
  const layer = {
    name: "l",
    rotation_start: start - 3600,
    shift_minutes: 1440,
    participants: [dan.accountId, eve.accountId, bob.accountId],
  };
  const made = await box.api("POST", "/v1/projects/shop/oncall/schedules", {
    name: "ops",
    timezone: "UTC",
    layers: [layer],
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const over = { account_id: bob.accountId, starts_at: start - 60, ends_at: start + 36_000 };
  const path = `/v1/projects/shop/oncall/schedules/ops/overrides`;
  assert.equal((await box.api("POST", path, over)).status, 201);
  const step = (accounts: Person[], schedules: string[], after_minutes: number) => ({
    after_minutes,
    accounts: accounts.map(({ accountId }) => accountId),
    schedules,
  });
  await rule([step([ann, cid], ["ops"], 0), step([box.owner], [], 30)]);
  const id = await fire();
  const owner = box.owner.accountId;
  assert.deepEqual(await reach(id), [
    "ann /ann accepted_not_confirmed accepted",
    "ann /late delayed",
    "bob /bob accepted_not_confirmed accepted",
    "cid no_channel",
    "dan covered_by_override bob",
    "eve not_on_call bob",
    `${owner} step_not_reached`,
  ]);
  const { pages } = (await box.api("GET", `/v1/alerts/${id}/pages`)).body;
  assert.equal(pages.at(-1).due_at, Number(pages[0].at) + 1800);
  const link = JSON.parse(
    receiver.received.findLast(({ path }) => path === "/ann")?.body ?? "{}",
  ).acknowledge_url;
  await fetch(link.replace("https://box.test", box.url), {
    method: "POST",
    body: "verb=acknowledge",
  });
  await settle(box);
  assert.deepEqual((await reach(id)).slice(0, 3), [
    "ann /ann shown answered",
    "ann /late withdrawn",
    "bob /bob accepted_not_confirmed accepted",
  ]);
  assert.equal((await box.api("GET", `/v1/alerts/${id}/pages`)).body.pages.at(-1).due_at, null);

  const words = await run(["alert", "pages", id], { env: { BOX_URL: box.url, BOX_KEY: ann.key } });
  assert.equal(words.code, 0, words.err);
  assert.match(words.out, /^WHO +WAY +WHAT BECAME OF IT +WHEN +ERROR\n/);
  assert.match(words.out, /\nann@example\.org +webhook \/ann +answered +\d{4}-/);
  assert.match(words.out, /\ncid@example\.org +NOT PAGED: has no contact and no phone/);
  assert.match(words.out, /\neve@example\.org +not on call: bob@example\.org was/);
  assert.match(words.out, /\nowner@example\.org +rung 2 was not reached/);
  const history = await run(["timeline", id], { env: { BOX_URL: box.url, BOX_KEY: ann.key } });
  assert.match(
    history.out,
    /ann@example\.org acknowledged through webhook\. 1 waiting page withdrawn\.\n/,
  );
});

test("what failed, what waits for another attempt, who was removed, and a rule without a ladder", async (t) => {
  const { box, receiver, people, rule, fire, reach } = await shop(t);
  const { ann, bob, cid } = people;
  await reachBy(box, ann, receiver, "/ann");
  await reachBy(box, bob, receiver, "/bob");
  const accounts = [ann, bob, cid].map(({ accountId }) => accountId);
  await rule([{ after_minutes: 0, accounts }]);
  receiver.always((response, _socket, { path }) =>
    response.writeHead(path === "/ann" ? 410 : 503).end(),
  );
  const id = await fire();
  assert.deepEqual(await reach(id), [
    "ann /ann failed http 410",
    "bob /bob delayed http 503",
    "cid no_channel",
  ]);
  receiver.always(answer(204));
  await pass(box, 60, 5);
  assert.match((await reach(id))[1] ?? "", /^bob \/bob accepted_not_confirmed accepted/);
  await rule([{ after_minutes: 0, accounts: [ann.accountId] }]);
  assert.equal((await box.api("DELETE", `/v1/accounts/${cid.accountId}`)).status, 200);
  const { pages } = (await box.api("GET", `/v1/alerts/${id}/pages`)).body;
  const gone = pages.find(({ account_id }: { account_id: string }) => account_id === cid.accountId);
  assert.deepEqual([gone.reason, gone.name], ["account_removed", null]);
  await rule([]);
  assert.deepEqual(await reach(await fire()), ["no_ladder"]);
  assert.equal((await box.api("GET", "/v1/alerts/999/pages")).status, 404);
});

test("why a channel wasn't told, what a silence holds, and that further events tell nobody again", async (t) => {
  const { box, receiver, people, rule, fire, reach } = await shop(t);
  const { ann, bob } = people;
  await reachBy(box, ann, receiver, "/ann");
  const hook = async (name: string, events: string[]) => {
    const url = `${receiver.url}/${name}`;
    const write = { name, type: "webhook", url, events };
    const made = await box.api("POST", "/v1/projects/shop/integrations", write);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.id as string;
  };
  const [ops, tickets] = [await hook("ops", []), await hook("tickets", ["alert.opened"])];
  const off = await hook("off", []);
  const disable = "UPDATE integrations SET enabled = 0, last_error = 'http 410' WHERE id = ?";
  box.tenant.store.write((tx) => tx.sql(disable).run(off));
  await rule([
    { after_minutes: 0, accounts: [ann.accountId] },
    { after_minutes: 10, accounts: [bob.accountId] },
  ]);
  const id = await fire();
  const channels = async (alert: string) =>
    (await box.api("GET", `/v1/alerts/${alert}/pages`)).body.pages
      .filter((page: { account_id: string | null }) => page.account_id === null)
      .map((page: Record<string, unknown>) =>
        [page["integration_id"], page["event"], page["reason"], page["error"]].join(" ").trim(),
      );
  assert.deepEqual(await channels(id), [
    `${off} alert.opened channel_disabled http 410`,
    `${off} alert.escalated channel_disabled http 410`,
    `${ops} alert.opened delivered`,
    `${ops} alert.escalated delivered`,
    `${tickets} alert.opened delivered`,
    `${tickets} alert.escalated event_filtered takes alert.opened`,
  ]);
  const token = (await box.api("POST", "/v1/projects/shop/sources", { name: "b" })).body.token;
  await box.ingest(token, { message: "disk is full", level: 500, keys: { n: "1" } });
  assert.equal((await channels(id)).at(-1)?.trim(), "repeat_is_silent");

  const now = Math.floor(box.clock.now() / 1000);
  const silence = {
    project: "shop",
    match: { rule: "errors" },
    critical: true,
    reason: "deploy",
    ends_at: now + 3600,
  };
  const made = await box.api("POST", "/v1/silences", silence);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  await pass(box, 700, 10);
  const held = (await box.api("GET", `/v1/alerts/${id}/pages`)).body.pages;
  const bobs = held.find((page: { account_id: string }) => page.account_id === bob.accountId);
  assert.deepEqual(
    [bobs.reason, bobs.by, bobs.until, bobs.due_at],
    ["silenced", made.body.id, now + 3600, null],
  );
  const second = await fire();
  assert.deepEqual(await channels(second), [
    `${off} alert.opened channel_disabled http 410`,
    `${ops} alert.opened silenced`,
    `${tickets} alert.opened silenced`,
  ]);
  assert.deepEqual((await reach(second)).slice(0, 2), ["ann silenced", "bob silenced"]);
  const words = await run(["alert", "pages", second], {
    env: { BOX_URL: box.url, BOX_KEY: ann.key },
  });
  assert.match(words.out, /\nann@example\.org +silenced until \d{4}-\S+ \S+\n/);
  assert.match(words.out, /\ntickets +webhook +silenced until/);
});

test("pages by the relay: taken, without a phone, waiting, failed, off", () => {
  const phone = {
    accounts: ["a"],
    event: "alert.escalated",
    attempts: 1,
    dueAt: 1,
    endedAt: 2,
    error: null,
  };
  const reasonOf = (status: "pending" | "delivered" | "failed" | "dropped", hasPhone = true) =>
    reachReport({
      steps: [],
      paged: ["a"],
      pages: [],
      nameOf: () => "Ann",
      hasPhone: () => hasPhone,
      phones: [{ ...phone, status }],
      channels: [],
      events: [],
      held: null,
      repeatAt: null,
    }).map(({ via, reason }) => `${via} ${reason}`);
  assert.deepEqual(reasonOf("delivered"), ["phone accepted_not_confirmed"]);
  assert.deepEqual(reasonOf("delivered", false), ["phone no_device"]);
  assert.deepEqual(reasonOf("pending"), ["phone delayed"]);
  assert.deepEqual(reasonOf("failed"), ["phone failed"]);
  assert.deepEqual(reasonOf("dropped"), ["phone channel_disabled"]);
});

test("a step to come says when it runs and who has duty by then, with what is planned to be quiet counted in", async (t) => {
  const { box, people, rule, fire } = await shop(t);
  const { ann, bob, cid, dan } = people;
  const start = Math.floor(box.clock.now() / 1000);
  const layer = {
    name: "l",
    rotation_start: start,
    shift_minutes: 20,
    participants: [bob.accountId, dan.accountId],
  };
  const schedule = { name: "ops", timezone: "UTC", layers: [layer] };
  assert.equal((await box.api("POST", "/v1/projects/shop/oncall/schedules", schedule)).status, 201);
  await rule([
    { after_minutes: 0, accounts: [ann.accountId] },
    { after_minutes: 10, accounts: [], schedules: ["ops"] },
    { after_minutes: 15, accounts: [cid.accountId] },
  ]);
  const id = await fire();
  const waiting = async () => {
    const { pages } = (await box.api("GET", `/v1/alerts/${id}/pages`)).body;
    return pages
      .filter(({ reason }: { reason: string }) => reason === "step_not_reached")
      .map((page: { account_id: string; due_at: number }) => [
        page.account_id,
        (page.due_at - start) / 60,
      ]);
  };
  assert.deepEqual(await waiting(), [
    [bob.accountId, 10],
    [cid.accountId, 15],
  ]);
  const planned = { starts_at: start + 300, ends_at: start + 1800 };
  const silence = { match: { rule: "errors" }, reason: "deploy", critical: true, ...planned };
  assert.equal((await box.api("POST", "/v1/silences", silence)).status, 201);
  assert.deepEqual(await waiting(), [
    [dan.accountId, 30],
    [cid.accountId, 35],
  ]);
});

test("whom a later step names isn't said to have been off duty in a step before", async (t) => {
  const { people, rule, fire, box } = await shop(t);
  const { ann, bob } = people;
  const start = Math.floor(box.clock.now() / 1000);
  const layer = {
    name: "l",
    rotation_start: start,
    shift_minutes: 1440,
    participants: [ann.accountId, bob.accountId],
  };
  const schedule = { name: "ops", timezone: "UTC", layers: [layer] };
  assert.equal((await box.api("POST", "/v1/projects/shop/oncall/schedules", schedule)).status, 201);
  await rule([
    { after_minutes: 0, accounts: [], schedules: ["ops"] },
    { after_minutes: 10, accounts: [bob.accountId] },
  ]);
  const { pages } = (await box.api("GET", `/v1/alerts/${await fire()}/pages`)).body;
  const bobs = pages.filter(
    ({ account_id }: { account_id: string }) => account_id === bob.accountId,
  );
  assert.deepEqual(
    bobs.map(({ reason, step }: { reason: string; step: number }) => [reason, step]),
    [["step_not_reached", 2]],
  );
});
