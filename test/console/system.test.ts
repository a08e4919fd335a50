import assert from "node:assert/strict";
import { test } from "node:test";
import { signedIn } from "../support/console.ts";
import { boxAndReceiver } from "../support/contacts.ts";
import { answer } from "../support/receiver.ts";
import { settle } from "../support/until.ts";

test("what is wrong stands first and is linked from the bar; names are for those who manage", async (t) => {
  const { box, receiver } = await boxAndReceiver(t);
  const tab = signedIn(box);
  assert.match((await tab.get("/system")).text, /id="check-store"/);
  await box.project("secret-project");
  const hook = { type: "webhook", name: "hook", url: `${receiver.url}/hook` };
  const { id } = (await box.api("POST", "/v1/projects/secret-project/integrations", hook)).body;
  receiver.always(answer(503));
  await box.api("POST", `/v1/projects/secret-project/integrations/${id}/test`);
  await settle(box);
  const page = (await tab.get("/system")).text;
  assert.match(page, /Able to page, but something is wrong/);
  assert.ok(page.indexOf('id="check-channels"') < page.indexOf('id="check-store"'));
  assert.match(page, /secret-project: hook \(webhook/);
  const bar = /<div id="bar"[\s\S]*?<\/div>/.exec((await tab.get("/alerts")).text)?.[0] ?? "";
  assert.match(bar, /href="\/system#check-channels"/);
  const member = signedIn(box, box.person("member"));
  assert.doesNotMatch((await member.get("/system")).text, /secret-project/);
});
