import assert from "node:assert/strict";
import { test } from "node:test";
import pino from "pino";
import { type TestBox, testBox } from "../../support/box.ts";
import { signedIn, type Tab, tabOf } from "../../support/console.ts";
import { dump } from "../../support/dump.ts";
import { settle } from "../../support/until.ts";

const SYSTEM = "/system";
const nobody = (box: TestBox): Tab => tabOf(box, "");

/** A link as a manager makes it on the page, below the box's own address. */
async function linkOf(box: TestBox, tab: Tab, fields: Record<string, string> = {}) {
  const sent = { name: "Corridor", ...fields };
  const answer = await tab.post(`${SYSTEM}/walls`, sent, { from: SYSTEM });
  assert.equal(answer.status, 200, answer.text);
  const link = /id="wall-link">([^<]+)</.exec(answer.text)?.[1] ?? "";
  assert.ok(link.startsWith(`${box.url}/wall/`), link);
  return link.slice(box.url.length);
}

async function furnished(box: TestBox): Promise<string> {
  const token = await box.project("shop");
  const rule = { name: "errors", identifier_keys: ["card"] };
  await box.api("POST", "/v1/projects/shop/rules", rule);
  await box.ingest(token, {
    message: "payment 4711 failed at <acme>",
    level: 500,
    keys: { card: "canary-visa" },
  });
  const layer = { name: "l", rotation_start: 1_700_000_000, shift_minutes: 1440 };
  await box.api("POST", "/v1/projects/shop/oncall/schedules", {
    name: "primary",
    timezone: "UTC",
    layers: [{ ...layer, participants: [box.owner.accountId] }],
  });
  return token;
}

/** What an open wall asks for. */
const again = (tab: Tab, path: string, since: string, headers: Record<string, string> = {}) =>
  tab.get(path, { "x-wall": since, ...headers });
const sinceIn = (page: string) => /data-since="([^"]+)"/.exec(page)?.[1] ?? "";

test("a link shows what is open and who is on call, large and alone, without a session, until it is revoked", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const tab = signedIn(box);
  const token = await furnished(box);
  const link = await linkOf(box, tab);
  const page = await nobody(box).get(link);
  assert.equal(page.status, 200);
  assert.match(page.text, /<h1 id="open">1 open<\/h1>/);
  assert.match(page.text, /payment <var>4711<\/var> failed at &lt;<var>acme<\/var>&gt;/);
  assert.match(page.text, /just now · shop · errors · card=canary-visa/);
  assert.match(page.text, /owner@example\.org<\/p><p class="about">shop \/ primary<\//);
  assert.match(page.text, /<header id="clock">\d\d:\d\d <span>/);
  assert.doesNotMatch(page.text, /<form|<button|<a /);
  assert.equal(page.headers.get("referrer-policy"), "no-referrer");
  assert.equal(page.headers.get("cache-control"), "no-store");
  assert.match(page.headers.get("content-security-policy") ?? "", /form-action 'none'/);
  // Another alert comes to the screen that waits.
  const since = sinceIn(page.text);
  const waits = again(nobody(box), link, since);
  await box.ingest(token, { message: "disk is full", level: 400, keys: { card: "b" } });
  const parted = await turned(box, waits);
  assert.match(parted.text, /<h1 id="open">2 open<\/h1>/);
  assert.doesNotMatch(parted.text, /<html/);
  const next = parted.headers.get("x-next") ?? "";
  assert.notEqual(next, since);
  assert.equal(parted.headers.get("x-files"), /data-files="([^"]+)"/.exec(page.text)?.[1]);
  // Nothing new within the wait: not even what is there is sent.
  const quiet = again(nobody(box), link, next, {
    "if-none-match": parted.headers.get("etag") ?? "",
  });
  assert.equal((await turned(box, quiet)).status, 304);
  const listed = (await box.api("GET", "/v1/walls")).body.walls;
  assert.equal(listed[0].name, "Corridor");
  assert.ok(listed[0].last_seen_at > 0);
  // It is revoked while a screen waits.
  const last = again(nobody(box), link, next);
  await tab.post(`${SYSTEM}/walls/${listed[0].id}/revoke`, {}, { from: SYSTEM });
  assert.equal((await turned(box, last)).status, 404);
  assert.equal((await nobody(box).get(link)).status, 404);
});

/** Turns the clock, second by second, until there is an answer. */
async function turned<T>(box: TestBox, asked: Promise<T>): Promise<T> {
  let isOver = false;
  const answer = asked.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    await box.clock.turn(1_000);
  }
  return answer;
}

test("without messages neither a message nor an identifier is ever shown", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await furnished(box);
  const link = await linkOf(box, signedIn(box), { without: "messages" });
  const page = await nobody(box).get(link);
  const part = await again(nobody(box), link, "none");
  for (const { text } of [page, part]) {
    assert.match(text, /<p class="what" dir="auto">shop · errors<\/p>/);
    assert.doesNotMatch(text, /payment|acme|canary|card/);
  }
});

test("what is none has one answer, is tried ten times a minute, and darkens no screen", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const link = await linkOf(box, signedIn(box));
  const wrong = ["/wall/x", "/wall/", `${link}x`, `/wall/${"a".repeat(22)}`, `${link}/`];
  const bodies = new Set<string>();
  for (const path of wrong) {
    const answer = await nobody(box).get(path);
    assert.equal(answer.status, 404, path);
    bodies.add(answer.text);
  }
  assert.equal(bodies.size, 1);
  for (let n = 0; n < 5; n++) assert.equal((await nobody(box).get("/wall/y")).status, 404);
  const late = await nobody(box).get("/wall/y");
  assert.equal(late.status, 429);
  assert.ok(Number(late.headers.get("retry-after")) > 0);
  assert.equal((await nobody(box).get(link)).status, 200);
});

test("signed in, the wall is at /wall; a link opens nothing else, and only managers make and revoke them", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const member = signedIn(box, box.person("member"));
  assert.equal((await member.get("/wall")).status, 200);
  assert.equal((await nobody(box).get("/wall")).status, 303);
  const link = await linkOf(box, signedIn(box));
  for (const path of ["/alerts", "/wall", "/live", "/v1/alerts"]) {
    const secret = link.split("/").at(-1) ?? "";
    const as = tabOf(box, `box=${secret}; wall=${secret}`);
    const { status } = await as.get(path, { authorization: `Bearer ${secret}` });
    assert.ok([303, 401].includes(status), `${path}: ${status}`);
  }
  const id = (await box.api("GET", "/v1/walls")).body.walls[0].id;
  const denied = await member.post(`${SYSTEM}/walls`, { name: "x" }, { from: SYSTEM });
  assert.equal(denied.status, 403);
  const kept = await member.post(`${SYSTEM}/walls/${id}/revoke`, {}, { from: SYSTEM });
  assert.equal(kept.status, 403);
  assert.doesNotMatch((await member.get(SYSTEM)).text, /Corridor/);
});

test("a link is in no log, no store and no audit, and a full box of links says so", async (t) => {
  const lines: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  const box = await testBox({}, undefined, log);
  t.after(() => box.stop());
  const link = await linkOf(box, signedIn(box));
  const secret = link.split("/").at(-1) ?? "";
  await nobody(box).get(link);
  await nobody(box).get(`${link}x`);
  await again(nobody(box), link, "none");
  assert.ok(!dump(box.tenant.store.db).includes(secret), "it is stored");
  // What fails with it in the address is logged, and nothing of it.
  const { db } = box.tenant.store;
  db.exec("ALTER TABLE walls RENAME TO elsewhere");
  assert.equal((await nobody(box).get(link)).status, 500);
  db.exec("ALTER TABLE elsewhere RENAME TO walls");
  assert.ok(lines.some((line) => line.includes("request failed")));
  assert.ok(!lines.join("").includes(secret), "it is logged");
  const made = await box.api("POST", "/v1/walls", { name: "API", messages: false });
  assert.match(made.body.wall_url, /^\/wall\/[0-9A-Za-z]{22}$/);
  assert.ok(!JSON.stringify((await box.api("GET", "/v1/walls")).body).includes("/wall/"));
  for (let n = 2; n < 50; n++) await box.api("POST", "/v1/walls", { name: `${n}` });
  assert.equal((await box.api("POST", "/v1/walls", { name: "more" })).status, 422);
  assert.equal((await box.api("DELETE", `/v1/walls/${made.body.id}`)).status, 200);
  assert.equal((await box.api("DELETE", `/v1/walls/${made.body.id}`)).status, 404);
});

test("who made a link stands beside it, also that they were removed; it goes on until somebody revokes it", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const ann = box.person("admin", "ann@example.org");
  const link = await linkOf(box, signedIn(box, ann));
  const owner = signedIn(box);
  const made = async () =>
    /data-label="Made">(.*?)<\/td>/s.exec((await owner.get(SYSTEM)).text)?.[1];
  assert.match((await made()) ?? "", /by ann@example\.org$/);
  const person = (await owner.get(`/people/${ann.accountId}`)).text;
  assert.match(person, /1 link to the wall that they made goes on: .*href="\/system#walls"/);
  assert.equal((await box.api("DELETE", `/v1/accounts/${ann.accountId}`)).status, 200);
  assert.match((await made()) ?? "", /by somebody who was removed$/);
  assert.equal((await nobody(box).get(link)).status, 200);
  const revoke = /action="(\/system\/walls\/[0-9a-f]+\/revoke)"/.exec(
    (await owner.get(SYSTEM)).text,
  );
  assert.equal((await owner.post(revoke?.[1] ?? "", {}, { from: SYSTEM })).status, 303);
  assert.equal((await nobody(box).get(link)).status, 404);
});

test("a wall says whom an alert rings and who is next, who has it, and who takes over when", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const [ann, bob] = ["ann", "bob"].map((name) => box.person("member", `${name}@example.org`));
  assert.ok(ann && bob);
  const token = await box.project("shop");
  const layer = { name: "l", rotation_start: 1_700_000_000, shift_minutes: 1440 };
  await box.api("POST", "/v1/projects/shop/oncall/schedules", {
    name: "primary",
    timezone: "UTC",
    layers: [{ ...layer, participants: [ann.accountId, bob.accountId] }],
  });
  const rung = (after_minutes: number, accounts: string[]) => ({
    after_minutes,
    accounts,
    schedules: [],
    repeat_minutes: 0,
  });
  const escalations = [rung(0, [ann.accountId]), rung(15, [bob.accountId])];
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", escalations });
  await box.ingest(token, { message: "disk is full", level: 500 });
  await settle(box);
  const tab = signedIn(box, ann);
  const open = (await tab.get("/wall")).text;
  // On a wall nobody is "you".
  assert.match(open, /Ringing ann@example\.org, <b>not seen yet<\/b>/);
  assert.match(open, /then bob@example\.org at <time/);
  assert.match(open, /until <time[^>]*>[^<]+<\/time>, then (?:ann|bob)@example\.org<\/p>/);
  const { alerts } = (await box.api("GET", "/v1/alerts")).body;
  await box.api("POST", `/v1/alerts/${alerts[0].id}/ack`, {}, ann.key);
  const taken = (await tab.get("/wall")).text;
  assert.match(taken, /0 open · 1 taken<\/h1>/);
  assert.match(taken, /<li class="has">.*<b>ann@example\.org has it<\/b>/s);
});
