import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Person, type TestBox, testBox } from "../../support/box.ts";
import { signedIn, type Tab } from "../../support/console.ts";
import { reachBy } from "../../support/contacts.ts";
import { startReceiver } from "../../support/receiver.ts";

let box: TestBox;
let tab: Tab;
let ann: Person;
let bob: Person;
const DAY = 86_400;
const now = () => Math.floor(box.clock.now() / 1000);
const page = (person: Person) => `/people/${person.accountId}`;
const words = (text: string) =>
  text
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&#39;", "'")
    .replace(/\s+/g, " ")
    .replaceAll(" ,", ",")
    .trim();
const section = async (path: string, id: string) => words((await tab.sections(path, id)).text);

before(async () => {
  box = await testBox();
  tab = signedIn(box);
  ann = box.person("member", "ann@example.org");
  bob = box.person("member", "bob@example.org");
  await box.project("shop");
  await box.project("pay");
  const made = async (path: string, body: object, method = "POST") => {
    const answer = await box.api(method, path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
  };
  const step = (...accounts: string[]) => ({ accounts, schedules: [], after_minutes: 5 });
  await made("/v1/projects/shop/rules", {
    name: "errors",
    escalations: [step(ann.accountId), step(ann.accountId, bob.accountId)],
  });
  const schedule = {
    name: "primary",
    timezone: "UTC",
    layers: [
      {
        name: "weekly",
        rotation_start: now() - DAY,
        shift_minutes: 10_080,
        participants: [box.owner.accountId, ann.accountId],
      },
    ],
  };
  await made("/v1/projects/pay/oncall/schedules", schedule);
  await made("/v1/projects/pay/oncall/schedules/primary/overrides", {
    account_id: ann.accountId,
    starts_at: now() + DAY,
    ends_at: now() + 2 * DAY,
  });
  await made("/v1/fallback", { accounts: [ann.accountId], schedules: [] }, "PUT");
});
after(() => box.stop());

test("AC-20.4: the last owner keeps the role, and the page says why before anybody tries", async () => {
  const own = (await tab.get(page(box.owner))).text;
  const reason = /This is the last owner with a key or a sign-in: make another owner first\./;
  assert.match(own, reason);
  assert.doesNotMatch(own, /<select[^>]*name="role"/);
  assert.match(
    own,
    /<button class="button danger" disabled aria-describedby="[^"]+"[^>]*>Remove owner/,
  );
  const tried = await tab.post(
    `${page(box.owner)}/change`,
    { role: "member" },
    { from: page(box.owner) },
  );
  assert.equal(tried.status, 409);
  assert.match(tried.text, reason);
  const second = box.person("owner");
  assert.doesNotMatch((await tab.get(page(box.owner))).text, reason, "with another it may go");
  await tab.post(`${page(second)}/change`, { role: "member" }, { from: page(second) });
  assert.match((await tab.get(page(box.owner))).text, reason);
});

test("AC-20.5: who is named can't be removed, every place is listed and linked, and replacing leaves none", async () => {
  const html = (await tab.sections(page(ann), "named")).text;
  for (const href of [
    "/p/shop/rules/errors",
    "/oncall/pay/primary/layers",
    "/oncall/pay/primary#override-",
  ])
    assert.ok(html.includes(`href="${href}`), href);
  const named = words(html);
  assert.match(named, /rule errors of shop rung 1 and 2/);
  assert.match(named, /layer weekly of pay \/ primary turn 2 of 2/);
  assert.match(named, /override of pay \/ primary/);
  assert.match(named, /who is paged when nobody else is reached/);
  assert.match((await tab.get(page(ann))).text, /Named in 3 places, listed above/);
  const tried = await tab.post(`${page(ann)}/remove`, {}, { from: page(ann) });
  assert.equal(tried.status, 409);
  assert.match(tried.text, /shop\/errors/);

  const writes = () => box.tenant.store.sql("SELECT total_changes()").pluck().get();
  const before = writes();
  const by = { by: bob.accountId };
  const would = await tab.post(`${page(ann)}/replace/try`, by, {
    from: page(ann),
    headers: { "x-sections": "would" },
  });
  assert.equal(writes(), before, "it was tried, not done");
  const said = words(would.text);
  assert.match(
    said,
    /rule errors of shop rung 1 and 2 : ann@example\.org leaves, bob@example\.org is there already/,
  );
  assert.match(said, /turn 2 of 2 : ann@example\.org → bob@example\.org/);
  assert.match(
    said,
    /4 places, all or none\. bob@example\.org is named elsewhere already, so that it can't be undone/,
  );

  await tab.post(`${page(ann)}/replace`, by, { from: page(ann) });
  const after = (await tab.get(page(ann))).text;
  assert.match(after, /bob@example\.org stands in the place of ann@example\.org in 4 places/);
  assert.doesNotMatch(
    after,
    /action="[^"]*\/replace"[^>]*><input type="hidden"/,
    "no undo that would change more",
  );
  assert.match(after, /No ladder, no layer and no override names them/);
  const removed = await tab.post(`${page(ann)}/remove`, {}, { from: page(ann) });
  assert.deepEqual([removed.status, removed.headers.get("location")], [303, "/people"]);
});

test("a replacement by somebody who stood nowhere is undone to the letter", async () => {
  const cy = box.person("member", "cy@example.org");
  const places = () => section(page(bob), "named");
  const before = await places();
  await tab.post(`${page(bob)}/replace`, { by: cy.accountId }, { from: page(bob) });
  const shown = (await tab.get(page(bob))).text;
  assert.match(
    shown,
    new RegExp(
      `action="${page(cy)}/replace"><input type="hidden" name="by" value="${bob.accountId}"`,
    ),
  );
  assert.match(await places(), /names them\./);
  await tab.post(`${page(cy)}/replace`, { by: bob.accountId }, { from: page(bob) });
  assert.equal(await places(), before);
  const nobody = await tab.post(`${page(bob)}/replace`, { by: "" }, { from: page(bob) });
  assert.equal(nobody.status, 422);
  const his = signedIn(box, cy);
  assert.equal((await his.post(`${page(bob)}/replace`, { by: cy.accountId })).status, 403);
});

test("a way that rings is proved for a week after it was, then not lately; nothing is none", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const row = async () => {
    const { text } = await tab.sections("/people", "people");
    const item =
      text
        .split("<li")
        .slice(1)
        .find((part) => part.includes("bob@example.org")) ?? "";
    return [/aria-label="([^"]+)"/.exec(item)?.[1], words(`<${item}`)];
  };
  assert.equal((await row())[0], "nothing reaches them");
  const id = await reachBy(box, bob, receiver);
  assert.equal((await row())[0], "proved");
  const proved = (ago: number) =>
    box.tenant.store.write((tx) =>
      tx.sql("UPDATE contacts SET verified_at = ? WHERE id = ?").run(tx.at - ago, id),
    );
  proved(9 * DAY);
  const [dot, said] = await row();
  assert.equal(dot, "not proved lately");
  assert.match(String(said), /webhook: not confirmed for 9 days/);
  assert.match(
    (await tab.get(page(bob))).text,
    /aria-label="not proved lately"[\s\S]*not confirmed for 9 days/,
  );
  // What a device showed proves it too.
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE contacts SET shown_at = ? WHERE id = ?").run(tx.at - 3600, id),
  );
  assert.equal((await row())[0], "proved");
});

test("the list says who has the phone now and next; keys and browsers are ended where they are listed", async () => {
  const list = await section("/people", "people");
  assert.match(list, /owner@example\.org .*on call now: pay \/ primary until/);
  assert.match(list, /bob@example\.org .*next: pay \/ primary from/);
  const his = signedIn(box, bob);
  await box.api("GET", "/v1/me", undefined, bob.key);
  const html = (await tab.get(page(bob))).text;
  assert.match(words(html), new RegExp(`…${bob.key.slice(-4)}`));
  assert.ok(!html.includes(bob.key));
  const [, sid] = /\/sessions\/([0-9a-f]{16})\/end"/.exec(html) ?? [];
  const [, kid] = /\/keys\/([0-9a-f]{16})\/revoke"/.exec(html) ?? [];
  await tab.post(`${page(bob)}/sessions/${sid}/end`, {}, { from: page(bob) });
  assert.equal((await his.get("/alerts")).status, 303);
  await tab.post(`${page(bob)}/keys/${kid}/revoke`, {}, { from: page(bob) });
  assert.equal((await box.api("GET", "/v1/me", undefined, bob.key)).status, 401);
  const cy = signedIn(box, box.person("member"));
  assert.doesNotMatch((await cy.get(page(bob))).text, /Ways in|last here/);
});
