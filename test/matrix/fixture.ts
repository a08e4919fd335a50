import assert from "node:assert/strict";
import { browser } from "../../src/app/prove/browser.ts";
import { coverCapability } from "../../src/core/oncall/cover-capability.ts";
import { capabilityOf } from "../../src/out/paging/capability.ts";
import { receiptOf } from "../../src/out/paging/shown.ts";
import { openSession } from "../../src/people/sessions.ts";
import type { TestBox } from "../support/box.ts";
import type { Operation } from "./document.ts";

/** A fresh project and, made when first asked for, one of each thing that a path can name. */
export interface Fixture {
  project: string;
  /** The value of a path's parameter; throws for one that nobody has taught it. */
  param(operation: Operation, name: string): Promise<string>;
  /** A body that the operation takes; throws for an operation that nobody has taught it. */
  body(operation: Operation): Promise<unknown>;
  /** The query that it needs, with the question mark; makes what stands in no path. */
  query(operation: Operation): Promise<string>;
}

let last = 0;
/** A name that nothing has. */
export const fresh = (what: string) => `${what}-${++last}`;
const freshKey = () => String(++last).padStart(25, "k");
const LAYER = { name: "l", rotation_start: 1_700_000_000, shift_minutes: 1440 };
const subscription = () => browser().subscription(`http://127.0.0.1:9/${fresh("push")}`);
const HOOK = "http://127.0.0.1:9/hook";
/** A page of the alert that reached the person. */
const TOLD = `INSERT INTO pages (contact_id, account_id, alert_id, event_row, event, handle, status, due_ms, created_at, finished_at)
  VALUES (?, ?, ?, 1, 'alert.escalated', lower(hex(randomblob(6))), 'delivered', 1, 1, ?)`;
/** One that nobody serves: it is stored untested. */
export const PROVIDER = {
  name: "Lab",
  issuer: "http://127.0.0.1:9",
  client_id: "box",
  client_secret: "s",
  test: false,
};

export async function fixture(box: TestBox, caller: string = box.owner.key): Promise<Fixture> {
  const project = fresh("project");
  const base = `/v1/projects/${project}`;
  const ingestToken = await box.project(project, { retain_logs: true });
  const made = new Map<string, Promise<string>>();
  const once = (name: string, make: () => Promise<string>) => {
    const known = made.get(name) ?? make();
    made.set(name, known);
    return known;
  };
  const post = async (path: string, body: unknown, field: string, key = box.owner.key) => {
    const answer = await box.api("POST", path, body, key);
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return String(answer.body[field]);
  };

  const adapterSource = () =>
    once("adapter's source", () =>
      post(`${base}/sources`, { name: fresh("in"), kind: "grafana" }, "name"),
    );
  const escalations = [{ after_minutes: 60, accounts: [box.owner.accountId] }];
  const rule = () =>
    once("rule", () => post(`${base}/rules`, { name: fresh("rule"), escalations }, "name"));
  let copied = 100;
  const ladder = () =>
    once("ladder", () =>
      post("/v1/ladders", { name: fresh("ladder"), steps: escalations }, "name"),
    );
  const holidays = () =>
    once("holidays", async () => {
      const name = fresh("holidays");
      const made = await box.api("PUT", `/v1/holidays/${name}`, { dates: ["2026-12-25"] });
      assert.equal(made.status, 200);
      return name;
    });
  /** Somebody on a ladder whom nothing has proved to be reached for long; nobody else is. */
  const advice = () =>
    once("advice", async () => {
      const { accountId } = box.person("member");
      const steps = [{ after_minutes: 0, accounts: [accountId] }];
      await post(`${base}/rules`, { name: fresh("rule"), escalations: steps }, "name");
      const of = `/v1/accounts/${accountId}/contacts`;
      const id = await post(of, { kind: "webhook", address: HOOK }, "id");
      box.tenant.store.write((tx) => {
        tx.sql("UPDATE contacts SET verified_at = ?").run(tx.at);
        tx.sql("UPDATE contacts SET state = 'verified', verified_at = 1 WHERE id = ?").run(id);
      });
      return `unproved-${accountId}`;
    });
  const hook = () => once("hook", () => post(`${base}/webhooks`, { url: HOOK }, "id"));
  const schedule = () =>
    once("schedule", () => {
      const layers = [{ ...LAYER, participants: [box.owner.accountId] }];
      return post(
        `${base}/oncall/schedules`,
        { name: fresh("sched"), timezone: "UTC", layers },
        "name",
      );
    });
  const alert = () =>
    once("alert", async () => {
      await rule();
      await box.ingest(ingestToken, { message: "an alert", level: 500 });
      const { body } = await box.api("GET", `/v1/alerts?project=${project}`);
      return String(body.alerts[0].id);
    });
  const soon = () => Math.floor(box.clock.now() / 1000) + 3600;
  const report = () =>
    once("report", async () =>
      post(`${base}/reports`, { title: "T", alert_id: await alert() }, "id"),
    );
  const delivery = () =>
    once("delivery", async () => {
      const iid = await hook();
      await rule();
      // The alert may be older than the hook, which an example may have turned off.
      box.tenant.store.write((tx) =>
        tx.sql("UPDATE integrations SET enabled = 1 WHERE id = ?").run(iid),
      );
      await box.ingest(ingestToken, { message: "told to the hook", level: 500 });
      const { body } = await box.api("GET", `${base}/integrations/${iid}/deliveries`);
      const id = String(body.deliveries[0].id);
      box.tenant.store.write((tx) =>
        tx.sql("UPDATE deliveries SET status = 'failed' WHERE id = ?").run(id),
      );
      return id;
    });
  const code = () =>
    once("code", async () => {
      const { body } = await box.api("POST", "/v1/pair/codes", { role: "member" });
      made.set("codeText", Promise.resolve(body.code));
      return String(body.id);
    });
  const device = () =>
    once("device", async () => {
      const token = String(++last).padStart(64, "0");
      await box.api("POST", "/v1/devices", { token, platform: "ios" }, caller);
      return token;
    });

  const openFor = (accountId: string) =>
    box.tenant.store.write((tx) => {
      const browser = { method: "password", keyId: null, address: "", agent: "" } as const;
      return openSession(tx, { accountId, ...browser }).id;
    });
  /** To a channel that takes nothing. */
  const sendsDigest = async () => {
    const room = { type: "mattermost", webhook_url: HOOK };
    const integration = await once("room", () => post(`${base}/integrations`, room, "id"));
    const digest = { enabled: true, to: { integration } };
    assert.equal((await box.api("PUT", "/v1/digest", digest)).status, 200);
  };
  const callerId = async () =>
    (await box.api("GET", "/v1/me", undefined, caller)).body.account.id as string;

  const cover = () =>
    once("cover", async () => {
      const ask = (await bodies["createAsk"]?.()) as { of: string[] };
      const askId = await post("/v1/oncall/asks", ask, "id");
      const right = { tenantId: box.tenant.id, askId, accountId: ask.of[0] ?? "" };
      return coverCapability(box.tenant.sealer, right);
    });

  const values: Record<string, () => Promise<string>> = {
    aid: () =>
      once("action", () =>
        post(`${base}/actions`, { name: fresh("act"), method: "POST", url: HOOK }, "id"),
      ),
    iid: hook,
    wid: hook,
    did: delivery,
    sid: schedule,
    oid: () =>
      once("override", async () => {
        const body = {
          account_id: box.owner.accountId,
          ends_at: Math.floor(box.clock.now() / 1000) + 60,
        };
        return post(`${base}/oncall/schedules/${await schedule()}/overrides`, body, "id");
      }),
    hid: () =>
      once("heartbeat", () =>
        post(`${base}/heartbeats`, { name: fresh("job"), period_seconds: 3600 }, "id"),
      ),
    silence: () =>
      once("silence", () =>
        post("/v1/silences", { match: { rule: "quiet" }, ends_at: soon(), reason: "deploy" }, "id"),
      ),
    rid: report,
    eid: () =>
      once("entry", async () =>
        post(`${base}/reports/${await report()}/entries`, { content_md: "*a*" }, "id"),
      ),
    uuid: () =>
      once("uuid", async () => {
        const { body } = await box.api("GET", `${base}/reports/${await report()}`);
        return String(body.report.public_uuid);
      }),
    code_id: code,
    provider: () =>
      once("provider", async () => {
        box.tenant.store.write((tx) => tx.sql("DELETE FROM sign_in_providers").run());
        return post("/v1/sign-in/providers", PROVIDER, "id");
      }),
    account: () => once("account", async () => box.person("member").accountId),
    key: () =>
      once("key", async () => {
        const { accountId } = box.person("member");
        const { body } = await box.api("GET", "/v1/keys");
        return body.keys.find((key: { account_id: string }) => key.account_id === accountId).id;
      }),
    token: device,
    session: () =>
      once("session", async () =>
        openFor(await once("account", async () => box.person("member").accountId)),
      ),
    nid: () =>
      once("note", async () =>
        post(`/v1/alerts/${await alert()}/notes`, { text: "seen" }, "id", caller),
      ),
    cid: () =>
      once("contact", async () => {
        const account = await once("account", async () => box.person("member").accountId);
        const of = `/v1/accounts/${account}/contacts`;
        const id = await post(of, { kind: "webhook", address: HOOK }, "id");
        box.tenant.store.write((tx) =>
          tx.sql("UPDATE contacts SET state = 'verified', verified_at = 1 WHERE id = ?").run(id),
        );
        return id;
      }),
    pid: () =>
      once("subscription", () => post("/v1/push/subscriptions", subscription(), "id", caller)),
    wall: () => once("wall", () => post("/v1/walls", { name: fresh("screen") }, "id")),
    calendar: () =>
      once("calendar", async () => {
        const account = await once("account", async () => box.person("member").accountId);
        return post(`/v1/accounts/${account}/calendars`, {}, "id");
      }),
    file: () =>
      once("calendar's file", async () => {
        const url = await post("/v1/accounts/me/calendars", {}, "calendar_url", caller);
        return url.slice(url.lastIndexOf("/") + 1);
      }),
    drill: () => once("drill", async () => post(`${base}/rules/${await rule()}/drill`, {}, "id")),
    handle: async () => "AAAAAAAAAAAA",
    capability: () =>
      once("capability", async () => {
        const { sealer, id: tenantId, clock } = box.tenant;
        const [accountId, contactId] = [await value("account"), await value("cid")];
        const until = Math.floor(clock.now() / 1000) + 3600;
        const alertId = Number(await alert());
        box.tenant.store.write((tx) => tx.sql(TOLD).run(contactId, accountId, alertId, until));
        return capabilityOf(sealer, { tenantId, alertId, accountId, contactId, until });
      }),
    kind: () =>
      once("gateway", async () => {
        const set = { subject: "mailto:o@example.org", test: false };
        assert.equal((await box.api("PUT", "/v1/gateways/web_push", set)).status, 200);
        return "web_push";
      }),
    kid: () =>
      once("source key", async () =>
        post(`${base}/sources/${await adapterSource()}/keys`, { key: freshKey() }, "id"),
      ),
  };

  const value = (name: string): Promise<string> => {
    const make = values[name];
    assert.ok(make, name);
    return make();
  };

  const bodies: Record<string, () => Promise<unknown> | unknown> = {
    createAction: () => ({ name: fresh("act"), method: "POST", url: HOOK }),
    replaceAction: () => ({ name: fresh("act"), method: "POST", url: HOOK }),
    registerDevice: () => ({ token: String(++last).padStart(64, "a"), platform: "ios" }),
    connectSender: () => ({ kind: "alertmanager", name: fresh("sender") }),
    createPushSubscription: () => subscription(),
    changePushSubscription: () => ({ label: fresh("phone"), wants: ["pages"] }),
    createContact: () => ({ kind: "webhook", address: HOOK }),
    changeContact: () => ({ label: fresh("phone") }),
    verifyContact: () => ({}),
    putNotificationRules: async () => ({
      rules: [{ after_seconds: 60, contacts: [await values["cid"]?.()], min_level: 0 }],
    }),
    putGateway: () => ({ subject: "mailto:o@example.org" }),
    createSignInProvider: () => {
      box.tenant.store.write((tx) => tx.sql("DELETE FROM sign_in_providers").run());
      return PROVIDER;
    },
    changeSignInProvider: () => ({ name: fresh("Lab"), test: false }),
    testSignInProvider: () => ({}),
    putSignIn: () => ({ password: true }),
    putFallback: () => ({ accounts: [box.owner.accountId], schedules: [] }),
    createHeartbeat: () => ({ name: fresh("job"), cron: "0 3 * * *", timezone: "Europe/Vienna" }),
    changeHeartbeat: () => ({ grace_seconds: 60 }),
    makeCalendar: () => ({}),
    createAsk: async () => {
      await schedule();
      const at = Math.floor(box.clock.now() / 1000);
      const people = [box.owner.accountId, await callerId()];
      for (const accountId of new Set(people))
        await post(
          `${base}/oncall/schedules/${await schedule()}/overrides`,
          { account_id: accountId, starts_at: at + 9000, ends_at: at + 9060 },
          "id",
        );
      const other = box.person("member").accountId;
      const of = [other];
      return { schedule: `${project}/${await schedule()}`, from: at + 9000, until: at + 9060, of };
    },
    answerAsk: () => "verb=no",
    changeSettings: () => ({ numbers_timezone: "Europe/Vienna" }),
    putHolidays: () => ({ dates: [{ date: "2026-12-25", name: fresh("Christmas") }] }),
    changeDigest: () => ({ enabled: false }),
    changeMe: () => ({ timezone: "Europe/Vienna" }),
    putAway: () => ({ spans: [{ from: soon(), until: soon() + 60, note: fresh("trip") }] }),
    makeWall: () => ({ name: fresh("screen") }),
    createSilence: () => ({ match: { rule: "r" }, ends_at: soon(), reason: "deploy" }),
    previewSilence: () => ({ match: { rule: "r" }, ends_at: soon(), reason: "deploy" }),
    explainTemplate: () => ({ message: "order 42 failed" }),
    previewBulkSilence: () => ({ ids: ["1"] }),
    changeSilence: () => ({ ends_at: soon() }),
    snoozeAlert: () => ({ until: soon() }),
    createIntegration: () => ({ type: "webhook", name: fresh("hook"), url: HOOK }),
    tryIntegration: () => ({ type: "webhook", url: HOOK }),
    checkSignature: () => ({ timestamp: "1", signature: "0".repeat(64), body: "{}" }),
    updateIntegration: () => ({ name: fresh("hook") }),
    createWebhook: () => ({ url: HOOK }),
    setWebhookEnabled: () => ({ enabled: false }),
    createSchedule: () => ({ name: fresh("sched"), timezone: "UTC", layers: [] }),
    replaceSchedule: async () => ({ name: await schedule(), timezone: "UTC", layers: [] }),
    createOverride: () => ({
      account_id: box.owner.accountId,
      ends_at: Math.floor(box.clock.now() / 1000) + 60,
    }),
    pair: async () => {
      await code();
      return {
        code: await made.get("codeText"),
        email: `${fresh("p")}@example.org`,
        password: "correct horse",
      };
    },
    issuePairingCode: () => ({ role: "member" }),
    createAccount: () => ({ email: `${fresh("awaited")}@example.org` }),
    changeAccount: () => ({ display_name: "D" }),
    createKey: () => ({ label: "a script" }),
    replaceAccount: async () => {
      const escalations = [{ accounts: [await values["account"]?.()] }];
      await post(`${base}/rules`, { name: fresh("rule"), escalations }, "name");
      return { by: box.owner.accountId };
    },
    changePassword: async () => {
      const [id, hash] = [await callerId(), await box.tenant.passwords.hash("correct horse")];
      box.tenant.store.write((tx) =>
        tx.sql("UPDATE accounts SET password_hash = ? WHERE id = ?").run(hash, id),
      );
      return { old: "correct horse", new: "battery staple" };
    },
    createProject: () => ({ name: fresh("more") }),
    assignAlert: () => ({ accounts: [box.owner.accountId] }),
    addNote: () => ({ text: "seen" }),
    changeNote: () => ({ text: "seen twice" }),
    changeAlerts: async () => ({ ids: [await alert()], verb: "acknowledge" }),
    renameProject: () => ({ name: fresh("renamed") }),
    putRelay: () => ({
      relay_url: "http://127.0.0.1:9/v1/relay/rk_0123456789abcdef",
      relay_secret: "s".repeat(43),
    }),
    createReport: () => ({ title: "T" }),
    updateReport: () => ({ title: "U" }),
    previewReportEntry: () => ({ content_md: "**b**" }),
    addReportEntry: () => ({ content_md: "**b**" }),
    updateReportEntry: () => ({ content_md: "**c**" }),
    putProjectConfig: async () => {
      const { version, config } = (await box.api("GET", `${base}/config`)).body;
      return { version, config: { ...config, rules: [{ name: fresh("rule") }] } };
    },
    changeProject: async () => ({ default_ladder: await ladder() }),
    createLadder: () => ({ name: fresh("ladder") }),
    adoptLadder: async () => {
      const steps = [{ accounts: [box.owner.accountId], after_minutes: ++copied }];
      const make = () => post(`${base}/rules`, { name: fresh("copy"), escalations: steps }, "name");
      const rules = [await make(), await make()].map((name) => `${project}/${name}`);
      return { name: fresh("ladder"), rules };
    },
    replaceLadder: () => ({ team: fresh("team") }),
    previewLadder: () => ({ steps: escalations }),
    createRule: () => ({ name: fresh("rule") }),
    replaceRule: () => ({ investigate: true }),
    tryRule: () => ({ rule: { name: "tried" } }),
    simulateRule: () => ({ rule: { name: "tried" } }),
    sweepRule: () => ({ rule: { name: "tried" }, days: 1 }),
    previewDraft: () => ({ schedule: { name: fresh("draft"), timezone: "UTC", layers: [] } }),
    startDrill: () => ({ message: "a drill" }),
    setSourceSecret: () => ({ secret: "s".repeat(20) }),
    addSourceKey: () => ({ key: freshKey() }),
    createSource: () => ({ name: fresh("src") }),
    updateSource: () => ({ retain_logs: false }),
    renameSource: () => ({ name: fresh("renamed") }),
    tryMapping: () => ({ body: { text: "x" } }),
    ingest: () => ({ message: "x" }),
    openPublicReport: () => "password=x",
    answerByLink: () => "verb=acknowledge",
    askAsAssistant: () => ({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    receiptOfPush: async () => {
      const { sealer, id: tenantId, clock } = box.tenant;
      const until = Math.floor(clock.now() / 1000) + 3600;
      const contactId = await value("cid");
      return { receipt: receiptOf(sealer, { tenantId, contactId, name: null, until }) };
    },
    hearTwilioStatus: () => "MessageStatus=failed",
    hearTwilioText: () => "Body=ack",
    hearTwilioKey: () => "Digits=4",
    pairOnPage: async () => String(new URLSearchParams((await bodies["pair"]?.()) as never)),
  };

  return {
    project,
    async param({ path }, name) {
      if (name === "id" && path.startsWith("/v1/advice/")) return advice();
      if (name === "id") return /^\/(v1\/alerts|a)\//.test(path) ? alert() : project;
      if (name === "name" && path.includes("/rules/")) return rule();
      if (name === "name" && path.includes("/ladders/")) return ladder();
      if (name === "name" && path.includes("/holidays/")) return holidays();
      if (name === "name" && path.includes("/sources/"))
        return /\/(keys|secret)$|\/keys\//.test(path) ? adapterSource() : "app";
      if (name === "capability" && path.startsWith("/cover/")) return cover();
      const value = values[name];
      assert.ok(value, `no example of {${name}} for ${path}: teach test/matrix/fixture.ts one`);
      return value();
    },
    async body(operation) {
      if (!operation.hasBody) return undefined;
      const make = bodies[operation.id];
      assert.ok(make, `no example body of ${operation.id}: teach test/matrix/fixture.ts one`);
      return make();
    },
    async query({ id }) {
      if (id === "unacknowledgeAlert") await box.api("POST", `/v1/alerts/${await alert()}/ack`);
      // There must be one to remove.
      if (id === "deleteRelay") await box.api("PUT", "/v1/relay", await bodies["putRelay"]?.());
      if (id === "sendDigest") await sendsDigest();
      if (id === "endOwnSessions") {
        openFor(await callerId());
        return "?others=true";
      }
      if (id === "search") return "?q=alert";
      if (id !== "verifyReceipt") return "";
      await code();
      const paired = await box.api("POST", "/v1/pair", await bodies["pair"]?.(), null);
      return `?receipt=${paired.body.receipt}`;
    },
  };
}

/** The operation's path with its parameters filled in; `other` takes the place of a project's name. */
export async function pathOf(f: Fixture, operation: Operation, other?: string): Promise<string> {
  let path = operation.path;
  for (const [whole, name = ""] of operation.path.matchAll(/\{([^}]+)\}/g)) {
    const isProject = name === "id" && path.startsWith("/v1/projects/{id}");
    const value = isProject && other !== undefined ? other : await f.param(operation, name);
    path = path.replace(whole, encodeURIComponent(value));
  }
  return path + (await f.query(operation));
}
