import { mustGiveAgain } from "../../ground/kit/sent-to.ts";
import {
  type Credentials,
  openCredentials,
  sealCredentials,
} from "../../out/outbox/credentials.ts";
import type { IntegrationRow } from "../../out/outbox/destination.ts";
import { type Channel, fieldsOf } from "../../out/services/channel.ts";
import { checkComplete, type Guard, shownUrl } from "./integration-input.ts";

/** What a channel's credentials become when they are stored. */

/** The row's address and sealed value with the given credentials in them; as stored where they change nothing. */
export function resealed(
  kind: Channel,
  row: IntegrationRow,
  { credentials, guard }: { credentials: Credentials; guard: Guard },
): { url: string; sealed: string | null } {
  const isOpen = fieldsOf(kind).all.includes("url");
  const { url = row.url, ...secrets } = credentials;
  const stored = openCredentials(guard.sealer, row);
  if (kind.sent) {
    const known = isOpen ? { ...stored, url: row.url } : { ...stored };
    mustGiveAgain(kind.sent, { stored: known, given: credentials });
  }
  if (Object.keys(secrets).length === 0) return { url: isOpen ? url : row.url, sealed: row.sealed };
  const next = { ...stored, ...secrets, ...(isOpen ? { url } : {}) };
  checkComplete(kind, next);
  const isSame =
    stored !== null && Object.entries(secrets).every(([field, value]) => stored[field] === value);
  const sealed = isSame ? row.sealed : sealedOf(kind, row.id, { credentials: next, guard });
  return { url: shownUrl(kind, next), sealed };
}

/** All but the `url`, which is shown and stands beside it; null for a kind that has nothing to seal. */
export function sealedOf(
  kind: Channel,
  id: string,
  { credentials, guard }: { credentials: Credentials; guard: Guard },
): string | null {
  if (fieldsOf(kind).all.every((field) => field === "url")) return null;
  const { url, ...sealed } = credentials;
  return sealCredentials(guard.sealer, id, sealed);
}
