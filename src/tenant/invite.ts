import type * as z from "zod";
import { invalid, ServiceError } from "../ground/kit/errors.ts";
import { timeFor } from "../ground/kit/wall-time.ts";
import { servedKinds } from "../out/contacts/gateways.ts";
import { linkBase } from "../out/paging/capability.ts";
import type { DirectMessage } from "../out/services/direct-message.ts";
import { getAccount } from "../people/accounts.ts";
import { issueCode, pairLink } from "../people/codes.ts";
import type { codeWrite, Invitation } from "../people/pairing.ts";
import { tenantClock } from "../people/reader-clock.ts";
import type { Tenant } from "./tenant.ts";

/** Invitations: a code that makes an account, and its link, which may go by mail. */

type Place = Pick<Tenant, "store" | "publicUrl" | "outbox">;

/** Whether invitations can go by mail. */
export const canMail = ({ store }: Pick<Tenant, "store">): boolean =>
  servedKinds(store).has("email");

/**
 * Issues the code, in the caller's name, and mails its link where that is asked for. A mail that isn't taken takes nothing
 * back: the answer has the link. Throws 400 for a mail to nobody, 403 for a role above one's own, 409 where there is no
 * gateway for mail.
 */
export async function invitePerson(
  place: Place,
  by: string,
  { role, email = null, ttl_seconds: ttlSeconds, mail }: z.output<typeof codeWrite>,
): Promise<Invitation> {
  const { store, publicUrl } = place;
  if (mail && email === null) throw invalid([{ field: "/email", reason: "is needed for a mail" }]);
  if (mail && !canMail(place))
    throw new ServiceError(
      "gateway_missing",
      "No mail gateway is set up, so no link can be mailed: set one up (box gateway set email), or invite without mail.",
    );
  const issued = store.write((tx) => issueCode(tx, by, { role, email, ttlSeconds }));
  const invitation = { ...issued, link: pairLink(store, publicUrl, issued.code) };
  if (!mail || email === null) return invitation;
  const error = await mailIt(place, { by, email, invitation });
  return { ...invitation, mailed: error === null, ...(error !== null && { mail_error: error }) };
}

/** Why it wasn't taken; null: it was. */
async function mailIt(
  { store, publicUrl, outbox }: Place,
  { by, email, invitation }: { by: string; email: string; invitation: Invitation },
): Promise<string | null> {
  const base = linkBase(store, publicUrl);
  if (base === null) return "this box has no address that others reach: set --public-url";
  const { id, role, expires_at } = invitation;
  const { display_name, email: own } = getAccount(store, by);
  const now = Math.floor(store.clock.now() / 1000);
  const message: DirectMessage = {
    purpose: "note",
    id: `invitation-${id}`,
    title: `${display_name || own} invites you to ${new URL(base).host}`,
    lines: [
      `You are to be ${role === "member" ? "a member" : `an ${role}`} there: it pages people when something breaks.`,
      `The link makes your account, once. It is good until ${timeFor(tenantClock(store), expires_at, now)}.`,
    ],
    level: 0,
    link: pairLink(store, base, invitation.code),
    ack: null,
    code: null,
    events: [],
    said: null,
  };
  const { verdict } = await outbox.contacts.sendTo(
    { kind: "email", fields: { address: email } },
    message,
  );
  return verdict.kind === "delivered" ? null : verdict.error;
}
