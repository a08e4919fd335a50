import type { Claim } from "../../../src/hosted/registry/claims.ts";
import type { Registry } from "../../../src/hosted/registry/registry.ts";
import type { RelayCredential } from "../../../src/hosted/registry/relay-keys.ts";
import { deviceToken } from "../../support/hosted.ts";

/**
 * One of two registries that get the same calls, and what it has answered: equal positions of both lists hold the same
 * thing.
 */
export interface Side {
  registry: Registry;
  now(): number;
  turn(ms: number): Promise<void>;
  accounts: string[];
  tenants: string[];
  keys: (RelayCredential & { tenantId: string })[];
  sessions: string[];
  claims: Claim[];
  /** When recipients were last read. */
  readAtMs: number;
  /** How many provider tokens were made. */
  tokens: number;
  /** Random values, and the labels that replace them. */
  labels: Map<string, string>;
  close(): void;
}

/** The random choices of one command: the same on both sides. */
export class Draws {
  readonly #numbers: readonly number[];
  #at = 0;
  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }
  of<T>(list: readonly T[]): T {
    const number = this.#numbers[this.#at++ % this.#numbers.length] ?? 0;
    return list[number % list.length] as T;
  }
  some<T>(list: readonly T[]): T[] {
    return list.filter(() => this.of([true, false]));
  }
}

export const EMAILS = [
  "ada@example.com",
  " ADA@Example.com ",
  "zo\u{e9}@example.com",
  "zoe\u{301}@example.com",
  "stra\u{df}e@example.com",
  "STRASSE@example.com",
  "\u{130}@example.com",
  "\u{17f}@example.com",
  "'; DROP TABLE accounts; --@x",
  "\\@example.com",
  "%_@example.com",
  "\u{1f469}\u{200d}@x",
];
/** Names that nobody has. */
export const ODD = ["", "0000000000000000", "a\0b", "\\", '{a,"b"}', "NULL", "\u{1f4df}"];
export const TEXTS = [
  "1",
  "2",
  "\0",
  "a\nb",
  "{}",
  '"',
  "\\N",
  "NULL",
  "\u{10ffff}",
  "x".repeat(250),
];
export const WHOLE = [
  0,
  1,
  -1,
  300,
  1_767_600_000,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
];
export const HANDSETS = [1, 2, 3, 4, 5].map(deviceToken);
export const SECONDS = [7, 17, 61, 307, 3_607, 2 * 86_400 + 5, 31 * 86_400];

export const label = (side: Side, kind: string, value: string): string => {
  if (!side.labels.has(value)) side.labels.set(value, `<${kind} ${side.labels.size}>`);
  return value;
};
export const account = (side: Side, d: Draws) =>
  d.of([...side.accounts, ...side.accounts, d.of(ODD)]);
export const tenant = (side: Side, d: Draws) => d.of([...side.tenants, ...side.tenants, d.of(ODD)]);
export const member = (side: Side, d: Draws) => ({
  tenantId: tenant(side, d),
  accountId: account(side, d),
});
export const key = (side: Side, d: Draws) =>
  d.of([...side.keys, { keyId: d.of(ODD), secret: "", tenantId: tenant(side, d) }]);
export const stamp = (side: Side, d: Draws) =>
  d.of([...WHOLE, Math.floor(side.now() / 1000) + d.of([-600, -1, 0, 0, 1])]);
export const sign = (side: Side, d: Draws) => {
  const { keyId: relayKeyId, tenantId } = key(side, d);
  return { tenantId, relayKeyId, stamp: stamp(side, d) };
};
export const audience = (side: Side, d: Draws) => ({
  tenantId: tenant(side, d),
  through: d.of(["pairings", "memberships"] as const),
  only: d.of([null, d.some(["box-0", "box-1", ...side.accounts])]),
});
export const sorted = <T>(list: readonly T[], by: (one: T) => string = String): T[] =>
  list.toSorted((a, b) => (by(a) < by(b) ? -1 : 1));
