import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { type RunningBox, startBox } from "../../src/app/box.ts";
import { type BoxFlags, boxConfig } from "../../src/app/config.ts";
import type { BoxDeps } from "../../src/app/parts.ts";
import { hexId } from "../../src/ground/kit/ids.ts";
import { type Log, silentLog } from "../../src/ground/kit/log.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import type { Role } from "../../src/ground/store/columns.ts";
import { mintKey } from "../../src/people/keys.ts";
import type { Tenant } from "../../src/tenant/tenant.ts";
import { type HandClock, handClock } from "./clock.ts";
import { newData } from "./data.ts";

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
  body: any;
}

export interface Person {
  accountId: string;
  key: string;
}

/** A real box: files, sockets, port 0; only its clock is turned by hand. */
export interface TestBox {
  readonly url: string;
  /** Where senders' own addresses are served, with `adaptersListen`. */
  readonly adaptersUrl: string;
  /** Its ports for senders that speak no HTTP, in the order of their flags. */
  readonly ports: RunningBox["ports"];
  readonly data: string;
  readonly clock: HandClock;
  readonly tenant: Tenant;
  /** An owner with a key. */
  readonly owner: Person;
  person(role: Role, email?: string): Person;
  /** Calls the API; as the owner unless `key` says otherwise (null = without a bearer). */
  api(method: string, path: string, body?: unknown, key?: string | null): Promise<Answer>;
  ingest(token: string, event: unknown): Promise<Answer>;
  /** A project with one source; its token. */
  project(name: string, source?: { name?: string; retain_logs?: boolean }): Promise<string>;
  /** Stops and starts again on the same directory; the clock stays. `between` changes files meanwhile. */
  restart(between?: () => unknown): Promise<void>;
  stop(): Promise<void>;
}

export async function testBox(
  flags: BoxFlags = {},
  clock: HandClock = handClock(),
  log: Log = silentLog,
  deps: Partial<BoxDeps> = {},
): Promise<TestBox> {
  const data = flags.data ?? newData("box-test-");
  const config = boxConfig({
    data,
    listen: "127.0.0.1:0",
    logLevel: "silent",
    ingestRate: "0",
    apiRate: "0",
    pairRate: "0",
    ...flags,
  });
  const fatal: unknown[] = [];
  const start = () =>
    startBox(config, {
      clock,
      random: systemRandom,
      log,
      onFatal: (error) => void fatal.push(error),
      ...deps,
    });
  let box: RunningBox = await start();
  const person = (role: Role, email = `${hexId(systemRandom)}@example.org`): Person =>
    addPerson(box.tenant, role, email);
  const owner = person("owner", "owner@example.org");

  const call = async (method: string, path: string, init: RequestInit): Promise<Answer> => {
    const answer = await fetch(box.url + path, { method, redirect: "manual", ...init });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
    return {
      status: answer.status,
      headers: answer.headers,
      body: isJson ? JSON.parse(text) : text,
    };
  };
  const api = (method: string, path: string, body?: unknown, key: string | null = owner.key) =>
    call(method, path, {
      ...(key === null ? {} : { headers: { authorization: `Bearer ${key}` } }),
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });

  return {
    get url() {
      return box.url;
    },
    get adaptersUrl() {
      return box.adaptersUrl ?? "";
    },
    get ports() {
      return box.ports;
    },
    data,
    clock,
    get tenant() {
      return box.tenant;
    },
    owner,
    person,
    api,
    ingest: (token, event) =>
      call("POST", "/v1/ingest", {
        headers: { authorization: `Bearer ${token}` },
        body: typeof event === "string" ? event : JSON.stringify(event),
      }),
    async project(name, source = {}) {
      const project = await api("POST", "/v1/projects", { name });
      assert.ok(
        [201, 409].includes(project.status),
        `${project.status} ${JSON.stringify(project.body)}`,
      );
      const made = await api("POST", `/v1/projects/${encodeURIComponent(name)}/sources`, {
        name: "app",
        ...source,
      });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      return made.body.token as string;
    },
    async restart(between) {
      await box.stop();
      await between?.();
      box = await start();
    },
    async stop() {
      await box.stop();
      rmSync(data, { recursive: true, force: true });
      if (fatal.length > 0)
        throw new Error("the box met a fatal storage error", { cause: fatal[0] });
    },
  };
}

function addPerson(tenant: Tenant, role: Role, email: string): Person {
  return tenant.store.write((tx) => {
    const accountId = hexId(tx.random);
    tx.sql(
      "INSERT INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at) VALUES (?, ?, ?, ?, '', ?, ?)",
    ).run(accountId, email, email.toLowerCase(), email, role, tx.at);
    return { accountId, key: mintKey(tx, tenant.id, accountId).key };
  });
}
