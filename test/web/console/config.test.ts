import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../../support/box.ts";
import { box as run } from "../../support/command-line.ts";
import { type PageAnswer, signedIn, type Tab } from "../../support/console.ts";

const AT = "/p/shop/config";
let box: TestBox;
let tab: Tab;
const env = () => ({ BOX_URL: box.url, BOX_KEY: box.owner.key });

before(async () => {
  box = await testBox();
  tab = signedIn(box);
  await box.project("shop");
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", match: { min_level: 400 } });
  const url = "http://127.0.0.1:9/hook";
  await box.api("POST", "/v1/projects/shop/integrations", { type: "webhook", name: "ops", url });
});
after(() => box.stop());

const unescaped = (text: string) =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
const editor = ({ text }: PageAnswer) =>
  unescaped(/<textarea[^>]*>\n([\s\S]*?)<\/textarea>/.exec(text)?.[1] ?? "");
const hidden = ({ text }: PageAnswer, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? "";
const plan = (text: string) => tab.post(`${AT}/plan`, { text }, { from: AT });
const apply = (text: string, planned: PageAnswer, more: Record<string, string> = {}) => {
  const fields = { version: hidden(planned, "version"), digest: hidden(planned, "digest") };
  return tab.post(AT, { text, ...fields, ...more }, { from: AT });
};
const diffOf = ({ text }: PageAnswer) =>
  unescaped(/<pre class="code"[^>]*>([\s\S]*?)<\/pre>/.exec(text)?.[1] ?? "")
    .trim()
    .split("\n")
    .map((line) => line.trim());

test("it is the text of box config export, in the field and as a file; all of the box is a file, too", async () => {
  const { out } = await run(["config", "export", "--project", "shop"], { env: env() });
  assert.equal(editor(await tab.get(AT)), out);
  const file = await tab.get(`${AT}/project.yaml`);
  assert.equal(file.text, out);
  assert.match(file.headers.get("content-disposition") ?? "", /filename="shop\.yaml"/);
  assert.equal(
    (await tab.get("/system/box.yaml")).text,
    (await run(["config", "export"], { env: env() })).out,
  );
});

test("a plan says what would change as the command does, changes nothing, and is applied as it was planned", async (t) => {
  const text = editor(await tab.get(AT)).replace("min_level: 400", "min_level: 300");
  const { version } = (await box.api("GET", "/v1/projects/shop/config")).body;
  const planned = await plan(text);
  assert.equal(planned.status, 200);
  assert.match(planned.text, /<li>update rule errors<\/li>/);
  assert.ok(diffOf(planned).includes("-       min_level: 400"));
  assert.ok(diffOf(planned).includes("+       min_level: 300"));
  assert.equal(editor(planned), text, "what was typed stays");
  assert.equal((await box.api("GET", "/v1/projects/shop/config")).body.version, version);

  const other = text.replace("min_level: 300", "min_level: 200");
  assert.equal((await apply(other, planned)).status, 409, "not the text that was planned");
  await t.test("409 where the project changed meanwhile, with the text kept", async () => {
    await box.api("POST", "/v1/projects/shop/rules", { name: "late" });
    const stale = await apply(text, planned);
    assert.equal(stale.status, 409);
    assert.match(stale.text, /The project was changed by somebody else/);
    assert.equal(editor(stale), text);
    await box.api("DELETE", "/v1/projects/shop/rules/late");
  });
  const done = await apply(text, await plan(text));
  assert.deepEqual([done.status, done.headers.get("location")], [303, AT]);
  const { body } = await box.api("GET", "/v1/projects/shop/rules/errors");
  assert.equal(body.match.min_level, 300);
  const { out } = await run(["audit", "--limit", "1", "--json"], { env: env() });
  assert.match(out, /putProjectConfig/);
  assert.match(out, /"via": ?"page"/);
});

test("faults name their line and their field, and references lead nowhere from a page", async () => {
  const text = editor(await tab.get(AT));
  const lineOf = (part: string, of: string) =>
    of.split("\n").findIndex((line) => line.includes(part)) + 1;
  const wrong = async (to: string, reason: RegExp) => {
    const back = await plan(to);
    assert.equal(back.status, 422, to);
    assert.match(unescaped(back.text), reason);
    assert.equal(editor(back), to);
  };
  const bad = text.replace("min_level: 300", "min_level: many");
  await wrong(bad, new RegExp(`line ${lineOf("many", bad)}: /projects/0/rules/0/match/min_level `));
  await wrong(`${text}  oops: [`, /line \d+: /);
  const stranger = text.replace("- name: errors", "- name: errors\n        actions: [nobody]");
  await wrong(stranger, /line \d+: \/projects\/0\/rules\/0\/actions/);
  process.env["BOX_TEST_SECRET"] = "do-not-tell";
  for (const reference of ["{ env: BOX_TEST_SECRET }", "{ file: /etc/hostname }"]) {
    const to = text.replace("secret: kept", `secret: ${reference}`);
    assert.notEqual(to, text);
    await wrong(to, /is only read by box config apply/);
    assert.doesNotMatch((await plan(to)).text, /do-not-tell/);
  }
  delete process.env["BOX_TEST_SECRET"];
  await wrong(text.replace("name: shop", "name: other"), /it must have one project, shop/);
  await wrong(`${text}tenant: { fallback: {} }\n`, /\/tenant is of the whole box/);
});

test("what it makes is shown this once, and what it would delete is asked about first", async () => {
  const text = editor(await tab.get(AT));
  const more = text.replace("- name: app", "- name: app\n      - name: cron");
  const made = await apply(more, await plan(more));
  assert.equal(made.status, 200);
  assert.equal(made.headers.get("cache-control"), "no-store");
  const token = /id="made-0">(pti_[^<]+)</.exec(made.text)?.[1] ?? "";
  assert.equal((await box.ingest(token, { message: "hello" })).status, 202);
  assert.doesNotMatch((await tab.get(AT)).text, new RegExp(token));

  const planned = await plan(text);
  assert.match(planned.text, /<li class="wrong">delete source cron<\/li>/);
  const asked = await apply(text, planned);
  assert.equal(asked.status, 200);
  assert.match(asked.text, /Nothing is applied yet: it would delete source cron/);
  assert.equal((await box.ingest(token, { message: "still here" })).status, 202);
  assert.equal((await apply(text, asked, { delete: "true" })).status, 303);
  assert.equal((await box.ingest(token, { message: "gone" })).status, 401);
  assert.match((await plan(text)).text, /Nothing changes: the project is as the text says/);
});

test("it is for those who manage: others see neither text nor file", async () => {
  const member = signedIn(box, box.person("member"));
  const page = await member.get(AT);
  assert.match(page.text, /Owners and admins read and write a project as text\. Ask /);
  assert.doesNotMatch(page.text, /<textarea/);
  assert.equal((await member.get(`${AT}/project.yaml`)).status, 403);
  assert.equal((await member.get("/system/box.yaml")).status, 403);
  assert.equal((await member.post(`${AT}/plan`, { text: "x" }, { from: AT })).status, 403);
});
