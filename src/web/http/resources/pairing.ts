import { z } from "zod";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { issueCode, listCodes, pairLink, revokeCode } from "../../../people/codes.ts";
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
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";

/** Pairing on the box (contract §15, Pairing; contract §3). */
export const pairingRoutes: Route[] = [
  route({
    method: "POST",
    path: "/v1/pair",
    name: "pair",
    tag: "Pairing",
    summary: "Redeem a pairing code: an account, an API key and a receipt",
    plane: "none",
    limit: "pair",
    boxOnly: true,
    body: pairWrite,
    status: 200,
    answer: pairAnswer,
    errors: ["invalid_request", "invalid_json", "pairing_refused", "rate_limited", "overloaded"],
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
  route({
    method: "POST",
    path: "/v1/pair/codes",
    name: "issuePairingCode",
    tag: "Pairing",
    summary: "Issue a pairing code for a seat, at most at one's own role",
    plane: "api",
    manager: true,
    boxOnly: true,
    body: codeWrite,
    status: 201,
    answer: codeIssued,
    errors: ["invalid_request", "invalid_json", "forbidden"],
    handle: ({ tenant, actor, body }) => {
      const seat = {
        role: body.role,
        email: body.email ?? null,
        ttlSeconds: body.ttl_seconds,
      };
      const issued = tenant.store.write((tx) => issueCode(tx, actor.accountId, seat));
      return { ...issued, link: pairLink(tenant.store, tenant.publicUrl, issued.code) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/pair/codes",
    name: "listPairingCodes",
    tag: "Pairing",
    summary: "The pairing codes that can still be redeemed, newest first, without the codes",
    plane: "api",
    manager: true,
    boxOnly: true,
    additive: true,
    status: 200,
    answer: z.object({ codes: z.array(codePending) }),
    errors: ["forbidden"],
    handle: ({ tenant }) => ({ codes: listCodes(tenant.store, unixSeconds(tenant.clock)) }),
  }),
  route({
    method: "DELETE",
    path: "/v1/pair/codes/{code_id}",
    name: "revokePairingCode",
    tag: "Pairing",
    summary: "Take a pairing code back before it is redeemed",
    plane: "api",
    manager: true,
    boxOnly: true,
    additive: true,
    params: z.strictObject({ code_id: z.string() }),
    status: 200,
    answer: deleted,
    errors: ["forbidden", "not_found"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => revokeCode(tx, params.code_id));
      return { deleted: true };
    },
  }),
  route({
    method: "GET",
    path: "/v1/pair/verify",
    name: "verifyReceipt",
    tag: "Pairing",
    summary: "Redeem a receipt: whose it is, once",
    plane: "none",
    limit: "pair",
    boxOnly: true,
    noHead: true,
    // A missing or misshapen receipt gets the one answer of a wrong one.
    query: z.strictObject({
      receipt: z.string().optional().meta({ maxLength: 48, description: "Required." }),
    }),
    status: 200,
    answer: receiptAnswer,
    errors: ["invalid_request", "receipt_refused", "rate_limited"],
    handle: ({ tenant, query }) => ({
      box_account_id: tenant.store.write((tx) => verifyReceipt(tx, query.receipt ?? "")),
      tenant_id: tenant.id,
    }),
  }),
];
