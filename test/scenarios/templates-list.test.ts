import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { TemplatesAnswer } from "../../src/in/ingest/templates.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { signedIn } from "../support/console.ts";

let box: TestBox;
beforeEach(async () => {
  box = await testBox();
});
afterEach(() => box.stop());

const list = async (query = ""): Promise<TemplatesAnswer> => {
  const { status, body } = await box.api("GET", `/v1/projects/shop/templates${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};
const short = ({ templates }: TemplatesAnswer) =>
  templates.map(({ template, count }) => `${count} ${template}`);
const now = () => Math.floor(box.clock.now() / 1000);

test("templates are counted from the first event on, over merges, a restart, and minutes", async () => {
  const token = await box.project("shop");
  const from = now();
  await box.ingest(token, { message: "disk full on sda", level: 300 });
  assert.deepEqual(short(await list()), ["1 disk full on sda"]);
  for (let i = 0; i < 5; i++) {
    await box.clock.turn(7_000);
    await box.ingest(token, { message: "disk full on sda", level: 200 + i * 100 });
    await box.ingest(token, { message: `payment ${i} failed` });
  }
  await box.clock.turn(70_000);
  await box.ingest(token, { message: "disk full on sda" });
  const heard = await list();
  assert.deepEqual(short(heard), ["7 disk full on sda", "5 payment <*> failed"]);
  const [disk] = heard.templates;
  assert.deepEqual(
    [disk?.first_seen, disk?.last_seen, disk?.level, disk?.source, heard.events],
    [from, now(), 600, "app", 12],
  );
  await box.restart();
  assert.deepEqual(await list(), heard, "a stop writes what waited");
  // The merged shapes' events count for the template that they ended in.
  const users = ["ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hal", "ida", "jon"];
  for (const user of users) await box.ingest(token, { message: `login of ${user} was refused` });
  const merged = (await list("?q=LOGIN")).templates;
  assert.equal(
    merged.reduce((sum, { count }) => sum + count, 0),
    users.length,
  );
});

test("what first came of late is listed alone, by the interface, the command and the page", async () => {
  const token = await box.project("shop");
  await box.ingest(token, { message: "disk full on sda" });
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE template_counts SET first_seen = first_seen - 691200").run(),
  );
  await box.ingest(token, { message: "link was lost" });
  assert.deepEqual(short(await list(`?new_since=${now() - 86_400}`)), ["1 link was lost"]);
  assert.deepEqual(short(await list(`?new_since=${now() - 700_000}`)).length, 2);
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  // The command counts from its own clock, which is later than the box's here.
  const all = await run(["template", "list", "shop", "--new", "3650"], { env });
  assert.match(all.out, /link was lost/);
  const bad = await run(["template", "list", "shop", "--new", "soon"], { env });
  assert.deepEqual([bad.code, /--new takes a number of days/.test(bad.err)], [2, true]);
  const fresh = async () => {
    const { text } = await signedIn(box).get("/p/shop/lines/templates");
    return /id="new-templates"(.*?)<\/details>/s.exec(text)?.[1]?.replace(/<[^>]*>/g, "") ?? "";
  };
  assert.match(await fresh(), /New since Friday: nothing/);
  assert.match(await fresh(), /Not among them: 1 template that app said in its first 24 hours\./);
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE sources SET heard_since = heard_since - 864000").run(),
  );
  await box.restart(() => {});
  await box.ingest(token, { message: "queue is full", level: 500 });
  await box.ingest(token, { message: "cache is cold", level: 400 });
  await box.ingest(token, { message: "cache is cold", level: 400 });
  const told = await fresh();
  assert.match(told, /New since Friday: 3 templates/);
  assert.ok(!told.includes("disk full"));
  assert.match(told, /queue is full.*cache is cold.*2 events from app.*link was lost.*no rule/s);
  const page = async (after: string) => list(`?new_since=${now() - 86_400}&limit=1${after}`);
  const first = await page("");
  const second = await page(`&after=${first.next}`);
  const third = await page(`&after=${second.next}`);
  assert.deepEqual(
    [first, second, third].flatMap(short),
    ["1 queue is full", "2 cache is cold", "1 link was lost"],
    "the worst first, page by page",
  );
  assert.equal(third.next, null);
  const rule = { name: "news", match: { first_seen_days: 7, min_level: 450 } };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  const news = await page("");
  assert.deepEqual(news.templates[0]?.rules, ["news"], "it took it when it was new");
  assert.deepEqual((await list("?q=queue")).templates[0]?.rules, []);
});

test("a rule that may take a template is named; unmatched ones are what nobody would be told of", async () => {
  const token = await box.project("shop");
  await box.api("POST", "/v1/projects/shop/sources", { name: "cron" });
  const rule = (name: string, match: object) =>
    box.api("POST", "/v1/projects/shop/rules", { name, match });
  await rule("disks", { template_contains: "disk full", sources: ["app"] });
  await rule("errors", { min_level: 400 });
  await rule("others", { sources: ["cron"] });
  await box.ingest(token, { message: "disk full on sda", level: 200 });
  await box.ingest(token, { message: "backup is over", level: 200 });
  await box.ingest(token, { message: "it broke", level: 500 });
  const rules = Object.fromEntries(
    (await list()).templates.map(({ template, rules: named }) => [template, named]),
  );
  assert.deepEqual(rules, {
    "disk full on sda": ["disks"],
    "backup is over": [],
    "it broke": ["errors"],
  });
  assert.deepEqual(short(await list("?unmatched=true")), ["1 backup is over"]);
  await rule("backups", { template_contains: "backup" });
  assert.deepEqual(short(await list("?unmatched=true")), [], "it leaves with its rule");
});

test("pages follow each other without a gap, within bounds", async () => {
  const token = await box.project("shop");
  const words = ["alpha", "bravo", "carol", "delta", "echo", "fox", "golf"];
  for (const [i, word] of words.entries())
    for (let n = 0; n <= i % 3; n++)
      await box.ingest(token, { message: `${word.repeat(3)} began ${word} things here` });
  const all = (await list()).templates;
  const paged: typeof all = [];
  let next: string | null = "";
  while (next !== null) {
    const page: TemplatesAnswer = await list(`?limit=2&after=${next}`);
    assert.ok(page.templates.length <= 2);
    paged.push(...page.templates);
    next = page.next;
  }
  assert.deepEqual(paged, all);
  assert.deepEqual((await list("?limit=2&q=echo")).next, null);
  for (const wrong of ["?limit=0", "?limit=201", "?unmatched=false", `?q=${"x".repeat(201)}`])
    assert.equal((await box.api("GET", `/v1/projects/shop/templates${wrong}`)).status, 400, wrong);
  assert.equal((await box.api("GET", "/v1/projects/none/templates")).status, 404);
});

test("a batch that is rolled back counts nothing", async () => {
  const token = await box.project("shop");
  await box.ingest(token, { message: "disk full on sda" });
  const { db } = box.tenant.store;
  db.exec("CREATE TEMP TRIGGER fails BEFORE INSERT ON alerts BEGIN SELECT raise(ABORT, 'no'); END");
  await box.api("POST", "/v1/projects/shop/rules", { name: "any" });
  const refused = await box.ingest(token, { message: "disk full on sda" });
  assert.equal(refused.status, 500);
  db.exec("DROP TRIGGER fails");
  assert.deepEqual(short(await list()), ["1 disk full on sda"]);
});
