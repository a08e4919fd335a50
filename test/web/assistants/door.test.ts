import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../../support/box.ts";

let box: TestBox;
before(async () => {
  box = await testBox({ apiRate: "2", allowActs: true });
  await box.project("shop");
});
after(() => box.stop());

async function post(
  body: unknown,
  { key = box.owner.key, headers = {} }: { key?: string | null; headers?: object } = {},
) {
  const answer = await fetch(`${box.url}/mcp`, {
    method: "POST",
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

const calls = (name: string, input: object = {}) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: input },
});

/** What a tool said to a key of its own: one key may ask twice a second, ten at once. */
const tool = async (name: string, input: object = {}, key = box.person("owner").key) => {
  const { status, text } = await post(calls(name, input), { key });
  assert.equal(status, 200, text);
  const { result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
  return { text: result.content[0].text as string, failed: result.isError === true };
};
const tokenIn = (text: string) => /the token (\w{22})\./.exec(text)?.[1] ?? assert.fail(text);
const report = { project: "shop", title: "Disk" };

test("whatever a browser sent is refused, whoever's key it has", async () => {
  for (const headers of [
    { origin: "https://evil.example" },
    { origin: box.url },
    { origin: "null" },
    { "sec-fetch-site": "same-origin" },
  ]) {
    const { status, text } = await post(calls("overview"), { headers });
    assert.equal(status, 403, JSON.stringify(headers));
    assert.match(text, /forbidden/);
  }
});

test("without a good key nothing of a body is read", async () => {
  for (const key of [null, "ptk_x", await box.project("other")]) {
    const { status, text } = await post("{", { key });
    assert.equal(status, 401);
    assert.match(text, /unauthorized/);
  }
});

test("a body is one message of at most 512 KiB", async () => {
  const key = box.person("owner").key;
  const many = await post([calls("overview"), calls("overview")], { key });
  assert.deepEqual([many.status, /one JSON-RPC message/.test(many.text)], [400, true]);
  assert.equal((await post("{", { key })).status, 400);
  const long = calls("search", { q: "x".repeat(512 * 1024) });
  assert.equal((await post(long, { key })).status, 413);
  for (const method of ["GET", "DELETE"])
    assert.equal((await fetch(`${box.url}/mcp`, { method })).status, 405);
});

test("what an assistant asks counts for its key as any request does", async () => {
  const { key } = box.person("owner");
  const said: string[] = [];
  for (let n = 0; n < 12; n++) said.push((await post(calls("list_projects"), { key })).text);
  assert.ok(said.some((text) => text.includes("rate_limited")));
  assert.equal((await box.api("GET", "/v1/projects", undefined, key)).status, 429);
});

test("a plan's token is good for its own key alone, for ten minutes", async () => {
  const { key } = box.person("owner");
  const mine = tokenIn((await tool("prepare_report", report, key)).text);
  const theirs = await tool("act", { token: mine });
  assert.ok(theirs.failed);
  assert.match(theirs.text, /No plan has this token/);
  await box.clock.turn(9 * 60_000);
  assert.equal((await tool("act", { token: mine }, key)).failed, false);
  const late = tokenIn((await tool("prepare_report", report, key)).text);
  await box.clock.turn(10 * 60_000);
  assert.match((await tool("act", { token: late }, key)).text, /No plan has this token/);
  const { body } = await box.api("GET", "/v1/projects/shop/reports");
  assert.equal(body.reports.length, 1);
});

test("a plan rests on a member's right when it is carried out, as any request does", async () => {
  const { key, accountId } = box.person("admin");
  const token = tokenIn((await tool("prepare_report", report, key)).text);
  await box.api("DELETE", `/v1/accounts/${accountId}`);
  assert.equal((await post(calls("act", { token }), { key })).status, 401);
});

test("a report's password is set by a person", async () => {
  const { text, failed } = await tool("prepare_report", { ...report, view_password: "secret" });
  assert.ok(failed);
  assert.match(text, /view_password: is set by a person/);
});
