import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Person } from "../../support/box.ts";
import { type PageAnswer, signedIn } from "../../support/console.ts";
import { pagedStory, reachBy } from "../../support/contacts.ts";
import { sentBy } from "../../support/sent-by.ts";

async function story(t: TestContext) {
  const found = await pagedStory(t);
  const { box, receiver, ann, bob } = found;
  await reachBy(box, ann, receiver, "/ann");
  const step = (after_minutes: number, ...accounts: Person[]) => ({
    after_minutes,
    accounts: accounts.map(({ accountId }) => accountId),
  });
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await box.api(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const ladder = (name: string, ...steps: object[]) => ask("POST", "/v1/ladders", { name, steps });
  const rule = (name: string, more: object) =>
    ask("POST", "/v1/projects/shop/rules", { name, match: { min_level: 400 }, ...more });
  return { ...found, step, ask, ladder, rule, tab: signedIn(box), who: { ann, bob } };
}

const wordsOf = (text: string): string => text.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
/** What a section of a page says. */
const says = ({ text }: PageAnswer, id: string) =>
  wordsOf(new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(text)?.[0] ?? "");
/** What the form of a ladder sends as it stands. */
const formOf = ({ text }: PageAnswer) =>
  sentBy(/<form id="ladder-form"[\s\S]*?<\/form>/.exec(text)?.[0] ?? "");

test("a ladder's page says who uses it, whom a change would page, and changes all of its rules", async (t) => {
  const { fire, ladder, rule, step, tab, who, ask } = await story(t);
  await ladder("first line", step(0, who.ann), step(60, who.bob));
  await rule("errors", { ladder: "first line" });
  await rule("late", { ladder: "first line", match: { min_level: 600 } });
  await fire(1);
  const list = says(await tab.get("/ladders"), "ladders");
  assert.match(
    list,
    /first line 1 open alert AO ann@example\.org at once proved now · webhook BO bob@example\.org after 60 min/,
  );
  assert.match(list, /Used by 2 rules: errors in shop , late in shop/);
  const at = "/ladders/first%20line";
  const page = await tab.get(at);
  assert.match(says(page, "head"), /One ladder, used by 2 rules: errors in shop.*1 open alert/);
  assert.match(says(page, "found"), /First to ring: ann@example\.org at once/);
  const typed = formOf(page);
  typed.set("s1_after", "0");
  typed.set("s0_add", `a:${who.bob.accountId}`);
  const tried = await tab.post(`${at}/edit`, [...typed], { from: `${at}?level=500` });
  assert.match(
    says(tried, "found"),
    /Not saved yet\. 2 rules and 1 open alert would follow it\. Paged at once: ann@example\.org \( ?1 alert\)?, bob@/,
  );
  assert.match(says(tried, "found"), /rung 1|rung 2/);
  // What is asked of a draft goes with its form, and what was typed comes back.
  assert.match(tried.text, /<button form="ladder-form"[^>]*name="ask"/);
  const [again, kept] = [formOf(tried), await ask("GET", "/v1/ladders/first%20line")];
  assert.deepEqual(
    again.getAll("s0_who"),
    [who.ann, who.bob].map((one) => `a:${one.accountId}`),
  );
  assert.equal(kept.steps[1].after_minutes, 60, "nothing was stored");
  again.set("name", "second line");
  const saved = await tab.post(at, [...again], { from: at });
  assert.equal(saved.headers.get("location"), "/ladders/second%20line");
  const after = await tab.get("/ladders/second%20line");
  assert.match(wordsOf(after.text), /Saved\. 2 rules and 1 open alert follow it\. Paged at once: /);
  assert.equal((await tab.get(at)).status, 404);
  assert.equal((await ask("GET", "/v1/projects/shop/rules/late")).ladder, "second line");
  const stale = await tab.post("/ladders/second%20line", [...again], {
    from: "/ladders/second%20line",
  });
  assert.equal(stale.status, 409);
  assert.match(
    wordsOf(stale.text),
    /Changed meanwhile\. Saved now: AO ann@example\.org, bob@example\.org at once/,
  );
  const anew = formOf(stale);
  anew.set("passes", "2");
  const refused = await tab.post("/ladders/second%20line", [...anew], { from: at });
  assert.match(refused.text, /is required if passes is 2 or more/);
});

test("members read a ladder and try it; a rule's own steps are a page, too, and may become a ladder", async (t) => {
  const { box, ladder, rule, step, tab, who, ask } = await story(t);
  await ladder("first line", step(0, who.ann));
  const member = signedIn(box, who.ann);
  const read = await member.get("/ladders/first%20line");
  assert.doesNotMatch(read.text, /ladder-form/);
  assert.match(says(read, "rungs"), /ann@example\.org at once.*Owners and admins change it/);
  assert.match(says(read, "found"), /First to ring: ann@example\.org at once/);
  const denied = await member.post(
    "/ladders/first%20line",
    { name: "first line" },
    { from: "/ladders" },
  );
  assert.equal(denied.status, 403);
  assert.equal((await ask("GET", "/v1/ladders/first%20line")).steps.length, 1);

  const steps = { escalations: [step(0, who.bob), step(15, who.ann)] };
  await rule("errors", steps);
  await rule("slow", steps);
  const at = "/p/shop/rules/errors/ladder";
  const own = await tab.get(at);
  assert.match(says(own, "head"), /The rungs of one rule: errors/);
  assert.match(says(own, "after"), /also for shop\/slow, which has the same rungs/);
  const typed = formOf(own);
  typed.set("s1_after", "20");
  assert.equal((await tab.post(at, [...typed], { from: at })).status, 303);
  assert.equal(
    (await ask("GET", "/v1/projects/shop/rules/errors")).escalations[1].after_minutes,
    20,
  );
  assert.equal(
    (await tab.post(at, [...typed], { from: at })).status,
    409,
    "of what was read before",
  );
  const made = await tab.post(`${at}/adopt`, { name: "night" }, { from: at });
  assert.equal(made.headers.get("location"), "/ladders/night");
  assert.equal((await ask("GET", "/v1/projects/shop/rules/errors")).ladder, "night");
});

test("rules with equal steps are offered as one ladder; one that rules name can't be deleted", async (t) => {
  const { rule, step, tab, who, ask } = await story(t);
  for (const name of ["errors", "slow"]) await rule(name, { escalations: [step(0, who.bob)] });
  const list = await tab.get("/ladders");
  assert.match(
    says(list, "copies"),
    /bob@example\.org at once.* 2 rules: errors in shop , slow in shop/,
  );
  assert.match(says(list, "own"), /errors shop · 1 rung slow shop · 1 rung/);
  const sent: [string, string][] = [
    ["rule", "shop/errors"],
    ["rule", "shop/slow"],
    ["name", "all"],
  ];
  assert.equal((await tab.post("/ladders/adopt", sent, { from: "/ladders" })).status, 303);
  assert.deepEqual((await ask("GET", "/v1/ladders/all")).rules, ["shop/errors", "shop/slow"]);
  const refused = await tab.post("/ladders/all/delete", {}, { from: "/ladders/all" });
  assert.equal(refused.status, 409);
  for (const name of ["errors", "slow"]) await ask("DELETE", `/v1/projects/shop/rules/${name}`);
  assert.match((await tab.get("/ladders/all")).text, /Delete all</);
  const gone = await tab.post("/ladders/all/delete", {}, { from: "/ladders/all" });
  assert.equal(gone.headers.get("location"), "/ladders");
  const none = await tab.post(
    "/new-ladder/edit",
    { name: "x", do: "add-step" },
    { from: "/new-ladder" },
  );
  assert.match(says(none, "found"), /Not saved yet\. No rule names it yet\..*Nobody/);
  // What stands in the form of a new one is what is tried, before anything is typed.
  const untouched = await tab.get("/new-ladder");
  assert.match(
    says(untouched, "found"),
    /rung 1 .*as the fallback, each time nobody is reached, until/,
  );
  assert.doesNotMatch(untouched.text, /No rung runs/);
  assert.doesNotMatch(untouched.text, /Every hour of this week/);
  const fresh = await tab.post("/new-ladder", { name: "x" }, { from: "/new-ladder" });
  assert.equal(fresh.headers.get("location"), "/ladders/x");
  assert.match((await tab.get("/ladders/x")).text, /Every hour of this week/);
});

test("rules made in passing take the project's default ladder; whoever was promised a page keeps it", async (t) => {
  const { box, ladder, step, tab, who, ask } = await story(t);
  await ladder("first line", step(0, who.ann));
  const rules = async (project: string) =>
    (await ask("GET", `/v1/projects/${project}/rules`)).rules as {
      name: string;
      ladder: string | null;
      escalations: { accounts: string[] }[];
    }[];
  const beat = (name: string) => ({
    name,
    project: "shop",
    how: "every",
    period_seconds: "1",
    "period_seconds-unit": "3600",
    grace_seconds: "7",
    "grace_seconds-unit": "60",
    level: "400",
    recipient: "usual",
  });
  const none = await tab.post("/heartbeats/new", beat("backup"), { from: "/heartbeats/new" });
  assert.equal(none.status, 422, "there is no default yet");
  await ask("PATCH", "/v1/projects/shop", { default_ladder: "first line" });
  const offered = await tab.get("/heartbeats/new?project=shop");
  assert.match(wordsOf(offered.text), /on the project’s default ladder: first line/);
  const made = await tab.post("/heartbeats/new", beat("backup"), { from: "/heartbeats/new" });
  assert.equal(made.status, 303);
  await ask("POST", "/v1/projects/shop/connect", { kind: "grafana" });
  assert.deepEqual(
    (await rules("shop")).map((one) => [one.name, one.ladder]),
    [
      ["backup is missing", "first line"],
      ["grafana", "first line"],
    ],
  );
  await ask("POST", "/v1/projects", { name: "first" });
  await ask("PATCH", "/v1/projects/first", { default_ladder: "first line" });
  await tab.post("/welcome/start", {}, { from: "/welcome" });
  const [own] = await rules("first");
  assert.deepEqual([own?.ladder, own?.escalations[0]?.accounts], [null, [box.owner.accountId]]);
});

test("the fallback is set on the ladders' page, as by the interface, with who is on call now", async (t) => {
  const { box, tab, who, ask } = await story(t);
  const layer = {
    name: "weekly",
    participants: [who.bob.accountId],
    rotation_start: Math.floor(box.clock.now() / 1000) - 60,
    shift_minutes: 1440,
  };
  // Of the last four, two and two are alike but for what an id may not hold: `tab.get` sees an id that stands twice.
  for (const name of ["primary", "東京", "大阪", "db 1", "db-1"])
    await ask("POST", "/v1/projects/shop/oncall/schedules", {
      name,
      timezone: "UTC",
      layers: [layer],
    });
  const read = async () => {
    const { accounts, schedules } = await ask("GET", "/v1/fallback");
    return { accounts, schedules };
  };
  const page = await tab.get("/ladders");
  assert.match(says(page, "fallback"), /Paged then: every owner/);
  assert.match(says(page, "fallback"), /on call: shop\/primary \(now bob@example\.org\)/);
  const post = (fields: [string, string][], by = tab) =>
    by.post("/ladders/fallback", fields, { from: "/ladders" });
  const both: [string, string][] = [
    ["account", who.ann.accountId],
    ["schedule", "shop/primary"],
  ];
  assert.equal((await post(both)).status, 303);
  const set = { accounts: [who.ann.accountId], schedules: ["shop/primary"] };
  assert.deepEqual(await read(), set);
  const after = await tab.get("/ladders");
  assert.match(says(after, "fallback"), /then: ann@example\.org, on call: shop\/primary/);
  assert.equal(after.text.match(/name="(?:account|schedule)" value="[^"]*" checked/g)?.length, 2);
  assert.equal((await post([["schedule", "shop/nothing"]])).status, 422);
  assert.deepEqual(await read(), set, "what isn't there is not stored");
  const member = signedIn(box, box.person("member", "mia@example.org"));
  assert.doesNotMatch((await member.get("/ladders")).text, /ladders\/fallback"/);
  assert.equal((await post([], member)).status, 403);
  assert.match((await tab.get("/audit?kind=fallback")).text, /set fallback/);
  assert.equal((await post([])).status, 303);
  assert.deepEqual(await read(), { accounts: [], schedules: [] });
});
