import type { TestContext } from "node:test";
import type { Registry } from "../../../src/hosted/registry/registry.ts";
import { deviceToken } from "../../support/hosted.ts";

/** A registry as the contract tries it: two nodes on one database, whose clock is turned by hand. */
export interface ContractBench {
  /** The first node's. */
  registry: Registry;
  /** Where one process serves alone, the same twice. */
  nodes: readonly [Registry, Registry];
  clock: { now(): number; turn(ms: number): Promise<void> };
  /** All that is stored, as text. */
  contents(): Promise<string>;
  /** A node that has none of the keys that the stored secrets are sealed under. */
  keyless(): Promise<Registry>;
}

export interface ContractRegistry {
  name: string;
  /** Declares a test, or says why it is none here. */
  test(name: string, run: (t: TestContext) => Promise<void>): void;
  /** `apartMs`: how far the second node's own clock is ahead of the first's and of the registry's. */
  open(t: TestContext, options?: { apartMs?: number }): Promise<ContractBench>;
}

/** A box tenant whose people have an account each and no phone yet. */
export async function contractBox(registry: Registry, people = 1) {
  const { id: tenantId } = await registry.tenants.add({ kind: "box" });
  const accounts: string[] = [];
  let relayKeyId = "";
  for (let n = 0; n < people; n++) {
    const { account } = await registry.accounts.add(`p${n}@example.com`);
    const pairing = { tenantId, accountId: account.id, boxAccountId: `box-${n}` };
    const first = await registry.pairings.first(pairing);
    if (first.kind === "paired") relayKeyId = first.credential.keyId;
    else await registry.pairings.later({ ...pairing, boxTenantId: "b0b0b0b0b0b0b0b0" });
    accounts.push(account.id);
  }
  return { tenantId, relayKeyId, accounts };
}

export function putDevice(
  registry: Registry,
  accountId: string,
  n: number,
  criticalAlerts = false,
) {
  return registry.devices.put({
    accountId,
    token: deviceToken(n),
    platform: "ios",
    criticalAlerts,
  });
}

/** `count` calls at once, by both nodes in turn. */
export function together<T>(
  { nodes }: ContractBench,
  count: number,
  call: (registry: Registry, n: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => call(nodes[n % 2] ?? nodes[0], n)));
}
