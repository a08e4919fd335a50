import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Worker } from "node:worker_threads";
import { linesToTouch } from "../../../src/web/console/reports/editor.ts";
import { firstLine } from "../../../src/web/console/ui/entry-row.ts";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { type PageAnswer, signedIn, type Tab, tabOf } from "../../support/console.ts";

const REPORTS = "/p/shop/reports";

let box: TestBox;
let tab: Tab;
before(async () => {
  box = await testBox();
  tab = signedIn(box);
  const token = await box.project("shop");
  await box.api("POST", "/v1/projects/shop/rules", { name: "any" });
  await box.ingest(token, { message: "disk is failing" });
});
after(() => box.stop());

/** Makes a report by its page, and answers its path. */
async function made(fields: Record<string, string> = {}): Promise<string> {
  const form = { title: "Card payments are slow", ...fields };
  const answer = await tab.post(`${REPORTS}/new`, form, { from: `${REPORTS}/new` });
  assert.equal(answer.status, 303, answer.text);
  return String(answer.headers.get("location"));
}

const seen = async (path: string) =>
  /name="seen" value="([^"]*)"/.exec((await tab.get(path)).text)?.[1] ?? "";

async function publish(path: string, fields: Record<string, string>): Promise<PageAnswer> {
  const form = { title: "", entry_type: "update", seen: await seen(path), ...fields };
  return tab.post(`${path}/entries`, form, { from: path });
}

const uuidOf = (text: string) => /public\/reports\/([0-9a-f-]{36})/.exec(text)?.[1] ?? "";
async function publicPage(path: string): Promise<string> {
  const uuid = uuidOf((await tab.get(path)).text);
  return (await tabOf(box, "").get(`/public/reports/${uuid}`)).text;
}

/** Its id is the only thing that an entry doesn't have before it is one. */
const article = (page: string) =>
  /<article[\s\S]*?<\/article>/.exec(page)?.[0].replace(/id="entry-\w+"/, "") ?? "";
const preview = (path: string, fields: Record<string, string>) =>
  tab.post(`${path}/preview`, { title: "", entry_type: "update", ...fields }, { from: path });

/** Threads that are still being loaded. */
let loading = 0;
const onWorker = (worker: Worker) => {
  loading++;
  const loaded = () => {
    loading--;
    worker.off("message", loaded).off("exit", loaded);
  };
  worker.on("message", loaded).on("exit", loaded);
};
before(() => void process.on("worker", onWorker));
after(() => void process.off("worker", onWorker));

/** The renderer's deadline is the box's clock's, and so is the limit of a thread's loading, which takes real time. */
async function pastDeadline(asked: Promise<PageAnswer>): Promise<PageAnswer> {
  let isOver = false;
  const answer = asked.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    if (loading === 0) await box.clock.turn(1_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return answer;
}

test("AC-19.1: the preview is the public page's entry, byte for byte, and stores nothing", async () => {
  const path = await made({ description: "No order is lost." });
  const texts = [
    "A provider is **slow**.\r\n\r\n- one\r\n- two",
    "# Title\n\n| a | b |\n| - | - |\n| 1 | 2 |",
    "![p](https://e.test/p.png) [l](javascript:x) \n\n<script>x</script><b>é</b> &amp; \u{1F4A5}",
  ];
  for (const content_md of texts) {
    const before = box.tenant.store.sql("SELECT total_changes()").pluck().get();
    const fields = { content_md, title: "We look <into> it", entry_type: "analysis" };
    const shown = await preview(path, fields);
    assert.equal(shown.status, 200);
    assert.equal(box.tenant.store.sql("SELECT total_changes()").pluck().get(), before);
    assert.equal((await publish(path, fields)).status, 303);
    const page = await publicPage(path);
    assert.notEqual(article(page), "");
    assert.equal(article(shown.text), article(page));
    const standing = /<div class="now[\s\S]*?<\/div>/;
    assert.equal(standing.exec(shown.text)?.[0], standing.exec(page)?.[0]);
  }
  const left = (await preview(path, { content_md: texts[2] ?? "" })).text;
  assert.match(
    left,
    /Left out: images, which became links, links that lead nowhere, &lt;script&gt;/,
  );
});

test("AC-19.4: nothing in the frame may run, be loaded or leave it, whatever was written", async () => {
  const path = await made();
  const page = await tab.get(path);
  const policy = page.headers.get("content-security-policy") ?? "";
  assert.match(policy, /script-src 'self'.*; frame-src 'self'$/);
  assert.match(page.text, /<iframe name="preview" title="[^"]+" sandbox src=/);
  // Of this page alone.
  const other = (await tab.get(REPORTS)).headers.get("content-security-policy");
  assert.equal(other, policy.replace("; frame-src 'self'", ""));
  for (let at = 0; at < XSS_VECTORS.length; at += 100) {
    const content_md = XSS_VECTORS.slice(at, at + 100)
      .join("\n\n")
      .replaceAll("\0", "");
    const { headers, text } = await preview(path, {
      content_md,
      title: "<script>trap(1)</script>",
    });
    const own = headers.get("content-security-policy") ?? "";
    assert.match(own, /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'/);
    assert.match(own, /frame-ancestors 'self'; sandbox; base-uri 'none'$/);
    assert.doesNotMatch(own, /script-src|unsafe/);
    assert.equal(headers.get("refresh"), null);
    assert.doesNotMatch(text, /Not shown/);
    assert.match(article(text), /class="content"/);
    assert.doesNotMatch(text, /<script|<img|<iframe|<svg|<style[^>]*>[^<]*<\/style>[\s\S]*<style/i);
    assert.doesNotMatch(text, /<[a-z][^<>]*\son\w+\s*=/i);
  }
});

test("AC-19.3: what takes too long keeps the text and says what, before and at publishing", async () => {
  const path = await made();
  const content_md = "a\n=\n".repeat(16_000);
  const shown = await pastDeadline(preview(path, { content_md }));
  assert.match(shown.text, /Not shown as you wrote it: This Markdown takes too long to render\./);
  const answer = await pastDeadline(publish(path, { content_md, title: "Kept" }));
  assert.equal(answer.status, 422);
  assert.match(answer.text, /id="entry-wrong">It takes too long to render: very many brackets/);
  assert.ok(answer.text.includes(content_md), "the text is gone");
  assert.match(answer.text, /name="title" type="text" value="Kept"/);
  assert.doesNotMatch(await publicPage(path), /<article/);
});

test("publishing says what readers see now, is taken back, and edited in place", async () => {
  const path = await made({ alert_id: "1" });
  assert.match((await tab.get(path)).text, /Readers see: <span class="soft">● Reported/);
  assert.equal((await publish(path, { content_md: " " })).status, 422);
  const text = "A provider is **slow**.\r\nNo order is lost.";
  assert.equal((await publish(path, { content_md: text, entry_type: "analysis" })).status, 303);
  const page = (await tab.get(path)).text;
  assert.match(page, /Published: readers see Investigating\. “A provider is slow\.”/);
  const undo = /<output[\s\S]*?action="([^"]+)"[\s\S]*?>Undo</.exec(page)?.[1] ?? "";
  const entry = undo.split("/").at(-2);
  const stored = box.tenant.store.sql("SELECT content_md FROM report_entries WHERE id = ?");
  assert.equal(stored.pluck().get(entry), text.replace("\r", ""));
  const editing = (await tab.get(`${path}?entry=${entry}`)).text;
  const version = /name="seen" value="(\w+)"/.exec(editing)?.[1] ?? "";
  const fields = { entry_type: "resolution", title: "Over", content_md: "All run again." };
  const at = `${path}/entries/${entry}`;
  const saved = await tab.post(
    at,
    { ...fields, seen: version },
    { from: `${path}?entry=${entry}` },
  );
  assert.equal(saved.status, 303);
  assert.match(await publicPage(path), /<h3 dir="auto">Over<\/h3>[\s\S]*All run again/);
  await tab.post(undo, {}, { from: path });
  assert.doesNotMatch(await publicPage(path), /<article/);
});

test("of two who publish or save at the same moment one is told, though both were looked at before", async () => {
  const path = await made();
  const ann = signedIn(box, box.person("member", "anna@example.org"));
  const seenNow = await seen(path);
  const fields = { entry_type: "update", title: "", content_md: "*At once*", seen: seenNow };
  const both = (to: string, more: object) =>
    Promise.all([tab, ann].map((who) => who.post(to, { ...fields, ...more }, { from: path })));
  const first = await both(`${path}/entries`, {});
  assert.deepEqual(first.map(({ status }) => status).toSorted(), [303, 409]);
  const of = "SELECT id FROM report_entries WHERE content_md = '*At once*'";
  const ids = box.tenant.store.sql<[], string>(of).pluck().all();
  assert.equal(ids.length, 1);
  const version = await seen(`${path}?entry=${ids[0]}`);
  await box.clock.turn(1000);
  const second = await both(`${path}/entries/${ids[0]}`, { content_md: "Changed", seen: version });
  assert.deepEqual(second.map(({ status }) => status).toSorted(), [303, 409]);
});

test("who wrote past somebody else is told, and loses nothing", async () => {
  const path = await made();
  const ann = signedIn(box, box.person("member", "ann@example.org"));
  const before = await seen(path);
  const theirs = { entry_type: "update", title: "", content_md: "Ann was quicker.", seen: before };
  assert.equal((await ann.post(`${path}/entries`, theirs, { from: path })).status, 303);
  const late = await publish(path, { content_md: "Mine.", seen: before });
  assert.equal(late.status, 409);
  assert.match(late.text, /ann@example.org published “Ann was quicker\.” while you wrote/);
  assert.match(late.text, /<textarea id="entry-text"[^>]*>\nMine\.<\/textarea>/);
  // The form that came back has seen it.
  const again = /name="seen" value="([^"]*)"/.exec(late.text)?.[1] ?? "";
  assert.equal((await publish(path, { content_md: "Mine.", seen: again })).status, 303);
  const entry = again;
  const from = `${path}?entry=${entry}`;
  const version = await seen(from);
  const change = (content_md: string, who = tab) =>
    who.post(`${path}/entries/${entry}`, { ...theirs, content_md, seen: version }, { from });
  assert.equal((await change("Ann again.", ann)).status, 303);
  const lost = await change("Mine again.");
  assert.equal(lost.status, 409);
  assert.match(lost.text, /<details id="theirs" open>[\s\S]*Ann again\./);
  assert.match(lost.text, /<textarea id="entry-text"[^>]*>\nMine again\.<\/textarea>/);
  await ann.post(`${path}/entries/${entry}/delete`, {}, { from: path });
  const gone = await change("Mine once more.");
  assert.equal(gone.status, 409);
  assert.match(gone.text, /What you wrote is still here/);
  assert.match(gone.text, new RegExp(`action="${path}/entries" data-editor`));
  assert.match(gone.text, /<textarea id="entry-text"[^>]*>\nMine once more\.<\/textarea>/);
});

test("a password, a new address and the end of a report: each says what dies, and it does", async () => {
  const path = await made();
  const first = uuidOf((await tab.get(path)).text);
  const reader = tabOf(box, "");
  const status = async (uuid: string) => (await reader.get(`/public/reports/${uuid}`)).status;
  assert.equal(await status(first), 200);
  const password = (fields: Record<string, string>) =>
    tab.post(`${path}/password`, fields, { from: path });
  assert.equal((await password({ view_password: "" })).status, 422);
  assert.equal((await password({ view_password: "canary battery" })).status, 303);
  assert.equal(await status(first), 401);
  const gated = (await tab.get(path)).text;
  assert.match(gated, /<strong>protected<\/strong>/);
  assert.doesNotMatch(gated, /feed\.xml|canary/);
  assert.equal((await password({ remove: "yes", view_password: "" })).status, 303);
  assert.equal(await status(first), 200);
  await tab.post(`${path}/address`, {}, { from: path });
  const second = uuidOf((await tab.get(path)).text);
  assert.notEqual(second, first);
  assert.deepEqual([await status(first), await status(second)], [404, 200]);
  const change = { title: "Cards", description: "Known.\r\nMore." };
  assert.equal((await tab.post(`${path}/change`, change, { from: path })).status, 303);
  const exported = await tab.get(`${path}/export.md`);
  assert.match(exported.headers.get("content-disposition") ?? "", /^attachment; filename="report-/);
  assert.match(exported.text, /^# Cards\n/);
  const gone = await tab.post(`${path}/delete`, {}, { from: path });
  assert.equal(gone.headers.get("location"), REPORTS);
  assert.equal(await status(second), 404);
  assert.equal((await tab.get(path)).status, 404);
});

test("an alert's page starts its report, and opens it from then on; the box's facts wait beside the text", async () => {
  const path = await made({ alert_id: "1" });
  const alert = (await tab.get("/a/1")).text;
  assert.match(alert, /href="\/p\/shop\/reports\/\w+">Its incident report</);
  const page = (await tab.get(path)).text;
  assert.match(page, /data-title="What has happened so far" data-type="update" data-touch="4"/);
  assert.match(page, /The problem was detected automatically\./);
  const start = (await tab.get(`${REPORTS}/new?alert=1`)).text;
  assert.match(start, /name="alert_id" value="1"/);
  const { title } = (await box.api("GET", "/v1/alerts/1")).body;
  assert.ok(title !== "" && start.includes(` value="${title}"`), "for a person to see first");
  // Another project's alert is none of this one's.
  await box.project("other");
  assert.match((await tab.get("/p/other/reports/new?alert=1")).text, /name="alert_id" value=""/);
});

test("a text of 65,536 characters of many bytes fits into the form", async () => {
  const path = await made();
  const answer = await publish(path, { content_md: "漢".repeat(65_536) });
  assert.equal(answer.status, 303);
  const more = await publish(path, { content_md: "漢".repeat(65_537) });
  assert.equal(more.status, 422);
  assert.match(more.text, /must have at most 65536 characters/);
});

test("lines that name people or places are found, and the first line is readable", () => {
  const text = [
    "Nothing here.",
    "Ask ann@example.org",
    "10.0.0.1 was down",
    "Call +49 30 1234567",
    "Al fixed it",
    "Ann Other fixed it",
    "Annika did",
    "db1.internal",
    "so far: …",
    "at 14:02 UTC",
  ].join("\n");
  assert.deepEqual(linesToTouch(text, ["Ann Other", "Al", "Ann"]), [1, 2, 3, 5, 7, 8]);
  assert.equal(firstLine("\n> **A** `b`\nc"), "A b");
  assert.equal([...firstLine("x".repeat(200))].length, 80);
});
