import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { parse } from "parse5";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import type { Person } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { pagedStory, reachBy } from "../../support/contacts.ts";
import { mustBeInert } from "../../support/inert.ts";
import { sentBy } from "../../support/sent-by.ts";
import { settle } from "../../support/until.ts";

const HOUR = 3600;

async function story(t: TestContext) {
  const found = await pagedStory(t);
  const { box, ann, bob } = found;
  const now = Math.floor(box.clock.now() / 1000);
  const layer = (participants: Person[], more: object = {}) => ({
    name: "days",
    rotation_start: now - HOUR,
    shift_minutes: 1440,
    ...more,
    participants: participants.map(({ accountId }) => accountId),
  });
  const schedule = async (name: string, layers: object[], timezone = "UTC") => {
    const write = { name, timezone, layers };
    const made = await box.api("POST", "/v1/projects/shop/oncall/schedules", write);
    assert.equal(made.status, 201, JSON.stringify(made.body));
  };
  const step = (after_minutes: number, schedules: string[], accounts: Person[] = []) => ({
    after_minutes,
    schedules,
    repeat_minutes: 5,
    accounts: accounts.map(({ accountId }) => accountId),
  });
  return { ...found, now, layer, schedule, step, tab: signedIn(box, ann), who: { ann, bob } };
}

const words = (text: string): string => {
  const read = (node: { childNodes?: unknown[]; value?: string }): string =>
    "value" in node ? (node.value ?? "") : ((node.childNodes ?? []) as never[]).map(read).join(" ");
  return read(parse(text) as never).replace(/\s+/g, " ");
};
const section = (text: string, id: string): string =>
  new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(text)?.[0] ?? "";
const at = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 16);
const unescaped = (text: string): string => text.replaceAll("&amp;", "&");

test("the verdict comes before the rungs with people, why and by what; a tap lets somebody sleep", async (t) => {
  const { box, receiver, ann, bob, rule, now, layer, schedule, step, tab } = await story(t);
  await reachBy(box, ann, receiver, "/ann");
  await reachBy(box, bob, receiver, "/bob");
  await schedule("primary", [layer([ann])]);
  await rule([step(0, ["primary"]), step(15, [], [bob])]);
  const path = `/p/shop/rules/errors/ladder?at=${at(now + HOUR)}`;
  const page = await tab.get(path);
  const found = words(section(page.text, "found"));
  assert.match(found, /Good: Two people are rung within 30 minutes\./);
  assert.match(
    found,
    /ann@example\.org rung 1 .* webhook \/ann: confirmed .* because on call: primary, layer days/,
  );
  assert.match(found, /again every 5 min until/);
  assert.match(page.text, /A trial: it saves nothing and rings nobody/);
  const link =
    /href="([^"]*)" class="choice"[^>]*>(?:(?!<\/a>).)*ann@example\.org<span class="hidden-text"> sleeps/.exec(
      page.text,
    )?.[1] ?? "";
  const silent = await tab.get(unescaped(link));
  const after = words(section(silent.text, "found"));
  assert.match(after, /bob@example\.org wakes after 15 min/);
  assert.match(after, /ann@example\.org sleeps, rung 1/);
  const both = unescaped(
    /href="([^"]*)" class="choice"[^>]*>(?:(?!<\/a>).)*bob@example\.org<span class="hidden-text"> sleeps/.exec(
      silent.text,
    )?.[1] ?? "",
  );
  assert.match(
    words(section((await tab.get(both)).text, "found")),
    /Bad: Nobody who answers is rung\./,
  );
});

test("AC-16.4 the address reproduces the whole question, for somebody in another zone as well", async (t) => {
  const { box, receiver, ann, bob, rule, now, layer, schedule, step, tab } = await story(t);
  await reachBy(box, bob, receiver, "/bob");
  await schedule("primary", [layer([ann])], "Asia/Tokyo");
  await rule([step(0, ["primary"]), step(15, [], [bob])]);
  const start = (await tab.get("/p/shop/rules/errors/ladder?level=500")).text;
  const link = unescaped(
    /href="([^"]*)" class="choice"[^>]*>(?:(?!<\/a>).)*bob@example\.org<span class="hidden-text"> sleeps/.exec(
      start,
    )?.[1] ?? "",
  );
  const address = new URL(link, box.url).searchParams;
  assert.deepEqual(
    [new URL(link, box.url).pathname, address.get("level"), address.get("silent")],
    ["/p/shop/rules/errors/ladder", "500", bob.accountId],
  );
  const tokyo = new Date((now + 9 * HOUR) * 1000).toISOString().slice(0, 16);
  assert.equal(address.get("at"), tokyo, "on the rota's clocks, whoever reads it");
  const here = section((await tab.get(link)).text, "found");
  await box.clock.turn(30 * 60_000);
  const there = await signedIn(box, bob).get(link, {
    cookie: `${signedIn(box, bob).cookie}; zone=America%2FLima`,
  });
  const times = (text: string) => [...text.matchAll(/datetime="([^"]*)"/g)].map(([, time]) => time);
  assert.ok(times(here).length > 3);
  assert.deepEqual(times(section(there.text, "found")), times(here));
  const form = sentBy(section(there.text, "asked"));
  assert.deepEqual(
    ["at", "level", "silent"].map((name) => form.get(name)),
    ["at", "level", "silent"].map((name) => address.get(name)),
    "what the form asks again is the same question",
  );
  // A ladder without a rota has the reader's clock, and its address says which.
  const body = { match: { min_level: 400 }, escalations: [step(0, [], [ann])] };
  assert.equal((await box.api("PUT", "/v1/projects/shop/rules/errors", body)).status, 200);
  const from = async (path: string, zone: string) => {
    const cookie = `${signedIn(box, bob).cookie}; zone=${encodeURIComponent(zone)}`;
    return section((await tab.get(path, { cookie })).text, "asked");
  };
  const mine = await from("/p/shop/rules/errors/ladder", "Asia/Tokyo");
  assert.match(mine, /Mon 5 Jan 18:30<\/time> <span class="soft">Asia\/Tokyo/);
  const saturday = unescaped(/href="([^"]*)"[^>]*>Saturday 03:00/.exec(mine)?.[1] ?? "");
  assert.match(await from(saturday, "America/Lima"), /Sat 10 Jan 03:00<\/time>.*Asia\/Tokyo/);
  const again = `/p/shop/rules/errors/ladder?${new URLSearchParams([...sentBy(mine)])}`;
  assert.match(await from(again, "America/Lima"), /Mon 5 Jan 18:30<\/time>.*Asia\/Tokyo/);
});

test("AC-16.3 each reason that can be foreseen appears, in words", async (t) => {
  const { box, receiver, ann, bob, rule, now, layer, schedule, step, tab } = await story(t);
  const [cid, dee] = [
    box.person("member", "cid@example.org"),
    box.person("member", "dee@example.org"),
  ];
  await reachBy(box, ann, receiver, "/ann");
  const found = async (more = "") => {
    const page = await tab.get(`/p/shop/rules/errors/ladder?at=${at(now + HOUR)}${more}`);
    assert.equal(page.status, 200, page.text);
    return words(section(page.text, "found"));
  };
  await rule([]);
  assert.match(await found(), /Nobody is paged : the rule has no ladder/, "no_ladder");
  await schedule("primary", [layer([ann, bob], { shift_minutes: 10_080 })]);
  for (const [name, events] of [
    ["tickets", "alert.opened"],
    ["closed", "alert.opened"],
  ] as const) {
    const hook = { name, type: "webhook", url: receiver.url, events: [events] };
    const made = await box.api("POST", "/v1/projects/shop/integrations", hook);
    assert.equal(made.status, 201);
    // As the outbox does with one that has failed for too long.
    if (name === "closed")
      box.tenant.store.write((tx) =>
        tx.sql<[string]>("UPDATE integrations SET enabled = 0 WHERE id = ?").run(made.body.id),
      );
  }
  const write = (escalations: object[]) =>
    box.api("PUT", "/v1/projects/shop/rules/errors", { match: { min_level: 400 }, escalations });
  assert.equal((await write([step(0, ["primary"], [cid]), step(2880, [], [dee])])).status, 200);
  const usual = await found();
  assert.match(
    usual,
    /bob@example\.org not paged: not on call, ann@example\.org was/,
    "not_on_call",
  );
  assert.match(usual, /cid@example\.org not paged : no contact and no phone/, "no_channel");
  assert.match(usual, /no way to reach them: nothing would ring/);
  assert.match(
    usual,
    /tickets isn’t notified that somebody is paged: it takes other events/,
    "event_filtered",
  );
  assert.match(usual, /closed isn’t notified that it opened: it is off/, "channel_disabled");
  assert.match(usual, /dee@example\.org rung 2, in/, "step_not_reached");
  const over = { account_id: cid.accountId, starts_at: now, ends_at: now + 8 * HOUR };
  await box.api("POST", "/v1/projects/shop/oncall/schedules/primary/overrides", over);
  assert.match(
    await found(),
    /ann@example\.org not paged: an override gives the duty to cid@example\.org/,
    "covered_by_override",
  );
  const silence = {
    project: "shop",
    match: { rule: "errors" },
    critical: true,
    reason: "deploy",
    ends_at: now + 7 * 86_400,
  };
  assert.equal((await box.api("POST", "/v1/silences", silence)).status, 201);
  const quiet = await found();
  assert.match(quiet, /Weak: Silenced: deploy/, "silenced");
  assert.match(quiet, /not notified: silenced/);
});

test("a sweep is a grid of verdicts, a list of what isn't good and a table; each leads to its time", async (t) => {
  const { box, receiver, ann, bob, rule, now, layer, schedule, step, tab } = await story(t);
  await reachBy(box, ann, receiver, "/ann");
  await reachBy(box, bob, receiver, "/bob");
  await schedule("primary", [layer([ann], { rotation_start: now + 7 * 24 * HOUR })]);
  await rule([step(0, ["primary"])]);
  const path = "/p/shop/rules/errors/ladder";
  const squares = (text: string) =>
    [...text.matchAll(/<g class="sweep-(\w+)"/g)].map(([, verdict]) => verdict);
  assert.equal(squares((await tab.get(path)).text).length, 7 * 24, "this week");
  const { text } = await tab.get(`${path}?sweep=14`);
  const drawn = squares(text);
  assert.equal(drawn.length, 14 * 24);
  const table = /<details id="sweep-table">[\s\S]*?<\/details>/.exec(text)?.[0] ?? "";
  const told = [...table.matchAll(/<td>(?:<a [^>]*>)?(good|weak|bad)/g)].map(([, word]) => word);
  const name = { good: "good", warn: "weak", error: "bad" } as Record<string, string>;
  assert.deepEqual(
    told,
    drawn.map((verdict) => name[verdict ?? ""]),
  );
  assert.ok(drawn.includes("error") && drawn.includes("warn"));
  const listed = /<ul class="list" id="sweep-list">[\s\S]*?<\/ul>/.exec(text)?.[0] ?? "";
  assert.match(
    words(listed),
    /^ ?Mon 5 Jan 00:00 – Sun 11 Jan \d\d:00 bad: Nothing reaches anybody whom it pages\. .* weak: Within/,
  );
  const cell = unescaped(/<a href="([^"]*)">/.exec(listed)?.[1] ?? "");
  assert.match(words(section((await tab.get(cell)).text, "found")), /Bad: Nothing reaches anybody/);
});

test("a drill names whom it rings, rings them, and says what arrived", async (t) => {
  const { box, receiver, ann, rule, step, tab } = await story(t);
  await reachBy(box, ann, receiver, "/ann");
  await rule([step(0, [], [ann])]);
  const path = "/p/shop/rules/errors/drill";
  assert.match(
    words((await tab.get(path)).text),
    /it rings: ann@example\.org at once webhook \/ann: confirmed/,
  );
  const before = receiver.received.length;
  const begun = await tab.post(path, { level: "", message: "" }, { from: path });
  assert.deepEqual([begun.status, begun.headers.get("location")], [303, path]);
  await settle(box);
  assert.match(
    receiver.received
      .slice(before)
      .map(({ body }) => body)
      .join(),
    /Drill/,
  );
  const report = words(section((await tab.get(path)).text, "report"));
  assert.match(report, /1 person reached.* Arrived .*ann@example\.org webhook/);
  const again = await tab.post(path, {}, { from: path });
  assert.equal(again.status, 409);
  assert.match(again.text, /A drill of this rule goes on/);
});

test("an address of before leads where it meant, and what isn't there has a page that says so", async (t) => {
  const { box, ann, rule, step, tab } = await story(t);
  const leads = async (path: string) => (await tab.get(path)).headers.get("location");
  assert.equal(await leads("/simulate"), "/ladders");
  await rule([step(0, [], [ann])]);
  const asked = "at=2026-01-05T10%3A00&level=500";
  const own = `/p/shop/rules/errors/ladder?${asked}`;
  assert.equal(await leads(`/simulate?project=shop&rule=errors&${asked}`), own);
  assert.equal((await box.api("POST", "/v1/ladders", { name: "first line" })).status, 201);
  const to = { match: { min_level: 400 }, ladder: "first line" };
  assert.equal((await box.api("PUT", "/v1/projects/shop/rules/errors", to)).status, 200);
  assert.equal(await leads(own), `/ladders/first%20line?${asked}&rule=shop%2Ferrors`);
  for (const path of ["/simulate?project=shop&rule=none", "/simulate?project=none&rule=errors"])
    assert.equal((await tab.get(path)).status, 404);
  for (const path of ["/ladders/none", "/p/shop/rules/none/ladder"])
    assert.equal((await tab.get(path)).status, 404);
  const odd = "/ladders/first%20line?rule=x/y&at=soon&silent=x,%3Cb%3E&level=-1";
  assert.equal((await tab.get(odd)).status, 200);
});

test("what people write stays text where a ladder is followed: rules, schedules, layers, channels, reasons", async (t) => {
  const { box, receiver, ann, now, layer, schedule, step, tab } = await story(t);
  for (const [i, raw] of XSS_VECTORS.entries()) {
    const vector = raw
      .replace(/[/\p{Cc}]/gu, "")
      .trim()
      .slice(0, 90);
    if (vector === "" || i % 40 > 0) continue;
    const name = `${vector} ${i}`;
    await schedule(name, [layer([ann], { name: vector })]);
    const rule = { name, match: { min_level: 400 }, escalations: [step(0, [name])] };
    assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
    const hook = { name, type: "webhook", url: receiver.url };
    assert.equal((await box.api("POST", "/v1/projects/shop/integrations", hook)).status, 201);
    const silence = { project: "shop", match: { rule: name }, reason: vector, ends_at: now + HOUR };
    assert.equal((await box.api("POST", "/v1/silences", silence)).status, 201);
    await box.api("PATCH", `/v1/accounts/${ann.accountId}`, { display_name: vector.slice(0, 60) });
    const of = encodeURIComponent(name);
    assert.equal((await box.api("POST", "/v1/ladders", { name, team: vector })).status, 201);
    const query = new URLSearchParams({ rule: vector, at: vector, silent: vector, sweep: "14" });
    for (const path of [
      `/p/shop/rules/${of}/ladder?${query}`,
      `/ladders/${of}?${query}`,
      `/p/shop/rules/${of}/drill`,
      "/ladders",
    ]) {
      const page = await tab.get(path);
      assert.equal(page.status, 200);
      mustBeInert(page.text);
    }
  }
});
