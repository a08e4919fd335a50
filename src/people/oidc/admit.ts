import { and, eq } from "drizzle-orm";
import { ServiceError } from "../../ground/kit/errors.ts";
import { hexId } from "../../ground/kit/ids.ts";
import type { Role } from "../../ground/store/columns.ts";
import { accounts, oidcLinks } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { addNewcomer, mustLeaveOwner } from "../accounts.ts";
import { findInvitation, spendCode } from "../codes.ts";
import { foldEmail, isEmail } from "../email.ts";
import { wasRemoved } from "../removed.ts";
import { atLeast, higher } from "../roles.ts";
import type { Identity } from "./client.ts";
import type { Provider } from "./provider.ts";

/** Whether a person whom a provider has identified may sign in, and to which account. */
export type Admission =
  | { is: "in"; accountId: string; newcomer: Newcomer | null }
  | { is: "unverified" | "removed" | "not_invited" | "another" };

interface Newcomer {
  email: string;
  role: Role;
  /** The invitation that this sign-in uses up. */
  codeId: string | null;
}

const linkOf = (reader: Reader, { issuer, subject }: Identity) =>
  reader.orm
    .select({ id: oidcLinks.id, accountId: oidcLinks.accountId })
    .from(oidcLinks)
    .where(and(eq(oidcLinks.issuer, issuer), eq(oidcLinks.subject, subject)))
    .get();

/**
 * Only decides. A returning person is found by issuer and subject. The first time, an email finds an account, an
 * invitation or an allowed domain, if the provider says that it is verified. `newId`: for a new account.
 */
export function admission(reader: Reader, { provider, identity, at, newId }: Asking): Admission {
  const link = linkOf(reader, identity);
  if (link !== undefined && link.accountId !== null)
    return { is: "in", accountId: link.accountId, newcomer: null };
  const { email, isVerified, issuer } = identity;
  if (email === null || !isVerified || !isEmail(email)) return { is: "unverified" };
  const known = reader.orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(eq(accounts.emailFolded, foldEmail(email)))
    .get();
  if (known !== undefined) {
    const ofAccount = and(eq(oidcLinks.accountId, known.id), eq(oidcLinks.issuer, issuer));
    const other = reader.orm.select({ id: oidcLinks.id }).from(oidcLinks).where(ofAccount).get();
    return other === undefined
      ? { is: "in", accountId: known.id, newcomer: null }
      : { is: "another" };
  }
  const invited = findInvitation(reader, email, at);
  if (invited !== null) {
    const newcomer = { email, role: invited.role, codeId: invited.id };
    return { is: "in", accountId: newId, newcomer };
  }
  if (link !== undefined || wasRemoved(reader, email)) return { is: "removed" };
  const domain = foldEmail(email).split("@")[1] ?? "";
  if (!provider.domains.some((one) => one.toLowerCase() === domain)) return { is: "not_invited" };
  return { is: "in", accountId: newId, newcomer: { email, role: "member", codeId: null } };
}

interface Asking {
  provider: Provider;
  identity: Identity;
  at: number;
  newId: string;
}

/** The role that the groups give; null where roles are set in the box. */
function roleByGroups({ roles }: Provider, { groups }: Identity): Role | null {
  if (Object.keys(roles).length === 0) return null;
  return groups.reduce<Role>((role, group) => {
    const given = Object.hasOwn(roles, group) ? roles[group] : undefined;
    return given === undefined ? role : higher(role, given);
  }, "member");
}

/**
 * Signs the person in: stores account, link and role. `keptOwner`: the groups ask for a lower role, but the last owner
 * stays owner. Throws 401 where the decision no longer holds.
 */
export function admit(tx: Tx, asking: Asking, seen: Extract<Admission, { is: "in" }>) {
  const { provider, identity } = asking;
  const again = admission(tx, { ...asking, at: tx.at });
  if (JSON.stringify(again) !== JSON.stringify(seen)) throw changedMeanwhile();
  const { accountId, newcomer } = seen;
  const wanted = roleByGroups(provider, identity);
  if (newcomer !== null) {
    const { email, codeId } = newcomer;
    if (codeId !== null && !spendCode(tx, codeId)) throw changedMeanwhile();
    const displayName = [...identity.name.trim()].slice(0, 128).join("").toWellFormed();
    const role = wanted ?? newcomer.role;
    addNewcomer(tx, {
      id: accountId,
      email,
      role,
      passwordHash: "",
      displayName: displayName || null,
    });
  }
  const { issuer, subject } = identity;
  tx.orm
    .insert(oidcLinks)
    .values({
      id: hexId(tx.random),
      issuer,
      subject,
      accountId,
      createdAt: tx.at,
      lastUsedAt: tx.at,
    })
    .onConflictDoUpdate({
      target: [oidcLinks.issuer, oidcLinks.subject],
      set: { accountId, lastUsedAt: tx.at },
    })
    .run();
  return { keptOwner: wanted === null ? null : giveRole(tx, accountId, wanted) };
}

/** Sets the role. If that would lower the last owner's, the role stays and the wanted one is returned. */
function giveRole(tx: Tx, id: string, role: Role): Role | null {
  const is = eq(accounts.id, id);
  const before = tx.orm.select({ role: accounts.role }).from(accounts).where(is).get()?.role;
  if (before === undefined || before === role) return null;
  if (before === "owner" && !atLeast(role, "owner")) {
    try {
      mustLeaveOwner(tx, { account: id });
    } catch (error) {
      if (error instanceof ServiceError && error.code === "last_owner") return role;
      throw error;
    }
  }
  tx.orm.update(accounts).set({ role }).where(is).run();
  tx.note({ topic: "people" });
  return null;
}

const changedMeanwhile = () =>
  new ServiceError("sign_in_refused", "Something changed meanwhile: try again.");
