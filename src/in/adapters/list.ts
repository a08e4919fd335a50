import type { Adapter, SenderIdentity } from "./adapter.ts";
import * as kinds from "./kinds.ts";

/** Every format besides the box's own, by the kind in addresses and on sources. */
export const adapters = Object.values<Adapter>(kinds).toSorted((a, b) =>
  a.kind < b.kind ? -1 : 1,
);

/** Kinds without an adapter: the box's own format at `/v1/ingest`, and reports of jobs at `/ping`. */
const ownIdentities: Readonly<Record<string, SenderIdentity>> = {
  events: { title: ["title"], labels: [], named: "some" },
  heartbeats: { title: [], labels: ["heartbeat"], named: "all" },
};
const OWN = Object.keys(ownIdentities);

/** The kinds of sources. */
export const sourceKinds: readonly string[] = [...OWN, ...adapters.map(({ kind }) => kind)];

/** Kinds whose senders can sign requests. */
export const signers: readonly string[] = adapters.flatMap(({ kind, isSigned }) =>
  isSigned === undefined ? [] : [kind],
);

export function findAdapter(kind: string): Adapter | null {
  return adapters.find((adapter) => adapter.kind === kind) ?? null;
}

/** How alerts of a kind of source are told apart; null for an unknown kind. */
export function identityOf(kind: string): SenderIdentity | null {
  return Object.hasOwn(ownIdentities, kind)
    ? (ownIdentities[kind] as SenderIdentity)
    : (findAdapter(kind)?.identity ?? null);
}

/** The usual scope of alerts' names for a kind of source; null for an unknown kind. */
export function usualNameScope(kind: string): Adapter["room"] | null {
  return OWN.includes(kind) ? "project" : (findAdapter(kind)?.room ?? null);
}
