import assert from "node:assert/strict";
import { test } from "node:test";
import { pagedBox } from "../../support/paged.ts";
import fc from "../../support/property.ts";
import { pass } from "../../support/until.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };

test("a link shows what happened and changes nothing; its button takes the alert as the person it was sent to", async (t) => {
  const { box, ann, fire, linked, outcomes } = await pagedBox(t);
  const id = await fire(1, "disk <b>is</b> full");
  const url = `${box.url}/ack/${linked()}`;
  const state = async () => (await box.api("GET", `/v1/alerts/${id}`)).body.state;
  for (const method of ["GET", "HEAD", "GET"]) {
    const got = await fetch(url, { method, headers: BROWSER });
    assert.equal(got.status, 200);
    assert.equal(got.headers.get("cache-control"), "no-store");
    assert.equal(got.headers.get("referrer-policy"), "no-referrer");
    assert.match(
      got.headers.get("content-security-policy") ?? "",
      /default-src 'none'.*form-action 'self'/,
    );
    assert.match(got.headers.get("x-robots-tag") ?? "", /noindex/);
    const page = await got.text();
    if (method === "GET") {
      assert.match(page, /disk &lt;b&gt;is&lt;\/b&gt; full/);
      assert.match(page, /You answer as ann@example\.org/);
      assert.doesNotMatch(page, /<script/);
    }
  }
  assert.equal(await state(), "open");
  assert.deepEqual(outcomes(), ["accepted"]);

  const press = (verb: string) =>
    fetch(url, {
      method: "POST",
      headers: { ...BROWSER, ...FORM },
      body: `verb=${verb}`,
      redirect: "manual",
    });
  const pressed = await press("acknowledge");
  assert.deepEqual([pressed.status, pressed.headers.get("location")], [303, linked()]);
  assert.match(
    await (await fetch(url, { headers: BROWSER })).text(),
    /is acknowledged by ann@example\.org, just now/,
  );
  assert.equal((await press("acknowledge")).status, 303);
  const { timeline } = (await box.api("GET", `/v1/alerts/${id}/timeline`)).body;
  const acks = timeline.filter(({ kind }: { kind: string }) => kind === "acknowledged");
  assert.deepEqual(
    acks.map((entry: { account_id: string; detail: object }) => [entry.account_id, entry.detail]),
    [[ann.accountId, { via: "webhook" }]],
  );
  const [told] = (await box.api("GET", `/v1/audit?target=alert:${id}`)).body.entries;
  assert.deepEqual(
    [told.account_id, told.via, told.hint, told.address, told.verb],
    [ann.accountId, "page", "webhook", "127.0.0.1", "answerPage"],
  );
  assert.deepEqual(outcomes(), ["answered"]);
  await box.clock.turn(2000);
  await press("resolve");
  assert.equal(await state(), "resolved");
  const over = await (await fetch(url, { headers: BROWSER })).text();
  assert.match(over, /is resolved by ann@example\.org/);
  assert.doesNotMatch(over, /<form/);
});

test("an alert behind a link has its title, its labels, details and links, and what tells it apart", async (t) => {
  const { box, fire, linked } = await pagedBox(t);
  const more = {
    title: "Shop <has> no disk",
    details: "first line\n  second line",
    links: [{ href: "https://example.org/g?a=1&b=2", text: "Graph" }],
  };
  await fire(1, "disk is full", { ...more, keys: { n: "1", zone: "a" } });
  await fire(2, "disk is full", { ...more, keys: { n: "2", zone: "a" } });
  const page = await (await fetch(`${box.url}/ack/${linked()}`, { headers: BROWSER })).text();
  assert.match(page, /<h1>Shop &lt;has&gt; no disk<\/h1>/);
  assert.match(page, /<p class="apart"><span>n: 1<\/span> <\/p>/);
  assert.match(page, /<dt>n<\/dt><dd>1<\/dd><dt>zone<\/dt><dd>a<\/dd>/);
  assert.match(page, /<p class="said">first line\n {2}second line<\/p>/);
  assert.match(page, /<a href="https:\/\/example\.org\/g\?a=1&amp;b=2" rel="[^"]+">Graph<\/a>/);
});

test("a link says how bad it is and who is next; one button stands there to be pressed", async (t) => {
  const { box, fire, linked } = await pagedBox(t);
  const id = await fire(1);
  const url = `${box.url}/ack/${linked()}`;
  const page = async () => (await fetch(url, { headers: BROWSER })).text();
  const open = await page();
  assert.match(open, /class="level \w+">.*<\/svg>\w+<\/span><span>\w+ · [^<]+ · #\d+</);
  assert.match(open, /Nobody else is paged after you|Next, if nobody takes it: \S+ in /);
  // Of this look there is one a page: AC-L3.
  assert.equal(open.match(/<button class="huge"/g)?.length, 1);
  assert.match(open, new RegExp(`href="../a/${id}">Open the alert`));
  await box.api("POST", `/v1/alerts/${id}/ack`);
  assert.doesNotMatch(await page(), /<button class="huge"|Next, if/);
});

test("a phone's button is answered with a status and a sentence", async (t) => {
  const { box, fire, linked } = await pagedBox(t);
  const id = await fire(1);
  const post = async (body: string, path = linked()) => {
    const got = await fetch(`${box.url}/ack/${path}`, { method: "POST", headers: FORM, body });
    return [got.status, await got.text(), got.headers.get("content-type")?.split(";")[0]];
  };
  const words = `Alert ${id} is acknowledged by ann@example.org, just now.\n`;
  assert.deepEqual(await post("verb=maybe"), [
    400,
    "Send verb=acknowledge or verb=resolve, as a form.\n",
    "text/plain",
  ]);
  assert.deepEqual(await post("verb=acknowledge"), [200, words, "text/plain"]);
  assert.deepEqual(await post("verb=acknowledge"), [200, words, "text/plain"]);
  assert.deepEqual((await post("verb=acknowledge", "x")).slice(0, 2), [
    404,
    "This can't be answered any more.\n",
  ]);
  assert.equal((await post(`verb=resolve&pad=${"x".repeat(5000)}`))[0], 413);
});

test("a message that named several lists them: each by itself, or all that are open at once", async (t) => {
  const { box, fire, linked } = await pagedBox(t);
  const first = await fire(0);
  const named = [await fire(1), await fire(2), await fire(3)];
  await pass(box, 6);
  const url = `${box.url}/ack/${linked()}`;
  const page = async () => (await fetch(url, { headers: BROWSER })).text();
  const post = (body: string) => fetch(url, { method: "POST", headers: FORM, body });
  const states = () =>
    Promise.all(named.map(async (id) => (await box.api("GET", `/v1/alerts/${id}`)).body.state));
  assert.match(await page(), /Acknowledge all that are open \(3\)/);
  for (const id of named) assert.match(await page(), new RegExp(` #${id}</span></p><h2>`));
  assert.doesNotMatch(await page(), new RegExp(` #${first}<`));
  const refused = await post("verb=resolve");
  assert.deepEqual(
    [refused.status, await refused.text()],
    [409, "This named 3 alerts: resolve them one by one.\n"],
  );
  await post(`verb=resolve&alert=${named[2]}`);
  assert.equal((await post(`verb=resolve&alert=${first}`)).status, 404);
  assert.deepEqual(await states(), ["open", "open", "resolved"]);
  assert.equal((await post("verb=acknowledge")).status, 200);
  assert.deepEqual(await states(), ["acknowledged", "acknowledged", "resolved"]);
  assert.equal((await box.api("GET", `/v1/alerts/${first}`)).body.state, "open");
});

test("what opens nothing has one answer, never acts, and is limited by address alone", async (t) => {
  const { box, store, fire, linked } = await pagedBox(t);
  const id = await fire(1);
  const good = linked();
  const get = async (path: string, method = "GET") => {
    const body = method === "POST" ? { body: "verb=acknowledge" } : {};
    const got = await fetch(`${box.url}/ack/${path}`, {
      method,
      headers: { ...BROWSER, ...FORM },
      ...body,
      redirect: "manual",
    });
    return { status: got.status, text: await got.text() };
  };
  const parts = good.split("-");
  const wrong = [
    "x",
    [Number(id) + 1, ...parts.slice(1)].join("-"),
    [`0${parts[0]}`, ...parts.slice(1)].join("-"),
    [...parts.slice(0, 2), "0".repeat(16), parts[3]].join("-"),
    `${"0".repeat(32)}-${good}`,
  ];
  const answers = await Promise.all(wrong.map((path) => get(path)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([404]));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  for (let i = 0; i < 5; i++) await get("x");
  assert.equal((await get("x")).status, 429);
  assert.equal((await get("x", "POST")).status, 429);
  assert.equal((await get(good)).status, 200);
  assert.equal((await get(good, "POST")).status, 303);
  assert.equal(store.sql("SELECT state FROM alerts").pluck().get(), "acknowledged");
});

test("a capability that was changed anywhere never acts", async (t) => {
  const { box, fire, linked } = await pagedBox(t);
  const id = await fire(1);
  await pass(box, 6);
  await fire(2);
  const [good] = [linked()];
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: good.length - 1 }),
      fc.constantFrom(..."0123456789abcdefXYZ_-"),
      fc.constantFrom("change", "insert", "drop"),
      async (at, char, how) => {
        const tail = good.slice(how === "insert" ? at : at + 1);
        const text = `${good.slice(0, at)}${how === "drop" ? "" : char}${tail}`;
        fc.pre(text !== good);
        const posted = await fetch(`${box.url}/ack/${text}`, {
          method: "POST",
          headers: FORM,
          body: "verb=resolve",
        });
        await posted.arrayBuffer();
        assert.ok(posted.status === 404 || posted.status === 429, `${posted.status} ${text}`);
      },
    ),
    { numRuns: 200 },
  );
  for (const alert of [id, String(Number(id) + 1)])
    assert.equal((await box.api("GET", `/v1/alerts/${alert}`)).body.state, "open");
});

test("a second tap resolves nothing: where Acknowledge stood is no button, and what it asks for is refused for two seconds", async (t) => {
  const { box, fire, linked, bob } = await pagedBox(t);
  const id = await fire(1);
  const url = `${box.url}/ack/${linked()}`;
  const post = async (verb: string) => {
    const got = await fetch(url, { method: "POST", headers: FORM, body: `verb=${verb}` });
    return [got.status, await got.text()];
  };
  const page = async () => (await fetch(url, { headers: BROWSER })).text();
  const state = async () => (await box.api("GET", `/v1/alerts/${id}`)).body.state;
  await post("acknowledge");
  const taken = await page();
  assert.match(
    taken,
    /<span>You have it<\/span><form[^>]*><input[^>]*><button class="undo" name="verb" value="unack">/,
  );
  assert.match(taken, /class="far rests"/);
  assert.ok(taken.indexOf('value="resolve"') < taken.indexOf('class="far'), "far from the thumb");
  assert.deepEqual(await post("resolve"), [
    409,
    "You acknowledged it this very moment. To resolve it, say so again.\n",
  ]);
  assert.equal(await state(), "acknowledged");
  await box.clock.turn(3000);
  assert.doesNotMatch(await page(), /class="[a-z ]*rests"/);
  assert.equal((await post("unack"))[0], 200);
  assert.equal(await state(), "open");
  // What somebody else has is theirs to give back.
  await box.api("POST", `/v1/alerts/${id}/ack`, {}, bob.key);
  assert.doesNotMatch(await page(), /value="unack"/);
  await post("unack");
  assert.equal(await state(), "acknowledged");
  assert.equal((await post("resolve"))[0], 200);
  assert.equal(await state(), "resolved");
});
