import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";

test("the address itself: a page for a browser, two lines for curl, an error for a program", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const ask = async (accept: string) => {
    const answer = await fetch(`${box.url}/`, { headers: { accept }, redirect: "manual" });
    return { status: answer.status, to: answer.headers.get("location"), text: await answer.text() };
  };
  const browser = await ask("text/html,application/xhtml+xml,*/*;q=0.8");
  assert.deepEqual([browser.status, browser.to], [303, "/signin"]);
  const curl = await ask("*/*");
  assert.equal(curl.status, 200);
  assert.match(curl.text, /^box \S+, an alert appliance\. .*\n.*\/v1\/openapi\.json.*\n$/);
  const program = await ask("application/json");
  assert.deepEqual([program.status, JSON.parse(program.text).error.code], [404, "not_found"]);
});
