import type { TestContext } from "node:test";
import type { Registry } from "../../../src/hosted/registry/registry.ts";
import { deviceToken } from "../../support/hosted.ts";

/** A registry for the contract: two nodes on one database, with a clock that the test turns. */
export interface ContractBench {
  /** The first node's. */
  registry: Registry;
  /** The same twice, where one process serves alone. */
  nodes: readonly [Registry, Registry];
  clock: { now(): number; turn(ms: number): Promise<void> };
  /** Everything that is stored, as text. */
  contents(): Promise<string>;
  /** A node without the keys of the stored secrets. */
  keyless(): Promise<Registry>;
}

export interface ContractRegistry {
  name: string;
  /** Declares a test, or skips it with a reason. */
  test(name: string, run: (t: TestContext) => Promise<void>): void;
  /** `apartMs`: how far the second node's clock is ahead of the first's and of the registry's. */
  open(t: TestContext, options?: { apartMs?: number }): Promise<ContractBench>;
}

/** A box tenant with paired accounts that have no phone yet. */
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
