import { z } from "zod";
import { person } from "../../../ground/kit/fields.ts";
import {
  accountAnswer,
  accountChange,
  accountReadOnly,
  accountWrite,
  keyAnswer,
  keyMade,
  keyWrite,
  passwordWrite,
} from "../../../people/account.ts";
import {
  changeAccount,
  getAccount,
  listAccounts,
  removeAccount,
} from "../../../people/accounts.ts";
import { awaitAccount, tryAccount } from "../../../people/awaited.ts";
import { issueReset, pairLink } from "../../../people/codes.ts";
import { createKey, revokeKey, visibleKeys } from "../../../people/keys.ts";
import { resetIssued } from "../../../people/pairing.ts";
import { changePassword } from "../../../people/passwords.ts";
import { replaceAccount } from "../../../tenant/replace-account.ts";
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";

const accountPath = z.strictObject({ account: z.string() });

/** Accounts and keys (contract §3): who belongs to the tenant, and what lets them in. */
export const peopleRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/me",
    name: "getMe",
    tag: "People",
    summary: "The calling key and its account",
    plane: "api",
    additive: true,
    status: 200,
    answer: z.object({ account: accountAnswer, key_id: z.string(), tenant_id: z.string() }),
    errors: ["not_found"],
    handle: ({ tenant, actor }) => ({
      account: getAccount(tenant.store, actor.accountId),
      key_id: actor.keyId,
      tenant_id: tenant.id,
    }),
  }),
  route({
    method: "GET",
    path: "/v1/accounts",
    name: "listAccounts",
    tag: "People",
    summary: "The tenant's accounts, by email",
    plane: "api",
    additive: true,
    status: 200,
    answer: z.object({ accounts: z.array(accountAnswer) }),
    errors: [],
    handle: ({ tenant }) => ({ accounts: listAccounts(tenant.store) }),
  }),
  route({
    method: "POST",
    path: "/v1/accounts",
    name: "createAccount",
    tag: "People",
    summary:
      "An account without a password, at most at one's own role: ladders may name whoever is still to come in by an invitation",
    plane: "api",
    manager: true,
    boxOnly: true,
    additive: true,
    query: z.strictObject({
      dry_run: z.enum(["true", "false"], { error: "must be true or false" }).optional(),
    }),
    body: accountWrite,
    status: 201,
    answer: accountAnswer.extend({
      id: z.string().meta({ description: "Empty with `dry_run`, which makes nothing." }),
    }),
    errors: ["invalid_request", "invalid_json", "forbidden", "name_taken"],
    handle: ({ tenant, actor, query, body }) =>
      query.dry_run === "true"
        ? tryAccount(tenant.store, actor.accountId, body)
        : tenant.store.write((tx) => awaitAccount(tx, actor.accountId, body)),
  }),
  route({
    method: "GET",
    path: "/v1/accounts/{account}",
    name: "getAccount",
    tag: "People",
    summary: "One account",
    plane: "api",
    additive: true,
    params: accountPath,
    status: 200,
    answer: accountAnswer,
    errors: ["not_found"],
    handle: ({ tenant, params }) => getAccount(tenant.store, params.account),
  }),
  route({
    method: "PATCH",
    path: "/v1/accounts/{account}",
    name: "changeAccount",
    tag: "People",
    summary: "Change an account's name or role: an owner anyone's, an admin those of no owner",
    plane: "api",
    manager: true,
    additive: true,
    params: accountPath,
    body: accountChange,
    readOnly: accountReadOnly,
    status: 200,
    answer: accountAnswer,
    errors: ["invalid_request", "invalid_json", "forbidden", "not_found", "last_owner"],
    handle: ({ tenant, actor, params, body }) =>
      tenant.store.write((tx) =>
        changeAccount(tx, actor.accountId, {
          id: params.account,
          displayName: body.display_name,
          role: body.role,
        }),
      ),
  }),
  route({
    method: "DELETE",
    path: "/v1/accounts/{account}",
    name: "removeAccount",
    tag: "People",
    summary: "Remove an account with its keys and devices; 409 while something would page it",
    plane: "api",
    manager: true,
    additive: true,
    params: accountPath,
    status: 200,
    answer: deleted,
    errors: ["forbidden", "not_found", "account_in_use", "last_owner"],
    handle: ({ tenant, actor, params }) => {
      tenant.store.write((tx) => removeAccount(tx, actor.accountId, params.account));
      return { deleted: true };
    },
  }),
  route({
    method: "POST",
    path: "/v1/accounts/{account}/replace",
    name: "replaceAccount",
    tag: "People",
    summary: "Put another account in its place wherever something would page it, at once",
    plane: "api",
    manager: true,
    additive: true,
    params: accountPath,
    people: ["by"],
    body: z.strictObject({ by: person }),
    status: 200,
    answer: z.object({
      changed: z.array(
        z.object({
          kind: z.enum(["rule", "schedule", "override", "fallback"]),
          name: z.string().meta({
            description: "`project/name`, `project/schedule/id`; empty for the fallback.",
          }),
        }),
      ),
    }),
    errors: ["invalid_request", "invalid_json", "forbidden", "not_found", "not_a_member"],
    handle: ({ tenant, params, body }) => ({
      changed: tenant.store.write((tx) => replaceAccount(tx, { ...params, ...body })),
    }),
  }),
  route({
    method: "POST",
    path: "/v1/accounts/{account}/reset",
    name: "resetPassword",
    tag: "People",
    summary: "A link that sets the account's password, once and within an hour",
    plane: "api",
    manager: true,
    boxOnly: true,
    additive: true,
    params: accountPath,
    status: 201,
    answer: resetIssued,
    errors: ["forbidden", "not_found"],
    handle: ({ tenant, actor, params }) => {
      const reset = tenant.store.write((tx) => issueReset(tx, actor.accountId, params.account));
      return { ...reset, link: pairLink(tenant.store, tenant.publicUrl, reset.code) };
    },
  }),
  route({
    method: "PUT",
    path: "/v1/me/password",
    name: "changePassword",
    tag: "People",
    summary: "Change one's own password; signs all browsers of the account out",
    plane: "api",
    boxOnly: true,
    additive: true,
    body: passwordWrite,
    status: 204,
    answer: z.undefined(),
    errors: ["invalid_request", "invalid_json", "password_refused", "rate_limited", "overloaded"],
    handle: async ({ tenant, actor, body }) => {
      await changePassword(tenant, { accountId: actor.accountId, ...body, kept: null });
      return undefined;
    },
  }),
  route({
    method: "POST",
    path: "/v1/keys",
    name: "createKey",
    tag: "People",
    summary: "One more API key for one's own account; it is shown this once",
    plane: "api",
    additive: true,
    body: keyWrite,
    status: 201,
    answer: keyMade,
    errors: ["invalid_request", "invalid_json", "too_many"],
    handle: ({ tenant, actor, body }) =>
      tenant.store.write((tx) =>
        createKey(tx, { tenantId: tenant.id, accountId: actor.accountId, label: body.label }),
      ),
  }),
  route({
    method: "GET",
    path: "/v1/keys",
    name: "listKeys",
    tag: "People",
    summary: "The caller's own API keys; for a manager everybody's",
    plane: "api",
    additive: true,
    status: 200,
    answer: z.object({ keys: z.array(keyAnswer) }),
    errors: [],
    handle: ({ tenant, actor }) => ({ keys: visibleKeys(tenant.store, actor.accountId) }),
  }),
  route({
    method: "DELETE",
    path: "/v1/keys/{key}",
    name: "revokeKey",
    tag: "People",
    summary: "Revoke an API key, one's own or that of an account one may change",
    plane: "api",
    additive: true,
    params: z.strictObject({ key: z.string() }),
    status: 200,
    answer: deleted,
    errors: ["forbidden", "not_found", "last_owner"],
    handle: ({ tenant, actor, params }) => {
      tenant.store.write((tx) => revokeKey(tx, actor.accountId, params.key));
      return { deleted: true };
    },
  }),
];
