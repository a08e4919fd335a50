import type { Egress } from "../ground/kit/egress.ts";
import type { EgressResult } from "../ground/kit/exchange.ts";
import type { ReceiptRedemption, RedeemReceipt } from "./pairing.ts";

/** For the whole answer, with DNS and connecting. */
const TIMEOUT_MS = 10_000;
const MOST_BYTES = 4096;

/** What the guarded client reports when an address leads to no public host, or isn't https. */
const PRIVATE = ["https_required", "address_refused", "bad_url", "dns"];

/**
 * Redeems a receipt at its box, once: checking a receipt uses it up, so there is no retry. `egress` follows no
 * redirect, uses no proxy and connects only to checked addresses.
 */
export function receiptRedeemer(egress: Egress): RedeemReceipt {
  return async (boxUrl, receipt) => {
    const url = verifyUrl(boxUrl, receipt);
    if (url === null) return { kind: "private" };
    const result = await egress.send({
      method: "GET",
      url,
      headers: { accept: "application/json" },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MOST_BYTES,
    });
    return judge(result);
  };
}

/** null for an address that no box announces: one with a query, or with the port of another service. */
function verifyUrl(boxUrl: string, receipt: string): string | null {
  if (!URL.canParse(boxUrl)) return null;
  const url = new URL(boxUrl);
  const port = Number(url.port);
  const isPlain = url.search === "" && url.hash === "" && (port === 0 || port >= 1024);
  if (!isPlain && url.port !== "443") return null;
  const base = url.href.replace(/\/+$/, "");
  return `${base}/v1/pair/verify?receipt=${encodeURIComponent(receipt)}`;
}

function judge({ status, error, body, truncated }: EgressResult): ReceiptRedemption {
  if (status === null) {
    return { kind: error !== null && PRIVATE.includes(error) ? "private" : "unreachable" };
  }
  if (error !== null || status === 429 || status >= 500) return { kind: "unreachable" };
  const answer = status === 200 && !truncated ? readAnswer(body) : null;
  return answer === null ? { kind: "refused" } : { kind: "redeemed", ...answer };
}

function readAnswer(body: string): { boxAccountId: string; tenantId: string } | null {
  try {
    const fields = JSON.parse(body) as Record<string, unknown> | null;
    const boxAccountId = fields?.["box_account_id"];
    const tenantId = fields?.["tenant_id"];
    if (typeof boxAccountId !== "string" || typeof tenantId !== "string") return null;
    return { boxAccountId, tenantId };
  } catch {
    return null;
  }
}
