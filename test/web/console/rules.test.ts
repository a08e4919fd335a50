import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { parse } from "parse5";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { mustBeInert } from "../../support/inert.ts";
import { sentBy } from "../../support/sent-by.ts";
import { settle } from "../../support/until.ts";

const AT = "/p/shop/rules";
const NEW = "/p/shop/new-rule";

async function story(t: TestContext) {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop", { name: "web", retain_logs: true });
  const ann = box.person("member", "ann@example.org");
  const rule = {
    name: "errors",
    match: { min_level: 400 },
    identifier_keys: ["provider"],
    conditions: [{ key: "amount", op: "gte", value: 100 }],
    escalations: [
      { accounts: [ann.accountId], schedules: [], after_minutes: 0, repeat_minutes: 5 },
    ],
  };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  const saved = async (name = "errors") => {
    const { body } = await box.api("GET", `/v1/projects/shop/rules/${encodeURIComponent(name)}`);
    const { created_at, updated_at, people, runs_actions, ...rest } = body;
    return rest;
  };
  const send = async (message: string, keys: object = {}, level = 400) => {
    assert.equal((await box.ingest(token, { message, level, keys })).status, 202);
    await settle(box);
  };
  return { box, ann, saved, send, tab: signedIn(box, ann) };
}

/** A form as it stands on a page, with something changed in it. */
function filled(page: string, changes: Record<string, string> = {}): [string, string][] {
  const form = sentBy(page);
  for (const [name, value] of Object.entries(changes)) form.set(name, value);
  return [...form];
}

const section = (text: string, id: string): string =>
  new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(text)?.[0] ?? "";
const words = (text: string): string => {
  const read = (node: { childNodes?: unknown[]; value?: string }): string =>
    "value" in node ? (node.value ?? "") : ((node.childNodes ?? []) as never[]).map(read).join(" ");
  return read(parse(text) as never).replace(/\s+/g, " ");
};

test("rules are listed in words, with whom they page now; a project without says so", async (t) => {
  const { box, send, tab } = await story(t);
  await send("payment 1 failed", { amount: "200", provider: "acme" });
  const text = words((await tab.get(AT)).text);
  assert.match(text, /errors 1 open alert When error or worse, amount ≥ 100/);
  assert.match(text, /Fires at the first event, one alert for each provider/);
  assert.match(text, /ann@example\.org at once by shared channels, if at all again every 5 min/);
  await box.project("empty");
  assert.match((await tab.get("/p/empty/rules")).text, /nobody is notified/);
  assert.equal((await tab.get("/p/none/rules")).status, 404);
});

test("a rule is made, changed and deleted without script, through the same verbs", async (t) => {
  const { box, saved, tab, ann } = await story(t);
  const page = (await tab.get(NEW)).text;
  const nameless = await tab.post(NEW, filled(page), { from: NEW });
  assert.equal(nameless.status, 422);
  assert.match(nameless.text, /-name-wrong">must not be empty/);
  const made = await tab.post(
    NEW,
    filled(page, { name: "slow", sources: "web, app", level: "300", count: "3" }),
    { from: NEW },
  );
  assert.deepEqual([made.status, made.headers.get("location")], [303, `${AT}/slow`]);
  const slow = await saved("slow");
  assert.deepEqual(slow.match, {
    min_level: 300,
    sources: ["web", "app"],
    tags: [],
    template_contains: "",
  });
  assert.deepEqual(slow.escalations[0].accounts, [ann.accountId]);
  const before = await saved();
  const shown = (await tab.get(`${AT}/errors`)).text;
  await tab.post(`${AT}/errors`, filled(shown), { from: `${AT}/errors` });
  assert.deepEqual(await saved(), before, "saved unchanged it is the same");
  assert.match((await tab.get(`${AT}/errors`)).text, /Nothing was changed\./);
  await tab.post(`${AT}/errors`, filled(shown, { window_minutes: "9" }), { from: `${AT}/errors` });
  assert.equal((await saved()).fire_after.window_minutes, 9);
  const gone = await tab.post(`${AT}/errors/delete`, {}, { from: `${AT}/errors` });
  assert.equal(gone.headers.get("location"), AT);
  assert.equal((await box.api("GET", "/v1/projects/shop/rules/errors")).status, 404);
});

test("a rule whose alerts are open is deleted only where a tick says that their ladders may end", async (t) => {
  const { box, send, tab } = await story(t);
  const remove = (form: Record<string, string>) =>
    tab.post(`${AT}/errors/delete`, form, { from: `${AT}/errors` });
  const away = async () => section((await tab.get(`${AT}/errors`)).text, "away");
  const said =
    /Of 1 open alert of rule errors nobody further is paged: its ladder named ann@example\.org\./;
  assert.doesNotMatch(await away(), /nobody further/);
  await send("payment 1 failed", { amount: "200", provider: "acme" });
  assert.match(await away(), said);
  const asked = await remove({});
  assert.equal(asked.headers.get("location"), `${AT}/errors`);
  const again = words((await tab.get(`${AT}/errors`)).text);
  assert.match(again, said);
  assert.match(again, /Nothing is deleted yet: tick that it may, and delete it again\./);
  assert.equal((await box.api("GET", "/v1/projects/shop/rules/errors")).status, 200);
  const gone = await remove({ ladders: "true" });
  assert.equal(gone.headers.get("location"), AT);
  assert.match(words((await tab.get(AT)).text), said);
  assert.equal((await box.api("GET", "/v1/projects/shop/rules/errors")).status, 404);
});

test("rows come and go by buttons, and the rule turns into JSON and back, without script", async (t) => {
  const { saved, tab } = await story(t);
  const from = { from: `${AT}/errors` };
  const before = await saved();
  let page = (await tab.get(`${AT}/errors`)).text;
  page = (await tab.post(`${AT}/errors/edit`, filled(page, { do: "add-step" }), from)).text;
  assert.match(page, /aria-label="Remove rung 2"/);
  page = (await tab.post(`${AT}/errors/edit`, filled(page, { do: "drop-step-1" }), from)).text;
  assert.doesNotMatch(page, /aria-label="Remove rung 2"/);
  const json = (await tab.post(`${AT}/errors/edit`, filled(page, { do: "as-json" }), from)).text;
  const text = sentBy(json).get("json") ?? "";
  assert.equal(JSON.parse(text).conditions[0].value, 100);
  const wrong = await tab.post(
    `${AT}/errors`,
    filled(json, { json: text.replace('"gte"', '"over"') }),
    from,
  );
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /\/conditions\/0\/op must be one of/);
  const bad = await tab.post(`${AT}/errors`, filled(json, { json: "{" }), from);
  assert.equal(bad.status, 422);
  assert.match(bad.text, /<textarea id="r-json"[^>]*>\n\{<\/textarea>/, "what was typed stays");
  const back = (await tab.post(`${AT}/errors/edit`, filled(json, { do: "as-form" }), from)).text;
  await tab.post(`${AT}/errors`, filled(back), from);
  assert.deepEqual(await saved(), before);
  await tab.post(`${AT}/errors`, filled(json, { json: text.replace("100", "250") }), from);
  assert.equal((await saved()).conditions[0].value, 250);
});

test("a rule that somebody changed meanwhile isn't written over: both are shown, and saving again decides", async (t) => {
  const { box, saved, tab } = await story(t);
  const from = { from: `${AT}/errors` };
  const page = (await tab.get(`${AT}/errors`)).text;
  const theirs = {
    ...(await saved()),
    fire_after: { count: 7, distinct_sources: 1, window_minutes: 5 },
  };
  assert.equal((await box.api("PUT", "/v1/projects/shop/rules/errors", theirs)).status, 200);
  const refused = await tab.post(`${AT}/errors`, filled(page, { count: "2" }), from);
  assert.equal(refused.status, 409);
  assert.equal((await saved()).fire_after.count, 7);
  const both = words(section(refused.text, "theirs"));
  assert.match(both, /Changed meanwhile .* fire after .*"count":2.*"count":7/);
  assert.match(refused.text, /name="count" type="number" value="2"/, "mine is still in the form");
  const again = await tab.post(`${AT}/errors`, filled(refused.text), from);
  assert.equal(again.status, 303);
  assert.equal((await saved()).fire_after.count, 2);
});

test("what changed elsewhere in the project is no conflict", async (t) => {
  const { box, saved, tab } = await story(t);
  const page = (await tab.get(`${AT}/errors`)).text;
  await box.api("POST", "/v1/projects/shop/rules", { name: "other" });
  const done = await tab.post(`${AT}/errors`, filled(page, { count: "2" }), {
    from: `${AT}/errors`,
  });
  assert.deepEqual([done.status, (await saved()).fire_after.count], [303, 2]);
});

test("AC-14.4 from a line to a filled form with its result in two activations", async (t) => {
  const { box, send, tab } = await story(t);
  await send("payment 4711 failed after 30 s", { amount: "200", provider: "acme" }, 500);
  await send("payment 4712 failed after 31 s", { amount: "5", provider: "globex" }, 500);
  const { body } = await box.api("GET", "/v1/projects/shop/logtail");
  const line = body.messages.at(-1).id;
  // One: the line's own link. Two: Try it.
  const page = await tab.get(`${NEW}?line=${line}`);
  assert.equal(page.status, 200);
  const fields = sentBy(page.text);
  assert.deepEqual(
    [fields.get("level"), fields.get("sources"), fields.get("template_contains")],
    ["500", "web", "failed after"],
  );
  assert.deepEqual(fields.getAll("also"), [], "its keys are offered, none is chosen");
  assert.match(words(page.text), /provider is globex/);
  const tried = await tab.post(`${NEW}/try`, filled(page.text), {
    from: `${NEW}?line=${line}`,
  });
  assert.equal(tried.status, 200);
  assert.match(tried.text, /It would have opened 1 alert in 7 days/);
  assert.equal(sentBy(tried.text).get("template_contains"), "failed after");
  const ticked = filled(page.text, { also: '["provider","globex"]', name: "globex" });
  await tab.post(NEW, ticked, { from: `${NEW}?line=${line}` });
  const made = await box.api("GET", "/v1/projects/shop/rules/globex");
  assert.deepEqual(made.body.conditions, [{ key: "provider", op: "eq", value: "globex" }]);
});

test("a new rule begins with a template, an alert or a copy", async (t) => {
  const { box, send, tab } = await story(t);
  await send("payment 1 failed", { amount: "200", provider: "acme" });
  await send("payment 2 failed", { amount: "200", provider: "acme" });
  const { body } = await box.api("GET", "/v1/alerts");
  const { id, template_id } = body.alerts[0];
  const of = async (query: string) => sentBy((await tab.get(`${NEW}?${query}`)).text);
  assert.equal((await of(`template=${template_id}`)).get("template_contains"), "payment");
  const fromAlert = await of(`alert=${id}`);
  assert.deepEqual([fromAlert.get("identifier_keys"), fromAlert.get("level")], ["provider", "400"]);
  const copy = await of("copy=errors");
  assert.deepEqual([copy.get("name"), copy.get("c0_value")], ["errors copy", "100"]);
  for (const query of ["template=0000000000000000", "line=99", "alert=99", "copy=none"])
    assert.equal((await tab.get(`${NEW}?${query}`)).status, 404, query);
});

test("AC-14.5 the dry run's plot has a table with the same numbers", async (t) => {
  const { box, send, tab } = await story(t);
  for (const hours of [0, 2, 3]) {
    await box.clock.turn(hours * 3_600_000);
    for (let n = 0; n < 3; n++)
      await send(`payment ${n} failed`, { amount: "200", provider: `p${hours}` });
  }
  const page = (await tab.get(`${AT}/errors`)).text;
  const tried = section(
    (await tab.post(`${AT}/errors/try`, filled(page), { from: `${AT}/errors` })).text,
    "preview",
  );
  const numbers = (pattern: RegExp) => [...tried.matchAll(pattern)].map((found) => found.slice(1));
  const bars = numbers(/<title>([^<]*): (\d+) matches, (\d+) alerts, (\d+) saved<\/title>/g);
  const cell = '<td class="num">(\\d+)</td>';
  const rows = numbers(
    new RegExp(`<tr><td><time[^>]*>([^<]*)</time></td>${cell}${cell}${cell}</tr>`, "g"),
  );
  assert.equal(bars.length, 3);
  assert.deepEqual(rows, bars);
  assert.deepEqual(
    bars.map(([, ...counts]) => counts),
    [
      ["3", "1", "1"],
      ["3", "1", "1"],
      ["3", "1", "1"],
    ],
  );
});

test("a preview draws its own section alone, what can't be tried says why there, and nothing is stored", async (t) => {
  const { box, send, tab } = await story(t);
  await send("payment 1 failed", { amount: "200", provider: "acme" });
  const dump = () => JSON.stringify(box.tenant.store.sql("SELECT * FROM rules").all());
  const before = dump();
  const page = (await tab.get(`${AT}/errors`)).text;
  const ask = (changes: Record<string, string>) =>
    tab.post(`${AT}/errors/try`, filled(page, changes), {
      from: `${AT}/errors`,
      headers: { "x-sections": "preview" },
    });
  const drawn = await ask({});
  assert.deepEqual(
    [...drawn.text.matchAll(/<section id="(\w+)"/g)].map(([, id]) => id),
    ["preview"],
  );
  assert.doesNotMatch(drawn.text, /id="said"/);
  assert.match(words(drawn.text), /If it fires now: .*nobody has a contact or a phone/i);
  const wrong = await ask({ count: "none" });
  assert.equal(wrong.status, 422);
  assert.match(section(wrong.text, "preview"), /\/fire_after\/count must be an integer/);
  const pasted = await ask({
    lines: "payment 9 failed\npayment 10 failed",
    level: "",
    c0_key: "",
    c0_value: "",
  });
  assert.match(
    words(pasted.text),
    /would have opened 1 alert .* 2 lines looked at.*A trial: nothing was saved/,
  );
  assert.equal(dump(), before);
});

test("what strangers and members write stays text in rules: names, templates, conditions", async (t) => {
  const { box, send, tab } = await story(t);
  for (const [i, raw] of XSS_VECTORS.entries()) {
    const vector = raw.replace(/[/\p{Cc}]/gu, "").trim();
    if (vector === "" || i % 12 > 0) continue;
    const rule = {
      name: `${vector} ${i}`.slice(0, 150),
      match: {
        min_level: 400,
        template_contains: vector.slice(0, 200),
        sources: [vector.slice(0, 100)],
      },
      conditions: [{ key: vector.slice(0, 100), op: "eq", value: vector }],
    };
    assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
    await send(vector, { amount: "200", provider: vector });
    const at = `${AT}/${encodeURIComponent(rule.name)}`;
    const page = await tab.get(at);
    assert.equal(page.status, 200);
    mustBeInert(page.text);
    const any = filled(page.text, {
      level: "",
      sources: "",
      template_contains: "",
      c0_key: "",
      c0_value: "",
    });
    mustBeInert((await tab.post(`${at}/try`, any, { from: at })).text);
  }
  mustBeInert((await tab.get(AT)).text);
});

test("a rule may be called new: its page is its own, and the address where new rules were written before leads on", async (t) => {
  const { tab, saved, box } = await story(t);
  const old = await tab.get(`${AT}/new?copy=errors`);
  assert.deepEqual(
    [old.status, old.headers.get("location")],
    [303, "/p/shop/new-rule?copy=errors"],
  );
  const rule = { ...(await saved()), name: "new" };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  const page = await tab.get(`${AT}/new`);
  assert.equal(page.status, 200);
  assert.match(page.text, /Rule new/);
  const done = await tab.post(`${AT}/new`, filled(page.text, { window_minutes: "9" }), {
    from: `${AT}/new`,
  });
  assert.equal(done.status, 303, done.text);
  assert.equal((await saved("new")).fire_after.window_minutes, 9);
  assert.match((await tab.get(NEW)).text, /New rule/);
});

test("a rule that is deleted while somebody edits it keeps what was typed, says who deleted it, and is made anew", async (t) => {
  const { box, tab, saved } = await story(t);
  const page = await tab.get(`${AT}/errors`);
  const typed = filled(page.text, { window_minutes: "7", identifier_keys: "provider, region" });
  assert.equal((await box.api("DELETE", "/v1/projects/shop/rules/errors")).status, 200);
  // The page that is open hears of it, and its form isn't drawn again.
  const heard = await tab.sections(`${AT}/errors`, "head", "form");
  assert.equal(heard.status, 200);
  assert.match(heard.text, /There is no rule errors: owner@example.org deleted it on/);
  assert.doesNotMatch(heard.text, /id="form"/);
  const refused = await tab.post(`${AT}/errors`, typed, { from: `${AT}/errors` });
  assert.equal(refused.status, 409);
  assert.match(refused.text, /owner@example.org deleted it on .*Yours is in the form/);
  assert.match(refused.text, /name="window_minutes"[^>]* value="7"/);
  assert.match(refused.text, /action="\/p\/shop\/new-rule"/);
  const tried = await tab.post(`${AT}/errors/try`, typed, { from: `${AT}/errors` });
  assert.match(tried.text, /It would have opened|It opened no/);
  const again = await tab.post(NEW, filled(refused.text), { from: `${AT}/errors` });
  assert.equal(again.headers.get("location"), `${AT}/errors`, again.text);
  assert.deepEqual((await saved()).identifier_keys, ["provider", "region"]);
  const gone = await tab.get(`${AT}/nothing`);
  assert.equal(gone.status, 404);
});

test("a part that varies is made an identifier where a key of the events has it", async (t) => {
  const { tab, send, saved } = await story(t);
  for (const n of [4711, 4712, 4713])
    await send(`payment ${n} failed at last`, { provider: "acme", amount: 100, shop: n });
  const page = await tab.get("/a/1");
  const link = /<a href="([^"]+)">Make it an identifier<\/a> <span class="soft">\(shop\)/.exec(
    page.text,
  );
  assert.ok(
    link,
    page.text.slice(page.text.indexOf("What varies"), page.text.indexOf("What varies") + 900),
  );
  assert.equal(link[1], `${AT}/errors?identifier=shop`);
  const editor = await tab.get(link[1] ?? "");
  assert.match(editor.text, /One alert for each <strong>shop<\/strong>/);
  assert.deepEqual((await saved()).identifier_keys, ["provider"], "nothing is saved by looking");
  const done = await tab.post(`${AT}/errors`, filled(editor.text), { from: link[1] ?? "" });
  assert.equal(done.status, 303);
  assert.deepEqual((await saved()).identifier_keys, ["provider", "shop"]);
});
