import { z } from "zod";
import { unixSeconds } from "../../kit/clock.ts";
import { integer, text } from "../../kit/fields.ts";
import { codeTtl, issueCode, listCodes, pairLink, revokeCode } from "../../people/codes.ts";
import { isEmail } from "../../people/email.ts";
import { verifyReceipt } from "../../people/receipts.ts";
import { redeem } from "../../people/redeem.ts";
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";
import { role } from "./people.ts";

const email = z
  .string()
  .refine(isEmail, { error: "must be an email address of at most 320 characters" })
  .meta({ format: "email", maxLength: 320 });

const secret = z.string().meta({ description: "Shown this once." });

const code = {
  id: z.string(),
  role,
  email: z.string().nullable().meta({ description: "The one address it is for; null = any." }),
  expires_at: z.int(),
};

/** Pairing on the box (api §4, Pairing; decisions §3). */
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
    body: z.strictObject({
      code: text(48, 48),
      password: text(72, 8).meta({
        description: "Of the account; a new account's is set to it.",
      }),
      email: email.optional().meta({
        description: "May be left out where the code was issued for one.",
      }),
      display_name: text(128).optional(),
    }),
    status: 200,
    answer: z.object({
      api_key: secret,
      api_key_id: z.string(),
      box_account_id: z.string(),
      receipt: secret,
      tenant_id: z.string(),
    }),
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
    body: z.strictObject({
      email: email.nullable().optional(),
      role: role.default("member"),
      ttl_seconds: integer(codeTtl.least, codeTtl.most).default(codeTtl.usual),
    }),
    status: 201,
    answer: z.object({
      ...code,
      code: secret,
      link: z.string().meta({ description: "The code stands behind its #." }),
    }),
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
    answer: z.object({
      codes: z.array(
        z.object({
          ...code,
          issued_by: z.string().nullable().meta({
            description: "Account id; null = on the box itself.",
          }),
          created_at: z.int(),
        }),
      ),
    }),
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
    answer: z.object({ box_account_id: z.string(), tenant_id: z.string() }),
    errors: ["invalid_request", "receipt_refused", "rate_limited"],
    handle: ({ tenant, query }) => ({
      box_account_id: tenant.store.write((tx) => verifyReceipt(tx, query.receipt ?? "")),
      tenant_id: tenant.id,
    }),
  }),
];
