import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { withHosted } from "../../src/app/offline/hosted.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { openCopy } from "../../src/hosted/record/copy.ts";
import { startForwarder } from "../support/forwarder.ts";
import { ask } from "../support/hosted-role.ts";
import { alertsIn } from "../support/kept-box.ts";
import { memoryOrTemp } from "../support/memory.ts";
import { testDatabase } from "../support/postgres.ts";
import { programFile } from "../support/program.ts";
import { startReceiver } from "../support/receiver.ts";
import { Node } from "./nodes/node.ts";

/** What befalls a node, or its way to the database. */
export type Blow = "SIGTERM" | "SIGKILL" | "SIGSTOP" | "cut";

const PATIENCE_MS = 120_000;
/** Of a sender, for one answer. */
const ANSWER_MS = 3_000;
/** Longer than a node lives after its latest word. */
const AWAY_MS = 13_000;

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    assert.ok(performance.now() < end, `it never happens that ${what}`);
    await pause(50);
  }
}

interface Place {
  node: Node;
  /** Whether it reaches the database from now on. */
  reach(isReached: boolean): void;
}

interface Tenant {
  id: string;
  token: string;
  sent: number;
  answered: Set<string>;
}

/**
 * Two nodes with tenants whose senders know both, one blow after the other, on the node that has the most. What was answered is in
 * the record, no alert id is seen twice, and each page rings.
 */
export async function nodesStoresStory(
  t: TestContext,
  blows: readonly Blow[],
  { count = 8 }: { count?: number } = {},
): Promise<void> {
  const made = await testDatabase(t);
  const root = mkdtempSync(join(memoryOrTemp(), "box-nodes-stores-"));
  const hostedKey = join(root, "hosted.key");
  writeFileSync(hostedKey, randomBytes(32), { mode: 0o600 });
  const receiver = await startReceiver();
  const ends: (() => Promise<unknown>)[] = [receiver.close];
  t.after(async () => {
    for (const end of ends.reverse()) await end();
    rmSync(root, { recursive: true });
  });
  const pages: { n: string; id: string }[] = [];
  receiver.always((response, _socket, { body }) => {
    const { event, alert_id: id, identifiers } = JSON.parse(body);
    if (event === "alert.opened") pages.push({ n: identifiers.n, id });
    response.writeHead(204).end();
  });
  const program = await programFile();
  const placeOf = async (name: string): Promise<Place> => {
    let isReached = true;
    const path = join(made.socket, ".s.PGSQL.5432");
    const forwarder = await startForwarder(() => (isReached ? [{ path }] : []));
    const database = `postgres://box@127.0.0.1:${forwarder.port}/${made.name}`;
    const flags = ["--data", join(root, name), "--database", database, "--hosted-key", hostedKey];
    const link = ["--cluster-listen", "127.0.0.1:0", "--drain-seconds", "0", "--node", name];
    const words = ["hosted", "serve", ...flags, ...link, "--egress-allow", "127.0.0.0/8"];
    const node = new Node(name, program, words);
    ends.push(forwarder.close, () => node.kill());
    await node.start();
    return {
      node,
      reach(may) {
        isReached = may;
        if (!may) forwarder.cut();
      },
    };
  };
  const places = [await placeOf("a"), await placeOf("b")] as const;
  const desk = {
    data: root,
    clock: systemClock,
    random: systemRandom,
    database: made.url,
    hostedKey,
  };
  const urlOf = (n: number) => `http://127.0.0.1:${places[n % 2]?.node.port}`;
  const tenants: Tenant[] = [];
  for (let n = 0; n < count; n++) {
    const { id, key } = await withHosted(desk, async (operator) => {
      const { tenant_id: tenant } = await operator.addTenant({ kind: "hosted" });
      const { api_key } = await operator.addKey({ tenant, email: "ada@example.com" });
      return { id: tenant, key: api_key };
    });
    tenants.push({
      id,
      token: await shopAt(urlOf(n), key, receiver.url),
      sent: 0,
      answered: new Set(),
    });
  }

  const over = new AbortController();
  const sender = async (tenant: Tenant, place: number) => {
    while (!over.signal.aborted) {
      const n = `${place}-${++tenant.sent}`;
      const body = JSON.stringify({ message: "the till is stuck", keys: { n } });
      const headers = {
        authorization: `Bearer ${tenant.token}`,
        "content-type": "application/json",
        connection: "close",
      };
      for (let turn = tenant.sent; !over.signal.aborted; turn++) {
        const signal = AbortSignal.timeout(ANSWER_MS);
        const given = { method: "POST", body, headers, signal };
        const answer = await ask(`${urlOf(turn)}/v1/ingest`, given).catch(() => null);
        if (answer?.status === 202) {
          tenant.answered.add(n);
          break;
        }
        await pause(100);
      }
      await pause(100);
    }
  };
  const senders = tenants.map(sender);
  const allAnswered = async () => {
    const before = tenants.map(({ answered }) => answered.size);
    await until("every tenant answers", () =>
      tenants.every(({ answered }, n) => answered.size > (before[n] ?? 0) + 1),
    );
  };
  const took = new Map<Blow, number[]>();
  await allAnswered();
  for (const blow of blows) {
    const [most] = await made.open().query<{ node: string }>(
      `SELECT node FROM tenant_stores WHERE alive_until > clock_timestamp()
       GROUP BY node ORDER BY count(*) DESC LIMIT 1`,
    );
    const { node, reach } = places.find((place) => place.node.name === most?.node) as Place;
    const from = performance.now();
    if (blow === "cut") reach(false);
    else node.signal(blow);
    await allAnswered();
    took.set(blow, [...(took.get(blow) ?? []), performance.now() - from]);
    if (blow === "SIGKILL" || blow === "SIGTERM") {
      await node.ended;
      await node.start();
    } else {
      await pause(Math.max(0, AWAY_MS - (performance.now() - from)));
      if (blow === "cut") reach(true);
      else node.signal("SIGCONT");
    }
    await until("the node is ready", () => node.isReady());
    await allAnswered();
  }
  over.abort();
  await Promise.all(senders);
  await until("each page has rung", () => {
    const rung = new Set(pages.map(({ n }) => n));
    return tenants.every(({ answered }) => [...answered].every((n) => rung.has(n)));
  });
  for (const { node } of places) {
    node.signal("SIGTERM");
    await node.ended;
  }
  for (const [place, { id, answered }] of tenants.entries()) {
    const at = join(root, `record-${place}`);
    mkdirSync(at);
    const copy = await openCopy(made.open(), id, join(at, "box.db"));
    await copy.follow();
    copy.close();
    const { numbers, ids } = alertsIn(at);
    const missing = [...answered].filter((n) => !numbers.has(n));
    assert.deepEqual(missing, [], `of ${answered.size} that tenant ${place} was answered`);
    assert.equal(new Set(ids).size, ids.length);
    const eventsOf = new Map<string, string>();
    for (const page of pages.filter(({ n }) => n.startsWith(`${place}-`))) {
      assert.equal(
        eventsOf.get(page.id) ?? page.n,
        page.n,
        `alert ${page.id} was two alerts outside`,
      );
      eventsOf.set(page.id, page.n);
    }
  }
  const all = tenants.reduce((sum, { answered }) => sum + answered.size, 0);
  const doubles = pages.length - new Set(pages.map(({ n }) => n)).size;
  const [{ epochs } = { epochs: 0 }] = await made
    .open()
    .query<{ epochs: number }>("SELECT count(*)::int AS epochs FROM tenant_epochs");
  const times = [...took].map(
    ([blow, each]) => `${blow} ${each.map((ms) => (ms / 1000).toFixed(1)).join(", ")} s`,
  );
  t.diagnostic(
    `${all} events of ${count} tenants answered, ${doubles} pages twice, ${epochs} takings; until all answered twice: ${times.join("; ")}`,
  );
}

/** A project whose alerts are sent to the receiver. Its ingest token. */
async function shopAt(url: string, key: string, receiver: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const need = async (path: string, body: object) => {
    const given = { method: "POST", headers, body: JSON.stringify(body) };
    let answer = await ask(url + path, given);
    // Its node is being told to another one.
    for (let tries = 0; answer.status === 503 && tries < 100; tries++) {
      await pause(100);
      answer = await ask(url + path, given);
    }
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const path = "/v1/projects/shop";
  await need("/v1/projects", { name: "shop" });
  const { token } = await need(`${path}/sources`, { name: "app", retain_logs: true });
  await need(`${path}/webhooks`, { url: receiver });
  await need(`${path}/rules`, { name: "any", identifier_keys: ["n"], max_open: 0 });
  return String(token);
}
