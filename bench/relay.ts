import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startHosted } from "../src/app/hosted.ts";
import { hostedConfig } from "../src/app/hosted-config.ts";
import { withHosted } from "../src/app/offline/hosted.ts";
import { createRule } from "../src/core/alerts/rules.ts";
import { createProject, getProject } from "../src/core/projects/projects.ts";
import { createSource } from "../src/core/projects/sources.ts";
import { systemClock } from "../src/ground/kit/clock.ts";
import { silentLog } from "../src/ground/kit/log.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { mintKey } from "../src/people/keys.ts";
import type { Tenant } from "../src/tenant/tenant.ts";
import { servedBefore } from "../test/support/data.ts";
import { memoryOrTemp } from "../test/support/memory.ts";
import { defaultRule } from "../test/support/plane.ts";
import { fromRounds, median, percentile, type Row, type Scenario, start } from "./harness.ts";
import {
  type Apns,
  bareClient,
  boxesAt,
  furnishRegistry,
  pairPhone,
  rate,
  serveHosted,
} from "./relay-load.ts";

const deps = { clock: systemClock, random: systemRandom };
export const relay: Scenario = {
  name: "relay",
  about:
    "pushes a second through the whole relay route, beside bare HTTP/2 requests to the same provider",
  async run(quick) {
    const provider = await start(process.execPath, ["bench/apns-server.ts"]);
    const apns = JSON.parse(provider.line) as Apns;
    const data = mkdtempSync(join(memoryOrTemp(), "box-bench-relay-"));
    const who = await furnishRegistry({ data }, apns);
    const hosted = await serveHosted({ data });
    const key = await pairPhone(hosted.url, who);
    const [bare, relayed] = [bareClient(apns), boxesAt(hosted.url)];
    const rounds: { bare: number; relayed: number }[] = [];
    const each = quick ? 500 : 2000;
    for (let round = 0; round <= (quick ? 2 : 5); round++) {
      const plain = await rate(each, () => bare.push());
      const through = await rate(each, (i) => relayed.page(key, `${round}-${i}`));
      // The first round warms both up.
      if (round > 0) rounds.push({ bare: plain, relayed: through });
    }
    bare.close();
    await relayed.close();
    await Promise.all([hosted.child.stop(), provider.stop()]);
    rmSync(data, { recursive: true, force: true });
    return [
      fromRounds(
        "bare pushes",
        "a second",
        rounds.map((one) => one.bare),
      ),
      fromRounds(
        "relayed pushes",
        "a second",
        rounds.map((one) => one.relayed),
      ),
      fromRounds(
        "relayed to bare",
        "ratio",
        rounds.map((one) => one.relayed / one.bare),
      ),
    ];
  },
};

const ALERTS_EACH = 10;

/** A project with a rule whose ladder lies an hour ahead, and ten open alerts; an API key. */
async function furnish(tenant: Tenant): Promise<string> {
  const { source, key } = tenant.store.write((tx) => {
    tx.sql(
      `INSERT INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at)
       VALUES ('a', 'a@example.com', 'a@example.com', '', '', 'owner', ?)`,
    ).run(tx.at);
    createProject(tx, "shop");
    const project = getProject(tx, "shop");
    const escalations = [{ accounts: ["a"], schedules: [], after_minutes: 60, repeat_minutes: 60 }];
    const body = { ...defaultRule, identifier_keys: ["host"], max_open: 0, escalations };
    createRule(tx, project, { name: "any", body });
    createSource(tx, project, { tenantId: tenant.id, name: "app", retainLogs: false });
    const made = {
      id: 1,
      name: "app",
      projectId: project.id,
      retainLogs: false,
      kind: "events",
      room: "project",
      options: {},
      sealedSecret: null,
    } as const;
    return { source: made, key: mintKey(tx, tenant.id, "a").key };
  });
  const events = Array.from({ length: ALERTS_EACH }, (_, host) => ({
    message: "Disk is full",
    level: 400,
    tags: null,
    keys: { host: String(host) },
  }));
  await new Promise<void>((done, failed) =>
    tenant.ingest.submit(source, events, (error) => (error === null ? done() : failed(error))),
  );
  return key;
}

export const hosted: Scenario = {
  name: "hosted",
  about:
    "1,000 hosted tenants with ten open alerts each in one process: memory, and what due work costs",
  async run(quick) {
    const tenants = quick ? 100 : 1000;
    const data = mkdtempSync(join(memoryOrTemp(), "box-bench-hosted-"));
    servedBefore(data, "hosted");
    const ids = await withHosted({ data, ...deps }, async (desk) => {
      const made = [];
      for (let n = 0; n < tenants; n++)
        made.push((await desk.addTenant({ kind: "hosted" })).tenant_id);
      return made;
    });
    const config = hostedConfig({ data, listen: "127.0.0.1:0", logLevel: "silent" });
    const role = () => startHosted(config, { ...deps, log: silentLog, onFatal: fail });
    const rows = await measured(data, ids, role);
    rmSync(data, { recursive: true, force: true });
    return rows;
  },
};

function fail(error: unknown): never {
  throw error;
}

/** Makes every tenant; their API keys, and how long each took to open for the first time. */
async function build(
  ids: readonly string[],
  role: () => ReturnType<typeof startHosted>,
): Promise<{ keys: string[]; took: number[] }> {
  const [keys, took]: [string[], number[]] = [[], []];
  let running = await role();
  for (const id of ids) {
    const began = performance.now();
    const tenant = await running.tenants.find(id);
    took.push(performance.now() - began);
    if (tenant === null) throw new Error("no tenant");
    keys.push(await furnish(tenant));
    // Those just used aren't closed yet, and no more than 128 may be open.
    if (running.tenants.stats().open < 100) continue;
    await running.stop();
    running = await role();
  }
  await running.stop();
  return { keys, took };
}

/** What a process of its own holds in memory before and after it opened a hundred tenants. */
async function memory(data: string, keys: readonly string[]) {
  const words = ["cli/box.ts", "hosted", "serve", "--data", data, "--listen", "127.0.0.1:0"];
  const child = await start(process.execPath, [...words, "--log-level", "error"]);
  const url = child.line.replace("listening on ", "").trim();
  const opening: number[] = [];
  const idle = child.memory().anonymous;
  for (const key of keys.slice(0, 100)) {
    const began = performance.now();
    const headers = { authorization: `Bearer ${key}` };
    const { status } = await fetch(`${url}/v1/me`, { headers });
    if (status !== 200) throw new Error(`answered ${status}`);
    opening.push(performance.now() - began);
  }
  const each = (child.memory().anonymous - idle) / opening.length;
  await child.stop();
  return { idle: idle / MiB, each: each / MiB, opening };
}

const MiB = 1024 * 1024;

async function measured(
  data: string,
  ids: readonly string[],
  role: () => ReturnType<typeof startHosted>,
): Promise<Row[]> {
  const { keys, took } = await build(ids, role);
  const { idle, each, opening } = await memory(data, keys);
  const running = await role();
  const scans: number[] = [];
  for (let n = 0; n < 1000; n++) {
    const began = performance.now();
    await running.registry.tenants.due(Date.now(), 64);
    scans.push((performance.now() - began) * 1000);
  }
  const before = running.tenants.stats().opened;
  const cpu = process.cpuUsage();
  const began = performance.now();
  await Promise.all(ids.map((id) => running.registry.tenants.setNextDue(id, Date.now())));
  while (running.tenants.stats().opened < before + ids.length)
    await new Promise((later) => setTimeout(later, 20));
  const all = (performance.now() - began) / 1000;
  const used = process.cpuUsage(cpu);
  await running.stop();
  return [
    { what: "tenants", unit: "tenants", value: ids.length },
    { what: "memory, none open", unit: "MiB", value: idle },
    { what: "memory of one open tenant", unit: "MiB", value: each },
    { what: "due scan, none due, p50", unit: "µs", value: median(scans) },
    { what: "due scan, none due, p99", unit: "µs", value: percentile(scans, 99) },
    { what: "first opening, p50", unit: "ms", value: median(took) },
    { what: "opening by a request, p50", unit: "ms", value: median(opening) },
    { what: "opening by a request, p99", unit: "ms", value: percentile(opening, 99) },
    { what: "all due at once: until each was open", unit: "s", value: all },
    {
      what: "all due at once: CPU of each",
      unit: "ms",
      value: (used.user + used.system) / 1000 / ids.length,
    },
  ];
}
