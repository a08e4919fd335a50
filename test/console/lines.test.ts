import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { signedIn } from "../support/console.ts";
import { settle } from "../support/until.ts";

const words = (text: string): string => text.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
const section = (text: string, id: string): string =>
  new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(text)?.[0] ?? "";

test("the lines around an alert mark what varies, whose counts sum to the lines looked at, and lead to each other", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop", { retain_logs: true });
  const rule = { name: "errors", match: { min_level: 400 } };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  await box.ingest(token, { message: "retry 3 for tx 99811", level: 200 });
  for (const [n, seconds] of [
    [4711, 30],
    [4712, 30],
    [4713, 77],
  ])
    await box.ingest(token, { message: `payment ${n} failed after ${seconds} s`, level: 400 });
  await settle(box);
  const tab = signedIn(box);
  const own = section((await tab.get("/a/1")).text, "lines");
  assert.match(
    own,
    /<p class="message" dir="auto">payment <var>4711<\/var> failed after <var>30 s<\/var>/,
  );
  assert.equal([...own.matchAll(/class="line line-own"/g)].length, 3);
  assert.match(words(own), /09:00:00 info app retry 3 for tx 99811/);
  assert.match(words(own), /payment 4711 failed after 30 s ← opened here/);
  const [, lines = ""] = /What varies in (\d+) lines like it/.exec(own) ?? [];
  const [part = ""] = /<dt>part 1<\/dt><dd>([\s\S]*?)<\/dd>/.exec(own)?.slice(1) ?? [];
  const counts = [...part.matchAll(/(\d+) ×/g)].map(([, n]) => Number(n));
  assert.deepEqual([counts.reduce((sum, n) => sum + n, 0), lines], [3, "3"]);
  const all = async (query = "") => section((await tab.get(`/a/1/lines${query}`)).text, "lines");
  assert.equal([...(await all()).matchAll(/<li class="line/g)].length, 4);
  assert.equal([...(await all("?q=77+s")).matchAll(/<li class="line/g)].length, 1);
  const like = /href="\/a\/1(\/lines\?template=[^"]+)" aria-label="Lines like this"/.exec(own)?.[1];
  assert.ok(like !== undefined);
  assert.match(words(await all("?q=nowhere")), /No line is kept of this time/);
  const at = Math.floor(box.clock.now() / 1000);
  assert.equal([...(await all(`?at=${at}`)).matchAll(/<li class="line/g)].length, 4);
  assert.match(words(await all(`?at=${at - 600}`)), /No line is kept/);
  assert.match(
    section((await tab.get("/a/1")).text, "occurrences"),
    /href="\/a\/1\/lines\?at=\d+"/,
  );
  assert.equal((await tab.get("/a/99/lines")).status, 404);
});

test("one field finds pages, what has a name and alerts, and does to an alert what its number is given for", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  const rule = { name: "payment errors" };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  await box.ingest(token, { message: "payment 4711 failed", level: 400 });
  await settle(box);
  const tab = signedIn(box);
  const found = async (q: string) =>
    (await tab.sections(`/search?${new URLSearchParams({ q })}`, "results")).text;
  assert.match(
    await found("payment"),
    /href="\/a\/1"[\s\S]*alert · #1 · shop · payment errors · open/,
  );
  assert.match(await found("ale"), /href="\/alerts">Alerts/);
  assert.match(await found("owner@"), /href="\/people\/\w+"/);
  assert.match(await found("#1"), /action="\/a\/1\/ack"[\s\S]*Acknowledge #1[\s\S]*Resolve #1/);
  assert.match(words(await found("zebra")), /Nothing is called that/);
  assert.match(words(await found("")), /by their names and words/);
  const done = await tab.post("/a/1/ack", {}, { from: "/search?q=%231" });
  assert.deepEqual([done.status, done.headers.get("location")], [303, "/search?q=%231"]);
  assert.doesNotMatch(await found("#1"), /\/a\/1\/ack"/);
  for (const [, to = ""] of (await found("shop")).matchAll(/href="([^"]+)"/g))
    assert.equal((await tab.get(to)).status, 200, to);
});
