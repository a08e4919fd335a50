import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { signedIn, tabOf } from "../../support/console.ts";
import { boxAndReceiver } from "../../support/contacts.ts";
import { openNtfy } from "../../support/ntfy.ts";

async function story(t: TestContext) {
  const { box, receiver } = await boxAndReceiver(t, { egressAllow: ["127.0.0.1"] });
  const ntfy = openNtfy();
  receiver.always(ntfy.behaviour);
  const gateway = await box.api("PUT", "/v1/gateways/ntfy", { url: receiver.url, test: false });
  assert.equal(gateway.status, 200);
  return { box, ntfy, tab: signedIn(box) };
}

test("a phone is added, verified by the code that arrives, rung and switched off, without script", async (t) => {
  const { ntfy, tab } = await story(t);
  const at = { from: "/me/devices" };
  const page = await tab.post("/me/devices/add", { kind: "ntfy", label: "my phone" }, at);
  assert.equal(page.status, 200);
  assert.equal(page.headers.get("cache-control"), "no-store");
  const topic = /<code id="topic">(box-[0-9A-Za-z]{20})<\/code>/.exec(page.text)?.[1] ?? "";
  assert.match(page.text, /<svg class="qr"/);
  const [message] = ntfy.on(topic);
  const code = /\d{3} ?\d{3}/.exec(`${message?.title} ${message?.message}`)?.[0] ?? "";
  assert.doesNotMatch((await tab.get("/me/devices")).text, new RegExp(topic), "shown once");
  const id = /id="contact-([0-9a-f]{16})"/.exec(page.text)?.[1] ?? "";
  const wrong = await tab.post(`/me/devices/${id}/verify`, { code: "000000" }, at);
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /That is not the code that was sent/);
  const right = await tab.post(`/me/devices/${id}/verify`, { code }, at);
  assert.deepEqual([right.status, right.headers.get("location")], [303, "/me/devices"]);
  assert.match(
    (await tab.get("/me/devices")).text,
    /Verified: ntfy is used for pages from now on\./,
  );
  await tab.post(`/me/devices/${id}/ring`, {}, at);
  assert.match((await tab.get("/me/devices")).text, /The service accepted it\. Did it ring\?/);
  assert.equal(ntfy.on(topic).length, 2);
  await tab.post(`/me/devices/${id}/off`, {}, at);
  const off = (await tab.get("/me/devices")).text;
  assert.match(off, /off: never used/);
  assert.match(off, new RegExp(`action="/me/devices/${id}/on"`), "and back");
});

test("a field that can't be right is named at the field, and what was typed stays", async (t) => {
  const { tab } = await story(t);
  const fields = { kind: "ntfy", address: "no spaces!", label: "my phone" };
  const back = await tab.post("/me/devices/add", fields, { from: "/me/devices" });
  assert.equal(back.status, 422);
  assert.match(back.text, /value="no spaces!"[^>]* aria-invalid="true"/);
  assert.match(back.text, /must have only letters, digits, - and _/);
  assert.match(back.text, /value="my phone"/);
});

test("a session that is ended opens nothing, and a key is shown once", async (t) => {
  const { box, tab } = await story(t);
  const other = signedIn(box);
  const page = (await tab.get("/me/sessions")).text;
  assert.equal([...page.matchAll(/\/me\/sessions\/[0-9a-f]{16}\/end/g)].length, 2);
  await tab.post("/me/sessions/end-others", {}, { from: "/me/sessions" });
  assert.equal((await other.get("/alerts")).status, 303);
  assert.equal((await tab.get("/alerts")).status, 200);
  const made = await tab.post("/me/sessions/key", { label: "laptop" }, { from: "/me/sessions" });
  assert.match(made.text, /data-copy="new-key">Copy</);
  const key = /<pre class="code" id="new-key">(ptk_[^<]+)</.exec(made.text)?.[1] ?? "";
  // The next drawing, which a live section has a moment later, wouldn't have the key.
  assert.match(made.text, /<section id="keys">/);
  assert.match(made.text, /<section id="sessions" data-live="people">/);
  assert.equal((await box.api("GET", "/v1/me", undefined, key)).status, 200);
  const after = (await tab.get("/me/sessions")).text;
  assert.doesNotMatch(after, new RegExp(key));
  assert.match(after, /laptop/);
});

test("how pages look is this browser's: its cookies come with the answer", async (t) => {
  const { box, tab } = await story(t);
  const fields = { theme: "dark", rows: "compact", keys: "off" };
  const saved = await tab.post("/me/look", fields, { from: "/me" });
  assert.equal(saved.status, 303);
  const cookies = saved.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  assert.deepEqual(cookies, ["theme=dark", "rows=compact", "keys=off"]);

  const page = await tabOf(box, [tab.cookie, "zone=Asia%2FTokyo", ...cookies].join("; ")).get(
    "/me",
  );
  assert.match(
    page.text,
    /data-theme="dark" data-rows="compact" data-keys="off" data-zone="Asia\/Tokyo"/,
  );
  const from = { from: "/me" };
  const clock = async (timezone: string) => {
    const answer = await tab.post("/me/clock", { timezone }, from);
    return [answer.status, answer.headers.getSetCookie().map((cookie) => cookie.split(";")[0])];
  };
  assert.deepEqual(await clock("Asia/Seoul"), [303, ["zone=Asia%2FSeoul"]]);
  assert.deepEqual(await clock(""), [303, ["zone="]]);
  assert.equal((await clock("Nowhere"))[0], 422);
});

test("a password is changed by who knows it, and other browsers are signed out", async (t) => {
  const { box, tab } = await story(t);
  const { code } = (await box.api("POST", "/v1/pair/codes", {})).body;
  const stranger = tabOf(box, "");
  const paired = await stranger.post("/pair", {
    code,
    email: "ann@example.org",
    password: "old password",
  });
  const cookie = (paired.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
  const ann = tabOf(box, cookie);
  assert.equal((await ann.get("/me")).status, 200);
  const change = (old: string, fresh: string) =>
    ann.post("/me/password", { old, new: fresh }, { from: "/me" });
  assert.match((await change("not it", "new password")).text, /class="said wrong"/);
  const short = await change("old password", "short");
  assert.match(short.text, /must have 8 to 72 characters/);
  assert.doesNotMatch(short.text, /value="old password"/);
  assert.equal((await change("old password", "new password")).status, 303);
  const enter = (password: string) =>
    stranger.post("/signin", { email: "ann@example.org", password });
  assert.equal((await enter("old password")).status, 401);
  assert.equal((await enter("new password")).status, 303);
  assert.equal((await tab.get("/me")).status, 200);
});

test("people are invited, changed and removed by who may, and a member is told whom to ask", async (t) => {
  const { box, tab } = await story(t);
  const made = await tab.post(
    "/people/invite",
    { role: "member", hours: "24" },
    { from: "/people" },
  );
  const link = /id="invitation">([^<]+)</.exec(made.text)?.[1] ?? "";
  assert.match(link, /\/pair#code=[0-9a-f]{48}$/);
  assert.match(made.text, /<svg class="qr"/);
  assert.doesNotMatch((await tab.get("/people")).text, /#code=/);
  const id = /\/people\/codes\/([0-9a-f]{16})\/revoke/.exec(made.text)?.[1] ?? "";
  await tab.post(`/people/codes/${id}/revoke`, {}, { from: "/people" });
  assert.equal((await box.api("GET", "/v1/pair/codes")).body.codes.length, 0);

  const bob = box.person("member", "bob@example.org");
  const his = signedIn(box, bob);
  const page = (await his.get("/people")).text;
  assert.match(page, /Owners and admins invite\. Ask owner@example\.org\./);
  assert.equal(
    (await his.post("/people/invite", { role: "member", hours: "1" }, { from: "/people" })).status,
    403,
  );
  const at = `/people/${bob.accountId}`;
  const up = await tab.post(`${at}/change`, { role: "admin", display_name: "Bob" }, { from: at });
  assert.equal(up.status, 303);
  assert.match((await his.get(at)).text, /bob@example\.org · admin/);
  const reset = await tab.post(`${at}/reset`, {}, { from: at });
  assert.match(reset.text, /id="reset-link">http[^<]+#code=[0-9a-f]{48}</);
  const removed = await tab.post(`${at}/remove`, {}, { from: at });
  assert.deepEqual([removed.status, removed.headers.get("location")], [303, "/people"]);
  assert.equal((await his.get("/people")).status, 303, "signed out with the account");
  const mine = `/people/${box.owner.accountId}`;
  const last = await tab.post(`${mine}/change`, { role: "member" }, { from: mine });
  assert.equal(last.status, 409);
  assert.match(last.text, /class="said wrong"/);
});

test("when each contact is used is chosen on the page, as the interface has it, and taken back to the usual", async (t) => {
  const { box, tab } = await story(t);
  const { accountId } = box.owner;
  const ids: string[] = [];
  for (const label of ["phone", "tablet"]) {
    const contact = { kind: "ntfy", label, address: `box-${label}-of-a-long-topic` };
    const { id } = (await box.api("POST", `/v1/accounts/${accountId}/contacts`, contact)).body;
    box.tenant.store.db.exec(`UPDATE contacts SET state = 'verified' WHERE id = '${id}'`);
    ids.push(id);
  }
  const [phone = "", tablet = ""] = ids;
  const at = { from: "/me" };
  const rules = async () => (await box.api("GET", `/v1/accounts/${accountId}/notify`)).body.rules;
  assert.match((await tab.get("/me")).text, /phone \(ntfy\)[\s\S]*at once/);
  // What is saved untouched is what holds already: a call waits.
  box.tenant.store.db.exec(`UPDATE contacts SET kind = 'voice' WHERE id = '${tablet}'`);
  assert.match((await tab.get("/me")).text, /tablet \(Calls\)[\s\S]*?value="120" selected/);
  box.tenant.store.db.exec(`UPDATE contacts SET kind = 'ntfy' WHERE id = '${tablet}'`);
  const chosen = {
    [`after-${phone}`]: "0",
    [`after-${tablet}`]: "300",
    [`level-${tablet}`]: "500",
  };
  assert.equal((await tab.post("/me/notify", chosen, at)).status, 303);
  assert.deepEqual(await rules(), [
    { after_seconds: 0, min_level: 0, contacts: [phone] },
    { after_seconds: 300, min_level: 500, contacts: [tablet] },
  ]);
  const never = { [`after-${phone}`]: "never", [`after-${tablet}`]: "never" };
  const back = await tab.post("/me/notify", never, at);
  assert.deepEqual([back.status, (await rules()).length], [422, 2], "none would be all of them");
  await tab.post("/me/notify/usual", {}, at);
  assert.deepEqual(await rules(), []);
});
