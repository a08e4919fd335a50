import * as z from "zod";
import { boolean, list, text } from "../../ground/kit/fields.ts";
import { roleField } from "../account.ts";

/** The API's bodies and answers for providers of OpenID Connect (contract §32). */

const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether the issuer uses https or is this machine. */
export function isPlainIssuer(issuer: string): boolean {
  const { protocol, hostname } = new URL(issuer);
  return protocol === "http:" && LOCAL.has(hostname);
}

function isIssuer(value: string): boolean {
  if (!URL.canParse(value) || /[?#\s]/.test(value)) return false;
  return new URL(value).protocol === "https:" || isPlainIssuer(value);
}

const issuer = text(2048, 1)
  .refine(isIssuer, { error: "must be an https address (http for this machine alone)" })
  .describe("The address that the provider calls itself by: its settings are read below it.");
const scope = text(64, 1).refine((value) => /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(value), {
  error: "is no scope",
});
const scopes = list(scope, 16)
  .refine((all) => all.includes("openid"), { error: "must hold openid" })
  .describe("What is asked for.");
const claim = text(128, 1).describe("The claim that lists somebody's groups.");
const roleMap = z
  .record(text(256, 1), roleField)
  .refine((map) => Object.keys(map).length <= 256, { error: "must have at most 256 groups" })
  .describe(
    "The role for each group. At each sign-in the person gets the highest role of their groups; without any, member. Empty: roles are managed in the box.",
  );
const domain = text(253, 1).refine((value) => /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(value), {
  error: "is no domain",
});
const domains = list(domain, 32).describe(
  "Anybody with a verified address of these may come. Empty: only who has an account or an invitation with their verified address.",
);
const secret = text(1024).describe("Sealed at rest and never read again. Empty: it stays.");
const test = boolean
  .default(true)
  .describe("Store it only if the provider's settings can be read.");

/** The body that creates a provider. */
export const providerWrite = z.strictObject({
  name: text(64, 1).describe("As the sign-in page calls it."),
  issuer,
  client_id: text(256, 1),
  client_secret: secret.default(""),
  scopes: scopes.default(["openid", "email", "profile"]),
  groups_claim: claim.default("groups"),
  roles: roleMap.default({}),
  domains: domains.default([]),
  test,
});
export type ProviderWrite = z.output<typeof providerWrite>;

/** The body that changes a provider. A field that is left out stays as it is. */
export const providerChange = z.strictObject({
  name: text(64, 1).optional(),
  issuer: issuer.optional(),
  client_id: text(256, 1).optional(),
  client_secret: secret.optional(),
  scopes: scopes.optional(),
  groups_claim: claim.optional(),
  roles: roleMap.optional(),
  domains: domains.optional(),
  test,
});

export const providerAnswer = z
  .object({
    id: z.string(),
    name: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    has_secret: z.boolean(),
    scopes: z.array(z.string()),
    groups_claim: z.string(),
    roles: z.record(z.string(), roleField),
    domains: z.array(z.string()),
    created_at: z.int(),
    updated_at: z.int(),
  })
  .meta({ id: "SignInProvider" });
export type Provider = z.output<typeof providerAnswer>;

/** The result of reading a provider's metadata. */
export const providerLook = z.object({
  ok: z.boolean(),
  error: z.string().nullable().meta({ description: "In a sentence; null where it answers." }),
});

/** How people sign in here. */
export const signInWrite = z.strictObject({
  password: boolean.describe("Whether email and password open a session."),
});
