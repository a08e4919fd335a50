import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Api, createApi } from "../../src/app/prove/api.ts";
import { runCommand } from "../../src/app/prove/scratch-box.ts";
import { type BoxProcess, boxProcess } from "../support/box-process.ts";
import { program } from "../support/program.ts";
import { type ContactService, contactService, type ServiceName } from "../support/services.ts";
import { until } from "../support/until.ts";

/** Four people, each with another kind of contact, on the program itself: two on a ladder's first step, two on its second. */

interface Member {
  name: string;
  accountId: string;
  contactId: string;
  api: Api;
  service: ContactService;
  /** Reads what came since the last time, as soon as there is something. */
  next(what: string): Promise<string>;
  /** Whether nothing came since then. */
  isLeftAlone(): boolean;
}

let box: BoxProcess;
let token: string;
const people: Member[] = [];
const ends: (() => unknown)[] = [];
before(async () => {
  const words = await program();
  box = boxProcess(words);
  // Everything but serving takes no such flag.
  await box.start(["sh", "-c", 'exec "$@" --public-url https://box.example', "box", ...words]);
  for (const [name, kind] of [
    ["Ann", "telegram"] as const,
    ["Bob", "email"] as const,
    ["Cat", "ntfy"] as const,
    ["Dan", "pushover"] as const,
  ])
    people.push(await member({ name, kind, words }));
  token = await box.project("shop");
  await box.api.call("DELETE", "/v1/projects/shop/rules/any");
  const step = (after_minutes: number, of: readonly Member[]) => ({
    after_minutes,
    schedules: [],
    repeat_minutes: 0,
    accounts: of.map(({ accountId }) => accountId),
  });
  await box.api.need("POST", "/v1/projects/shop/rules", {
    name: "payments",
    identifier_keys: ["n"],
    escalations: [step(0, people.slice(0, 2)), step(30, people.slice(2))],
  });
});
after(async () => {
  for (const { api } of people) api.close();
  await box.discard();
  for (const end of ends) await end();
});

async function member({
  name,
  kind,
  words,
}: {
  name: string;
  kind: ServiceName;
  words: readonly [string, ...string[]];
}): Promise<Member> {
  const service = await contactService({ after: (end) => void ends.push(end) }, kind, Date.now());
  const email = `${name.toLowerCase()}@example.org`;
  const { code } = await runCommand(words, [
    "pair-code",
    "--data",
    box.data,
    "--email",
    email,
    "--json",
  ]);
  const api = createApi();
  api.at(box.url);
  const password = "correct horse battery";
  const paired = await api.need("POST", "/v1/pair", { code, password, display_name: name });
  api.key = String(paired["api_key"]);
  const { account } = (await api.need("GET", "/v1/me")) as { account: { id: string } };
  await box.api.need("PUT", `/v1/gateways/${service.gateway}`, service.settings);
  const base = "/v1/accounts/me/contacts";
  const { id } = await api.need("POST", base, { kind, ...service.contact });
  await api.need("POST", `${base}/${id}/verify`, {});
  const digits = /(?<!\d)(\d{3}) ?(\d{3})(?!\d)/.exec(service.shown().at(-1)?.text ?? "");
  const verified = await api.need("POST", `${base}/${id}/verify`, { code: digits?.[0] });
  assert.equal(verified["state"], "verified");
  let seen = service.shown().length;
  return {
    name,
    api,
    service,
    contactId: String(id),
    accountId: account.id,
    async next(what) {
      await until(() => service.shown().length > seen, `${name} is told: ${what}`);
      return service.shown()[seen++]?.text ?? "";
    },
    isLeftAlone: () => service.shown().length === seen,
  };
}

let n = 0;
async function fire(message: string): Promise<string> {
  const event = { message, level: 500, keys: { n: `${++n}` } };
  assert.equal((await box.ingest(token, event)).status, 202);
  let id = "";
  for (const from = performance.now(); id === "" && performance.now() - from < 30_000; ) {
    const { alerts } = (await box.api.need("GET", "/v1/alerts?state=open")) as {
      alerts: { id: string; last_message: string }[];
    };
    id = alerts.find(({ last_message }) => last_message === message)?.id ?? "";
  }
  return id;
}

const stateOf = async (id: string) => (await box.api.need("GET", `/v1/alerts/${id}`))["state"];

interface Entry {
  kind: string;
  account_id: string | null;
  detail: Record<string, unknown>;
}

/** The alert's history in words, people by name. */
async function history(id: string): Promise<string[]> {
  const { timeline } = (await box.api.need("GET", `/v1/alerts/${id}/timeline`)) as {
    timeline: Entry[];
  };
  const called = (account: unknown) =>
    people.find(({ accountId }) => accountId === account)?.name ?? "nobody";
  return timeline.map(({ kind, account_id, detail }) => {
    const { account, contact, error, accounts, event, via } = detail;
    if (kind.startsWith("page_"))
      return [kind, called(account), contact, ...(error ? [error] : [])].join(" ");
    if (kind === "unreachable") return `${kind} ${(accounts as string[]).map(called).join(" ")}`;
    if (kind === "acknowledged") return `${kind} ${called(account_id)} by ${via}`;
    return event === undefined ? kind : `${kind} ${event}`;
  });
}

const isAbout = (line: string) => /^(page_|unreachable|acknowledged|escalated)/.test(line);

test("the first step is paged, each by their own way and in words; who answers is named to the others", async () => {
  const [ann, bob, cat, dan] = people as [Member, Member, Member, Member];
  const id = await fire("payment 4711 failed for bob");
  const [chat, mail] = [await ann.next("a page"), await bob.next("a page")];
  for (const text of [chat, mail]) {
    assert.match(
      text,
      /critical\]? shop: payment 4711 failed for bob\nYou're first, Cat \(rung 2\), Dan \(rung 2\) \d\d:\d\d UTC\r?\n/i,
    );
    assert.match(text, /payment 4711 failed for bob/);
    assert.match(text, /Pages Ann \(rung 1\), Bob \(rung 1\)/);
    assert.match(text, /https:\/\/box\.example\/ack\//);
  }
  ann.service.press?.("Acknowledge");
  const edited = await ann.next("it is taken");
  assert.match(edited, /Acknowledged[\s\S]*Acknowledged by Ann/);
  assert.ok(bob.isLeftAlone() && cat.isLeftAlone() && dan.isLeftAlone());
  assert.deepEqual((await history(id)).filter(isAbout).toSorted(), [
    "acknowledged Ann by telegram",
    "escalated",
    "page_sent Ann telegram",
    "page_sent Bob email",
  ]);
});

test("where nothing reaches the first step the second is paged at once, and the history says who wasn't told and why", async () => {
  const [ann, bob, cat, dan] = people as [Member, Member, Member, Member];
  assert.ok(ann.service.be("gone") && bob.service.be("gone"));
  const id = await fire("payment 4712 failed for bob");
  const [push, emergency] = [await cat.next("a page"), await dan.next("a page")];
  for (const text of [push, emergency]) {
    assert.match(text, /CRITICAL shop: .*\nEscalated \(rung 2\), then nobody/);
    assert.match(text, /payment 4712 failed for bob/);
    assert.match(text, /Pages Cat \(rung 2\), Dan \(rung 2\)/);
  }
  cat.service.press?.("Acknowledge");
  assert.match(await cat.next("it is taken"), /Acknowledged by Cat/);
  assert.equal(await dan.next("the ringing ends"), "still");
  assert.ok(ann.isLeftAlone() && bob.isLeftAlone());
  const lines = (await history(id)).filter(isAbout);
  assert.deepEqual(lines.toSorted(), [
    "acknowledged Cat by ntfy",
    "escalated",
    "escalated",
    "page_failed Ann telegram http 403: Forbidden: bot was blocked by the user",
    "page_failed Bob email smtp 550 5.1.1 after RCPT TO",
    "page_sent Cat ntfy",
    "page_sent Dan pushover",
    "unreachable Ann Bob",
  ]);
  const order = ["unreachable Ann Bob", "page_sent Cat ntfy", "acknowledged Cat by ntfy"];
  assert.deepEqual(
    lines.filter((line) => order.includes(line)),
    order,
  );
  const states = await Promise.all(
    [ann, bob].map(async ({ api }) => {
      const { contacts } = await api.need("GET", "/v1/accounts/me/contacts");
      return (contacts as { state: string }[])[0]?.state;
    }),
  );
  assert.deepEqual(states, ["off", "failing"]);
});

test("after a kill whoever is reached is paged as before; the mailbox that failed is tried again, who blocked the bot isn't", async () => {
  const [ann, bob, cat, dan] = people as [Member, Member, Member, Member];
  await box.kill();
  const words = await program();
  await box.start(["sh", "-c", 'exec "$@" --public-url https://box.example', "box", ...words]);
  for (const { api, service } of people) {
    api.at(box.url);
    service.well();
  }
  const id = await fire("payment 4713 failed for bob");
  const mail = await bob.next("a page");
  assert.match(mail, /payment 4713/);
  const [, path] = /https:\/\/box\.example(\/ack\/\S+)/.exec(mail) ?? [];
  const look = await fetch(box.url + path);
  assert.match(await look.text(), /payment 4713/);
  assert.equal(await stateOf(id), "open", "to look changes nothing");
  const body = new URLSearchParams({ verb: "resolve" });
  assert.equal((await fetch(box.url + path, { method: "POST", body })).status, 200);
  assert.equal(await stateOf(id), "resolved");
  assert.ok(ann.isLeftAlone() && cat.isLeftAlone() && dan.isLeftAlone());
  assert.deepEqual((await history(id)).filter(isAbout), ["escalated", "page_sent Bob email"]);
});
