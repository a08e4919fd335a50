import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { Writable } from "node:stream";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import pino from "pino";
import { pingSnippets } from "../../../src/web/console/heartbeats/snippets.ts";
import { signedIn } from "../../support/console.ts";
import { boxAndReceiver, reachBy, toldIn } from "../../support/contacts.ts";
import { dump } from "../../support/dump.ts";
import { pass, settle } from "../../support/until.ts";

/** Jobs that must report, by pages: how they are made, what is seen of them, and what their addresses never stand in. */

const MINUTE = 60;
const FORM = {
  name: "nightly backup",
  project: "shop",
  how: "every",
  level: "400",
  period_seconds: "1",
  "period_seconds-unit": "3600",
  grace_seconds: "10",
  "grace_seconds-unit": "60",
};

async function story(t: TestContext) {
  const logged: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  const { box, receiver } = await boxAndReceiver(t, {}, pino({ level: "trace" }, sink));
  await box.project("shop");
  const tab = signedIn(box);
  /** Makes one by the form, as a browser without script does; its address as its page shows it. */
  const make = async (more: Record<string, string> = {}) => {
    const sent = await tab.post(
      "/heartbeats/new",
      { ...FORM, ...more },
      { from: "/heartbeats/new" },
    );
    assert.equal(sent.status, 303, sent.text);
    const at = sent.headers.get("location") ?? "";
    const page = await tab.get(at);
    const address = /id="ping-address">([^<]+)</.exec(page.text)?.[1] ?? "";
    return { at, page, address };
  };
  const ping = async (address: string, body = "") => {
    assert.equal((await fetch(address, { method: "POST", body })).status, 200);
    await settle(box);
  };
  return { box, receiver, tab, make, ping, logged };
}

const words = (text: string) => text.replace(/<[^>]*>/g, "").replace(/\s+/g, " ");
const section = (text: string, id: string) =>
  words(new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(text)?.[0] ?? "");

test("a heartbeat is made by a plain form, its address is shown once, and the page is green with the first ping", async (t) => {
  const { box, tab, make, ping } = await story(t);
  const other = await tab.get("/heartbeats");
  assert.match(words(other.text), /No job has to report yet/);
  const sent = await tab.post("/heartbeats/new", FORM);
  const at = sent.headers.get("location") ?? "";
  // A page that is opened in between doesn't take it away.
  await tab.get("/alerts");
  await tab.sections(at, "address");
  const page = await tab.get(at);
  assert.equal(page.headers.get("cache-control"), "no-store");
  const address = /id="ping-address">([^<]+)</.exec(page.text)?.[1] ?? "";
  assert.match(address, new RegExp(`^${box.url}/ping/[0-9A-Za-z]{22}$`));
  for (const id of ["cron", "systemd", "shell", "github", "gitlab"])
    assert.ok(page.text.includes(`id="paste-${id}"`), id);
  assert.match(section(page.text, "first"), /waiting for its first ping/);
  const alone = /No rule matches it: nobody is notified\.Choose who is notified\s*Pause/;
  assert.match(section(page.text, "facts"), alone, "what mends it stands first");
  assert.doesNotMatch(section(page.text, "notified"), /rules above/, "there is none above");
  assert.doesNotMatch((await tab.get(at)).text, /\/ping\//, "once");
  await ping(address, "copied 3 files");
  const heard = await tab.sections(at, "first", "facts", "runs", "message");
  assert.match(section(heard.text, "first"), /nightly backup has reported/);
  assert.match(
    section(heard.text, "facts"),
    /up · shop · every 1 h \+ 10 min last .* next by \d\d:\d\d, expected \d\d:\d\d \(in 1 h\)/,
  );
  assert.match(section(heard.text, "runs"), /1 ended well of the last 1 run/);
  assert.match(section(heard.text, "message"), /copied 3 files/);
  // Nobody tells when it is late: an open page asks for it then.
  const late = Math.floor(box.clock.now() / 1000) + 3600;
  const turns = new RegExp(
    `<section id="(facts|heartbeats)" data-live="[^"]+" data-turns="${late}"`,
  );
  for (const path of [at, "/heartbeats", "/p/shop/heartbeats"])
    assert.match((await tab.get(path)).text, turns, path);
  const second = await make({
    name: "second",
    how: "cron",
    cron: "15 3 * * *",
    timezone: "Europe/Vienna",
  });
  assert.match(second.page.text, /15 3 \* \* \* {2}out=\$\(/);
  assert.match(
    words((await tab.get("/p/shop/heartbeats")).text),
    /second new .*15 3 \* \* \* Europe\/Vienna \+ 10 min/,
  );
});

test("AC-18.4: a missed heartbeat with a ladder of its own pages exactly once; runs are told apart by shape", async (t) => {
  const { box, receiver, tab, make, ping } = await story(t);
  await reachBy(box, box.owner, receiver, "/me");
  const before = receiver.received.length;
  const pages = () =>
    receiver.received
      .slice(before)
      .map((request) => toldIn(request))
      .filter(({ purpose }) => purpose === "page");
  const { at, address } = await make({
    recipient: `a:${box.owner.accountId}`,
    period_seconds: "6",
    "period_seconds-unit": "60",
    grace_seconds: "2",
  });
  const told = await tab.get(at);
  assert.match(
    section(told.text, "notified"),
    /Matched by nightly backup is missing.*The rules above still match it, too/,
  );
  assert.doesNotMatch(section(told.text, "facts"), /Choose who is notified/);
  await ping(address);
  await pass(box, 7 * MINUTE, MINUTE);
  assert.match(words((await tab.get("/heartbeats")).text), /1 late, of 1 heartbeat/);
  await ping(address);
  await pass(box, 9 * MINUTE, MINUTE);
  assert.equal(pages().length, 1);
  await box.api("POST", "/v1/alerts/1/ack", {});
  await pass(box, 15 * MINUTE, MINUTE);
  assert.equal(pages().length, 1);
  const page = await tab.get(at);
  assert.match(section(page.text, "facts"), /down no ping came/);
  assert.match(section(page.text, "runs"), /1 ended well, 1 late, 1 missed of the last 3 runs/);
  const svg = /<svg class="plot runs"[\s\S]*?<\/svg>/.exec(page.text)?.[0] ?? "";
  assert.deepEqual(
    [...svg.matchAll(/class="run-(\w+)"/g)].map(([, shape]) => shape),
    ["full", "hollow", "cross"],
  );
  assert.match(section(page.text, "runs"), /late by 1 min/);
});

test("AC-18.4: a box that was down when a heartbeat was expected pages nobody", async (t) => {
  const { box, receiver, tab, make, ping } = await story(t);
  await reachBy(box, box.owner, receiver, "/me");
  const before = receiver.received.length;
  const { at, address } = await make({ recipient: `a:${box.owner.accountId}` });
  await ping(address);
  await box.restart(() => void box.clock.turn(180 * MINUTE * 1000));
  await pass(box, 12 * MINUTE, MINUTE);
  assert.equal(receiver.received.length, before);
  assert.match(section((await tab.get(at)).text, "runs"), /1 unknown: the box was down/);
});

test("AC-18.5: addresses of heartbeats stand in no log, no audit and on no page but the one that shows them once", async (t) => {
  const { box, tab, make, ping, logged } = await story(t);
  const { at, page, address } = await make();
  const uuid = /<code class="wrap">([0-9a-f-]{36})</.exec(page.text)?.[1] ?? "";
  await ping(address);
  await fetch(`${box.url}/ping/${uuid}`);
  const rotated = await tab.post(`${at}/rotate`, {}, { from: at });
  assert.equal(rotated.status, 303);
  const fresh = /id="ping-address">([^<]+)</.exec((await tab.get(at)).text)?.[1] ?? "";
  assert.notEqual(fresh, address);
  assert.equal((await fetch(address)).status, 404);
  await ping(fresh);
  await tab.post(`${at}/pause`, {}, { from: at });
  const secrets = [address, fresh].map((one) => one.slice(one.lastIndexOf("/") + 1));
  const read: [string, string][] = [
    ["log", logged.join("")],
    ["store", dump(box.tenant.store.db)],
  ];
  for (const path of ["/heartbeats", at, "/p/shop/heartbeats", "/system/audit"])
    read.push([path, (await tab.get(path)).text]);
  assert.match(read[1]?.[1] ?? "", /rotateHeartbeat/);
  for (const [where, text] of read)
    for (const secret of [...secrets, uuid])
      assert.ok(secret !== "" && !text.includes(secret), `an address stands in ${where}`);
});

test("a heartbeat is changed, paused, resumed and deleted; what isn't right comes back as it was typed", async (t) => {
  const { box, tab, make, ping } = await story(t);
  const { at, address } = await make();
  await ping(address);
  const wrong = await tab.post(
    at,
    { ...FORM, name: "typed", how: "cron", cron: "61 * * * *", timezone: "UTC" },
    { from: at },
  );
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /value="61 \* \* \* \*"/);
  assert.match(words(wrong.text), /must be five cron fields/);
  const shown = await tab.post(
    "/heartbeats/new/try",
    { ...FORM, how: "cron", cron: "0 4 * * *", timezone: "UTC" },
    { from: "/heartbeats/new", headers: { "x-sections": "would" } },
  );
  assert.match(
    section(shown.text, "would"),
    /Next: .*04:00, .*04:00, .*04:00.*nothing has come by .*04:10/,
  );
  await tab.post(at, {
    ...FORM,
    name: "weekly backup",
    period_seconds: "7",
    "period_seconds-unit": "86400",
  });
  assert.match(section((await tab.get(at)).text, "facts"), /every 7 days \+ 10 min/);
  await tab.post(`${at}/pause`, {}, { from: "/heartbeats" });
  const list = await tab.get("/heartbeats");
  assert.match(words(list.text), /weekly backup paused/);
  assert.match(
    list.text,
    new RegExp(`<form method="post" action="${at}/resume"><button class="second" data-key="u"`),
  );
  await tab.post(`${at}/resume`, {}, { from: "/heartbeats" });
  const gone = await tab.post(`${at}/delete`, {}, { from: at });
  assert.equal(gone.headers.get("location"), "/p/shop/heartbeats");
  assert.equal((await fetch(address)).status, 404);
  assert.equal((await tab.get(at)).status, 404);
  const bob = signedIn(box, box.person("member"));
  const kept = await make();
  assert.equal((await bob.post(`${kept.at}/rotate`, {}, { from: kept.at })).status, 403);
});

test("the shell's text reports however the script ends, as it is pasted", async (t) => {
  if (spawnSync("curl", ["--version"]).error) return t.skip("no curl here");
  const { box, make, tab } = await story(t);
  const { at, address } = await make();
  const shell = pingSnippets(address, null).find(({ id }) => id === "shell");
  const script = `${shell?.text}\nexit 3\n`;
  const ran = await promisify(execFile)("sh", ["-c", script]).catch((error) => error);
  assert.equal(ran.code, 3, ran.stderr);
  await settle(box);
  const page = await tab.get(at);
  assert.match(section(page.text, "facts"), /down it failed/);
  assert.match(section(page.text, "runs"), /1 failed of the last 1 run/);
});
