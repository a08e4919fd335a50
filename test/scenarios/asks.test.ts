import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { COVER, coverCapability } from "../../src/core/oncall/cover-capability.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { type Person, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box as run } from "../support/command-line.ts";
import { signedIn } from "../support/console.ts";
import { reachBy, toldIn } from "../support/contacts.ts";
import { long, test } from "../support/long.ts";
import { startReceiver } from "../support/receiver.ts";
import { undoOf } from "../support/sent-by.ts";
import { busy, pass, settle } from "../support/until.ts";

/** Asking for cover: who may, who hears, who gets it. */

const DAY = 86_400;
const PRIMARY = "/v1/projects/shop/oncall/schedules/primary";

/** Days turn between Ann, Bob and Cy; the next is Bob's. Everybody has a contact. */
async function story(t: TestContext) {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const box = await testBox({ publicUrl: "https://box.test" }, handClock(), silentLog);
  t.after(() => box.stop());
  await box.project("shop");
  const people = ["ann", "bob", "cy"].map((name) =>
    box.person("member", `${name}@example.org`),
  ) as [Person, Person, Person];
  const now = Math.floor(box.clock.now() / 1000);
  const layer = {
    name: "daily",
    participants: people.map(({ accountId }) => accountId),
    rotation_start: now - 3600,
    shift_minutes: 1440,
  };
  const body = { name: "primary", timezone: "UTC", layers: [layer] };
  assert.equal((await box.api("POST", PRIMARY.replace("/primary", ""), body)).status, 201);
  for (const [i, person] of people.entries()) await reachBy(box, person, receiver, `/p${i}`);
  /** The shifts of Bob, Cy and Ann that come next. */
  const shift = (n: number) => ({ from: now - 3600 + n * DAY, until: now - 3600 + (n + 1) * DAY });
  let seen = receiver.received.length;
  const heard = async (count: number) => {
    await busy(box, () => receiver.received.length >= seen + count, `${count} notes`);
    await settle(box);
    const fresh = receiver.received.slice(seen);
    seen = receiver.received.length;
    return fresh
      .map((one) => `${one.path} ${[toldIn(one).title, ...toldIn(one).lines].join(" | ")}`)
      .toSorted();
  };
  const ask = (body: object, key: string) =>
    box.api("POST", "/v1/oncall/asks", { schedule: "shop/primary", ...body }, key);
  const link = (askId: string, { accountId }: Person) =>
    `${COVER}/${coverCapability(box.tenant.sealer, { tenantId: box.tenant.id, askId, accountId })}`;
  const page = async (path: string) => {
    const answer = await fetch(box.url + path);
    return { status: answer.status, text: await answer.text() };
  };
  const press = async (path: string, verb: string) => {
    const body = new URLSearchParams({ verb });
    const { status } = await fetch(box.url + path, { method: "POST", body, redirect: "manual" });
    return { status, text: (await page(path)).text };
  };
  const holder = async ({ from, until }: { from: number; until: number }) => {
    const { shifts } = (await box.api("GET", `${PRIMARY}/preview?from=${from}&until=${until}`))
      .body;
    return shifts.map(({ email }: { email: string }) => email.split("@")[0]).join();
  };
  return { box, receiver, people, now, shift, heard, ask, link, page, press, holder };
}

test("the first yes has it, by its link alone; the others and the asker are told, a later yes hears who has it", async (t) => {
  const { box, people, shift, heard, ask, link, page, press, holder } = await story(t);
  const [ann, bob, cy] = people;
  const of = [ann.accountId, `email:cy@example.org`];
  const made = await ask({ ...shift(1), of, note: "wedding" }, bob.key);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id } = made.body;
  const asked = await heard(2);
  assert.match(asked.join("\n"), /\/p0 bob@example\.org asks you .*wedding[\s\S]*\/p2 bob/);
  const [anns, cys] = [link(id, ann), link(id, cy)];
  for (let i = 0; i < 2; i++) assert.match((await page(anns)).text, /Take it<[\s\S]*No</);
  assert.equal(await holder(shift(1)), "bob", "to look at it does nothing");
  assert.match((await signedIn(box, ann).get("/oncall")).text, /You are asked to take a shift/);
  const both = await Promise.all([press(anns, "take"), press(cys, "take")]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [303, 303],
  );
  const name = await holder(shift(1));
  assert.ok(name === "ann" || name === "cy", name);
  const [won, lost] = name === "ann" ? [anns, cys] : [cys, anns];
  assert.match((await page(won)).text, /It is yours/);
  assert.match((await press(lost, "take")).text, new RegExp(`${name}@example\\.org has it`));
  const overrides = (await box.api("GET", `${PRIMARY}/overrides`)).body.overrides;
  assert.equal(overrides.length, 1, "two at once: one gets it");
  const told = await heard(2);
  assert.match(told.join("\n"), new RegExp(`/p1 .*${name}@example\\.org takes it`));
  assert.match(told.join("\n"), new RegExp(`${name}@example\\.org has it. You have nothing to do`));
  assert.doesNotMatch((await signedIn(box, ann).get("/oncall")).text, /You are asked/);
  const { entries } = (await box.api("GET", "/v1/audit?limit=10")).body;
  assert.ok(entries.some(({ verb }: { verb: string }) => verb === "answerAsk"));
  for (const strange of [
    `${COVER}/x`,
    link(id, bob),
    `${anns.slice(0, -1)}${anns.endsWith("A") ? "B" : "A"}`,
  ])
    assert.equal((await page(strange)).status, 404);
});

long(
  "a no is final; when all have said no, and when the shift has begun, nobody can take it",
  async (t) => {
    const { people, shift, heard, ask, link, press, holder, box, page } = await story(t);
    const [ann, bob, cy] = people;
    const of = [ann.accountId, cy.accountId];
    const { id } = (await ask({ ...shift(1), of }, bob.key)).body;
    await heard(2);
    assert.match((await press(link(id, ann), "no")).text, /You said no/);
    assert.match((await press(link(id, ann), "take")).text, /You said no/);
    assert.equal((await press(link(id, cy), "both")).status, 400);
    await press(link(id, cy), "no");
    assert.match((await heard(1)).join(), /\/p1 .*Nobody takes it/);
    assert.match((await press(link(id, cy), "take")).text, /You said no/);
    const late = (await ask({ ...shift(1), of: [cy.accountId] }, bob.key)).body.id;
    await heard(1);
    await pass(box, DAY - 3600, DAY - 3600);
    assert.match((await page(link(late, cy))).text, /has begun/);
    await press(link(late, cy), "take");
    assert.equal(await holder(shift(1)), "bob");
  },
);

test("a swap makes both overrides or none; a change in between makes neither; a stop in between loses nothing", async (t) => {
  const { box, people, shift, heard, ask, link, press, holder } = await story(t);
  const [ann, bob, cy] = people;
  const swap = (n: number, back: number, of: Person) =>
    ask({ ...shift(n), of: [of.accountId], in_return: shift(back) }, bob.key);
  const first = (await swap(1, 2, cy)).body.id;
  await box.restart();
  assert.match((await heard(1)).join(), /\/p2 .*In return bob@example\.org takes/);
  await press(link(first, cy), "take");
  await box.restart();
  assert.deepEqual([await holder(shift(1)), await holder(shift(2))], ["cy", "bob"]);
  assert.match((await heard(1)).join(), /\/p1 .*cy@example\.org takes it.*bob@example\.org has/);
  // Bob's next, in return for Cy's next; a manager puts Ann there meanwhile.
  const second = (await swap(4, 5, cy)).body.id;
  await heard(1);
  const { from, until } = shift(5);
  const body = { account_id: ann.accountId, starts_at: from + 60, ends_at: until - 60 };
  assert.equal((await box.api("POST", `${PRIMARY}/overrides`, body)).status, 201);
  assert.match((await press(link(second, cy), "take")).text, /has changed since/);
  assert.deepEqual([await holder(shift(4)), await holder(shift(5))], ["bob", "cy,ann,cy"]);
  assert.match((await heard(1)).join(), /\/p1 .*The schedule has changed/);
});

test("a swap is asked for by command, and by the page of one's own shift: who has the other is asked", async (t) => {
  const { box, people, shift, heard, press, holder } = await story(t);
  const [ann, bob, cy] = people;
  const env = { BOX_URL: box.url, BOX_KEY: bob.key };
  const iso = (at: number) => new Date(at * 1000).toISOString().replace(".000", "");
  const words = ["oncall", "ask", "shop/primary", "--of", "cy@example.org"];
  const mine = ["--from", iso(shift(1).from), "--until", iso(shift(1).until)];
  const half = await run([...words, ...mine, "--return-from", iso(shift(2).from)], { env });
  assert.deepEqual([half.code, half.err.includes("go together")], [2, true]);
  const theirs = ["--return-from", iso(shift(2).from), "--return-until", iso(shift(2).until)];
  assert.match((await run([...words, ...mine, ...theirs], { env })).out, /asked cy@example\.org/);
  const [note = ""] = await heard(1);
  assert.match(note, /\/p2 .*In return bob@example\.org takes/);
  const links = () =>
    box.tenant.store
      .sql<[], string>("SELECT id FROM asks WHERE state = 'open' ORDER BY created_at DESC")
      .pluck()
      .all();
  const at = (ask: string, { accountId }: Person) =>
    `${COVER}/${coverCapability(box.tenant.sealer, { tenantId: box.tenant.id, askId: ask, accountId })}`;
  await press(at(links()[0] ?? "", cy), "take");
  assert.deepEqual([await holder(shift(1)), await holder(shift(2))], ["cy", "bob"]);
  await heard(1);

  const tab = signedIn(box, bob);
  const span = ({ from, until }: { from: number; until: number }) => `${from}-${until}`;
  const path = `/oncall/shop/primary?swap=${span(shift(4))}`;
  const { text } = await tab.get(path);
  assert.match(text, /formaction="\/oncall\/shop\/primary\/ask">Ask them<[\s\S]*Swap at once/);
  assert.match(text, new RegExp(`<option value="${span(shift(6))}"[^>]*>ann`));
  const form = { mine: span(shift(4)), theirs: span(shift(6)) };
  const gone = { ...form, theirs: `${shift(6).from}-${shift(7).until}` };
  const post = (fields: Record<string, string>) =>
    tab.post("/oncall/shop/primary/ask", fields, { from: path });
  assert.equal((await post(gone)).status, 422, "two people's shifts");
  assert.equal((await post(form)).status, 303);
  assert.match((await heard(1)).join(), /\/p0 .*In return bob@example\.org takes/);
  assert.deepEqual([await holder(shift(4)), await holder(shift(6))], ["bob", "ann"]);
  await press(at(links()[0] ?? "", ann), "take");
  assert.deepEqual([await holder(shift(4)), await holder(shift(6))], ["ann", "bob"]);
});

test("who may ask for what, by interface, command and page; whoever takes a shift by hand tells whose it was", async (t) => {
  const { box, people, shift, heard, ask, now, link, press, holder } = await story(t);
  const [ann, bob, cy] = people;
  const stranger = box.person("member", "dan@example.org");
  const usual = { ...shift(1), of: [cy.accountId] };
  const cases: [who: Person, more: object, status: number, code: string][] = [
    [stranger, {}, 403, "forbidden"],
    [ann, {}, 422, "invalid_ask"],
    [bob, { until: shift(2).until }, 422, "invalid_ask"],
    [bob, { from: now - 60 }, 422, "invalid_ask"],
    [bob, { until: shift(1).from }, 422, "invalid_ask"],
    [bob, { until: shift(1).from + 91 * DAY }, 422, "invalid_ask"],
    [bob, { of: [bob.accountId] }, 422, "invalid_ask"],
    [bob, { of: ["0123456789abcdef"] }, 422, "not_a_member"],
    [bob, { of: [] }, 400, "invalid_request"],
    [bob, { in_return: shift(3) }, 422, "invalid_ask"],
    [bob, { schedule: "shop/none" }, 422, "unknown_schedule"],
    [bob, { note: "x".repeat(501) }, 400, "invalid_request"],
  ];
  for (const [who, more, status, code] of cases) {
    const refused = await ask({ ...usual, ...more }, who.key);
    assert.deepEqual(
      [refused.status, refused.body.error?.code],
      [status, code],
      JSON.stringify(more),
    );
  }
  const managers = await ask({ ...usual, of: [ann.accountId] }, box.owner.key);
  assert.equal(managers.status, 201, "a manager asks for anybody");
  assert.match((await heard(1)).join(), /\/p0 bob@example\.org asks you/);
  const env = { BOX_URL: box.url, BOX_KEY: bob.key };
  const iso = (at: number) => new Date(at * 1000).toISOString().replace(".000", "");
  const times = ["--from", iso(shift(4).from), "--until", iso(shift(4).until)];
  const words = ["oncall", "ask", "shop/primary", ...times, "--of", "cy@example.org"];
  assert.match((await run(words, { env })).out, /asked cy@example\.org/);
  await heard(1);
  const tab = signedIn(box, bob);
  const { from, until } = shift(1);
  const at = `/oncall/shop/primary?ask=${from}-${until}`;
  assert.match((await tab.get(at)).text, /Ask for cover<\/h2>/);
  const form: [string, string][] = [
    ["mine", `${from}-${until}`],
    ["of", cy.accountId],
    ["note", "by page"],
  ];
  assert.equal((await tab.post("/oncall/shop/primary/ask", form, { from: at })).status, 303);
  assert.match((await heard(1)).join(), /\/p2 .*by page/);
  const fields: [string, string][] = [
    ["starts_at", String(from)],
    ["ends_at", String(until)],
  ];
  await signedIn(box, ann).post("/oncall/shop/primary/take", fields, { from: "/oncall" });
  assert.match((await heard(1)).join(), /\/p1 ann@example\.org takes your shift/);
  assert.equal(await holder(shift(1)), "ann");
  const swap: [string, string][] = [
    ["mine", `${shift(2).from}-${shift(2).until}`],
    ["theirs", `${shift(3).from}-${shift(3).until}`],
  ];
  const cys = signedIn(box, cy);
  const swapped = await cys.post("/oncall/shop/primary/swap", swap, { from: "/oncall" });
  assert.match((await heard(1)).join(";"), /^\/p0 cy@.* takes your shift \| .*in return\.[^;]*$/);
  const back = undoOf((await cys.get(swapped.headers.get("location") ?? "")).text);
  await cys.post(back.action, back.fields, { from: "/oncall" });
  assert.match(
    (await heard(1)).join(";"),
    /^\/p0 cy@.* gives your shift back \| .*You no longer have [^;]*$/,
  );
  assert.deepEqual([await holder(shift(2)), await holder(shift(3))], ["cy", "ann"]);
  await cys.post("/oncall/shop/primary/swap", swap, { from: "/oncall" });
  await heard(1);
  // What was asked before is no longer Bob's to give.
  const [open] = box.tenant.store
    .sql<[], { id: string }>("SELECT id FROM asks WHERE note = 'by page'")
    .all();
  assert.match((await press(link(open?.id ?? "", cy), "take")).text, /has changed since/);
});
