import * as z from "zod";
import type { Clock } from "../../ground/kit/clock.ts";
import { notFound, ServiceError } from "../../ground/kit/errors.ts";
import { hexIdField, text } from "../../ground/kit/fields.ts";
import { type Route, sessionRoute } from "../../web/http/route.ts";
import { claimsReleased } from "../holds.ts";
import { type PairDeps, pair } from "../pairing.ts";
import type { Pairing } from "../registry/pairings.ts";

interface PairingRouteDeps extends PairDeps {
  clock: Clock;
  /** The address at which boxes reach this service, without a slash at the end. */
  publicUrl(): string;
}

const tenantPath = z.strictObject({ tid: z.string() });

const secret = z.string().meta({ description: "Shown this once." });

const pairingAnswer = z
  .object({
    account_id: z.string(),
    box_account_id: z.string(),
    created_at: z.int(),
    revoked_at: z.int().nullable().meta({ description: "null while live." }),
  })
  .meta({ id: "Pairing" });

/** Pairing of hosted accounts with box accounts, and the relay's key (contract §15, Pairing and relay; contract §7). */
export function accountPairingRoutes(deps: PairingRouteDeps): Route[] {
  return [pairRoute(deps), listRoute(deps), revokeRoute(deps), rotateRoute(deps)];
}

function pairRoute(deps: PairingRouteDeps): Route {
  return sessionRoute({
    method: "POST",
    path: "/v1/tenants/{tid}/pair",
    name: "pairAccount",
    tag: "Pairing",
    summary: "Pair the session's account with a box account; the first pairing gets the relay key",
    limit: "pair",
    params: tenantPath,
    body: z.strictObject({
      box_account_id: text(128, 1),
      receipt: text(48, 48).meta({ description: "Of the box's POST /v1/pair; redeemed there." }),
    }),
    status: 201,
    answer: z.object({
      pairing: pairingAnswer,
      relay: z
        .object({ relay_key_id: z.string(), relay_secret: secret, relay_url: z.string() })
        .optional()
        .meta({ description: "On the tenant's first pairing only." }),
    }),
    errors: [
      "invalid_request",
      "invalid_json",
      "receipt_not_accepted",
      "not_found",
      "already_paired",
      "hosted_tenant",
    ],
    async handle({ account, params, body }) {
      const { pairing, credential } = await pair(deps, {
        tenantId: params.tid,
        accountId: account.id,
        boxAccountId: body.box_account_id,
        receipt: body.receipt,
      });
      if (credential === null) return { pairing: shown(pairing) };
      return {
        pairing: shown(pairing),
        relay: {
          relay_key_id: credential.keyId,
          relay_secret: credential.secret,
          relay_url: `${deps.publicUrl()}/v1/relay/${credential.keyId}`,
        },
      };
    },
  });
}

function listRoute({ registry }: PairingRouteDeps): Route {
  return sessionRoute({
    method: "GET",
    path: "/v1/tenants/{tid}/pairings",
    name: "listPairings",
    tag: "Pairing",
    summary: "The tenant's pairings, revoked ones included, oldest first; any member may look",
    params: tenantPath,
    status: 200,
    answer: z.object({ pairings: z.array(pairingAnswer) }),
    errors: ["not_found", "hosted_tenant"],
    async handle({ account, params: { tid } }) {
      const role = await registry.memberships.role(tid, account.id);
      const tenant = role === null ? null : await registry.tenants.get(tid);
      if (tenant === null) throw notFound("tenant");
      if (tenant.kind === "hosted") throw hostedTenant();
      return { pairings: (await registry.pairings.list(tid)).map(shown) };
    },
  });
}

function revokeRoute(deps: PairingRouteDeps): Route {
  const { registry } = deps;
  return sessionRoute({
    method: "DELETE",
    path: "/v1/tenants/{tid}/pairings/{aid}",
    name: "revokePairing",
    tag: "Pairing",
    summary: "End a pairing: pages to that account stop at once",
    params: z.strictObject({ tid: z.string(), aid: hexIdField }),
    status: 200,
    answer: z.object({
      revoked: z.boolean().meta({ description: "false: it was revoked before." }),
    }),
    errors: ["invalid_request", "forbidden", "not_found"],
    async handle({ account, params: { tid, aid } }) {
      const revocation = await registry.pairings.revoke({
        tenantId: tid,
        accountId: aid,
        by: account.id,
      });
      if (revocation.kind === "not_found") throw notFound("pairing");
      if (revocation.kind === "not_allowed") {
        throw new ServiceError("forbidden", "An owner ends any pairing, a member their own.");
      }
      await claimsReleased(deps, tid);
      return { revoked: revocation.now };
    },
  });
}

function rotateRoute(deps: PairingRouteDeps): Route {
  const { registry } = deps;
  return sessionRoute({
    method: "POST",
    path: "/v1/tenants/{tid}/relay-key",
    name: "rotateRelayKey",
    tag: "Relay",
    summary: "Mint a fresh relay key and revoke every earlier one",
    params: tenantPath,
    status: 201,
    answer: z.object({ relay_key_id: z.string(), relay_secret: secret }),
    errors: ["forbidden", "not_found", "hosted_tenant"],
    async handle({ account, params: { tid } }) {
      const rotation = await registry.relayKeys.rotate({ tenantId: tid, by: account.id });
      switch (rotation.kind) {
        case "not_found":
          throw notFound("tenant");
        case "not_owner":
          throw new ServiceError("forbidden", "Only an owner may rotate the relay key.");
        case "hosted":
          throw hostedTenant();
        case "rotated": {
          const { keyId, secret: relaySecret } = rotation.credential;
          await claimsReleased(deps, tid);
          return { relay_key_id: keyId, relay_secret: relaySecret };
        }
      }
    },
  });
}

function hostedTenant(): ServiceError {
  return new ServiceError("hosted_tenant", "This tenant has no box, so it has no pairings.");
}

function shown(pairing: Pairing): z.infer<typeof pairingAnswer> {
  return {
    account_id: pairing.accountId,
    box_account_id: pairing.boxAccountId,
    created_at: pairing.createdAt,
    revoked_at: pairing.revokedAt,
  };
}
