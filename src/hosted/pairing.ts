import { notFound, ServiceError } from "../ground/kit/errors.ts";
import type { NewPairing, Pairing } from "./registry/pairings.ts";
import type { Registry } from "./registry/registry.ts";
import type { RelayCredential } from "./registry/relay-keys.ts";
import type { HostedTenant } from "./registry/tenants.ts";

/** The result of redeeming a receipt at its box. */
export type ReceiptRedemption =
  | { kind: "redeemed"; boxAccountId: string; tenantId: string }
  /** The address leads to no public host, or isn't https. */
  | { kind: "private" }
  | { kind: "unreachable" }
  /** The box refused the receipt. */
  | { kind: "refused" };

/** Calls `{boxUrl}/v1/pair/verify` once, never again for the same receipt. */
export type RedeemReceipt = (boxUrl: string, receipt: string) => Promise<ReceiptRedemption>;

export interface PairDeps {
  registry: Registry;
  redeemReceipt: RedeemReceipt;
}

export interface Paired {
  pairing: Pairing;
  /** The relay credential; only for a tenant's first pairing. */
  credential: RelayCredential | null;
}

const ONLY_FIRST = "only the first person of a tenant can be paired without a check";

const refusals = {
  unknown: `The receipt can't be checked, because the box has announced no address yet; ${ONLY_FIRST}.`,
  private: `The receipt can't be checked, because the box has no public https address; ${ONLY_FIRST}.`,
  unreachable:
    "The receipt can't be checked, because the box could not be reached. Get a new one and try again.",
  refused: "The box did not accept the receipt. Get a new one and try again.",
} as const;

/**
 * Pairs a hosted account with a box account (contract §15, Pairing and relay; contract §7). A tenant's first pairing
 * needs no receipt; for a later one the box redeems it before anything is written. Throws ServiceError not_found,
 * hosted_tenant, already_paired and receipt_not_accepted, which says why.
 */
export async function pair(
  deps: PairDeps,
  request: NewPairing & { receipt: string },
): Promise<Paired> {
  const { receipt, ...wanted } = request;
  const first = await deps.registry.pairings.first(wanted);
  switch (first.kind) {
    case "paired":
      return { pairing: first.pairing, credential: first.credential };
    case "not_found":
      throw notFound("tenant");
    case "hosted":
      throw new ServiceError("hosted_tenant", "This tenant has no box, so it can't be paired.");
    case "receipt_needed":
      return { pairing: await pairByReceipt(deps, wanted, receipt), credential: null };
  }
}

async function pairByReceipt(
  deps: PairDeps,
  wanted: NewPairing,
  receipt: string,
): Promise<Pairing> {
  const { pairings, tenants } = deps.registry;
  // Checked first, so that no receipt is used up for nothing.
  if (await pairings.isPaired(wanted)) throw alreadyPaired();
  const tenant = await tenants.get(wanted.tenantId);
  if (tenant === null) throw notFound("tenant");
  const boxTenantId = await redeem(deps, tenant, { ...wanted, receipt });
  const later = await pairings.later({ ...wanted, boxTenantId });
  if (later.kind === "already_paired") throw alreadyPaired();
  if (later.kind === "other_box") throw notAccepted("refused");
  return later.pairing;
}

/** The tenant id in the receipt. A receipt of another person or box counts as refused. */
async function redeem(
  deps: PairDeps,
  tenant: HostedTenant,
  wanted: { boxAccountId: string; receipt: string },
): Promise<string> {
  if (tenant.boxUrl === null) throw notAccepted("unknown");
  const redemption = await deps.redeemReceipt(tenant.boxUrl, wanted.receipt);
  if (redemption.kind !== "redeemed") throw notAccepted(redemption.kind);
  const isSameBox = tenant.boxTenantId === null || tenant.boxTenantId === redemption.tenantId;
  if (!isSameBox || redemption.boxAccountId !== wanted.boxAccountId) throw notAccepted("refused");
  return redemption.tenantId;
}

function alreadyPaired(): ServiceError {
  return new ServiceError(
    "already_paired",
    "This account, or this account of the box, is paired here already. Unpair it first.",
  );
}

function notAccepted(why: keyof typeof refusals): ServiceError {
  return new ServiceError("receipt_not_accepted", refusals[why]);
}
