import assert from "node:assert/strict";
import { test } from "node:test";
import { wayName } from "../../../src/web/console/welcome/first-steps.ts";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { boxAndReceiver } from "../../support/contacts.ts";
import { openNtfy, pressNtfy } from "../../support/ntfy.ts";
import { settle, until } from "../../support/until.ts";

test("from an empty box to a page that was answered, without script", async (t) => {
  const { box, receiver } = await boxAndReceiver(t, { egressAllow: ["127.0.0.1"] });
  const ntfy = openNtfy();
  receiver.always(ntfy.behaviour);
  await box.api("PUT", "/v1/gateways/ntfy", { url: receiver.url });
  const tab = signedIn(box);
  const at = { from: "/welcome" };
  assert.match((await tab.get("/welcome")).text, /Use the ntfy app/);
  const added = (await tab.post("/welcome/phone", {}, at)).text;
  const topic = /<code id="topic">([^<]+)<\/code>/.exec(added)?.[1] ?? "";
  const again = (await tab.get("/welcome")).text;
  assert.ok(again.includes(`<code id="topic">${topic}<`), "loaded again");
  assert.ok(again.includes(`aria-label="The topic ${topic}"`), "with its picture");
  await until(() => ntfy.on(topic).length === 1, "the code comes by the topic");
  const code = /\d{3} ?\d{3}/.exec(JSON.stringify(ntfy.on(topic)[0]))?.[0] ?? "";
  assert.equal((await tab.post("/welcome/code", { code: "000000" }, at)).status, 422);
  assert.equal((await tab.post("/welcome/code", { code }, at)).status, 303);
  assert.match((await tab.get("/welcome")).text, /ntfy rings for you/);
  assert.doesNotMatch((await tab.get("/welcome")).text, /id="topic"/);

  const started = (await tab.post("/welcome/start", {}, at)).text;
  const snippet = /<pre class="code" id="curl">([^<]+)</.exec(started)?.[1] ?? "";
  const token = /pti_\w+/.exec(snippet)?.[0] ?? "";
  assert.ok(snippet.includes(`curl -fsS ${box.url}/v1/ingest`), snippet);
  assert.doesNotMatch((await tab.get("/welcome")).text, /pti_/);
  assert.match((await tab.get("/welcome")).text, /listening/);
  const event = /<h2>Send your first event<\/h2><span[^>]*>([^<]*)</;
  assert.equal(event.exec((await tab.get("/welcome")).text)?.[1], "not yet");
  const body = { message: "payment 4711 failed after 30 s at provider acme", level: 400 };
  assert.equal((await box.ingest(token, body)).status, 202);
  await settle(box);
  const paged = (await tab.get("/welcome")).text;
  assert.match(paged, /from web: <span class="message">payment 4711 failed/);
  assert.match(paged, /ntfy<\/.*accepted your page|ntfy accepted your page/);
  assert.match(paged, /press Acknowledge on the phone/);
  const page = ntfy.on(topic).at(-1);
  assert.ok(page);
  await pressNtfy(page, "Acknowledge");
  await box.clock.turn(10_000);
  await settle(box);
  const done = (await tab.get("/welcome")).text;
  assert.match(done, /you have it/);
  assert.equal(event.exec(done)?.[1], "done");
  // Whoever is invited has made none of it.
  const invited = (await signedIn(box, box.person("owner")).get("/welcome")).text;
  assert.match(invited, /Make a phone ring/);
  assert.doesNotMatch(invited, /Send your first event|you have it/);
  assert.equal((await box.api("GET", "/v1/alerts/1")).body.state, "acknowledged");
});

test("an event is sent for who has no machine at hand, and who comes to a box that is set up is shown the phone alone", async (t) => {
  const { box } = await boxAndReceiver(t);
  const tab = signedIn(box);
  const at = { from: "/welcome" };
  await tab.post("/welcome/start", {}, at);
  assert.equal((await tab.post("/welcome/send", {}, at)).status, 303);
  await settle(box);
  const sent = (await tab.get("/welcome")).text;
  assert.match(sent, /#1<\/a>/);
  assert.match(sent, /nothing rings for you yet/);
  await tab.post("/welcome/phone", {}, at);
  assert.match(
    (await tab.get("/welcome")).text,
    /ntfy isn\S{1,5}t confirmed yet: type its six digits/,
  );
  await box.api("POST", "/v1/alerts/1/ack", undefined, box.person("owner").key);
  assert.match((await tab.get("/welcome")).text, /somebody else has it/);
  await box.api("DELETE", "/v1/projects/first", { confirm_name: "first" });
  await box.project("shop");
  const furnished = (await tab.get("/welcome")).text;
  assert.match(furnished, /Make a phone ring/);
  assert.doesNotMatch(furnished, /Send your first event/);
});

test("who has taken a seat is offered a passkey where the address can have one", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const { cookie } = signedIn(box);
  const welcome = async (url: string) =>
    (await fetch(`${url}/welcome`, { headers: { accept: "text/html", cookie } })).text();
  assert.doesNotMatch(await welcome(box.url), /passkey/);
  assert.match(await welcome(box.url.replace("127.0.0.1", "localhost")), /"\/me\/passkeys"/);
});

test("a way to be reached is called as a person calls it", () => {
  assert.equal(wayName("web_push", "Ann's phone"), "Ann's phone");
  assert.equal(wayName("web_push"), "your browser");
  assert.equal(wayName("ntfy", "phone"), "ntfy");
});
