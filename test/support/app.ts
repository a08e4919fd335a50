import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { hexId } from "../../src/ground/kit/ids.ts";
import { type Log, silentLog } from "../../src/ground/kit/log.ts";
import { createPasswords, type Passwords } from "../../src/ground/kit/password.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import type { Role } from "../../src/ground/store/columns.ts";
import { mintKey } from "../../src/people/keys.ts";
import { startTenant, type Tenant } from "../../src/tenant/tenant.ts";
import { createApp } from "../../src/web/http/app.ts";
import { createDecoder } from "../../src/web/http/inbound/decoder.ts";
import { createLimits, type Rates } from "../../src/web/http/limits.ts";
import { createRefusals } from "../../src/web/http/refusals.ts";
import { dataPlaneRoutes } from "../../src/web/http/routes.ts";
import type { Answer, Person } from "./box.ts";
import { type HandClock, handClock } from "./clock.ts";
import { newData } from "./data.ts";

/** The data plane as a function from request to response, over a real store: no socket. */
export interface TestApp {
  readonly clock: HandClock;
  readonly tenant: Tenant;
  /** The store's file. */
  readonly path: string;
  person(role: Role, email?: string): Person;
  /** Without a bearer unless `key` is given. */
  call(method: string, path: string, how?: { body?: unknown; key?: string }): Promise<Answer>;
}

export interface TestAppOptions {
  role?: "box" | "hosted";
  /** All off unless told. */
  rates?: Partial<Rates>;
  publicUrl?: string;
  /** Default: an argon2id that costs next to nothing, with a long queue. */
  passwords?: Passwords;
}

export const cheapPasswords = (waiting = 1000): Passwords =>
  createPasswords(systemRandom, { cost: { memory: 64, passes: 1, lanes: 1 }, waiting });

export function testApp(t: TestContext, options: TestAppOptions = {}): TestApp {
  const { role = "box", rates = {}, publicUrl = "https://box.example" } = options;
  const directory = newData("box-app-");
  const path = join(directory, "box.db");
  const clock = handClock();
  const faults: unknown[] = [];
  const log: Log = Object.assign(Object.create(silentLog), {
    error: (entry: { err?: unknown }) => void faults.push(entry.err ?? entry),
  });
  const tenant = startTenant({
    path,
    role,
    clock,
    publicUrl,
    random: systemRandom,
    log,
    passwords: options.passwords ?? cheapPasswords(),
    onFatal: (error) => {
      throw error;
    },
  });
  t.after(async () => {
    await tenant.stop();
    rmSync(directory, { recursive: true, force: true });
    assert.deepEqual(faults, [], "no request and no job failed inside");
  });
  const app = createApp({
    routes: dataPlaneRoutes,
    raw: [],
    serving: {
      limits: createLimits(clock, { ingest: 0, api: 0, pair: 0, ...rates }),
      findTenant: (segment) => (segment === tenant.id ? tenant : null),
      findLinked: () => (role === "box" ? tenant : null),
      findCalled: () => null,
      ownTenant: () => (role === "box" ? tenant : null),
      address: (c) => c.req.header("x-forwarded-for") ?? "127.0.0.1",
      known() {},
      refusals: createRefusals(clock, silentLog),
      decoder: createDecoder(clock),
    },
    log,
    random: systemRandom,
  });
  return {
    clock,
    tenant,
    path,
    person: (rank, email = `${rank}@example.org`) => addPerson(tenant, rank, email),
    async call(method, path, { body, key } = {}) {
      const answer = await app.request(path, {
        method,
        ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (answer.status === 500) throw new Error("answered 500", { cause: faults.pop() });
      const text = await answer.text();
      const isJson = answer.headers.get("content-type") === "application/json";
      return {
        status: answer.status,
        headers: answer.headers,
        body: isJson && text !== "" ? JSON.parse(text) : text,
      };
    },
  };
}

/** An account with a key and no password. */
function addPerson(tenant: Tenant, role: Role, email: string): Person {
  return tenant.store.write((tx) => {
    const accountId = hexId(tx.random);
    tx.sql(
      `INSERT INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at)
       VALUES (?, ?, ?, ?, '', ?, ?)`,
    ).run(accountId, email, email, email, role, tx.at);
    return { accountId, key: mintKey(tx, tenant.id, accountId).key };
  });
}
