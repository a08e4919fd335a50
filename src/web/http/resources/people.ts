import * as z from "zod";
import { person } from "../../../ground/kit/fields.ts";
import { dryRun } from "../../../ground/kit/query-fields.ts";
import {
  accountAnswer,
  accountChange,
  accountWrite,
  keyAnswer,
  keyMade,
  keyWrite,
  passwordWrite,
} from "../../../people/account.ts";
import { changeAccount, getAccount, listAccounts, setTimezone } from "../../../people/accounts.ts";
import { issueReset, pairLink } from "../../../people/codes.ts";
import { createInvitedAccount, tryAccount } from "../../../people/invited.ts";
import { createKey, revokeKey, visibleKeys } from "../../../people/keys.ts";
import { resetIssued } from "../../../people/pairing.ts";
import { changePassword } from "../../../people/passwords.ts";
import { clockChange } from "../../../records/numbers/settings.ts";
import { removePerson, replaceAccount } from "../../../tenant/person-verbs.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const people = routesIn(inTenant, { tag: "People", additive: true });

/** Accounts and keys (contract §3): who belongs to the tenant, and what lets them in. */
export const peopleRoutes: Route[] = [
  people.get("/me", {
    name: "getMe",
    summary: "The calling key and its account",
    answer: z.object({ account: accountAnswer, key_id: z.string(), tenant_id: z.string() }),
    errors: ["not_found"],
    read: (store, { tenant, actor }) => ({
      account: getAccount(store, actor.accountId),
      key_id: actor.keyId,
      tenant_id: tenant.id,
    }),
  }),
  people.patch("/me", {
    name: "changeMe",
    summary: "Change what a person says of themselves: the zone of their nights",
    body: clockChange,
    answer: accountAnswer,
    errors: ["not_found"],
    write: (tx, { actor, body }) => setTimezone(tx, actor.accountId, body.timezone),
  }),
  people.get("/accounts", {
    name: "listAccounts",
    summary: "The tenant's accounts, by email",
    answer: z.object({ accounts: z.array(accountAnswer) }),
    read: (store) => ({ accounts: listAccounts(store) }),
  }),
  people.post("/accounts", {
    name: "createAccount",
    summary:
      "Make an account without a password, at most of one's own role: ladders may name a person who hasn't signed in yet",
    manager: true,
    boxOnly: true,
    query: z.strictObject({ dry_run: dryRun }),
    body: accountWrite,
    status: 201,
    answer: accountAnswer.extend({
      id: z.string().meta({ description: "Empty with `dry_run`, which makes nothing." }),
    }),
    errors: ["name_taken"],
    handle: ({ tenant, actor, query, body }) =>
      query.dry_run === true
        ? tryAccount(tenant.store, actor.accountId, body)
        : tenant.store.write((tx) => createInvitedAccount(tx, actor.accountId, body)),
  }),
  people.get("/accounts/{account}", {
    name: "getAccount",
    summary: "One account",
    answer: accountAnswer,
    read: (store, { params }) => getAccount(store, params.account),
  }),
  people.patch("/accounts/{account}", {
    name: "changeAccount",
    summary: "Change an account's name or role. An admin can't change owners",
    manager: true,
    body: accountChange,
    reads: accountAnswer,
    answer: accountAnswer,
    errors: ["last_owner"],
    write: (tx, { actor, params, body }) =>
      changeAccount(tx, actor.accountId, {
        id: params.account,
        displayName: body.display_name,
        role: body.role,
      }),
  }),
  people.delete("/accounts/{account}", {
    name: "removeAccount",
    summary:
      "Remove an account with its keys and devices; 409 while a ladder, layer or override names it",
    manager: true,
    errors: ["account_in_use", "last_owner"],
    write: (tx, { actor, params }) => removePerson(tx, actor.accountId, params.account),
  }),
  people.post("/accounts/{account}/replace", {
    name: "replaceAccount",
    summary:
      "Put another account in its place in every ladder, layer, override and the fallback, at once",
    manager: true,
    body: z.strictObject({ by: person }),
    people: ["by"],
    answer: z.object({
      changed: z.array(
        z.object({
          kind: z.enum(["rule", "ladder", "schedule", "override", "fallback"]),
          name: z.string().meta({
            description: "`project/name`, `project/schedule/id`; empty for the fallback.",
          }),
        }),
      ),
    }),
    errors: ["not_a_member"],
    write: (tx, { params, body }) => ({ changed: replaceAccount(tx, { ...params, ...body }) }),
  }),
  people.post("/accounts/{account}/reset", {
    name: "resetPassword",
    summary: "Make a link that sets the account's password, once and within an hour",
    manager: true,
    boxOnly: true,
    status: 201,
    answer: resetIssued,
    handle: ({ tenant, actor, params }) => {
      const reset = tenant.store.write((tx) => issueReset(tx, actor.accountId, params.account));
      return { ...reset, link: pairLink(tenant.store, tenant.publicUrl, reset.code) };
    },
  }),
  people.put("/me/password", {
    name: "changePassword",
    summary: "Change one's own password; signs all browsers of the account out",
    boxOnly: true,
    body: passwordWrite,
    status: 204,
    answer: z.undefined(),
    errors: ["password_refused", "rate_limited", "overloaded"],
    handle: async ({ tenant, actor, body }) => {
      await changePassword(tenant, { accountId: actor.accountId, ...body, kept: null });
      return undefined;
    },
  }),
  people.post("/keys", {
    name: "createKey",
    summary: "One more API key for one's own account; it is shown this once",
    body: keyWrite,
    status: 201,
    answer: keyMade,
    errors: ["too_many"],
    write: (tx, { tenant, actor, body }) =>
      createKey(tx, { tenantId: tenant.id, accountId: actor.accountId, label: body.label }),
  }),
  people.get("/keys", {
    name: "listKeys",
    summary: "The caller's API keys; for owners and admins everybody's",
    answer: z.object({ keys: z.array(keyAnswer) }),
    read: (store, { actor }) => ({ keys: visibleKeys(store, actor.accountId) }),
  }),
  people.delete("/keys/{key}", {
    name: "revokeKey",
    summary: "Revoke an API key, one's own or that of an account one may change",
    errors: ["forbidden", "last_owner"],
    write: (tx, { actor, params }) => revokeKey(tx, actor.accountId, params.key),
  }),
];
