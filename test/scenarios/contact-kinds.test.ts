import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { after, before, type TestContext, test } from "node:test";
import pino from "pino";
import { openGateway } from "../../src/out/contacts/gateways.ts";
import { contactKindList } from "../../src/out/services/list.ts";
import { type Answer, type Person, type TestBox, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { reachBy, toldIn } from "../support/contacts.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { hostileTexts } from "../support/rooms.ts";
import { type ContactService, contactService, serviceNames } from "../support/services.ts";
import { busy, pass, settle, through, until } from "../support/until.ts";

/** Every kind of contact with its service, on one box: from its gateway's first setting to a service that is gone. */

let box: TestBox;
let bob: Person;
let backup: Receiver;
const logged: string[] = [];
const answers: string[] = [];

before(async () => {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  backup = await startReceiver();
  box = await testBox(
    { publicUrl: "https://box.example" },
    handClock(),
    pino({ level: "trace" }, sink),
  );
  bob = box.person("member", "bob@example.org");
  await reachBy(box, bob, backup, "/bob");
});
after(async () => {
  await box.stop();
  await backup.close();
});

async function call(method: string, path: string, body?: unknown, key?: string): Promise<Answer> {
  const got = await box.api(method, path, body, key);
  answers.push(JSON.stringify(got.body));
  return got;
}

interface Entry {
  kind: string;
  detail: Record<string, unknown>;
}

/** A person with one contact of this kind, first on a ladder whose second is reached by a webhook. */
async function story(t: TestContext, name: (typeof serviceNames)[number]) {
  const service = await contactService(t, name, box.clock.now());
  const project = `p-${name.replace("_", "-")}`;
  const token = await box.project(project);
  const ann = box.person("member", `${name}@example.org`);
  const step = ({ accountId }: Person, after_minutes: number) => ({
    after_minutes,
    accounts: [accountId],
    schedules: [],
    repeat_minutes: 0,
  });
  const made = await box.api("POST", `/v1/projects/${project}/rules`, {
    name: "errors",
    identifier_keys: ["n"],
    escalations: [step(ann, 0), step(bob, 30)],
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  let n = 0;
  const open = async (message = "payment 4711 failed") =>
    box.ingest(token, { message, level: 500, keys: { n: `${++n}` } });
  const newest = () => String(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get());
  const fire = async (message?: string) => {
    await open(message);
    await settle(box);
    return newest();
  };
  let seen = 0;
  /** What the person was shown since the last time. */
  const fresh = () => {
    const all = service.shown();
    const found = all.slice(seen);
    seen = all.length;
    return found;
  };
  const timeline = async (id: string): Promise<Entry[]> =>
    (await call("GET", `/v1/alerts/${id}/timeline`)).body.timeline;
  const kindsIn = async (id: string) => (await timeline(id)).map(({ kind }) => kind);
  const gateway = async () => (await call("GET", `/v1/gateways/${service.gateway}`)).body;
  const acknowledge = async (id: string) => {
    assert.equal((await call("POST", `/v1/alerts/${id}/ack`, {})).status, 200);
    await settle(box);
  };
  const bobHeard = (id: string) =>
    backup.received.some((request) =>
      toldIn(request).alerts.some(({ alert_id, event }) => alert_id === id && /escal/.test(event)),
    );
  return {
    service,
    ann,
    open,
    newest,
    fire,
    fresh,
    timeline,
    kindsIn,
    gateway,
    acknowledge,
    bobHeard,
  };
}

async function setGateway({ gateway, settings, wrong, forbidden }: ContactService) {
  if (gateway === null) return;
  const path = `/v1/gateways/${gateway}`;
  const refused = await call("PUT", path, wrong);
  const isForm = gateway === "web_push";
  assert.deepEqual(
    [refused.status, refused.body.error.code],
    isForm ? [400, "invalid_request"] : [422, "gateway_refused"],
  );
  if (!isForm) {
    const guarded = await call("PUT", path, forbidden);
    assert.deepEqual([guarded.status, guarded.body.error.code], [403, "address_refused"]);
  }
  assert.equal((await call("GET", path)).status, 404, "what was refused is not stored");
  const put = await call("PUT", path, settings);
  assert.deepEqual([put.status, put.body.last_error], [200, null], JSON.stringify(put.body));
}

/** Adds and verifies the person's contact; its id. */
async function addContact(service: ContactService, ann: Person): Promise<string> {
  const { kind, contact, bad } = service;
  const base = "/v1/accounts/me/contacts";
  assert.equal((await call("POST", base, { kind, ...bad }, ann.key)).status, 400);
  const made = await call("POST", base, { kind, ...contact }, ann.key);
  assert.deepEqual([made.status, made.body.state], [201, "unverified"], JSON.stringify(made.body));
  const path = `${base}/${made.body.id}`;
  const sent = await call("POST", `${path}/verify`, {}, ann.key);
  assert.deepEqual(sent.body.sent, { ok: true }, service.faults().join());
  const said = service.shown().at(-1)?.text ?? "";
  const codes = [...said.matchAll(/(?<!\d)(?:\d ?){6}(?!\d)/g)].map(([code]) =>
    code.replaceAll(" ", ""),
  );
  assert.ok(codes.length >= (kind === "voice" ? 2 : 1), said);
  const verified = await call("POST", `${path}/verify`, { code: codes[0] }, ann.key);
  assert.deepEqual([verified.status, verified.body.state], [200, "verified"]);
  const tested = await call("POST", `${path}/test`, {}, ann.key);
  assert.deepEqual(tested.body, { ok: true });
  assert.match(service.shown().at(-1)?.text ?? "", /a page would reach you here/);
  const rules = [{ after_seconds: 0, contacts: [made.body.id] }];
  assert.equal((await call("PUT", "/v1/accounts/me/notify", { rules }, ann.key)).status, 200);
  return path;
}

type Story = Awaited<ReturnType<typeof story>>;

async function pagesAndBundles(one: Story) {
  const { service, fire, fresh, acknowledge, newest, open } = one;
  const { gapSeconds, notes } = service;
  fresh();
  const first = await fire();
  const [page, ...more] = fresh();
  assert.match(page?.text ?? "", /4 ?7 ?1 ?1/);
  assert.deepEqual([more.length, page?.quiet], [0, false]);

  const ids: string[] = [];
  for (const text of [...hostileTexts, "x\r\nBcc: eve@evil.test\r\n\r\nbody", "مرحبا 你好 💥 ж"]) {
    await open(text.slice(0, 60_000));
    ids.push(newest());
  }
  await settle(box);
  assert.deepEqual(fresh(), [], "later pages wait");
  await pass(box, gapSeconds + 1, gapSeconds);
  const [bundle, ...others] = fresh();
  assert.equal(others.length, 0);
  assert.match(bundle?.text ?? "", new RegExp(`${[...String(ids.length)].join(" ?")} alerts`));
  if (gapSeconds === 5)
    for (const id of ids) assert.match(bundle?.text ?? "", new RegExp(`\\b${id}:`));

  await acknowledge(first);
  const told = fresh();
  assert.equal(told.length, notes === "none" ? 0 : 1);
  if (notes !== "none") assert.equal(told[0]?.quiet, true);
  if (notes === "edit" || notes === "message") assert.match(told[0]?.text ?? "", /acknowledged/i);
  // Of several that one message named, the message stays until the last of them is taken.
  const edits: boolean[] = [];
  for (const id of ids) {
    const before = service.faults().length;
    const count = messagesOf(service);
    await acknowledge(id);
    assert.equal(service.faults().length, before);
    edits.push(messagesOf(service) === count);
  }
  assert.equal(fresh().length, notes === "none" ? 0 : ids.length);
  return edits;
}

/** Messages that stand; an edit or the end of a ringing makes no new one. */
const messagesOf = (service: ContactService): number =>
  service.shown().filter(({ text }) => text !== "still").length;

async function troubles(one: Story) {
  const { service, fire, fresh, kindsIn, acknowledge } = one;
  for (const trouble of ["down", "busy", "nonsense"] as const) {
    await pass(box, 120, 60);
    fresh();
    if (!service.be(trouble)) continue;
    const id = await fire();
    assert.deepEqual(fresh(), [], trouble);
    const kinds = await kindsIn(id);
    assert.deepEqual(kinds, ["opened", "escalated", "page_delayed"], trouble);
    if (trouble === "busy" && service.kind !== "email") {
      const asked = service.asked();
      await pass(box, 18, 6);
      assert.equal(service.asked(), asked, "it waits as long as the service asks");
    }
    service.well();
    await pass(box, 60, 20);
    assert.equal(fresh().length, 1, trouble);
    await acknowledge(id);
  }
}

async function slow({ service, open, newest, fresh, kindsIn, acknowledge }: Story) {
  await pass(box, 120, 60);
  if (!service.be("slow")) return;
  fresh();
  const asked = service.asked();
  await open();
  await busy(box, () => service.asked() > asked, "it is asked");
  await through(
    box,
    until(() => box.tenant.outbox.pages.inFlight === 0, "the attempt ends"),
  );
  const id = newest();
  service.well();
  await settle(box);
  assert.ok((await kindsIn(id)).includes("page_delayed"));
  await pass(box, 60, 20);
  assert.equal(fresh().length, 1);
  await acknowledge(id);
}

async function gone(story: Story) {
  const { service, ann, fire, kindsIn, acknowledge, bobHeard, timeline } = story;
  await pass(box, 120, 60);
  if (!service.be("gone")) return;
  const id = await fire();
  await pass(box, 2);
  const kinds = await kindsIn(id);
  assert.deepEqual(kinds.slice(2, 5), ["page_failed", "unreachable", "escalated"]);
  assert.ok(bobHeard(id), "the next one is paged at once");
  const [failed] = (await timeline(id)).filter(({ kind }) => kind === "page_failed");
  assert.equal(failed?.detail["contact"], service.kind);
  const { contacts } = (await call("GET", "/v1/accounts/me/contacts", undefined, ann.key)).body;
  assert.equal(contacts[0].state, service.afterGone, JSON.stringify(contacts[0]));
  service.well();
  await acknowledge(id);
}

async function revoked(story: Story, path: string) {
  const { service, fire, fresh, kindsIn, bobHeard, gateway, acknowledge, ann } = story;
  await call("PATCH", path, { state: "verified" }, ann.key);
  await pass(box, 120, 60);
  if (service.gateway === null || !service.be("revoked")) return;
  fresh();
  const id = await fire();
  await pass(box, 2);
  assert.deepEqual(
    (await kindsIn(id)).slice(2, 5),
    ["page_delayed", "unreachable", "escalated"],
    "the alert goes on",
  );
  assert.ok(bobHeard(id));
  assert.notEqual((await gateway()).last_error, null);
  const { contacts } = (await call("GET", "/v1/accounts/me/contacts", undefined, ann.key)).body;
  assert.notEqual(contacts[0].state, "off", "it isn't the person's fault");
  assert.deepEqual(fresh(), []);
  // The page isn't given up: mended settings bring it.
  service.well();
  assert.equal(
    (await call("PUT", `/v1/gateways/${service.gateway}`, service.settings)).status,
    200,
  );
  await pass(box, 60, 20);
  assert.equal(fresh().length, 1);
  assert.equal((await gateway()).last_error, null);
  await acknowledge(id);
}

const services: ContactService[] = [];
/** What the box made itself. */
const minted = new Map<string, string>();

/** What was sealed, by where it stood; each is looked for wherever it must not be. */
const secrets = new Map<string, string>();

const OF_WRONG_SETTINGS = /^(unauthorized|invalid_auth|Unauthorized|M_UNKNOWN_TOKEN|20003)$/;

for (const name of serviceNames)
  test(`${name}: set up, verified, tested, paged, bundled, told, and each trouble of its service`, async (t) => {
    const it = await story(t, name);
    await setGateway(it.service);
    const path = await addContact(it.service, it.ann);
    const edits = await pagesAndBundles(it);
    if (it.service.notes === "stop") assert.equal(edits.indexOf(true), edits.length - 1);
    const faults = it.service.faults().filter((fault) => !OF_WRONG_SETTINGS.test(fault));
    assert.deepEqual(faults, []);
    await troubles(it);
    await slow(it);
    await gone(it);
    await revoked(it, path);
    services.push(it.service);
    const kept = openGateway(box.tenant.store, box.tenant.sealer, it.service.gateway ?? "");
    for (const field of ["answers", "private_key"])
      if (kept?.[field]) minted.set(`${name}: ${field}`, kept[field]);
    if (it.service.gateway !== null)
      assert.equal((await call("DELETE", `/v1/gateways/${it.service.gateway}`)).status, 200);
    for (const [field, value] of secretsOf(it.service)) secrets.set(`${name}: ${field}`, value);
  });

function secretsOf({ kind, gateway, settings, contact }: ContactService): [string, string][] {
  const open = contactKindList.gateway(gateway ?? "")?.open ?? [];
  const closed = Object.entries(settings).filter(
    ([field]) => !open.includes(field) && !["url", "host", "port", "tls"].includes(field),
  );
  assert.ok(contactKindList.find(kind));
  return [...closed, ...Object.entries(contact)];
}

test("no address and no setting that was sealed is in an answer, a log or the database's files", () => {
  const fields = (kinds: readonly { kind: string; fields: { shape: object } }[]) =>
    kinds.flatMap(({ kind, fields: { shape } }) =>
      Object.keys(shape).map((field) => `${kind} ${field}`),
    );
  const used = [...services].flatMap(({ kind, gateway, settings, contact }) => [
    ...Object.keys(contact).map((field) => `${kind} ${field}`),
    ...Object.keys(settings).map((field) => `${gateway} ${field}`),
  ]);
  const unused = [...fields(contactKindList.kinds), ...fields(contactKindList.gateways)].filter(
    (field) => !used.includes(field),
  );
  // The box makes the keys itself; the others are no secrets.
  assert.deepEqual(unused.toSorted(), [
    "ntfy answers",
    "twilio messaging_service_sid",
    "web_push lock_screen",
    "web_push private_key",
    "web_push public_key",
    "web_push timezone",
  ]);
  assert.ok(secrets.size > 20);
  const texts = { answers: answers.join("\n"), logs: logged.join("\n"), ...filesOf(box.data) };
  assert.ok(Object.keys(texts).includes("box.db-wal"));
  for (const [name, secret] of [...secrets, ...minted])
    for (const [where, text] of Object.entries(texts))
      assert.equal(text.includes(secret), false, `${name} in ${where}`);
});

function filesOf(folder: string): Record<string, string> {
  const files = readdirSync(folder).filter((file) => statSync(join(folder, file)).isFile());
  return Object.fromEntries(
    files.map((file) => [file, readFileSync(join(folder, file), "latin1")]),
  );
}
