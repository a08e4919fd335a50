import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { settle, until } from "../../support/until.ts";

async function story(t: TestContext) {
  const box = await testBox();
  t.after(() => box.stop());
  const web = await box.project("shop", { name: "web", retain_logs: true });
  const cron = (
    await box.api("POST", "/v1/projects/shop/sources", { name: "cron", retain_logs: true })
  ).body.token as string;
  const rule = { name: "errors", match: { min_level: 400 } };
  await box.api("POST", "/v1/projects/shop/rules", rule);
  const send = async (token: string, message: string, level: number) => {
    assert.equal((await box.ingest(token, { message, level })).status, 202);
  };
  for (const n of [1, 2, 3]) await send(web, `payment ${n} failed at acme`, 400);
  await send(web, "user 7 logged in", 200);
  await send(cron, "backup of db took 30 s", 200);
  await settle(box);
  return { box, tab: signedIn(box) };
}

const linesIn = (text: string) => text.match(/<li class="line"/g)?.length ?? 0;

test("kept lines are found by words, level, source and template, newest last", async (t) => {
  const { tab } = await story(t);
  const at = "/p/shop/lines";
  const all = (await tab.get(at)).text;
  assert.equal(linesIn(all), 5);
  assert.ok(all.indexOf("payment 1 failed") < all.indexOf("backup of db"));
  const template = /\/p\/shop\/lines\?template=([0-9a-f]{16})"/.exec(all)?.[1];
  for (const [query, n] of [
    ["q=PAYMENT", 3],
    ["q=payment&level=500", 0],
    ["level=400", 3],
    ["source=cron", 1],
    ["source=nobody", 0],
    [`template=${template}`, 3],
    ["level=x", 5],
  ] as const)
    assert.equal(linesIn((await tab.get(`${at}?${query}`)).text), n, query);
  assert.match((await tab.get(`${at}?q=nothing`)).text, /No kept line matches\./);
});

test("the interface finds the same lines by the same words", async (t) => {
  const { box } = await story(t);
  const ask = async (query: string) =>
    (await box.api("GET", `/v1/projects/shop/logtail?${query}`)).body;
  assert.equal((await ask("q=payment&limit=2")).messages.length, 2);
  assert.equal((await ask("level=400")).messages.length, 3);
  const { messages, complete } = await ask("source=cron");
  assert.deepEqual([messages.length, complete], [1, true]);
});

test("what came since and isn't shown is counted, by the interface and by an open page", async (t) => {
  const { box, tab } = await story(t);
  const token = (await box.api("POST", "/v1/projects/shop/sources/web/rotate-token")).body.token;
  const tail = async (query: string) =>
    (await box.api("GET", `/v1/projects/shop/logtail?${query}`)).body;
  const look = async (rows: string) => {
    const { text } = await tab.get("/p/shop/lines", { "x-sections": "lines", "x-rows": rows });
    const [, seen = ""] = /data-seen="([^"]*)"/.exec(text) ?? [];
    return { seen, told: /\+([\d,]+) not shown/.exec(text)?.[1] ?? null };
  };
  const { seen } = await look("");
  assert.equal((await tail("limit=2")).left_out, 0, "not asked for");
  const [, newest = ""] = seen.split("-");
  const body = Array.from({ length: 700 }, (_, n) =>
    JSON.stringify({ message: `user ${n} logged in`, level: 200 }),
  );
  const sent = await fetch(`${box.url}/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body: body.join("\n"),
  });
  assert.equal(sent.status, 202);
  await settle(box);
  assert.equal((await tail(`limit=200&since=${newest}`)).left_out, 500);
  assert.equal((await tail(`limit=200&since=${newest}&level=300`)).left_out, 0);
  const after = await look(seen);
  assert.equal(after.told, "500");
  assert.equal((await look(after.seen)).told, "500", "it stays while the page is open");
  assert.equal((await look("")).told, null, "a page that is loaded anew has missed nothing");
});

test("templates are listed with their share and rules, and those that nobody would be told of alone", async (t) => {
  const { tab } = await story(t);
  const at = "/p/shop/lines/templates";
  const all = (await tab.get(at)).text;
  assert.match(all, /payment <var>\*<\/var> failed at acme/);
  assert.match(all, /data-label="events">3<\/td>\s*<td class="num" data-label="share">60\.0 %/);
  assert.match(all, /data-label="rules"><div>(<a [^>]*>)?errors/);
  const unmatched = (await tab.get(`${at}?unmatched=true`)).text;
  assert.doesNotMatch(unmatched, /failed at acme/);
  assert.equal(unmatched.match(/<span class="warn">no rule<\/span>/g)?.length, 2);
  assert.match(unmatched, /id="unmatched" name="unmatched" value="true" checked/);
  assert.match((await tab.get(`${at}?q=backup`)).text, /backup of db/);
  assert.match((await tab.get(`${at}?q=nothing`)).text, /No template matches the filter\./);
});

test("lines that come are told to who looks at them, and to nobody else", async (t) => {
  const { box, tab } = await story(t);
  assert.match((await tab.get("/p/shop/lines")).text, /data-live="project:shop lines:shop"/);
  const paused = (await tab.get("/p/shop/lines?q=a&live=off")).text;
  assert.match(paused, /id="lines" data-live=""/);
  assert.match(paused, /<a href="\/p\/shop\/lines\?q=a"[^>]*>Go on</);
  const token = (await box.api("POST", "/v1/projects/shop/sources/web/rotate-token")).body.token;
  const asked = async (watch: string) => {
    const { next } = box.tenant.changes.after(null);
    const poll = tab.get(`/live?watch=${watch}&since=${next}&wait=1`, {
      accept: "application/json",
    });
    await until(() => box.tenant.changes.listening > 0, "the poll waits");
    await box.ingest(token, { message: "user 8 logged in", level: 200 });
    for (let n = 0; n < 3; n++) await box.clock.turn(500);
    return JSON.parse((await poll).text).topics as string[];
  };
  assert.ok((await asked("lines:shop")).includes("lines:shop"));
  assert.deepEqual(await asked("alerts"), []);
});
