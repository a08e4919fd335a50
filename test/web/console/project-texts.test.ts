import assert from "node:assert/strict";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import { signedIn } from "../../support/console.ts";
import { boxAndReceiver, sendLines } from "../../support/contacts.ts";
import { long, test } from "../../support/long.ts";
import { answer } from "../../support/receiver.ts";
import { settle } from "../../support/until.ts";

/** Elements that pages are made of; no text brings another. */
const ELEMENTS = new Set(
  "html head meta title link script body a nav div span header h1 h2 h3 main section table thead tbody tr th td form label input button p details summary output svg path rect ol ul li var time code pre select option fieldset legend dl dt dd textarea strong circle g text kbd".split(
    " ",
  ),
);
const TAG = /^<\/?([a-z][a-z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)\s*\/?>/;

/** Every `<` begins an element of the pages' own, without handlers, that leads nowhere else. */
function mustBePlain(page: string, where: string): void {
  const text = page.replace("<!doctype html>", "");
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) {
    const [, name = "", attributes = ""] = TAG.exec(text.slice(at, at + 8000)) ?? [];
    assert.ok(ELEMENTS.has(name), `${where}: ${text.slice(at, at + 120)}`);
    assert.doesNotMatch(attributes.replace(/="[^"]*"/g, ""), /\son|\sstyle|srcdoc/i, where);
    const to = / (?:href|src|action)="([^"]*)"/.exec(attributes)?.[1];
    if (to !== undefined) assert.match(to, /^[/#?](?![/\\])/, `${where}: ${to}`);
  }
  assert.equal(text.match(/<script/g)?.length, 1, where);
}

const isName = (text: string) =>
  [...text].length <= 128 &&
  !/[/\p{Cc}]/u.test(text) &&
  text.trim() === text &&
  text !== "#" &&
  text !== "?";
const NAMES = XSS_VECTORS.filter(isName).slice(0, 90);

long("names of projects and sources stay text on every page of theirs", async (t) => {
  const { box } = await boxAndReceiver(t);
  const tab = signedIn(box);
  assert.ok(NAMES.length >= 60, String(NAMES.length));
  for (const name of NAMES)
    assert.equal((await box.api("POST", "/v1/projects", { name })).status, 201, name);
  mustBePlain((await tab.get("/p")).text, "/p");
  await box.project("shop");
  for (const name of NAMES)
    assert.equal((await box.api("POST", "/v1/projects/shop/sources", { name })).status, 201, name);
  mustBePlain((await tab.get("/p/shop")).text, "/p/shop");
  mustBePlain((await tab.get("/p/shop/lines")).text, "lines");
  for (const name of NAMES.slice(0, 30)) {
    const own = `/p/${encodeURIComponent(name)}`;
    const source = `/p/shop/sources/${encodeURIComponent(name)}`;
    for (const path of [
      own,
      `${own}/channels`,
      `${own}/actions`,
      `${own}/lines`,
      `${own}/connect`,
      source,
    ]) {
      const page = await tab.get(path);
      assert.equal(page.status, 200, path);
      mustBePlain(page.text, path);
    }
  }
});

test("messages stay text among lines and templates", async (t) => {
  const { box } = await boxAndReceiver(t);
  const tab = signedIn(box);
  const token = await box.project("shop", { retain_logs: true });
  const lines = XSS_VECTORS.map((message) => JSON.stringify({ message, level: 400 }));
  for (let at = 0; at < lines.length; at += 200) {
    await sendLines({ box, token }, lines.slice(at, at + 200));
    const page = (await tab.get("/p/shop/lines")).text;
    assert.match(page, /The newest 200 lines|All \d+ line/);
    mustBePlain(page, `lines from ${at}`);
  }
  let path: string | undefined = "/p/shop/lines/templates";
  for (let pages = 0; path !== undefined; pages++) {
    assert.ok(pages < 50);
    const { text } = await tab.get(path);
    mustBePlain(text, path);
    path = /<a href="([^"]*)">More templates/.exec(text)?.[1]?.replaceAll("&amp;", "&");
  }
  for (const q of XSS_VECTORS.filter((one) => one.length < 200).filter((_, i) => i % 20 === 0))
    for (const page of ["lines", "lines/templates"]) {
      const asked = `/p/shop/${page}?q=${encodeURIComponent(q)}&source=${encodeURIComponent(q)}`;
      mustBePlain((await tab.get(asked)).text, asked);
    }
});

test("what a receiver answers stays text", async (t) => {
  const { box, receiver } = await boxAndReceiver(t);
  const tab = signedIn(box);
  const token = await box.project("shop");
  const rule = { name: "errors", match: { min_level: 400 }, identifier_keys: ["n"] };
  await box.api("POST", "/v1/projects/shop/rules", rule);
  const write = { type: "webhook", name: '"><img src=x onerror=trap(1)>', url: receiver.url };
  const { id } = (await box.api("POST", "/v1/projects/shop/integrations", write)).body;
  const answers = XSS_VECTORS.filter((_, i) => i % 12 === 0).slice(0, 40);
  for (const [n, words] of answers.entries()) {
    receiver.once(answer(400, words));
    await box.ingest(token, { message: `it ${n} broke`, level: 400, keys: { n: String(n) } });
    await settle(box);
  }
  const at = `/p/shop/channels/${id}`;
  mustBePlain((await tab.get("/p/shop/channels")).text, "channels");
  mustBePlain((await tab.get(at)).text, at);
  const { deliveries } = (
    await box.api("GET", `/v1/projects/shop/integrations/${id}/deliveries?limit=200`)
  ).body;
  assert.ok(deliveries.length >= 40);
  for (const delivery of deliveries) {
    const path = `${at}/deliveries/${delivery.id}`;
    mustBePlain((await tab.get(path)).text, path);
  }
});
