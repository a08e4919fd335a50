import * as z from "zod";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { listCodes, revokeCode } from "../../../people/codes.ts";
import {
  codeIssued,
  codePending,
  codeWrite,
  pairAnswer,
  pairWrite,
  receiptAnswer,
} from "../../../people/pairing.ts";
import { verifyReceipt } from "../../../people/receipts.ts";
import { redeem } from "../../../people/redeem.ts";
import { invitePerson } from "../../../tenant/invite.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const pairing = routesIn(inTenant, { at: "/pair", tag: "Pairing", boxOnly: true });

/** Pairing on the box (contract §15, Pairing; contract §3). */
export const pairingRoutes: Route[] = [
  pairing.post("", {
    name: "pair",
    summary: "Redeem a pairing code: an account, an API key and a receipt",
    plane: "none",
    limit: "pair",
    body: pairWrite,
    answer: pairAnswer,
    errors: ["pairing_refused", "rate_limited", "overloaded"],
    handle: ({ tenant, body }) =>
      redeem(
        { store: tenant.store, tenantId: tenant.id, passwords: tenant.passwords },
        {
          code: body.code,
          password: body.password,
          email: body.email ?? null,
          displayName: body.display_name ?? null,
        },
      ),
  }),
  pairing.post("/codes", {
    name: "issuePairingCode",
    summary: "Issue a pairing code that makes an account, at most of one's own role",
    manager: true,
    body: codeWrite,
    status: 201,
    answer: codeIssued,
    errors: ["gateway_missing"],
    handle: ({ tenant, actor, body }) => invitePerson(tenant, actor.accountId, body),
  }),
  pairing.get("/codes", {
    name: "listPairingCodes",
    summary: "The pairing codes that can still be redeemed, newest first, without the codes",
    additive: true,
    manager: true,
    answer: z.object({ codes: z.array(codePending) }),
    read: (store) => ({ codes: listCodes(store, unixSeconds(store.clock)) }),
  }),
  pairing.delete("/codes/{code_id}", {
    name: "revokePairingCode",
    summary: "Take a pairing code back before it is redeemed",
    additive: true,
    manager: true,
    write: (tx, { params }) => revokeCode(tx, params.code_id),
  }),
  pairing.get("/verify", {
    name: "verifyReceipt",
    summary: "Redeem a receipt: whose it is, once",
    plane: "none",
    limit: "pair",
    noHead: true,
    // A missing or misshapen receipt gets the one answer of a wrong one.
    query: z.strictObject({
      receipt: z.string().optional().meta({ maxLength: 48, description: "Required." }),
    }),
    answer: receiptAnswer,
    errors: ["invalid_request", "receipt_refused", "rate_limited"],
    write: (tx, { tenant, query }) => ({
      box_account_id: verifyReceipt(tx, query.receipt ?? ""),
      tenant_id: tenant.id,
    }),
  }),
];
