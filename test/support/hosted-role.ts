import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningHosted, startHosted } from "../../src/app/hosted.ts";
import { type HostedFlags, hostedConfig } from "../../src/app/hosted-config.ts";
import { type OfflineRegistry, withHosted } from "../../src/app/offline/hosted.ts";
import type { BoxDeps } from "../../src/app/parts.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import type { RelayCredential } from "../../src/hosted/registry/relay-keys.ts";
import type { FakeApns } from "./apns.ts";
import type { Answer } from "./box.ts";
import { type HandClock, handClock, turnedWhereSlow } from "./clock.ts";
import { memoryOrTemp } from "./memory.ts";

/** A real hosted role: files, sockets, port 0; only its clock is turned by hand. */
export interface TestHosted {
  readonly url: string;
  readonly data: string;
  readonly clock: HandClock;
  readonly role: RunningHosted;
  /** Calls a route with a bearer, or without. */
  call(method: string, path: string, how?: { body?: unknown; token?: string }): Promise<Answer>;
  /** What the operator does, on the data directory while it is served. */
  desk<T>(use: (desk: OfflineRegistry) => Promise<T>): Promise<T>;
  /** An account with a session. */
  person(email: string): Promise<HostedPerson>;
  /** Stops and starts again on the same directory and, unless told, the same port; the clock stays. */
  stopServing(): Promise<void>;
  serveAgain(): Promise<void>;
  stop(): Promise<void>;
}

export interface HostedPerson {
  accountId: string;
  token: string;
}

/** No limits unless told; `planRates`: those of the plans. A directory that is named stays. */
export type TestFlags = HostedFlags & { planRates?: boolean };

export async function testHosted(
  { planRates = false, ...flags }: TestFlags = {},
  clock: HandClock = handClock(),
  deps: Partial<BoxDeps> = {},
): Promise<TestHosted> {
  const data = flags.data ?? mkdtempSync(join(memoryOrTemp(), "box-hosted-"));
  const fatal: unknown[] = [];
  const start = (port: number) =>
    startHosted(
      hostedConfig({
        data,
        listen: `127.0.0.1:${port}`,
        logLevel: "silent",
        apiRate: "0",
        pairRate: "0",
        relayRate: "0",
        ...(planRates ? {} : { ingestRate: "0" }),
        ...flags,
      }),
      {
        clock,
        random: systemRandom,
        log: silentLog,
        onFatal: (error) => void fatal.push(error),
        ...deps,
      },
    );
  let role = await turnedWhereSlow(clock, start(0));
  let { url } = role;
  const { database, hostedKey } = flags;
  const desk: TestHosted["desk"] = (use) =>
    turnedWhereSlow(
      clock,
      withHosted(
        {
          data,
          clock,
          random: systemRandom,
          ...(database === undefined ? {} : { database }),
          ...(hostedKey === undefined ? {} : { hostedKey }),
        },
        use,
      ),
    );

  return {
    get url() {
      return url;
    },
    data,
    clock,
    desk,
    get role() {
      return role;
    },
    call: (method, path, { body, token } = {}) =>
      ask(url + path, {
        method,
        ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    person: (email) =>
      desk(async (operator) => ({
        accountId: (await operator.addAccount(email)).account_id,
        token: (await operator.addSession(email)).token,
      })),
    stopServing: () => role.stop(),
    async serveAgain() {
      role = await turnedWhereSlow(clock, start(Number(new URL(url).port)));
      url = role.url;
    },
    async stop() {
      await turnedWhereSlow(clock, role.stop());
      if (flags.data === undefined) rmSync(data, { recursive: true, force: true });
      if (fatal.length > 0) throw new Error("a fatal storage error", { cause: fatal[0] });
    },
  };
}

/** One request; JSON is parsed. */
export async function ask(url: string, init: RequestInit): Promise<Answer> {
  const answer = await fetch(url, { redirect: "manual", ...init });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
}

/** Points a hosted role at a fake push provider. */
export async function useApns(hosted: TestHosted, apns: FakeApns): Promise<void> {
  const keyFile = join(hosted.data, "test.p8");
  const ca = join(hosted.data, "test-ca.pem");
  writeFileSync(keyFile, apns.key);
  writeFileSync(ca, apns.ca);
  const { keyId, teamId, topic, endpoint } = apns;
  await hosted.desk((desk) => desk.setApns({ keyFile, ca, keyId, teamId, topic, endpoint }));
}

/** The headers of a signed relay request, `skew` seconds from now. */
export function signature(
  hosted: TestHosted,
  credential: Pick<RelayCredential, "secret">,
  body: string | Buffer,
  skew = 0,
): Record<string, string> {
  const stamp = String(Math.floor(hosted.clock.now() / 1000) + skew);
  return {
    "x-service-timestamp": stamp,
    "x-service-signature": createHmac("sha256", credential.secret)
      .update(`${stamp}.`)
      .update(body)
      .digest("hex"),
  };
}
