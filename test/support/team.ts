import assert from "node:assert/strict";
import { browser } from "../../src/app/prove/browser.ts";
import type { TestBox } from "./box.ts";
import { pushService } from "./browsers.ts";
import type { Receiver } from "./receiver.ts";
import { settle } from "./until.ts";

const PEOPLE = [
  ["Priya Raman", "Pixel 8"],
  ["Jonas Weber", "iPhone 15"],
  ["Mei Lin", "Galaxy S24"],
  ["Lucía Ortiz", "Pixel 9"],
  ["Sam Okafor", "iPhone 13"],
  ["Nora Haddad", "Fairphone 5"],
] as const;

/** A box that is well, of six people whose phones ring: what the documents show. Paths of their pictures by name. */
export async function settleTeam(
  box: TestBox,
  receiver: Receiver,
): Promise<Record<string, string>> {
  const ask = async (method: string, path: string, body?: unknown, key?: string) => {
    const answered = await box.api(method, path, body, ...(key === undefined ? [] : [key]));
    assert.ok(answered.status < 300, `${method} ${path}: ${JSON.stringify(answered.body)}`);
    return answered.body;
  };
  const now = () => Math.floor(box.clock.now() / 1000);
  const { public_key } = await ask("GET", "/v1/push/key");
  const service = pushService(() => receiver.url, public_key, now);
  receiver.always((response, socket, request) => {
    if (request.path.startsWith("/push/")) service.behaviour(response, socket, request);
    else response.writeHead(204).end();
  });
  const team = await Promise.all(
    PEOPLE.map(async ([display_name, phone], i) => {
      const first = display_name
        .split(" ", 1)[0]
        ?.normalize("NFD")
        .replace(/\P{ASCII}/gu, "");
      const email = `${first?.toLowerCase()}@example.org`;
      const person = i === 0 ? box.owner : box.person(i === 5 ? "admin" : "member", email);
      await ask("PATCH", `/v1/accounts/${person.accountId}`, { display_name });
      const own = browser();
      const endpoint = `${receiver.url}/push/canary-${i}`;
      const subscription = { ...own.subscription(endpoint), expirationTime: null, label: phone };
      await ask("POST", "/v1/push/subscriptions", subscription, person.key);
      return { ...person, own, path: new URL(endpoint).pathname };
    }),
  );
  const [priya, jonas, mei, , , nora] = team;
  assert.ok(priya && jonas && mei && nora);
  /** What came to phones since is seen there. */
  let seen = 0;
  const see = async () => {
    await settle(box);
    for (const { path, bytes = Buffer.alloc(0) } of service.taken.slice(seen)) {
      const { own } = team.find((one) => one.path === path) ?? priya;
      const { receipt } = JSON.parse(own.open(bytes)).notification.data;
      const body = JSON.stringify({ receipt });
      await fetch(`${box.url}/push/seen`, { method: "POST", body });
    }
    seen = service.taken.length;
  };
  const tokens: Record<string, string> = {};
  for (const project of ["checkout", "payments"])
    tokens[project] = await box.project(project, { retain_logs: true });
  const weekly = {
    name: "weekly",
    participants: [...team.slice(0, 4), nora].map(({ accountId }) => accountId),
    rotation_start: now() - 86_400,
    shift_minutes: 7 * 1440,
  };
  const schedule = { name: "primary", timezone: "Europe/Berlin", layers: [weekly] };
  await ask("POST", "/v1/projects/payments/oncall/schedules", schedule);
  await ask("POST", "/v1/projects/payments/integrations", {
    type: "webhook",
    name: "ops room",
    url: `${receiver.url}/ops`,
  });
  const rung = (after_minutes: number, schedules: string[], accounts: string[]) => ({
    after_minutes,
    schedules,
    accounts,
    repeat_minutes: after_minutes === 0 ? 5 : 10,
  });
  const escalations = [
    rung(0, ["primary"], []),
    rung(10, [], [jonas.accountId]),
    rung(25, [], [nora.accountId]),
  ];
  const rule = (name: string, more: object) =>
    ask("POST", "/v1/projects/payments/rules", { name, escalations, ...more });
  await rule("no payment goes through", {
    match: { min_level: 500, template_contains: "payment goes" },
  });
  const ofProvider = { identifier_keys: ["provider"] };
  for (const [name, min_level, template_contains] of [
    ["payments declined", 400, "declined"],
    ["refunds stuck", 400, "refund"],
    ["slow answers", 300, "answers of"],
  ] as const)
    await rule(name, { match: { min_level, template_contains }, ...ofProvider });
  const send = async (level: number, message: string, provider: string) => {
    const event = { message, level, keys: { provider } };
    assert.equal((await box.ingest(tokens["payments"] ?? "", event)).status, 202);
    await see();
    return String(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get());
  };
  // Each phone was rung once, and seen.
  for (const { key } of team) {
    const { subscriptions } = await ask("GET", "/v1/push/subscriptions", undefined, key);
    await ask("POST", `/v1/push/subscriptions/${subscriptions[0].id}/test`, {}, key);
  }
  await see();
  const slow = await send(300, "answers of adyen take 2,840 ms", "adyen");
  const quiet = { ids: [slow], verb: "silence", until: now() + 7200, reason: "they move a host" };
  await ask("POST", "/v1/alerts/bulk", quiet, mei.key);
  await box.clock.turn(8 * 60_000);
  const failing = await send(400, "payment pi_3QZ81k declined by stripe-eu", "stripe-eu");
  for (let n = 0; n < 11; n++) {
    await box.clock.turn(20_000);
    await send(400, `payment pi_3QZ${82 + n}k declined by stripe-eu`, "stripe-eu");
  }
  await ask("POST", `/v1/alerts/${failing}/ack`, {}, jonas.key);
  const stuck = await send(400, "refund re_1PQ7 stuck for 12 min at adyen", "adyen");
  for (let n = 0; n < 4; n++) {
    await box.clock.turn(25_000);
    await send(400, `refund re_1PQ${8 + n} stuck for ${13 + n} min at adyen`, "adyen");
  }
  assert.notEqual(stuck, failing);
  const critical = await send(500, "no payment goes through at stripe-eu (tx 99812)", "stripe-eu");
  for (let n = 0; n < 20; n++) {
    await box.clock.turn(6_000);
    await send(500, `no payment goes through at stripe-eu (tx ${99813 + n})`, "stripe-eu");
  }
  const report = await ask("POST", "/v1/projects/payments/reports", {
    title: "Card payments are slow",
    alert_id: critical,
    description: "No order is lost. Payments by card may take a minute.",
  });
  const ladder = `/p/payments/rules/${encodeURIComponent("no payment goes through")}/ladder`;
  return {
    alerts: "/alerts",
    alert: `/a/${critical}`,
    "oncall-schedule": "/oncall/payments/primary",
    "project-connect": "/p/payments/connect",
    report: `/p/payments/reports/${report.id}`,
    rules: "/p/payments/rules",
    wall: "/wall",
    "simulate-sweep": `${ladder}?silent=${priya.accountId}`,
  };
}
