import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "../../../src/app/operate/load.ts";
import { turns } from "../../../src/ground/kit/turns.ts";
import { doctorFindings, worstOfDoctor } from "../../../src/web/console/system/doctor.ts";
import { testBox } from "../../support/box.ts";
import { signedIn, type Tab } from "../../support/console.ts";
import { boxAndReceiver } from "../../support/contacts.ts";
import { answer } from "../../support/receiver.ts";
import { settle } from "../../support/until.ts";

const barOf = (text: string) => /<div id="bar"[\s\S]*?<\/div>/.exec(text)?.[0] ?? "";

test("what is wrong stands first and is linked from the bar; names are for those who manage", async (t) => {
  const { box, receiver } = await boxAndReceiver(t);
  const tab = signedIn(box);
  assert.match((await tab.get("/system")).text, /id="check-store"/);
  await box.project("secret-project");
  const hook = { type: "webhook", name: "hook", url: `${receiver.url}/hook` };
  const { id } = (await box.api("POST", "/v1/projects/secret-project/integrations", hook)).body;
  receiver.always(answer(503));
  await box.api("POST", `/v1/projects/secret-project/integrations/${id}/test`);
  await settle(box);
  const page = (await tab.get("/system")).text;
  assert.match(page, /Able to page, but something is wrong/);
  assert.ok(page.indexOf('id="check-channels"') < page.indexOf('id="check-store"'));
  assert.match(page, /secret-project: hook \(webhook, it answered 503\)/);
  assert.match(barOf(page), /href="\/system#check-channels"/);
  const list = (await tab.get("/alerts")).text;
  assert.doesNotMatch(barOf(list), /channels/, "the list is for alerts");
  assert.match(list, /something is to be mended/);
  const member = signedIn(box, box.person("member"));
  assert.doesNotMatch((await member.get("/system")).text, /secret-project|to be mended/);
});

/** Looks at the page until the doctor has ended. */
async function looked(tab: Tab): Promise<string> {
  for (let tries = 0; tries < 600; tries++) {
    const { text } = await tab.get("/system");
    if (!/It looks now/.test(text)) return text;
    await pause(50);
  }
  throw new Error("the doctor doesn't end");
}

test("AC-21.3: each finding of the doctor has a place of its own, and the bar leads to the first that is wrong", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const tab = signedIn(box);
  assert.match((await tab.get("/system")).text, /It has not looked yet[\s\S]*>Look now</);
  // Readiness doesn't ask who may look into the directory.
  chmodSync(box.data, 0o755);
  const said = await tab.post("/system/doctor", {}, { from: "/system" });
  assert.equal(said.status, 303);
  const page = await looked(tab);
  const { findings } = (await box.api("GET", "/v1/doctor")).body;
  const shown = doctorFindings({ findings });
  assert.equal(new Set(shown.map(({ id }) => id)).size, findings.length);
  for (const { id } of shown) assert.match(page, new RegExp(`<li class="who-item" id="${id}">`));
  assert.match(page, /<code id="doctor-directory-command">chmod 700 [^<]+<\/code>/);
  assert.ok(
    page.indexOf('id="doctor-directory"') < page.indexOf('id="doctor-store"'),
    "wrong first",
  );
  const bar = barOf(page);
  assert.match(bar, /other users than its owner may read it/);
  assert.match(bar, /href="\/system#doctor-directory"/);
  const line = await tab.sections("/system", "bar", "doctor");
  assert.match(
    line.text,
    /^<div id="bar"[^>]*>.*href="\/system#doctor-directory"/,
    "an open page is told",
  );
  const member = signedIn(box, box.person("member"));
  assert.match((await member.get("/system")).text, /id="doctor-directory"/);
  assert.doesNotMatch(barOf((await member.get("/system")).text), /doctor/);
  assert.equal((await member.post("/system/doctor", {}, { from: "/system" })).status, 403);
  chmodSync(box.data, 0o700);
});

test("several findings of one check have several places, and the bar's is that of the first wrong one", () => {
  const of = (check: string, state: "ok" | "wrong") => ({
    check,
    state,
    detail: check,
    advice: "",
  });
  const findings = [of("channels", "ok"), of("channels", "wrong"), of("write-ahead log", "wrong")];
  assert.deepEqual(
    doctorFindings({ findings }).map(({ id }) => id),
    ["doctor-channels", "doctor-channels-2", "doctor-write-ahead-log"],
  );
  assert.equal(worstOfDoctor({ at: 1, findings })?.id, "doctor-channels-2");
  assert.equal(worstOfDoctor({ at: 1, findings: [of("store", "ok")] }), null);
  assert.equal(worstOfDoctor(null), null);
});

const DAY = 86_400;

test("the console's own findings lead to where they are mended; members are told how many, and no names", async (t) => {
  const { box, receiver } = await boxAndReceiver(t);
  const tab = signedIn(box);
  await box.project("shop");
  const now = () => Math.floor(box.clock.now() / 1000);
  const layer = {
    name: "all",
    participants: [box.owner.accountId],
    shift_minutes: 1440,
    rotation_start: now() - DAY,
  };
  const workdays = { days: [1, 2, 3, 4, 5], start_minute: 540, end_minute: 1020 };
  for (const [name, restriction] of [
    ["always", null],
    ["office", workdays],
  ] as const)
    await box.api("POST", "/v1/projects/shop/oncall/schedules", {
      name,
      timezone: "UTC",
      layers: [{ ...layer, restriction }],
    });
  const silence = {
    project: "shop",
    match: { rule: "errors" },
    reason: "a long migration",
    ends_at: now() + 20 * DAY,
  };
  assert.equal((await box.api("POST", "/v1/silences", silence)).status, 201);
  const hook = { type: "webhook", name: "ops", url: `${receiver.url}/hook` };
  const { id } = (await box.api("POST", "/v1/projects/shop/integrations", hook)).body;
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE integrations SET consecutive_failures = 4, failing_since = ?").run(tx.at - 840),
  );
  const findings = async (who: Tab) => (await who.sections("/system", "findings")).text;
  const first = await findings(tab);
  assert.match(first, new RegExp(`href="/p/shop/channels/${id}"`));
  assert.match(first, /ops of shop has failed for 14 min/);
  assert.match(first, /shop \/ office (?:now|in \d+ gaps of the next 14 days)/);
  assert.doesNotMatch(first, /Nobody is on call for shop \/ always/);
  assert.match(first, /is on call for shop \/ always: nothing rings/);
  assert.doesNotMatch(first, /a long migration/, "a day is no week");
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE silences SET starts_at = starts_at - ?").run(8 * DAY),
  );
  assert.match(await findings(tab), /A silence has held for 8 days: “a long migration”/);
  const member = await findings(signedIn(box, box.person("member")));
  assert.match(member, /1 channel is off or fails\./);
  assert.doesNotMatch(member, /shop|a long migration/);
});

test("a heartbeat that no rule matches and a next person whom nothing reaches are findings", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("shop");
  const bob = box.person("member", "bob@example.org");
  const layer = {
    name: "all",
    participants: [box.owner.accountId, bob.accountId],
    shift_minutes: 1440,
    rotation_start: Math.floor(box.clock.now() / 1000),
  };
  const schedule = { name: "primary", timezone: "UTC", layers: [layer] };
  const made = await box.api("POST", "/v1/projects/shop/oncall/schedules", schedule);
  assert.equal(made.status, 201);
  const beat = { name: "backup", period_seconds: 3600 };
  const { body } = await box.api("POST", "/v1/projects/shop/heartbeats", beat);
  const findings = async () => (await signedIn(box).sections("/system", "findings")).text;
  const before = await findings();
  assert.match(before, /bob@example\.org is the next on call for shop \/ primary: nothing rings/);
  assert.match(before, /Nobody is paged when backup of shop goes missing/);
  assert.match(before, new RegExp(`href="/heartbeats/${body.id}#own-ladder"`));
  await box.api("POST", "/v1/projects/shop/rules", { name: "all" });
  assert.doesNotMatch(await findings(), /Nobody is paged/);
});

test("a channel that fails is one row, where the bar's link leads, with what it answered", async (t) => {
  const { box, receiver } = await boxAndReceiver(t);
  const tab = signedIn(box);
  await box.project("shop");
  receiver.always(answer(503));
  for (const name of ["ops", "tickets"]) {
    const hook = { type: "webhook", name, url: `${receiver.url}/${name}` };
    const { id } = (await box.api("POST", "/v1/projects/shop/integrations", hook)).body;
    await box.api("POST", `/v1/projects/shop/integrations/${id}/test`);
  }
  await settle(box);
  const page = (await tab.get("/system")).text;
  assert.match(barOf(page), /href="\/system#check-channels"/);
  const rows = page.split("<li").filter((row) => / of shop |<strong>[^<]*shop: /.test(row));
  const said = rows.map((row) => / id="([^"]*)".*?<strong>([^<]*)<\/strong>/s.exec(row)?.slice(1));
  assert.deepEqual(
    said.map((one) => one?.[1]),
    ["ops of shop fails: it answered 503", "tickets of shop fails: it answered 503"],
  );
  assert.equal(said[0]?.[0], "check-channels");
  assert.match(said[1]?.[0] ?? "", /^own-channel-/);
});

test("who manages sees backups, relay, load and what is kept; the relay is stored once it took a signed test", async (t) => {
  const { box, receiver } = await boxAndReceiver(t);
  const tab = signedIn(box);
  const member = (await signedIn(box, box.person("member")).get("/system")).text;
  const page = (await tab.get("/system")).text;
  for (const heading of ["Backups", "Relay", "Load", "Keeping"]) {
    assert.match(page, new RegExp(`<h2>${heading}</h2>`));
    assert.doesNotMatch(member, new RegExp(`<h2>${heading}</h2>`));
  }
  assert.match(page, /box serve --backup-dir/);
  assert.match(page, /7 days, or until the store has 2 GiB/);
  const relay = { relay_url: `${receiver.url}/v1/relay/rk_1`, relay_secret: "s".repeat(43) };
  const put = () => tab.post("/system/relay", { ...relay, test: "true" }, { from: "/system" });
  receiver.once(answer(401, {}));
  const refused = await put();
  assert.equal(refused.status, 422);
  assert.match(refused.text, /value="http[^"]+rk_1"/, "what was typed stays, but for the secret");
  assert.doesNotMatch(refused.text, /ssssss/);
  assert.equal((await box.api("GET", "/v1/relay")).body.configured, false);
  receiver.always(answer(200, { relayed: false, devices: 0 }));
  assert.equal((await put()).status, 303);
  assert.match((await tab.get("/system")).text, /Paired with <strong>127\.0\.0\.1/);
  const from = { from: "/system" };
  await tab.post("/system/relay/test", {}, from);
  assert.match((await tab.get("/system")).text, /The relay took a signed test\. It rang nobody\./);
  receiver.once(answer(401, {}));
  await tab.post("/system/relay/test", {}, from);
  assert.match((await tab.get("/system")).text, /did not take a signed test: http 401/);
  assert.equal((await tab.post("/system/backup", {}, from)).status, 409);
  await tab.post("/system/relay/remove", {}, from);
  assert.equal((await box.api("GET", "/v1/relay")).body.configured, false);
});

test("of a hundred times ninety-nine are at most the percentile", () => {
  const times = Float64Array.from({ length: 100 }, (_, i) => 100 - i);
  assert.deepEqual(
    [0.5, 0.99, 1].map((part) => percentile(times, part)),
    [50, 99, 100],
  );
  assert.equal(percentile(Float64Array.of(7), 0.99), 7);
  assert.equal(percentile(new Float64Array(), 0.99), null);
});

test("the longest turn of the last hour is on the page, in the readiness and in the metrics", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const tab = signedIn(box);
  // Longer than any of the tests that share this process.
  const until = performance.now() + 800;
  turns.during("job endless", () => {
    while (performance.now() < until);
  });
  await pause(1);
  assert.match((await tab.get("/system")).text, /[89]\d\d ms <span[^>]*>in job endless/);
  const { checks } = (await box.api("GET", "/readyz")).body;
  const check = checks.find(({ name }: { name: string }) => name === "turns");
  assert.match(check.detail, /^the longest turn of the last hour took [89]\d\d ms: job endless$/);
  const metrics: string = (await box.api("GET", "/metrics")).body;
  assert.match(metrics, /^box_long_turns_total\{work="job endless"\} 1$/m);
  assert.match(metrics, /^box_long_turns_seconds_total\{work="job endless"\} 0\.[89]/m);
});
