import assert from "node:assert/strict";
import { getProject } from "../../src/core/projects/projects.ts";
import { addEntry } from "../../src/records/reports/entries.ts";
import { getReport } from "../../src/records/reports/reports.ts";
import type { Person, TestBox } from "./box.ts";
import { reachBy } from "./contacts.ts";
import { answer, type Receiver } from "./receiver.ts";
import { settle } from "./until.ts";

const MINUTE = 60_000;

/** A box that people have lived in for a few hours: what a page of it has to show. */
export interface House {
  box: TestBox;
  ann: Person;
  bob: Person;
  cy: Person;
  /** Ingest tokens of the source `app` of each project. */
  tokens: Readonly<Record<"payments" | "shop", string>>;
  /** It reported once, and is missing since. */
  heartbeat: string;
  /** Holds the alert about the disk. */
  silence: string;
  /** Ids of a report about the critical alert, and of its entry. */
  report: Readonly<{ id: string; entry: string }>;
  /** Ids by what they are. */
  alerts: Readonly<Record<"critical" | "error" | "warn" | "acknowledged" | "resolved", string>>;
}

/** Furnishes a box: people, a rota with a gap, channels well and sick, rules with ladders, alerts in every state. */
export async function furnish(box: TestBox, receiver: Receiver): Promise<House> {
  const ask = async (method: string, path: string, body: unknown, key?: string) => {
    const answered = await box.api(method, path, body, ...(key === undefined ? [] : [key]));
    assert.ok(answered.status < 300, `${method} ${path}: ${JSON.stringify(answered.body)}`);
    return answered.body;
  };
  receiver.always((response, socket, request) =>
    answer(request.path === "/tickets" ? 503 : 204)(response, socket, request),
  );
  const people = { ann: "Ann", bob: "Bob", cy: "Cy" };
  const [ann, bob, cy] = Object.entries(people).map(([name]) =>
    box.person(name === "ann" ? "admin" : "member", `${name}@example.org`),
  ) as [Person, Person, Person];
  for (const [person, display_name] of [
    [ann, "Ann"],
    [bob, "Bob"],
    [cy, "Cy"],
    [box.owner, "Olga Owner"],
  ] as const)
    await ask("PATCH", `/v1/accounts/${person.accountId}`, { display_name });
  await reachBy(box, ann, receiver, "/ann");
  await reachBy(box, bob, receiver, "/bob");
  const tokens = {
    payments: await box.project("payments", { retain_logs: true }),
    shop: await box.project("shop", { retain_logs: true }),
  };
  const now = () => Math.floor(box.clock.now() / 1000);
  const weekly = {
    name: "weekly",
    participants: [ann.accountId, bob.accountId],
    rotation_start: now() - 86_400,
    shift_minutes: 7 * 1440,
  };
  const schedule = { name: "primary", timezone: "Europe/Berlin", layers: [weekly] };
  await ask("POST", "/v1/projects/payments/oncall/schedules", schedule);
  const weekend = {
    name: "weekend",
    timezone: "Europe/Berlin",
    layers: [
      {
        ...weekly,
        name: "saturdays",
        participants: [cy.accountId],
        restriction: { days: [6], start_minute: 540, end_minute: 1080 },
      },
    ],
  };
  await ask("POST", "/v1/projects/shop/oncall/schedules", weekend);
  for (const [project, name] of [
    ["payments", "ops"],
    ["shop", "tickets"],
  ] as const)
    await ask("POST", `/v1/projects/${project}/integrations`, {
      type: "webhook",
      name,
      url: `${receiver.url}/${name}`,
    });
  const ladder = [
    { accounts: [], schedules: ["primary"], after_minutes: 0, repeat_minutes: 5 },
    { accounts: [bob.accountId], schedules: [], after_minutes: 15, repeat_minutes: 10 },
  ];
  await ask("POST", "/v1/projects/payments/rules", {
    name: "payments are down",
    match: { min_level: 500 },
    escalations: ladder,
    runbook_url: "https://wiki.example.org/payments",
  });
  const steps = [{ accounts: [ann.accountId], schedules: [], after_minutes: 0, repeat_minutes: 0 }];
  await ask("POST", "/v1/ladders", { name: "Ann alone", steps, team: "payments" });
  await ask("POST", "/v1/projects/shop/rules", {
    name: "errors",
    match: { min_level: 300 },
    identifier_keys: ["provider"],
    ladder: "Ann alone",
  });
  const send = async (project: keyof typeof tokens, event: object) => {
    assert.equal((await box.ingest(tokens[project], event)).status, 202);
    await settle(box);
    return String(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get());
  };
  const failed = (n: number, provider: string, level: number) => ({
    message: `payment ${4000 + n} failed after ${n * 10} s at provider ${provider}`,
    level,
    keys: { provider },
  });
  const every = { grace_seconds: 30, period_seconds: 60 };
  const beats = "/v1/projects/payments/heartbeats";
  const job = await ask("POST", beats, { name: "settlement", ...every });
  await ask("POST", beats, { name: "nightly backup", cron: "15 3 * * *", timezone: "UTC" });
  const ping = async () => {
    const address = String(job.ping_url).replace(/^.*(?=\/ping\/)/, box.url);
    const pinged = await fetch(address, { method: "POST", body: "settled 41 payments" });
    assert.equal(pinged.status, 200);
  };
  await ping();
  for (let n = 0; n < 12; n++) {
    await send("shop", { message: `User ${n} logged in`, level: 200 });
    await box.clock.turn(20_000);
  }
  await ping();
  const resolved = await send("shop", failed(1, "oldbank", 400));
  await box.clock.turn(5 * MINUTE);
  await ask("POST", `/v1/alerts/${resolved}/ack`, {}, ann.key);
  await ask(
    "POST",
    `/v1/alerts/${resolved}/notes`,
    { text: "The **bank** had a window." },
    ann.key,
  );
  await ask("POST", `/v1/alerts/${resolved}/resolve`, {}, ann.key);
  const acknowledged = await send("shop", failed(2, "globex", 400));
  await ask("POST", `/v1/alerts/${acknowledged}/ack`, {}, bob.key);
  await box.clock.turn(20 * MINUTE);
  const warn = await send("shop", {
    message: "disk sda1 at 91 %",
    level: 300,
    keys: { provider: "disk" },
  });
  const error = await send("shop", failed(3, "acme", 400));
  for (let n = 4; n < 30; n++) {
    await send("shop", failed(n, "acme", 400));
    await box.clock.turn(15_000);
  }
  const critical = await send("payments", {
    message: "no payment goes through at provider acme (tx 99812)",
    level: 500,
  });
  for (let n = 0; n < 20; n++) {
    await send("payments", {
      message: `no payment goes through at provider acme (tx ${99813 + n})`,
      level: 500,
    });
    await box.clock.turn(6_000);
  }
  const week = { timezone: "Europe/Berlin", repeat: "weekly", repeat_until: now() + 90 * 86_400 };
  await ask("POST", "/v1/silences", {
    project: "payments",
    all: true,
    kind: "maintenance",
    name: "weekly update",
    ...week,
    starts_at: now() + 86_400,
    ends_at: now() + 86_400 + 7200,
    reason: "hosts restart",
  });
  const quiet = { ids: [warn], verb: "silence", until: now() + 3600, reason: "The disk is moved" };
  await ask("POST", "/v1/alerts/bulk", quiet, ann.key);
  const { silences } = await ask("GET", "/v1/silences?state=active", undefined);
  const silence = String(silences[0].id);
  await settle(box);
  const report = await ask("POST", "/v1/projects/payments/reports", {
    title: "Card payments are slow",
    alert_id: critical,
    description: "No order is lost. Payments by card may take a minute.",
  });
  return {
    box,
    ann,
    bob,
    cy,
    tokens,
    silence,
    heartbeat: String(job.id),
    report: { id: report.id, entry: publish(box, report.id, ann) },
    alerts: { critical, error, warn, acknowledged, resolved },
  };
}

/** An entry, without the thread that renders. */
function publish(box: TestBox, reportId: string, { accountId }: Person): string {
  return box.tenant.store.write((tx) => {
    const project = getProject(tx, "payments");
    const report = getReport(tx, project, reportId);
    return addEntry(tx, report, {
      title: "We are looking into it",
      entryType: "analysis",
      createdBy: accountId,
      contentMd: "A provider is **slow**.",
      contentHtml: "<p>A provider is <strong>slow</strong>.</p>",
    }).id;
  });
}
