import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningBox, startBox } from "../../src/app/box.ts";
import { boxConfig } from "../../src/app/config.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { hexId } from "../../src/ground/kit/ids.ts";
import { type Log, silentLog } from "../../src/ground/kit/log.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { mintKey } from "../../src/people/keys.ts";
import type { Tenant } from "../../src/tenant/tenant.ts";
import type { ServerLimits } from "../../src/web/http/server-limits.ts";

/** A whole box on the real clock, with what it reported as an error. */
export interface Served {
  port: number;
  /** Of senders that have one of their own. */
  ports: RunningBox["ports"];
  tenant: Tenant;
  key: string;
  token: string;
  /** Errors that it logged; none is what a client's behaviour may ever cause. */
  errors: unknown[];
  /** What it warned of. */
  warnings: unknown[];
  stop(): Promise<void>;
}

/** A twentieth of the usual times, so that what takes half a minute takes a second and a half. */
export const hasty: Partial<ServerLimits> = {
  head: 500,
  request: 1500,
  keepAlive: 3000,
  silence: 3750,
  check: 50,
};

export async function served(
  limits: Partial<ServerLimits> = hasty,
  more: object = {},
): Promise<Served> {
  const data = mkdtempSync(join(tmpdir(), "box-network-"));
  const errors: unknown[] = [];
  const warnings: unknown[] = [];
  const log: Log = Object.assign(Object.create(silentLog), {
    error: (entry: unknown) => void errors.push(entry),
    warn: (entry: unknown) => void warnings.push(entry),
  });
  const config = boxConfig({
    data,
    listen: "127.0.0.1:0",
    logLevel: "silent",
    ingestRate: "0",
    apiRate: "0",
    pairRate: "0",
    ...more,
  });
  const box = await startBox(config, {
    clock: systemClock,
    random: systemRandom,
    log,
    limits,
    onFatal: (error) => void errors.push(error),
  });
  // Hasty limits leave no time for the app to be loaded.
  while (!(await fetch(`${box.url}/healthz`, { headers: { connection: "close" } })).ok);
  const key = addOwner(box.tenant);
  const token = await firstToken(box.url, key);
  return {
    port: Number(new URL(box.url).port),
    tenant: box.tenant,
    key,
    token,
    errors,
    warnings,
    ports: box.ports,
    async stop() {
      await box.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

function addOwner(tenant: Tenant): string {
  return tenant.store.write((tx) => {
    const id = hexId(tx.random);
    tx.sql(
      `INSERT INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at)
       VALUES (?, 'o@example.org', 'o@example.org', 'Owner', '', 'owner', ?)`,
    ).run(id, tx.at);
    return mintKey(tx, tenant.id, id).key;
  });
}

async function firstToken(url: string, key: string): Promise<string> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, connection: "close" },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { token: string };
  };
  await post("/v1/projects", { name: "p" });
  await post("/v1/projects/p/rules", { name: "loud", match: { min_level: 500 } });
  return (await post("/v1/projects/p/sources", { name: "s", retain_logs: true })).token;
}
