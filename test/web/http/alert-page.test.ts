import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../../support/box.ts";
import { testProject } from "../../support/channels.ts";
import { handClock } from "../../support/clock.ts";
import { answer, type Receiver, startReceiver } from "../../support/receiver.ts";
import { settle, through } from "../../support/until.ts";

let box: TestBox;
let receiver: Receiver;
before(async () => {
  receiver = await startReceiver();
  box = await testBox({ publicUrl: "https://box.example/base" }, handClock());
});
after(async () => {
  await receiver.close();
  await through(box, box.stop());
});

test("a message leads to the alert's page, which tells nothing of it and is the same where there is none", async () => {
  const shop = await testProject(box, "shop");
  receiver.always(answer(200, "ok"));
  await box.api("POST", "/v1/projects/shop/integrations", {
    type: "mattermost",
    webhook_url: `${receiver.url}/hooks/x`,
  });
  await shop.fire(1);
  await settle(box);
  const [attachment] = JSON.parse(receiver.received[0]?.body ?? "").attachments;
  assert.equal(attachment.title_link, "https://box.example/base/a/1");

  const page = async (id: string) => {
    const got = await fetch(`${box.url}/a/${id}`);
    return { status: got.status, headers: got.headers, body: await got.text() };
  };
  const [known, unknown] = [await page("1"), await page("999")];
  assert.deepEqual([known.status, unknown.status], [200, 200]);
  assert.equal(known.body.replaceAll("999", "1"), unknown.body.replaceAll("999", "1"));
  assert.match(known.body, /box alert show 1\n/);
  assert.doesNotMatch(known.body, /shop|any</);
  assert.equal(known.headers.get("cache-control"), "no-store");
});

test("what is no number is no page, and programs are told where alerts are", async () => {
  for (const id of ["0", "x", "1%0a", "12345678901234567"])
    assert.equal((await fetch(`${box.url}/a/${id}`)).status, 404, id);
  const json = await fetch(`${box.url}/a/1`, { headers: { accept: "application/json" } });
  assert.equal(json.status, 404);
  assert.match(await json.text(), /\/v1\/alerts\/1/);
});
