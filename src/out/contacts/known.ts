import { and, asc, eq, inArray } from "drizzle-orm";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { contacts } from "../../ground/store/schema.ts";
import type { Reader } from "../../ground/store/store.ts";
import { openContact } from "./contacts.ts";
import { openGateway } from "./gateways.ts";

/** Whose account a service's own name for a person stands for, where they have proved it. */

/**
 * The account that has this address of a kind as a verified contact: of several the one that had it first. null where
 * nobody has. Every address is sealed, so each of the kind is opened.
 */
export function accountAt(
  reader: Reader,
  sealer: Sealer,
  { kind, address }: { kind: string; address: string },
): string | null {
  const rows = reader.orm
    .select({ id: contacts.id, accountId: contacts.accountId, sealed: contacts.sealed })
    .from(contacts)
    .where(and(eq(contacts.kind, kind), inArray(contacts.state, ["verified", "failing"])))
    .orderBy(asc(contacts.verifiedAt), asc(contacts.id))
    .all();
  const found = rows.find((row) => openContact(sealer, row)?.["address"] === address);
  return found?.accountId ?? null;
}

/** Whether presses at this bot reach the box: it is that of the tenant's own gateway, which is listened to. */
export function hearsBot(
  reader: Reader,
  sealer: Sealer,
  { kind, token }: { kind: "telegram" | "slack"; token: string },
): boolean {
  const gateway = openGateway(reader, sealer, kind);
  if (gateway === null || token === "") return false;
  if (kind === "telegram") return gateway["token"] === token;
  return gateway["bot_token"] === token && Boolean(gateway["app_token"]);
}
