import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemRandom } from "../../src/ground/kit/random.ts";
import type { ApnsPush } from "../../src/hosted/apns.ts";
import type { PushResult } from "../../src/hosted/apns-answer.ts";
import type { PageDeps } from "../../src/hosted/page.ts";
import type { Pusher } from "../../src/hosted/pusher.ts";
import type { Registry, RegistrySealer } from "../../src/hosted/registry/registry.ts";
import type { RelayCredential } from "../../src/hosted/registry/relay-keys.ts";
import { openSqliteRegistry } from "../../src/hosted/registry/sqlite/registry.ts";
import { type RelayRequest, type RelayResult, relayEvent } from "../../src/hosted/relay.ts";
import { type HandClock, handClock } from "./clock.ts";
import { memoryOrTemp } from "./memory.ts";

/** Readable, but refuses what was moved to another place. */
export const plainSealer: RegistrySealer = {
  seal: (text, context) => `sealed:${context}:${Buffer.from(text).toString("base64")}`,
  open(sealed, context) {
    const prefix = `sealed:${context}:`;
    if (!sealed.startsWith(prefix)) return null;
    return Buffer.from(sealed.slice(prefix.length), "base64").toString();
  },
};

export interface FakePusher extends Pusher {
  sent: ApnsPush[];
  /** The tokens pushed to so far, sorted; forgets them. */
  take(): string[];
  /** The next results of a device; after them it is delivered to again. */
  script(token: string, ...results: (PushResult | Promise<PushResult>)[]): void;
}

export function fakePusher(): FakePusher {
  const scripts = new Map<string, (PushResult | Promise<PushResult>)[]>();
  const sent: ApnsPush[] = [];
  return {
    sent,
    take: () =>
      sent
        .splice(0)
        .map((push) => push.token)
        .sort(),
    script: (token, ...results) =>
      void scripts.set(token, [...(scripts.get(token) ?? []), ...results]),
    async push(push) {
      sent.push(push);
      return (await scripts.get(push.token)?.shift()) ?? { kind: "delivered" };
    },
    close() {},
  };
}

/** A device token that is easy to read. */
export const deviceToken = (n: number) => n.toString(16).padStart(64, "0");

export interface HostedBench extends PageDeps {
  clock: HandClock;
  pusher: FakePusher;
  /** Closes the registry's file and opens it again, as a process that died would. */
  reopen(): Promise<void>;
}

/** The hosted role's verbs over a real registry file, a hand-turned clock and phones in memory. */
export function hostedBench(t: TestContext, clock = handClock()): HostedBench {
  const dir = mkdtempSync(join(memoryOrTemp(), "box-hosted-"));
  const open = (): Registry =>
    openSqliteRegistry({
      path: join(dir, "hosted.db"),
      clock,
      random: systemRandom,
      sealer: () => plainSealer,
    });
  const bench: HostedBench = {
    clock,
    pusher: fakePusher(),
    registry: open(),
    async reopen() {
      bench.registry.close();
      bench.registry = open();
      await bench.registry.claims.releaseMine();
    },
  };
  t.after(() => {
    bench.registry.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return bench;
}

export interface PairedBox {
  tenantId: string;
  credential: RelayCredential;
  /** Hosted account ids, in the order of their box accounts "box-0", "box-1", … */
  accounts: string[];
}

/** A box tenant with `people` live pairings, each with one device: `deviceToken(0)`, `(1)`, … */
export async function pairedBox(bench: HostedBench, people: number): Promise<PairedBox> {
  const { registry } = bench;
  const { id: tenantId } = await registry.tenants.add({ kind: "box" });
  const accounts: string[] = [];
  let credential: RelayCredential | null = null;
  for (let n = 0; n < people; n++) {
    const { account } = await registry.accounts.add(`p${n}@example.com`);
    const pairing = { tenantId, accountId: account.id, boxAccountId: `box-${n}` };
    const first = await registry.pairings.first(pairing);
    if (first.kind === "paired") credential = first.credential;
    else await registry.pairings.later({ ...pairing, boxTenantId: "b0b0b0b0b0b0b0b0" });
    await addDevice(bench, account.id, n);
    accounts.push(account.id);
  }
  if (credential === null) throw new Error("a box without people has no credential");
  return { tenantId, credential, accounts };
}

export function addDevice(
  bench: HostedBench,
  accountId: string,
  n: number,
  criticalAlerts = false,
) {
  const token = deviceToken(n);
  return bench.registry.devices.put({ accountId, token, platform: "ios", criticalAlerts });
}

/** A relayed event as the box sends it; what isn't given is that of an alert opened now. */
export function eventBody(clock: HandClock, fields: object = {}): string {
  return JSON.stringify({
    event: "alert.opened",
    alert_id: "1",
    project: "shop",
    rule: "disk",
    template: "Disk <*> is full",
    count: 1,
    level: 400,
    timestamp: Math.floor(clock.now() / 1000),
    ...fields,
  });
}

/** A request signed `skew` seconds from now with a credential. */
export function signed(
  bench: HostedBench,
  credential: RelayCredential,
  body: string,
  skew = 0,
): RelayRequest {
  const timestampHeader = String(Math.floor(bench.clock.now() / 1000) + skew);
  const signatureHeader = createHmac("sha256", credential.secret)
    .update(`${timestampHeader}.${body}`)
    .digest("hex");
  return { keyId: credential.keyId, timestampHeader, signatureHeader, rawBody: Buffer.from(body) };
}

export function relay(
  bench: HostedBench,
  box: PairedBox,
  fields: object = {},
): Promise<RelayResult> {
  return relayEvent(bench, signed(bench, box.credential, eventBody(bench.clock, fields)));
}
