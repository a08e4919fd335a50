import assert from "node:assert/strict";
import { browser } from "../../src/app/prove/browser.ts";
import { getProject } from "../../src/core/projects/projects.ts";
import { issueContactCode } from "../../src/out/contacts/verify.ts";
import { findPasskey, insertPasskey } from "../../src/people/passkey.ts";
import { findSession } from "../../src/people/sessions.ts";
import { ladderDigest } from "../../src/web/console/ladders/fields.ts";
import { textDigest } from "../../src/web/console/ui/plain.ts";
import { authenticator } from "../support/authenticator.ts";
import type { Person, TestBox } from "../support/box.ts";
import { signedIn, type Tab } from "../support/console.ts";
import { sentBy } from "../support/sent-by.ts";
import type { Operation } from "./document.ts";
import { type Fixture, fixture, fresh, PROVIDER } from "./fixture.ts";

/** What somebody needs to send one form: a project of their own with one of each thing, and a tab. */
export interface PageFixture {
  person: Person;
  tab: Tab;
  /** The address of a screen, or of a form, with its names filled in; throws for one that nobody has taught it. */
  address(path: string): Promise<string>;
  /** What the form at this path is sent with; throws for a form that nobody has taught it. */
  fields(path: string): Promise<[string, string][]>;
}

interface Case {
  box: TestBox;
  person: Person;
  tab: Tab;
  f: Fixture;
  value(name: string, path: string): Promise<string>;
  /** What a page sends as it stands there, or one form of it by its id, with some of its fields filled in. */
  filled(path: string, fields: Fields, form?: string): Promise<Sent>;
  api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
}

type Fields = Record<string, string>;
/** In the order of the page, where a name may stand several times. */
type Sent = [string, string][];
type Make = (of: Case) => Fields | Sent | Promise<Fields | Sent>;

const HOOK = "http://127.0.0.1:9/hook";
/** One that nobody serves: it is stored untested. */
const RELAY = {
  relay_url: "http://127.0.0.1:9/v1/relay/rk_0123456789abcdef",
  relay_secret: "s".repeat(43),
};
const nothing: Make = () => ({});
const sql = ({ box }: Case, text: string, ...values: unknown[]) =>
  box.tenant.store.write((tx) => tx.sql(text).run(...values));

const proof = (id: (of: Case) => Promise<{ account: string; id: string }>): Make => {
  return async (of) => {
    const contact = await id(of);
    sql(of, "UPDATE contacts SET state = 'unverified' WHERE id = ?", contact.id);
    return { code: of.box.tenant.store.write((tx) => issueContactCode(tx, contact)) };
  };
};
/** Their only one that waits for its code. */
const waiting = async (of: Case) => {
  const [account, id] = [of.person.accountId, await of.value("contact", "/me/devices")];
  sql(of, "DELETE FROM contacts WHERE account_id = ? AND id <> ?", account, id);
  return { account, id };
};

/** Forms on contacts, at whosever page they stand. */
const contactForms = (
  at: string,
  account: (of: Case) => Promise<string>,
): Record<string, Make> => ({
  [`${at}/add`]: () => ({ kind: "webhook", address: HOOK }),
  [`${at}/{contact}/code`]: nothing,
  [`${at}/{contact}/verify`]: proof(async (of) => ({
    account: await account(of),
    id: await of.value("contact", at),
  })),
  [`${at}/{contact}/ring`]: nothing,
  [`${at}/{contact}/off`]: nothing,
  [`${at}/{contact}/on`]: ofContactAt(at),
  [`${at}/{contact}/delete`]: nothing,
});
function ofContactAt(at: string): Make {
  return async (of) => {
    sql(of, "UPDATE contacts SET state = 'off' WHERE id = ?", await of.value("contact", at));
    return {};
  };
}

/** Forms on times away, at whosever page they stand. */
const awayForms = (at: string, account: (of: Case) => Promise<string>): Record<string, Make> => ({
  [`${at}/away/add`]: () => ({
    from: "2030-01-05T09:00",
    until: "2030-01-06T09:00",
    note: fresh("trip"),
  }),
  [`${at}/away/remove`]: async (of) => {
    const spans = JSON.stringify([{ from: 1, until: 2, note: "" }]);
    sql(of, "INSERT OR REPLACE INTO away (id, spans) VALUES (?, ?)", await account(of), spans);
    return { from: "1", until: "2" };
  },
  [`${at}/away/calendar`]: () => ({ ical: `https://127.0.0.1:9/${fresh("calendar")}` }),
});

/** Forms on alerts: `more` names the alert where the address doesn't. */
const alertForms = (
  at: string,
  more: (of: Case) => Fields | Promise<Fields>,
): Record<string, Make> => {
  const withId =
    (fields: Fields, before?: (of: Case) => Promise<unknown>): Make =>
    async (of) => {
      const id = await more(of);
      await before?.(of);
      return { ...id, ...fields };
    };
  return {
    [`${at}/ack`]: withId({}),
    [`${at}/unack`]: withId({}, async (of) =>
      of.api("POST", `/v1/alerts/${await of.value("alert", "/a/{alert}")}/ack`),
    ),
    [`${at}/resolve`]: withId({ anyway: "on" }),
    [`${at}/silence`]: withId({ hours: "1", reason: "deploy", critical: "on" }),
    [`${at}/unsilence`]: async (of) => ({ silence: await of.f.param(NOWHERE, "silence") }),
    [`${at}/snooze`]: withId({ hours: "1" }),
    [`${at}/assign`]: async (of) => ({ ...(await more(of)), account: of.box.owner.accountId }),
    [`${at}/note`]: withId({ text: "seen" }),
  };
};

/** As the form of a heartbeat is filled in. */
const beat = {
  how: "every",
  period_seconds: "1",
  "period_seconds-unit": "3600",
  grace_seconds: "7",
  "grace_seconds-unit": "60",
  level: "400",
};

/** A path that no parameter's meaning hangs on. */
const NOWHERE = { path: "/" } as Operation;
const soon = ({ box }: Case, seconds: number) =>
  String(Math.floor(box.clock.now() / 1000) + seconds);
/** As a field of date and time is filled in, in UTC. */
const local = (of: Case, hours: number) =>
  new Date(Number(soon(of, hours * 3600)) * 1000).toISOString().slice(0, 16);
const rulePage = async ({ f, value }: Case) =>
  `/p/${f.project}/rules/${await value("rule", "/p/{project}/rules/{rule}")}`;
const layersPage = async ({ f, value }: Case) =>
  `/oncall/${f.project}/${await value("schedule", "")}/layers`;
const first = async (of: Case) => {
  await of.box.api("DELETE", "/v1/projects/first");
};
const started = async (of: Case) => {
  await first(of);
  await of.api("POST", "/v1/projects", { name: "first" });
  await of.api("POST", "/v1/projects/first/sources", { name: "web" });
};

/** By the form's path: everything that a page takes. */
export const pageBodies: Record<string, Make> = {
  ...alertForms("/alerts", async ({ value }) => ({ id: await value("alert", "/a/{alert}") })),
  ...alertForms("/a/{alert}", () => ({})),
  "/a/{alert}/escalate": nothing,
  "/a/{alert}/order": () => ({ timeline: "oldest" }),
  "/a/{alert}/actions/{action}/run": () => ({ anyway: "1" }),
  "/a/{alert}/notes/{note}": () => ({ text: "seen twice" }),
  "/a/{alert}/notes/{note}/delete": nothing,
  "/a/{alert}/silence/try": nothing,
  "/alerts/silence/try": () => ({ id: "1" }),
  "/numbers/settings": () => ({ numbers_timezone: "Europe/Vienna" }),
  "/numbers/digest": () => ({ to: "", weekday: "1", hour: "6" }),
  "/numbers/send": async ({ f }) => {
    await f.query({ id: "sendDigest" } as Operation);
    return {};
  },
  "/me/clock": () => ({ timezone: "Europe/Vienna" }),
  "/numbers/hide": async ({ f }) => ({
    id: await f.param({ path: "/v1/advice/" } as Operation, "id"),
  }),
  "/silences/new": () => ({ "match/rule": "errors", until: "1h", reason: "deploy" }),
  "/silences/new/try": () => ({ "match/rule": "errors", until: "1h" }),
  "/silences/again": (of) => ({
    silence: JSON.stringify({
      match: { rule: "errors" },
      ends_at: Number(soon(of, 3600)),
      reason: "deploy",
    }),
  }),
  "/silences/{silence}": (of) => ({ ends_at: local(of, 3), reason: "longer" }),
  "/silences/{silence}/end": nothing,
  "/silences/{silence}/longer": nothing,
  "/heartbeats/new": ({ f }) => ({ ...beat, name: fresh("job"), project: f.project }),
  "/heartbeats/new/try": () => ({ ...beat, name: "job" }),
  "/heartbeats/{heartbeat}": () => ({ ...beat, name: fresh("job") }),
  "/heartbeats/{heartbeat}/pause": nothing,
  "/heartbeats/{heartbeat}/resume": async (of) => {
    const hid = await of.value("heartbeat", "");
    await of.api("POST", `/v1/projects/${of.f.project}/heartbeats/${hid}/pause`);
    return {};
  },
  "/heartbeats/{heartbeat}/own-ladder": ({ box }) => ({ recipient: `a:${box.owner.accountId}` }),
  "/heartbeats/{heartbeat}/rotate": nothing,
  "/heartbeats/{heartbeat}/delete": nothing,
  "/people/invite": () => ({ role: "member", hours: "1" }),
  "/people/codes/{pairing_code}/revoke": nothing,
  "/people/{account}/change": () => ({ display_name: fresh("D"), role: "member" }),
  "/people/{account}/reset": nothing,
  "/people/{account}/remove": nothing,
  "/people/{account}/replace": named,
  "/people/{account}/replace/try": named,
  "/people/{account}/sessions/{session}/end": nothing,
  "/people/{account}/keys/{key}/revoke": nothing,
  ...contactForms("/people/{account}", (of) => of.value("account", "/people/{account}")),
  ...awayForms("/people/{account}", (of) => of.value("account", "/people/{account}")),
  ...awayForms("/me", async ({ person }) => person.accountId),
  "/me/name": () => ({ display_name: fresh("Me") }),
  "/me/password": async (of) => {
    const hash = await of.box.tenant.passwords.hash("correct horse");
    sql(of, "UPDATE accounts SET password_hash = ? WHERE id = ?", hash, of.person.accountId);
    return { old: "correct horse", new: "battery staple" };
  },
  "/me/notify": async (of) => {
    const id = await of.value("contact", "/me/devices");
    sql(of, "UPDATE contacts SET state = 'verified' WHERE id = ?", id);
    return { [`after-${id}`]: "60", [`level-${id}`]: "0" };
  },
  "/me/notify/usual": nothing,
  "/me/look": () => ({ theme: "dark", rows: "compact", keys: "on" }),
  "/me/devices/key": nothing,
  "/me/devices/browser": async () => subscriptionFields(),
  "/me/devices/{contact}/change": () => ({ label: "pixel", wants: "pages", lock_screen: "place" }),
  ...contactForms("/me/devices", async ({ person }) => person.accountId),
  "/me/sessions/{session}/end": nothing,
  "/me/sessions/end-others": (of) => {
    signedIn(of.box, of.person);
    return {};
  },
  "/me/sessions/key": () => ({ label: fresh("script") }),
  "/me/sessions/key/{key}/revoke": nothing,
  "/me/passkeys/add": async ({ box, person, tab }) => {
    const head = await tab.get("/me/passkeys");
    const challenge = head.headers.get("x-challenge") ?? "";
    const userHandle = Buffer.from(person.accountId).toString("base64url");
    const asked = { challenge, rpId: "localhost", origin: box.url, userHandle };
    return { name: fresh("phone"), passkey: authenticator().create(asked) };
  },
  "/me/passkeys/{passkey}/remove": nothing,
  "/people/{account}/passkeys/{passkey}/remove": nothing,
  "/me/phone/link": nothing,
  "/me/phone/answer": async ({ box, tab }) => {
    await tab.post("/me/phone/link");
    const { store, ways } = box.tenant;
    const cookie = tab.cookie.replace(/^box=/, "");
    const desk = findSession(store, cookie, Math.floor(box.clock.now() / 1000))?.sessionId ?? "";
    const shown = ways.phones.deskSees(desk);
    const code = shown?.state === "shown" ? shown.code : "";
    const secret = ways.phones.claim(code, { address: "", agent: "" });
    const seen = ways.phones.phoneSees(secret ?? "");
    return { digits: seen?.state === "asked" ? seen.digits : "" };
  },
  "/me/phone/cancel": nothing,
  "/signout": nothing,
  "/system/doctor": nothing,
  "/system/backup": nothing,
  "/system/walls": () => ({ name: fresh("screen"), without: "messages" }),
  "/system/walls/{wall}/revoke": nothing,
  "/system/sign-in/password": () => ({ password: "on" }),
  "/system/sign-in/providers": () => {
    const { test: _, ...typed } = PROVIDER;
    return { ...typed, scopes: "openid email", groups_claim: "groups", groups_admin: "a, b" };
  },
  "/system/sign-in/providers/{sign_in_provider}/change": () => ({
    name: fresh("Lab"),
    issuer: PROVIDER.issuer,
    client_id: PROVIDER.client_id,
    scopes: "openid",
    groups_claim: "groups",
  }),
  "/system/sign-in/providers/{sign_in_provider}/test": nothing,
  "/system/sign-in/providers/{sign_in_provider}/remove": nothing,
  "/system/gateways/{gateway}": () => ({ subject: "mailto:o@example.org" }),
  "/system/gateways/{gateway}/test": nothing,
  "/system/gateways/{gateway}/remove": nothing,
  "/system/relay": () => RELAY,
  "/system/relay/test": async ({ box }) => {
    await box.api("PUT", "/v1/relay", RELAY);
    return {};
  },
  "/system/relay/remove": async ({ box }) => {
    await box.api("PUT", "/v1/relay", RELAY);
    return {};
  },
  "/welcome/phone": async (of) => {
    await of.box.api("PUT", "/v1/gateways/ntfy", { url: "http://127.0.0.1:9", test: false });
    return {};
  },
  "/welcome/again": async (of) => {
    const { id } = await waiting(of);
    sql(of, "UPDATE contacts SET state = 'unverified' WHERE id = ?", id);
    return {};
  },
  "/welcome/code": proof(waiting),
  "/welcome/ring": async (of) => {
    await of.value("contact", "/me/devices");
    return {};
  },
  "/welcome/start": async (of) => {
    await first(of);
    return {};
  },
  "/welcome/token": async (of) => {
    await started(of);
    return {};
  },
  "/welcome/send": async (of) => {
    await started(of);
    return {};
  },
  "/p": () => ({ name: fresh("more") }),
  "/p/{project}/rename": () => ({ name: fresh("renamed") }),
  "/p/{project}/delete": ({ f }) => ({ name: f.project }),
  "/p/{project}/connect": () => ({ kind: "alertmanager", name: fresh("sender") }),
  "/p/{project}/sources/{source}/keep": (of) => keeps(of, false),
  "/p/{project}/sources/{source}/forget": (of) => keeps(of, true),
  "/p/{project}/sources/{source}/keys/add": () => ({ key: fresh("an-earlier-tools-key") }),
  "/p/{project}/sources/{source}/keys/{source_key}/delete": nothing,
  "/ladders/fallback": ({ box }) => ({ account: box.owner.accountId }),
  "/p/{project}/sources/{source}/rename": () => ({ name: fresh("renamed") }),
  "/p/{project}/sources/{source}/rotate": nothing,
  "/p/{project}/sources/{source}/delete": nothing,
  "/p/{project}/config": (of) => ({ ...emptied(of), delete: "true" }),
  "/p/{project}/config/plan": emptied,
  "/p/{project}/channels": () => ({ type: "webhook", name: fresh("hook"), url: HOOK }),
  "/p/{project}/channels/{integration}/enable": async (of) => {
    const iid = await of.value("integration", "");
    sql(of, "UPDATE integrations SET enabled = 0 WHERE id = ?", iid);
    return {};
  },
  "/p/{project}/channels/{integration}/disable": nothing,
  "/p/{project}/channels/{integration}/test": nothing,
  "/p/{project}/channels/{integration}/change": () => ({ name: fresh("hook"), url: HOOK }),
  "/p/{project}/channels/{integration}/delete": nothing,
  "/p/{project}/channels/{integration}/deliveries/{delivery}/resend": nothing,
  "/p/{project}/channels/{integration}/deliveries/{delivery}/check": () => ({
    timestamp: "1",
    signature: "0".repeat(64),
    body: "{}",
    id: "1",
  }),
  "/p/{project}/actions": () => ({ name: fresh("act"), method: "POST", url: HOOK, enabled: "on" }),
  "/p/{project}/actions/{action}/change": () => ({ name: fresh("act"), method: "POST", url: HOOK }),
  "/p/{project}/actions/{action}/test": nothing,
  "/p/{project}/actions/{action}/delete": nothing,
  "/p/{project}/new-rule/try": ({ f, filled }) =>
    filled(`/p/${f.project}/new-rule`, { name: "tried" }),
  "/p/{project}/new-rule/edit": ({ f, filled }) =>
    filled(`/p/${f.project}/new-rule`, { do: "add-step" }),
  "/p/{project}/new-rule": ({ f, filled }) =>
    filled(`/p/${f.project}/new-rule`, { name: fresh("rule") }),
  "/p/{project}/rules/{rule}/try": async (of) => of.filled(await rulePage(of), {}),
  "/p/{project}/rules/{rule}/edit": async (of) => of.filled(await rulePage(of), { do: "add-step" }),
  "/p/{project}/rules/{rule}": async (of) => of.filled(await rulePage(of), { window_minutes: "9" }),
  "/p/{project}/rules/{rule}/delete": nothing,
  "/p/{project}/rules/{rule}/ladder/edit": async (of) => ownLadder(of, { do: "add-step" }),
  "/p/{project}/rules/{rule}/ladder": async (of) => ownLadder(of, { s0_after: "9" }),
  "/p/{project}/rules/{rule}/ladder/adopt": () => ({ name: fresh("ladder") }),
  "/ladders/adopt": async (of) => {
    const escalations = [{ accounts: [of.person.accountId], after_minutes: 0 }];
    const rule = { name: fresh("rule"), escalations };
    await of.api("POST", `/v1/projects/${of.f.project}/rules`, rule);
    return { name: fresh("ladder"), rule: `${of.f.project}/${rule.name}` };
  },
  "/new-ladder/edit": () => ({ name: "tried", do: "add-step" }),
  "/new-ladder": () => ({ name: fresh("ladder") }),
  "/ladders/{ladder}/edit": async (of) => ({ name: await namedLadder(of), do: "add-step" }),
  "/ladders/{ladder}": async (of) => {
    const name = await namedLadder(of);
    const { rules, ...ladder } = (await of.box.api("GET", `/v1/ladders/${name}`)).body;
    return { name, team: fresh("team"), read: ladderDigest(ladder) };
  },
  "/ladders/{ladder}/delete": nothing,
  "/p/{project}/rules/{rule}/drill": () => ({ message: "a drill" }),
  "/p/{project}/reports/new": () => ({ title: fresh("Report") }),
  "/p/{project}/reports/{report}/entries": () => ({ content_md: "*seen*", entry_type: "analysis" }),
  "/p/{project}/reports/{report}/entries/{report_entry}": async (of) => ({
    content_md: "changed",
    entry_type: "update",
    title: "",
    seen: await entrySeen(of),
  }),
  "/p/{project}/reports/{report}/entries/{report_entry}/delete": nothing,
  "/p/{project}/reports/{report}/change": () => ({ title: fresh("Called"), description: "so" }),
  "/p/{project}/reports/{report}/password": () => ({ view_password: "battery" }),
  "/p/{project}/reports/{report}/address": nothing,
  "/p/{project}/reports/{report}/delete": nothing,
  "/p/{project}/reports/{report}/preview": () => ({ content_md: "**so**" }),
  "/oncall/weekly": ({ f, box }) => ({
    project: f.project,
    name: fresh("rota"),
    timezone: "UTC",
    person: box.owner.accountId,
  }),
  "/oncall/{project}/{schedule}/cover": covered,
  "/oncall/{project}/{schedule}/try-cover": covered,
  "/oncall/{project}/{schedule}/take": (of) => ({
    starts_at: soon(of, 3600),
    ends_at: soon(of, 7200),
  }),
  "/oncall/{project}/{schedule}/ask": async (of) => {
    const [starts_at, ends_at] = [soon(of, 9000), soon(of, 9060)].map(Number);
    const name = await of.f.param(NOWHERE, "sid");
    const at = `/v1/projects/${of.f.project}/oncall/schedules/${name}/overrides`;
    await of.api("POST", at, { account_id: of.person.accountId, starts_at, ends_at });
    return { mine: `${starts_at}-${ends_at}`, of: of.box.person("member").accountId };
  },
  "/oncall/{project}/{schedule}/swap": swapped,
  "/oncall/{project}/{schedule}/uncover": async (of) => ({ ids: await of.value("override", "") }),
  "/oncall/{project}/{schedule}/put-back": (of) => ({
    account_id: of.person.accountId,
    starts_at: soon(of, 3600),
    ends_at: soon(of, 7200),
  }),
  "/oncall/{project}/{schedule}/overrides/{override}/remove": nothing,
  "/oncall/{project}/{schedule}/layers": async (of) =>
    of.filled(await layersPage(of), { timezone: "Europe/Vienna" }, "layers-form"),
  "/oncall/{project}/{schedule}/layers/try": async (of) =>
    of.filled(await layersPage(of), {}, "layers-form"),
  "/oncall/{project}/{schedule}/layers/delete": nothing,
  "/oncall/{project}/{schedule}/calendar": () => ({ whose: "mine" }),
  "/oncall/{project}/{schedule}/calendar/{calendar}/revoke": nothing,
};

/** Which version of an entry its form has seen. */
async function entrySeen(of: Case): Promise<string> {
  const [report, entry] = [await of.value("report", ""), await of.value("report_entry", "")];
  const sent = await of.filled(`/p/${of.f.project}/reports/${report}?entry=${entry}`, {}, "entry");
  return sent.find(([name]) => name === "seen")?.[1] ?? "";
}

function covered(of: Case): Fields {
  return { account_id: of.person.accountId, starts_at: local(of, 1), ends_at: local(of, 2) };
}

/** An hour of the caller's for one of another's. */
async function swapped(of: Case): Promise<Fields> {
  const base = `/v1/projects/${of.f.project}/oncall/schedules/${await of.value("schedule", "")}`;
  const put = async (account_id: string, from: number) => {
    const [starts_at, ends_at] = [Number(soon(of, from)), Number(soon(of, from + 3600))];
    await of.box.api("POST", `${base}/overrides`, { account_id, starts_at, ends_at });
    return `${starts_at}-${ends_at}`;
  };
  const other = of.box.person("member").accountId;
  return { mine: await put(of.person.accountId, 7200), theirs: await put(other, 90_000) };
}

const namedLadder = (of: Case) => of.value("ladder", "/ladders/{ladder}");

async function ownLadder(of: Case, fields: Fields): Promise<Sent> {
  return of.filled(`${await rulePage(of)}/ladder`, fields, "ladder-form");
}

/** Somebody whom a ladder names, and the owner in their place. */
async function named(of: Case): Promise<Fields> {
  const account = await of.value("account", "/people/{account}");
  await of.api("POST", `/v1/projects/${of.f.project}/rules`, {
    name: fresh("rule"),
    escalations: [{ accounts: [account], after_minutes: 0 }],
  });
  return { by: of.box.owner.accountId };
}

/** A text that leaves nothing of a project, with what its plan would say. */
function emptied({ box, f }: Case): Fields {
  const text = `format: 1\nprojects:\n  - name: ${f.project}\n`;
  const { version } = getProject(box.tenant.store, f.project);
  return { text, version: String(version), digest: textDigest(text) };
}

function subscriptionFields(): Fields {
  const { endpoint, keys } = browser().subscription(`https://push.example.org/${fresh("form")}`);
  return { endpoint, ...keys, label: "pixel", timezone: "UTC" };
}

async function keeps({ box, f }: Case, retain_logs: boolean): Promise<Fields> {
  await box.api("PUT", `/v1/projects/${f.project}/sources/app`, { retain_logs });
  return {};
}

/** A passkey of an account's, by its id. */
function passkeyOf({ tenant }: TestBox, accountId: string): string {
  const credential = fresh("credential");
  tenant.store.write((tx) =>
    insertPasskey(tx, {
      accountId,
      credential,
      name: "laptop",
      publicKey: "",
      rpId: "localhost",
      counter: 0,
      transports: [],
    }),
  );
  return findPasskey(tenant.store, credential)?.id ?? "";
}

/** By their names in pages' addresses: parameters that the interface's paths call otherwise. */
const IN_THE_INTERFACE = {
  schedule: "sid",
  override: "oid",
  pairing_code: "code_id",
  contact: "cid",
  heartbeat: "hid",
  integration: "iid",
  delivery: "did",
  report: "rid",
  report_entry: "eid",
  action: "aid",
  note: "nid",
  sign_in_provider: "provider",
  gateway: "kind",
};

export async function pageFixture(box: TestBox, person: Person): Promise<PageFixture> {
  const f = await fixture(box, person.key);
  const tab = signedIn(box, person);
  const made = new Map<string, Promise<string>>();
  const once = (name: string, make: () => Promise<string>) => {
    const known = made.get(name) ?? make();
    made.set(name, known);
    return known;
  };
  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await box.api(method, path, body, person.key);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  /** What pages call otherwise than the interface's paths, and what must be the caller's own. */
  const own: Record<string, () => Promise<string>> = {
    project: async () => f.project,
    source: async () => "app",
    alert: () => f.param({ path: "/a/" } as Operation, "id"),
    rule: () => f.param({ path: "/rules/" } as Operation, "name"),
    ladder: () => f.param({ path: "/ladders/" } as Operation, "name"),
    ...Object.fromEntries(
      Object.entries(IN_THE_INTERFACE).map(([name, there]) => [
        name,
        () => f.param(NOWHERE, there),
      ]),
    ),
    session: async () => {
      const cookie = signedIn(box, person).cookie;
      assert.ok(cookie);
      return String(
        box.tenant.store
          .sql("SELECT id FROM sessions WHERE account_id = ? ORDER BY rowid DESC")
          .pluck()
          .get(person.accountId),
      );
    },
    key: async () => String((await api("POST", "/v1/keys", { label: "old" }))["id"]),
    calendar: async () => String((await api("POST", "/v1/accounts/me/calendars", {}))["id"]),
    passkey: async () => passkeyOf(box, await value("account", "/people/{account}")),
    "/me/passkeys passkey": async () => passkeyOf(box, person.accountId),
    "/people session": () => f.param(NOWHERE, "session"),
    "/people key": () => f.param(NOWHERE, "key"),
    "/me/devices/{contact}/change contact": async () => {
      const write = browser().subscription(`https://push.example.org/${fresh("browser")}`);
      return String((await api("POST", "/v1/push/subscriptions", write))["id"]);
    },
    "/me/devices contact": async () => {
      const contact = { kind: "webhook", address: HOOK };
      const { id } = await api("POST", "/v1/accounts/me/contacts", contact);
      box.tenant.store.write((tx) =>
        tx.sql("UPDATE contacts SET state = 'verified', verified_at = 1 WHERE id = ?").run(id),
      );
      return String(id);
    },
  };
  const value = (name: string, path: string): Promise<string> => {
    // Only an adapter's source has keys of earlier tools.
    if (path.includes("/sources/{source}/keys/") && name !== "project")
      return f.param({ path } as Operation, name === "source" ? "name" : "kid");
    // A browser is a contact of its own sort.
    const places = ["/me/devices/{contact}/change", "/me/devices", "/me/passkeys", "/people"];
    const at = places.find((one) => path.startsWith(one)) ?? "";
    const make = own[`${at} ${name}`] ?? own[name];
    if (make !== undefined) return once(`${at} ${name}`, make);
    return f.param({ path } as Operation, name);
  };
  const filled: Case["filled"] = async (path, fields, form) => {
    const page = await tab.get(path);
    assert.equal(page.status, 200, path);
    const only = new RegExp(`<form id="${form}"[\\s\\S]*?</form>`).exec(page.text)?.[0];
    const sent = sentBy(form === undefined ? page.text : (only ?? ""));
    for (const [name, text] of Object.entries(fields)) sent.set(name, text);
    return [...sent];
  };
  const of: Case = { box, person, tab, f, value, filled, api };
  return {
    person,
    tab,
    async address(path) {
      let at = path;
      for (const [whole, name = ""] of path.matchAll(/\{([^}]+)\}/g))
        at = at.replace(whole, encodeURIComponent(await value(name, path)));
      return at;
    },
    async fields(path) {
      const make = pageBodies[path];
      assert.ok(make, `no example of the form at ${path}: teach test/matrix/page-fixture.ts one`);
      const fields = await make(of);
      return Array.isArray(fields) ? fields : Object.entries(fields);
    },
  };
}
