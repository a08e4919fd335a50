import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { entryText } from "../../cli/timeline.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { boxAnswer, box as run } from "../support/command-line.ts";
import { programFile } from "../support/program.ts";
import { until } from "../support/until.ts";

const program = await programFile();
let served: TestBox;
let token: string;
before(async () => {
  // Ages are counted in the machine's time.
  served = await testBox({}, handClock(Date.now()));
  token = await served.project("shop", { name: "web", retain_logs: true });
  const ladder = { accounts: ["owner@example.org"], after_minutes: 0 };
  const rule = { name: "errors", match: { min_level: 400 }, escalations: [ladder] };
  const set = await box(["rule", "set", "shop", "-"], JSON.stringify(rule));
  assert.equal(set.code, 0, set.err);
});
after(() => served.stop());

const env = () => ({ BOX_URL: served.url, BOX_KEY: served.owner.key, BOX_TOKEN: token });
const box = (words: string[], input = "") => run(words, { env: env(), input });

async function said(...words: string[]): Promise<string> {
  const { code, out, err } = await box(words);
  assert.equal(code, 0, err);
  return out;
}

test("an event is sent with a level by name, and what became of it is said", async () => {
  const quiet = await said("send", "all is well", "--level", "info");
  assert.equal(quiet, "accepted: no rule made an alert of it\n");
  const loud = await said("send", "payment 4711\nfailed", "--level", "error", "--keys", "a=1=2");
  assert.equal(loud, "accepted: it counts into an alert\n");
  const wrong = await box(["send", "x", "--level", "loud"]);
  assert.deepEqual(
    [wrong.code, wrong.err],
    [2, 'box: --level must be debug, info, warn, error, critical or a number, not "loud"\n'],
  );
  assert.equal((await box(["send", "x", "--keys", "a"])).code, 2);
  const { messages } = await boxAnswer(["tail", "shop"], { env: env() });
  assert.deepEqual([messages.at(-1).level, messages.at(-1).keys], [400, { a: "1=2" }]);
  const found = await boxAnswer(["tail", "shop", "--q", "ALL is", "--source", "web"], {
    env: env(),
  });
  assert.deepEqual(
    found.messages.map(({ message }: { message: string }) => message),
    ["all is well"],
  );
  const loudOnes = await boxAnswer(["tail", "shop", "--level", "error"], { env: env() });
  assert.equal(loudOnes.messages.length, messages.length - 1);
});

test("alerts in words: the last message and its age; one alert with its source, its people and its history", async () => {
  await said("send", "payment 4711 failed");
  const [heads = "", group = ""] = (await said("alerts", "--by-rule")).split("\n");
  assert.match(
    heads,
    /^ALERTS +LEVELS +ACKED +SILENCED +SINCE +PROJECT +RULE +ALL HAVE +MOST OFTEN$/,
  );
  assert.match(group, /^\d+ +.*\d error.* 0 +0 +\d+ s +shop +errors +payment 4711 failed, .+$/);
  const rows = (await said("alerts")).trim().split("\n");
  assert.match(rows[0] ?? "", /^ID +STATE +LEVEL +COUNT +AGE +PROJECT +RULE +TITLE +APART$/);
  assert.match(rows[1] ?? "", /^\d+ +open +error +\d+ +\d+ s +shop +errors +payment 4711 failed$/);
  const id = (rows[1] ?? "").split(" ")[0] ?? "";
  await said("ack", id);
  const shown = await said("alert", "show", id);
  assert.match(
    shown,
    /^alert \d+\ntitle +payment 4711 failed\nstate +acknowledged\nlevel +error\nproject +shop\nrule +errors\nsource +web\n/,
  );
  assert.match(shown, /\npaged +owner@example\.org\n/);
  const at = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?Z {2}`;
  const history = [
    `${at}Opened by rule errors from web.`,
    `${at}Rung 1 paged owner@example\\.org.`,
    `${at}owner@example\\.org acknowledged.`,
  ].join("\n");
  assert.match(shown, new RegExp(`\n\n${history}\n$`));
  assert.match(await said("timeline", id), new RegExp(`^${history}\n$`));
  const json = await boxAnswer(["alert", "show", id], { env: env() });
  assert.deepEqual([json.alert.id, json.timeline.length], [id, 3]);
});

test("how often, what comes next and what was before; lines about it; what words find", async () => {
  const shown = await said("alert", "show", "2");
  assert.match(shown, /\nhow often +[▁-█]+ \(minutes\)\n/);
  assert.match(shown, /\nnext +nothing\n/);
  assert.match(shown, /\nearlier +none of this key\n/);
  const lines = await said("alert", "lines", "2", "--q", "PAYMENT");
  assert.match(lines, /^\S+ \S+Z {2}error {2}web {2}payment 4711 failed$/m);
  assert.match(lines, /^varies \(1\): 4711 \d×$/m);
  assert.equal(await said("alert", "lines", "2", "--source", "gone"), "no stored lines about it\n");
  const near = await said("alert", "lines", "2", "--minutes", "1", "--limit", "1");
  assert.match(near, /\nthere are more in this time: --limit, --minutes\n$/);
  const found = await said("search", "errors");
  assert.match(found, /^rule +errors +shop$/m);
  assert.match(
    await said("search", "payment", "level:error"),
    /^alert +payment .*#2 · shop · errors/m,
  );
  assert.match(await said("search", "rule:no such"), /^nothing found\n$/);
  assert.match(await said("alerts", "--q", "#2", "--mine"), /\n2 /);
  assert.equal(await said("alerts", "--q", "nothing has this"), "no alerts\n");
});

test("an alert's title, labels, details and links, and what tells it from its siblings", async () => {
  const sent = (keys: object) =>
    served.ingest(token, {
      message: "db is down",
      title: "Shop: no database",
      level: 400,
      keys,
      dedup_key: "db",
      details: "first line\n  second line",
      links: [{ href: "https://example.org/g", text: "Graph" }, { href: "https://example.org/r" }],
    });
  for (const host of ["db7", "db8", "db9"])
    assert.equal((await sent({ host, zone: "a" })).status, 202);
  const [, newest = ""] = (await said("alerts", "--state", "open")).split("\n");
  assert.match(newest, / Shop: no database +host=db9 zone=a$/);
  const shown = await said("alert", "show", newest.split(" ")[0] ?? "");
  assert.match(
    shown,
    /\napart +host=db9 zone=a\nlabels +host: db9, db8, db7\n +zone: a\ndetails +first line\n +second line\nlinks +Graph: https:\/\/example.org\/g\n +https:\/\/example.org\/r\n/,
  );
});

test("every kind of the timeline has words; one that has none yet keeps nothing back", () => {
  const nameOf = (id: string) => ({ a1: "ann@example.org" })[id] ?? id;
  const told = (kind: string, detail: object = {}, account_id: string | null = null) =>
    entryText({ at: 0, kind, account_id, detail: { ...detail } }, nameOf);
  const hook = { integration: "ops", type: "webhook", event: "alert.opened", attempts: 3 };
  const page = { account: "a1", contact: "ntfy", address: "phone", attempts: 1 };
  const cases: [string, string][] = [
    [told("opened", { rule: "r", count: 3 }), "Opened by rule r after 3 events."],
    [told("resolved", {}, "a1"), "ann@example.org resolved it."],
    [
      told("resolved", { reason: "quiet", quiet_minutes: 30 }),
      "Resolved by itself: no match for 30 min.",
    ],
    [
      told("resolved", { reason: "merged", into: "4" }),
      "Resolved: its template became that of #4.",
    ],
    [
      told("acknowledged", { pages_withdrawn: 2 }, "a1"),
      "ann@example.org acknowledged. 2 waiting pages withdrawn.",
    ],
    [told("acknowledged", { via: "ntfy" }, "a1"), "ann@example.org acknowledged through ntfy."],
    [
      told("page_sent", { ...page, attempts: 2 }),
      "ann@example.org by ntfy phone: paged after 2 attempts.",
    ],
    [
      told("page_failed", { ...page, error: "http 403" }),
      "ann@example.org by ntfy phone: NOT PAGED: it answered 403.",
    ],
    [
      told("page_delayed", { ...page, error: "http 503" }),
      "ann@example.org by ntfy phone: not paged yet: it answered 503.",
    ],
    [told("unreachable", { accounts: ["a1"], why: "no_way" }), "NOTHING REACHES ann@example.org."],
    [
      told("fallback", { accounts: ["a1"] }),
      "NOBODY ON THE LADDER IS REACHED. The fallback paged ann@example.org.",
    ],
    [
      told("escalated", { steps: [2], accounts: ["a1", "b2"], why: "repeat" }),
      "Rung 2 paged again ann@example.org, b2.",
    ],
    [
      told("reached_nobody", { steps: [1, 2], top: true }),
      "Rungs 1, 2 REACHED NOBODY, and there is no rung above.",
    ],
    [told("renotified", { why: "burst" }), "Notified again: new events came."],
    [
      told("retimed", { why: "rule_deleted", ladder: "ended" }),
      "Its rule was deleted: the ladder ends.",
    ],
    [told("merged", { alert: "2" }), "Took over #2, whose template became the same."],
    [told("delivered", { ...hook, attempts: 1 }), "ops (webhook): notified that it opened."],
    [
      told("delivery_failed", { ...hook, error: "http 500" }),
      "ops (webhook): NOT NOTIFIED that it opened after 3 attempts: it answered 500.",
    ],
    [
      told("action_failed", { action: "restart", attempts: 1, error: "timeout" }),
      "Action restart FAILED: timeout.",
    ],
    [told("brand_new", { some_thing: 1, more: [2] }, "a1"), "brand new (some thing 1, more [2])"],
    [told("constructor", {}), "constructor"],
    [told("opened", { rule: "\u001b[2J", count: 1 }), "Opened by rule \\x1b[2J."],
  ];
  for (const [is, should] of cases) assert.equal(is, should);
});

test("tail --follow prints what is there, and then each line once as it comes", async (t) => {
  await said("send", "there before", "--level", "info");
  const child = spawn(process.execPath, [program, "tail", "shop", "--follow", "--limit", "1"], {
    env: { ...process.env, ...env() },
  });
  t.after(() => child.kill());
  let out = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  await until(() => out.includes("there before\n"), "what was there");
  await said("send", "came later", "--level", "warn");
  await until(() => out.includes("came later\n"), "what came");
  assert.match(out, /^\S+ \S+Z info +web {2}there before\n\S+ \S+Z warn +web {2}came later\n$/);
});

test("tail --follow says how many lines came that it didn't print", async (t) => {
  const child = spawn(process.execPath, [program, "tail", "shop", "--follow", "--limit", "1"], {
    env: { ...process.env, ...env() },
  });
  t.after(() => child.kill());
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (err += chunk));
  await until(() => out.includes("\n"), "what was there");
  const lines = Array.from({ length: 1000 }, (_, n) => `line ${n}\n`).join("");
  const sent = await box(["ingest", "--token", token, "--level", "info"], lines);
  assert.equal(sent.code, 0, sent.err);
  await until(() => out.includes("line 999\n"), "the last of them");
  const printed = out.match(/line \d+\n/g)?.length ?? 0;
  const told = [...err.matchAll(/\+([\d,]+) not shown/g)].map(([, n = ""]) =>
    Number(n.replace(",", "")),
  );
  const all = told.reduce((sum, n) => sum + n, printed);
  assert.ok(printed < 1000 && all === 1000, `${printed} printed; ${err}`);
});

test("all alerts of a rule are acknowledged or resolved in one go", async () => {
  await said("send", "first of many", "--level", "error");
  assert.match(
    await said("ack", "--all", "--project", "shop", "--rule", "errors"),
    /^[1-9]\d* alerts? acknowledged\n$/,
  );
  assert.equal(await said("ack", "--all", "--project", "shop"), "0 alerts acknowledged\n");
  const { counts } = await boxAnswer(["resolve", "--all", "--project", "shop"], { env: env() });
  assert.ok(counts.changed > 0 && counts.failed === 0);
  for (const words of [
    ["ack"],
    ["ack", "--all"],
    ["ack", "1", "--all", "--project", "shop"],
    ["resolve", "1", "--rule", "x"],
  ]) {
    const { code, err } = await box(words);
    assert.equal(code, 2, err);
  }
});
