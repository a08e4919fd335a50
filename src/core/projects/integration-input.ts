import type { AddressRules } from "../../ground/kit/addresses.ts";
import { type ErrorCode, invalid, ServiceError } from "../../ground/kit/errors.ts";
import { TemplateFault } from "../../ground/kit/mustache.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { checkHost, checkUrl } from "../../ground/kit/url.ts";
import type { Credentials } from "../../out/outbox/credentials.ts";
import { checkTemplate } from "../../out/outbox/custom-words.ts";
import { type Channel, fieldsOf, missingOf } from "../../out/services/channel.ts";
import type { ChannelList } from "../../out/services/list.ts";

/** What verbs need that write addresses and secrets. */
export interface Guard {
  sealer: Sealer;
  addressRules: AddressRules;
  /** The kinds of channel there are. */
  channels: ChannelList;
}

/** Credentials as they are written, `url` among them: blank is as good as left out. */
export type CredentialInput = Readonly<Record<string, string | undefined>>;

/**
 * What is really given. A read shows a `url` for some kinds that isn't theirs to write: sent back as
 * it stands, it says nothing (contract §2).
 */
export function given(kind: Channel, input: CredentialInput, storedUrl?: string): Credentials {
  const isOwn = fieldsOf(kind).all.includes("url");
  return Object.fromEntries(
    Object.entries(input).flatMap(([field, value]) => {
      const shownBack = field === "url" && !isOwn && value === storedUrl;
      return value === undefined || value === "" || shownBack ? [] : [[field, value]];
    }),
  );
}

/**
 * Throws 422 naming every credential that isn't for this kind (contract §15), 400 for one that the kind doesn't
 * take as it is written, and 403 for an address that may not be called.
 */
export function checkGiven(kind: Channel, credentials: Credentials, { addressRules }: Guard): void {
  const { all } = fieldsOf(kind);
  const foreign = Object.keys(credentials).filter((field) => !all.includes(field));
  const message = `A ${kind.kind} integration doesn't take these credentials.`;
  refuse("credential_not_allowed", message, foreign);
  const wrong = Object.entries(credentials).flatMap(([field, value]) => {
    const { error } = kind.fields.shape[field]?.safeParse(value) ?? {};
    return error
      ? [{ field: `/${field}`, reason: error.issues[0]?.message ?? "is not valid" }]
      : [];
  });
  if (wrong.length > 0) throw invalid(wrong);
  for (const field of kind.addresses ?? []) {
    const address = credentials[field];
    if (address !== undefined) checkUrl(address, addressRules, `/${field}`);
  }
  for (const field of kind.hosts ?? []) {
    const host = credentials[field];
    if (host !== undefined) checkHost(host, addressRules, `/${field}`);
  }
}

/** Throws 422 naming every credential that this kind needs and hasn't got. */
export function checkComplete(kind: Channel, credentials: Credentials): void {
  const missing = missingOf(kind, credentials);
  refuse("missing_credential", `A ${kind.kind} integration needs these credentials.`, missing);
}

function refuse(code: ErrorCode, message: string, of: readonly string[]): void {
  if (of.length === 0) return;
  const details = of.map((field) => ({ field: `/${field}`, reason: code }));
  throw new ServiceError(code, message, { details });
}

/** A channel's own texts as they are written: what is left out stays as it is, empty is the usual text. */
export interface TextInput {
  title_template?: string | undefined;
  body_template?: string | undefined;
}

/** Throws 400 with the place for a text that is no template, or for a kind that has no texts. */
export function checkTexts(kind: Channel, input: TextInput): void {
  const wrong = (["title_template", "body_template"] as const).flatMap((name) => {
    const reason = textFault(kind, input[name] ?? "");
    return reason === null ? [] : [{ field: `/${name}`, reason }];
  });
  if (wrong.length > 0) throw invalid(wrong);
}

function textFault(kind: Channel, template: string): string | null {
  if (template === "") return null;
  if (kind.bodyAsIs) return `a ${kind.kind} has no texts: it sends the event's own body`;
  try {
    checkTemplate(template);
    return null;
  } catch (fault) {
    if (fault instanceof TemplateFault) return fault.message;
    throw fault;
  }
}

/** What reads show as the integration's url. */
export function shownUrl(kind: Channel, complete: Credentials): string {
  return complete["url"] ?? kind.shown?.(complete) ?? "";
}
