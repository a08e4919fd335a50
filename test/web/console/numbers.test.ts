import assert from "node:assert/strict";
import { test } from "node:test";
import { box as here } from "../../support/command-line.ts";
import { signedIn } from "../../support/console.ts";
import { pagedStory, reachBy } from "../../support/contacts.ts";
import { pass } from "../../support/until.ts";

const wordsOf = (text: string, id: string): string =>
  (new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(text)?.[0] ?? "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

test("numbers say who was paged and what is noise; route, page and file say the same", async (t) => {
  const { box, receiver, ann, rule, step, fire } = await pagedStory(t);
  await reachBy(box, ann, receiver, "/ann");
  await rule([step(ann)]);
  const first = await fire(1);
  await fire(2);
  await pass(box, 30, 30);
  await box.api("POST", `/v1/alerts/${first}/ack`, {}, ann.key);
  const ask = async (by: string, key?: string) =>
    (await box.api("GET", `/v1/numbers?by=${by}`, undefined, key)).body;
  const { rows, complete } = await ask("rule");
  assert.equal(complete, true);
  assert.deepEqual(
    [rows.length, rows[0].opened, rows[0].pages, rows[0].acknowledged],
    [1, 2, 2, 1],
  );
  assert.match(rows[0].key, /^shop\//);
  assert.equal(rows[0].on_call_hours, null);
  const people = (await ask("person")).rows;
  assert.deepEqual(
    people.map((row: { key: string; pages: number }) => [row.key, row.pages]),
    [[ann.accountId, 2]],
  );
  const member = box.person("member");
  assert.deepEqual((await ask("person", member.key)).rows, []);
  assert.deepEqual((await ask("level", member.key)).rows[0].opened, 2);
  const open = { numbers_open: true };
  assert.equal((await box.api("PATCH", "/v1/settings", open, member.key)).status, 403);
  assert.equal((await box.api("PATCH", "/v1/settings", open)).body.numbers_open, true);
  assert.equal((await ask("person", member.key)).rows.length, 1);
  const owner = signedIn(box);
  const set = { numbers_timezone: "Europe/Vienna" };
  const from = { from: "/numbers" };
  assert.equal((await owner.post("/numbers/settings", set, from)).status, 303);
  const settings = async () => (await box.api("GET", "/v1/settings")).body;
  assert.deepEqual(await settings(), { numbers_open: false, ...set });
  const none = await owner.post("/numbers/settings", { numbers_timezone: "Nowhere" }, from);
  assert.equal(none.status, 422);
  assert.match(none.text, /must be a time zone/);
  const env = { BOX_KEY: box.owner.key, BOX_URL: box.url };
  const words = ["settings", "--open", "all", "--timezone", "UTC"];
  assert.match(
    (await here(words, { env })).out,
    /^members see the figures of everybody\ndays are counted in UTC\n$/,
  );
  const own = signedIn(box, ann);
  assert.doesNotMatch((await own.get("/numbers")).text, /id="numbers-settings"/);
  const clock = { timezone: "America/Toronto" };
  assert.equal((await own.post("/me/clock", clock, { from: "/me" })).status, 303);
  const accounts = (await box.api("GET", "/v1/accounts")).body.accounts as {
    id: string;
    timezone: string | null;
  }[];
  assert.equal(accounts.find(({ id }) => id === ann.accountId)?.timezone, clock.timezone);
  assert.match((await own.get("/me")).text, /value="America\/Toronto"/);
  // The job has written all of it by then, to the same sums.
  await pass(box, 70, 10);
  assert.deepEqual((await ask("rule")).rows, rows);

  const tab = signedIn(box);
  const page = await tab.get("/numbers");
  assert.match(wordsOf(page.text, "totals"), /Pages 2 2 more than before/);
  assert.match(wordsOf(page.text, "people"), /ann@example\.org|Ann/);
  assert.match(wordsOf(page.text, "rules"), / 2 1 0 /);
  assert.match(wordsOf(page.text, "hours"), /Nothing rang\./);
  assert.match(page.text, /href="\/numbers"[^>]* aria-current="page"/);
  const csv = await tab.get("/numbers/csv?weeks=4&by=rule");
  const lines = csv.text.trimEnd().split("\r\n");
  assert.match(lines[0] ?? "", /^key,name,opened,events,pages,/);
  assert.equal(lines.length, 2);
  const told = await fetch(`${box.url}/v1/numbers?by=rule`, {
    headers: { authorization: `Bearer ${box.owner.key}`, accept: "text/csv" },
  });
  assert.match(told.headers.get("content-type") ?? "", /^text\/csv/);
  assert.equal(await told.text(), csv.text);
});

test("a span that is too long, ends before it begins or is in no project is refused by name", async (t) => {
  const { box } = await pagedStory(t);
  const day = 86_400;
  const now = Math.floor(box.clock.now() / 1000);
  const refused = async (query: string) => {
    const { status, body } = await box.api("GET", `/v1/numbers?${query}`);
    return [status, body.error?.details?.[0]?.field ?? body.error?.code];
  };
  assert.deepEqual(await refused(`from=${now - 801 * day}`), [400, "?from"]);
  assert.deepEqual(await refused(`from=${now}&to=${now - 2 * day}`), [400, "?to"]);
  assert.deepEqual(await refused("by=month"), [400, "?by"]);
  assert.equal((await box.api("GET", "/v1/numbers?project=none")).status, 404);
  const zone = await box.api("PATCH", "/v1/settings", { numbers_timezone: "Vienna" });
  assert.deepEqual([zone.status, zone.body.error.details[0].field], [400, "/numbers_timezone"]);
  const me = await box.api("PATCH", "/v1/me", { timezone: "Europe/Vienna" });
  assert.equal(me.body.timezone, "Europe/Vienna");
  const account = (await box.api("GET", "/v1/me")).body.account;
  assert.equal(account.timezone, "Europe/Vienna");
});
