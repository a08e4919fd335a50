import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import { testBox } from "../../support/box.ts";
import { signedIn, tabOf } from "../../support/console.ts";
import { undoOf } from "../../support/sent-by.ts";

const HOUR = 3600;

async function rota(t: TestContext, more: { layer?: object; timezone?: string } = {}) {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("shop");
  const ann = box.person("member", "ann@example.org");
  const bob = box.person("member", "bob@example.org");
  const now = Math.floor(box.clock.now() / 1000);
  const layer = {
    name: "daily",
    participants: [ann.accountId, bob.accountId],
    rotation_start: now - HOUR,
    shift_minutes: 1440,
    ...more.layer,
  };
  const schedule = {
    name: "first line",
    timezone: more.timezone ?? "Europe/Berlin",
    layers: [layer],
  };
  const base = "/v1/projects/shop/oncall/schedules";
  assert.equal((await box.api("POST", base, schedule)).status, 201);
  const api = `${base}/first%20line`;
  const overrides = async () => (await box.api("GET", `${api}/overrides`)).body.overrides;
  return { box, ann, bob, now, api, overrides, tab: signedIn(box, ann), other: signedIn(box, bob) };
}

const PAGE = "/oncall/shop/first%20line";
const words = (text: string): string =>
  text
    .replace(/<[^>]*>/g, " ")
    .replace(/&#39;/g, "'")
    .replace(/\s+/g, " ");
const section = (text: string, id: string): string =>
  words(new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(text)?.[0] ?? "");
const said = (text: string): string => words(/<output[\s\S]*?<\/output>/.exec(text)?.[0] ?? "");
test("a box without a schedule makes a weekly one by one form, which somebody has at once", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("shop");
  const ann = box.person("member", "ann@example.org");
  const tab = tabOf(box, `${signedIn(box, ann).cookie}; zone=Europe%2FBerlin`);
  const page = (await tab.get("/oncall")).text;
  assert.match(section(page, "now"), /No schedule: your ladders page people by name/);
  assert.match(page, new RegExp(`name="person" value="${ann.accountId}" checked`));
  const fields: [string, string][] = [
    ...([
      ["project", "shop"],
      ["name", "primary"],
      ["timezone", "Europe/Berlin"],
    ] as [string, string][]),
    ["person", ann.accountId],
  ];
  const refused = await tab.post("/oncall/weekly", fields.slice(0, 3), { from: "/oncall" });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /A layer needs participants/);
  const made = await tab.post("/oncall/weekly", fields, { from: "/oncall" });
  assert.equal(made.headers.get("location"), "/oncall/shop/primary");
  const now = section((await tab.get("/oncall")).text, "now");
  assert.match(
    now,
    /shop \/ primary now AO You for more than a year nothing reaches you · Prove it/,
  );
  const { body } = await box.api("GET", "/v1/projects/shop/oncall/schedules/primary");
  const [layer] = body.layers;
  const berlin = new Date(layer.rotation_start * 1000).toLocaleString("en-GB", {
    timeZone: "Europe/Berlin",
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
  assert.match(berlin, /^Mon,? 09:00$/);
});

test("who has it now, until when and who is next; gaps of the fortnight stand right below", async (t) => {
  const { tab } = await rota(t, {
    layer: { restriction: { days: [6], start_minute: 540, end_minute: 1080 } },
  });
  const { text } = await tab.get("/oncall");
  assert.ok(text.indexOf('id="now"') < text.indexOf('id="gaps"'));
  assert.ok(text.indexOf('id="gaps"') < text.indexOf('id="week"'));
  assert.match(
    section(text, "gaps"),
    /\d gaps in the next 14 days “I cover it” puts you on call for those hours at once, and you can undo it\./,
  );
  assert.match(section(text, "gaps"), /Nothing reaches you yet\./);
  assert.match(
    section(text, "now"),
    /shop \/ first line a gap Nobody until Sat .* next (AO you|BO bob)/,
  );
  const gap =
    /name="starts_at" value="(\d+)"><input type="hidden" name="ends_at" value="(\d+)"/.exec(text);
  const fields = { starts_at: gap?.[1] ?? "", ends_at: gap?.[2] ?? "" };
  await tab.post(`${PAGE}/take`, fields, { from: "/oncall" });
  assert.match(section((await tab.get("/oncall")).text, "now"), /first line now AO You until Sat/);
});

test("the page names days of the schedule's own zone, the same from Auckland and Los Angeles, and both clocks' hours", async (t) => {
  const { box, tab } = await rota(t);
  const days = async (zone: string) => {
    const there = tabOf(box, `${tab.cookie}; zone=${encodeURIComponent(zone)}`);
    const { text } = await there.get(`${PAGE}?from=2026-10-19&days=14`);
    return {
      text,
      days: [...text.matchAll(/<section id="calendar"[\s\S]*?<\/section>/g)].flatMap(([part]) =>
        [...part.matchAll(/data-day="([^"]+)"/g)].map(([, date]) => date),
      ),
    };
  };
  const [auckland, angeles] = [await days("Pacific/Auckland"), await days("America/Los_Angeles")];
  assert.equal(auckland.days.length, 14);
  assert.equal(auckland.days[0], "2026-10-19");
  assert.deepEqual(auckland.days, angeles.days);
  const blocks = (text: string) =>
    [...text.matchAll(/data-row-kind="final" data-from="\d+"/g)].join();
  assert.equal(blocks(auckland.text), blocks(angeles.text));
  assert.match(
    section(angeles.text, "range"),
    /Europe\/Berlin \(you: −9 h, America\/Los_Angeles\)/,
  );
  assert.match(section(angeles.text, "shifts"), /yours: /);
  const there = tabOf(box, `${tab.cookie}; zone=America%2FLos_Angeles`);
  const now = section((await there.get("/oncall")).text, "now");
  assert.match(now, /until Tue 6 Jan 00:00 \(09:00 Berlin\), 23 h left/);
  const { text } = angeles;
  assert.match(
    text,
    /href="\/oncall\/shop\/first%20line\?from=2026-10-05"[^>]*aria-label="Previous"/,
  );
  assert.match(text, /href="\/oncall\/shop\/first%20line\?from=2026-11-02"[^>]*aria-label="Next"/);
  assert.match(text, /<script type="module" src="[^"]+\/calendar\.js">/);
  assert.doesNotMatch((await tab.get("/oncall")).text, /calendar\.js/);
  assert.equal((await tab.get("/oncall/shop/none")).status, 404);
  assert.equal((await tab.get("/oncall/none/first%20line")).status, 404);
});

test("the form puts somebody on call, says whom it relieves first, and is undone", async (t) => {
  const { box, tab, ann, bob, now, overrides } = await rota(t);
  const from = Math.floor(now / 60) * 60 + 2 * HOUR;
  const asked = `${PAGE}?from=2026-01-05&cover=${from}-${from + 3 * HOUR}`;
  // Who covers isn't decided by who reads.
  const open = (await tab.get(asked)).text;
  assert.match(open, /name="account_id" required><option value="" selected>Choose who/);
  assert.match(section(open, "would"), /Choose who: what changes is shown here\./);
  const { text } = await tab.get(`${asked}&who=${ann.accountId}`);
  assert.match(
    section(text, "would"),
    /Before and after ann@example\.org, [^:]+ \d\d:\d\d – \d\d:\d\d \(3 h\): has it anyway/,
  );
  assert.match(text, /Nothing reaches ann@example\.org: they would not be rung\./);
  const local = (at: number) => new Date((at + HOUR) * 1000).toISOString().slice(0, 16);
  const fields = {
    account_id: bob.accountId,
    starts_at: local(from),
    ends_at: local(from + 3 * HOUR),
  };
  const tried = await tab.post(`${PAGE}/try-cover`, fields, { from: asked });
  assert.equal(tried.status, 200);
  assert.match(section(tried.text, "would"), /bob@example\.org, .* relieves ann@example\.org/);
  assert.deepEqual(await overrides(), []);
  const backwards = await tab.post(
    `${PAGE}/cover`,
    { ...fields, ends_at: fields.starts_at },
    { from: asked },
  );
  assert.equal(backwards.status, 422);
  assert.match(said(backwards.text), /end must be later/);
  assert.match(backwards.text, new RegExp(`value="${bob.accountId}" selected`));
  const noDate = await tab.post(`${PAGE}/cover`, { ...fields, ends_at: "soon" }, { from: asked });
  assert.match(noDate.text, /must be a date and a time/);
  const done = await tab.post(`${PAGE}/cover`, fields, { from: asked });
  assert.equal(done.status, 303);
  const [made] = await overrides();
  assert.deepEqual(
    [made.account_id, made.starts_at, made.ends_at, made.email],
    [bob.accountId, from, from + 3 * HOUR, "bob@example.org"],
  );
  const after = await tab.get(done.headers.get("location") ?? "");
  assert.match(said(after.text), /bob@example\.org is on call .* Undo/);
  assert.match(
    section(after.text, "overrides"),
    /bob@example\.org .* by ann@example\.org .*Remove/,
  );
  assert.match(
    after.text,
    new RegExp(`data-row-kind="override" data-from="${from}" data-until="${from + 3 * HOUR}"`),
  );
  const undo = undoOf(after.text);
  await tab.post(undo.action, undo.fields, { from: PAGE });
  assert.deepEqual(await overrides(), []);
  const audit = box.tenant.store
    .sql("SELECT verb FROM audit WHERE via = 'page' ORDER BY id")
    .pluck()
    .all();
  assert.deepEqual(audit, ["createOverride", "deleteOverride"]);
});

test("one takes a shift, swaps one for another's in one go, removes an override and puts it back", async (t) => {
  const { tab, other, ann, bob, overrides } = await rota(t);
  const { text } = await other.get(PAGE);
  const shifts = [
    ...text.matchAll(
      /action="[^"]*\/take"><input type="hidden" name="starts_at" value="(\d+)"><input type="hidden" name="ends_at" value="(\d+)"/g,
    ),
  ].map(([, a, b]) => ({ starts_at: Number(a), ends_at: Number(b) }));
  const [, later] = shifts;
  assert.ok(later);
  await other.post(
    `${PAGE}/take`,
    { starts_at: String(later.starts_at), ends_at: String(later.ends_at) },
    { from: PAGE },
  );
  const [taken] = await overrides();
  assert.deepEqual(
    [taken.account_id, taken.starts_at, taken.ends_at],
    [bob.accountId, later.starts_at, later.ends_at],
  );
  const removed = await other.post(`${PAGE}/overrides/${taken.id}/remove`, {}, { from: PAGE });
  const undo = undoOf((await other.get(removed.headers.get("location") ?? "")).text);
  await other.post(undo.action, undo.fields, { from: PAGE });
  assert.deepEqual(
    (await overrides()).map((one: typeof taken) => [one.account_id, one.starts_at]),
    [[bob.accountId, later.starts_at]],
  );
  await other.post(`${PAGE}/overrides/${(await overrides())[0].id}/remove`, {}, { from: PAGE });

  const mine = /swap=(\d+-\d+)#swap/.exec((await tab.get(PAGE)).text)?.[1] ?? "";
  const asked = (await tab.get(`${PAGE}?swap=${mine}`)).text;
  const theirs = /<option value="(\d+-\d+)"[^>]*>bob@/.exec(asked)?.[1] ?? "";
  const swapped = await tab.post(
    `${PAGE}/swap`,
    { mine, theirs },
    { from: `${PAGE}?swap=${mine}` },
  );
  assert.equal(swapped.status, 303, swapped.text.slice(0, 400));
  const both = await overrides();
  assert.deepEqual(
    both.map((one: typeof taken) => one.account_id),
    [ann.accountId, bob.accountId],
  );
  assert.equal(both[0].starts_at, Number(theirs.split("-")[0]));
  // Pressed twice, it is no longer what it was.
  assert.equal((await tab.post(`${PAGE}/swap`, { mine, theirs }, { from: PAGE })).status, 422);
  const back = undoOf((await tab.get(swapped.headers.get("location") ?? "")).text);
  await tab.post(back.action, back.fields, { from: PAGE });
  assert.deepEqual(await overrides(), []);
});

test("a shift on the week of all schedules leads to what is wanted of it: one's own to be swapped, another's or nobody's to be covered", async (t) => {
  const { box, tab, other, ann, now } = await rota(t);
  const until = now - HOUR + 24 * HOUR;
  const cells = async (who: typeof tab) => {
    const { text } = await who.get("/oncall");
    return [
      ...text.matchAll(/href="([^"]+\?shift=\d+)" data-row-kind="final"[^>]*><title>([^<,]+)/g),
    ];
  };
  const first = (await cells(tab)).find(([, , name]) => name === "ann@example.org");
  const mine = await tab.get(first?.[1] ?? "");
  assert.equal(mine.status, 303);
  // As long as it is, and no shorter for the edge of the week.
  assert.match(
    mine.headers.get("location") ?? "",
    new RegExp(`&swap=${now - HOUR}-${until}#swap$`),
  );
  const swap = (await tab.get(mine.headers.get("location") ?? "")).text;
  assert.match(
    section(swap, "swap"),
    /You give Mon 5 Jan 09:00 – Tue 6 Jan 09:00\. .* Swap Not now/,
  );
  assert.equal(section(swap, "cover").trim(), "", "one form a page");
  const theirs = await other.get(first?.[1] ?? "");
  const from = Math.floor(now / 60) * 60;
  assert.match(theirs.headers.get("location") ?? "", new RegExp(`&cover=${from}-${until}#cover$`));
  const cover = (await other.get(theirs.headers.get("location") ?? "")).text;
  assert.match(cover, /value="" selected>Choose who/, "the reader hasn't taken it by reading");
  // The reader's next one is told, and leads to the same.
  const next = /<section id="mine"[\s\S]*?href="([^"]+)"/.exec((await tab.get("/oncall")).text);
  assert.match(next?.[1] ?? "", new RegExp(`shift=${until + 24 * HOUR}$`));
  // What is over, and what was never there, leads to the schedule alone.
  for (const [at, days] of [
    [now - 20 * 86_400, /\?from=[\d-]+$/],
    [1, /\?from=1970-01-01$/],
  ] as const)
    assert.match((await tab.get(`${PAGE}?shift=${at}`)).headers.get("location") ?? "", days);
  assert.equal((await tab.get(`${PAGE}?shift=x`)).status, 200);
  assert.doesNotMatch((await tab.get("/oncall")).text, /Planned\? Say so/);
  // Off hours are no gap where no more was promised; until that is said, the way to say it stands beside the gap.
  const schedule = "/v1/projects/shop/oncall/schedules/first%20line";
  const { layers } = (await box.api("GET", schedule)).body;
  const restriction = {
    days: [(new Date(now * 1000).getUTCDay() + 3) % 7],
    start_minute: 0,
    end_minute: 60,
  };
  const body = {
    name: "first line",
    timezone: "Europe/Berlin",
    covers: "hours",
    layers: [{ ...layers[0], participants: [ann.accountId], restriction }],
  };
  assert.equal((await box.api("PUT", schedule, { ...body, covers: "always" })).status, 200);
  assert.match(
    (await tab.get("/oncall")).text,
    /<br><a href="\/oncall\/shop\/first%20line\/layers#covers">Planned\? Say so<\/a>/,
  );
  assert.match((await tab.get(`${PAGE}/layers`)).text, /id="covers" name="covers_hours">/);
  assert.equal((await box.api("PUT", schedule, body)).status, 200);
  const { text } = await tab.get("/oncall");
  assert.match(section(text, "now"), /off hours Nobody, as planned starts .* next AO you/);
  assert.match(section(text, "gaps"), /No gap in the next 14 days/);
});

test("a calendar's secret address is shown once, works, and is revoked", async (t) => {
  const { box, tab } = await rota(t);
  const made = await tab.post(`${PAGE}/calendar`, { whose: "all" }, { from: PAGE });
  assert.equal(made.status, 200);
  assert.match(made.headers.get("cache-control") ?? "", /no-store/);
  const address = /id="calendar-address">([^<]+)</.exec(made.text)?.[1] ?? "";
  const path = new URL(address).pathname;
  assert.equal((await fetch(box.url + path)).status, 200);
  const again = (await tab.get(PAGE)).text;
  assert.doesNotMatch(again, /calendar-address/);
  assert.ok(!again.includes(path.slice(10, 30)));
  const revoke = /action="([^"]+\/revoke)"/.exec(again)?.[1] ?? "";
  await tab.post(revoke, {}, { from: PAGE });
  assert.equal((await fetch(box.url + path)).status, 404);
});

test("names that strangers choose stay text on every page", async (t) => {
  const vectors = XSS_VECTORS.filter(
    (vector) => vector.length <= 128 && !/[\p{Cc}/]/u.test(vector) && vector.trim() === vector,
  ).slice(0, 60);
  assert.ok(vectors.length > 10);
  const { box, tab, ann, now } = await rota(t);
  await box.api("PATCH", `/v1/accounts/${ann.accountId}`, { display_name: vectors[0] });
  for (const name of vectors) {
    const layer = { name, participants: [ann.accountId], rotation_start: now, shift_minutes: 60 };
    const schedule = { name, timezone: "UTC", layers: [layer] };
    assert.equal(
      (await box.api("POST", "/v1/projects/shop/oncall/schedules", schedule)).status,
      201,
      name,
    );
    const own = `/oncall/shop/${encodeURIComponent(name)}`;
    for (const page of [own, `${own}/layers`, "/oncall"]) {
      const { text, status } = await tab.get(page);
      assert.equal(status, 200, page);
      if (/[<>"']/.test(name)) assert.ok(!text.includes(name), `${page} holds ${name}`);
    }
    await box.api("DELETE", `/v1/projects/shop/oncall/schedules/${encodeURIComponent(name)}`);
  }
});

test("AC-15.5: a gap stands on the rule that uses the schedule, too, until somebody covers it", async (t) => {
  const { box, ann, now } = await rota(t, {
    layer: { restriction: { days: [1, 2, 3, 4, 5, 6], start_minute: 0, end_minute: 1440 } },
  });
  const escalations = [{ accounts: [], schedules: ["first line"], after_minutes: 0 }];
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", escalations });
  await box.api("POST", "/v1/projects/shop/rules", { name: "bare" });
  const owner = signedIn(box);
  const gaps = async (rule: string) =>
    section((await owner.get(`/p/shop/rules/${rule}`)).text, "gaps").trim();
  assert.match(await gaps("errors"), /meets nobody on call: first line : 2 gaps, the first Sun/);
  assert.equal(await gaps("bare"), "");
  assert.match(section((await owner.get("/system")).text, "findings"), /shop \/ first line/);
  const cover = { account_id: ann.accountId, starts_at: now, ends_at: now + 15 * 86_400 };
  const base = "/v1/projects/shop/oncall/schedules/first%20line/overrides";
  assert.equal((await box.api("POST", base, cover)).status, 201);
  assert.equal(await gaps("errors"), "");
});

test("shifts are a file by a button: one's own of every schedule, or all of one", async (t) => {
  const { tab, other, box } = await rota(t);
  const own = await tab.get("/oncall/my-shifts.ics");
  assert.match(own.headers.get("content-type") ?? "", /^text\/calendar/);
  assert.match(own.text, /^BEGIN:VCALENDAR\r\n/);
  assert.match(own.text, /ann@example\.org/);
  assert.doesNotMatch(own.text, /bob@example\.org/);
  const all = await other.get(`${PAGE}/shifts.ics`);
  assert.match(all.headers.get("content-disposition") ?? "", /filename="shop-first-line\.ics"/);
  for (const who of ["ann", "bob"]) assert.match(all.text, new RegExp(`${who}@example\\.org`));
  assert.match((await tab.get("/oncall")).text, /href="\/oncall\/my-shifts\.ics" download/);
  assert.equal((await tabOf(box, "").get(`${PAGE}/shifts.ics`)).status, 303);
  assert.equal((await tab.get("/oncall/shop/nothing/shifts.ics")).status, 404);
});

test("a schedule in a zone that this program doesn't know is shown by UTC, and can be mended", async (t) => {
  const { box, tab, api } = await rota(t);
  box.tenant.store.write(
    (tx) => void tx.sql("UPDATE schedules SET timezone = 'Europe/Atlantis'").run(),
  );
  for (const page of ["/oncall", PAGE, `${PAGE}/layers`, `${PAGE}/hand-over`])
    assert.equal((await tab.get(page)).status, 200, page);
  const body = (await box.api("GET", api)).body;
  assert.equal((await box.api("PUT", api, { ...body, timezone: "Europe/Atlantis" })).status, 422);
  assert.equal((await box.api("GET", "/v1/projects/shop/oncall/schedules")).status, 200);
});
