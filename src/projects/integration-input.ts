import type { AddressRules } from "../kit/addresses.ts";
import { type ErrorCode, ServiceError } from "../kit/errors.ts";
import type { Sealer } from "../kit/sealer.ts";
import { checkUrl } from "../kit/url.ts";
import { type CredentialField, type Credentials, credentialRules } from "../outbox/credentials.ts";
import type { IntegrationType } from "../store/schema.ts";

/** What verbs need that write addresses and secrets. */
export interface Guard {
  sealer: Sealer;
  rules: AddressRules;
}

/** Credentials as they are written: blank is as good as left out. */
export type CredentialInput = { [F in CredentialField]?: string | undefined };

const fields: readonly CredentialField[] = ["url", "secret", "token", "chat_id", "webhook_url"];

/**
 * What is really given. A read shows a `url` for some types that isn't theirs to write: sent back as
 * it stands, it says nothing (contract §2).
 */
export function given(
  input: CredentialInput,
  stored?: { type: IntegrationType; url: string },
): Credentials & { url?: string } {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = input[field];
      const shownBack = field === "url" && stored?.type !== "webhook" && value === stored?.url;
      return value === undefined || value === "" || shownBack ? [] : [[field, value]];
    }),
  );
}

/** Throws 422 naming every credential that isn't for this type; for apns that is each (contract §15). */
export function checkAllowed(type: IntegrationType, credentials: CredentialInput): void {
  const { required, optional } = credentialRules[type];
  const foreign = fields.filter(
    (field) => credentials[field] !== undefined && ![...required, ...optional].includes(field),
  );
  refuse(
    "credential_not_allowed",
    `A ${type} integration doesn't take these credentials.`,
    foreign,
  );
}

/** Throws 422 naming every credential that this type needs and hasn't got. */
export function checkComplete(type: IntegrationType, credentials: CredentialInput): void {
  const missing = credentialRules[type].required.filter((field) => !credentials[field]);
  refuse("missing_credential", `A ${type} integration needs these credentials.`, missing);
}

function refuse(code: ErrorCode, message: string, of: readonly CredentialField[]): void {
  if (of.length === 0) return;
  const details = of.map((field) => ({ field: `/${field}`, reason: code }));
  throw new ServiceError(code, message, { details });
}

/**
 * What reads show as the integration's url; undefined where nothing about it was given. Throws 400 and
 * 403 for an address that may not be called.
 */
export function shownUrl(
  type: IntegrationType,
  write: { url?: string | undefined; credentials: Credentials; guard: Guard },
): string | undefined {
  const { rules } = write.guard;
  if (type === "slack" && write.credentials.webhook_url !== undefined)
    return checkUrl(write.credentials.webhook_url, rules, "/webhook_url").origin;
  if (write.url !== undefined) checkUrl(write.url, rules, "/url");
  return write.url;
}
