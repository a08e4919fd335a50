import { asc, eq } from "drizzle-orm";
import { notFound, ServiceError } from "../../ground/kit/errors.ts";
import { hexId } from "../../ground/kit/ids.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { mustGiveAgain } from "../../ground/kit/sent-to.ts";
import type { Role } from "../../ground/store/columns.ts";
import { getMeta } from "../../ground/store/meta.ts";
import { signInProviders } from "../../ground/store/schema.ts";
import { sealPlace } from "../../ground/store/sealed.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { mustStayOpen } from "./password-switch.ts";
import type { Provider, ProviderWrite } from "./provider.ts";

/** A provider with its secret, which no answer contains. */
export interface OpenProvider extends Provider {
  /** Empty for a client without a secret. */
  secret: string;
}

const MOST_PROVIDERS = 16;

type Row = typeof signInProviders.$inferSelect;

const shown = (row: Row): Provider => ({
  id: row.id,
  name: row.name,
  issuer: row.issuer,
  client_id: row.clientId,
  has_secret: row.sealedSecret !== null,
  scopes: JSON.parse(row.scopes) as string[],
  groups_claim: row.groupsClaim,
  roles: JSON.parse(row.roles) as Record<string, Role>,
  domains: JSON.parse(row.domains) as string[],
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});

/** By name. */
export function listProviders(reader: Reader): Provider[] {
  const order = [asc(signInProviders.name), asc(signInProviders.id)];
  return reader.orm
    .select()
    .from(signInProviders)
    .orderBy(...order)
    .all()
    .map(shown);
}

function rowOf(reader: Reader, id: string): Row {
  const row = reader.orm.select().from(signInProviders).where(eq(signInProviders.id, id)).get();
  if (row === undefined) throw notFound("sign-in provider");
  return row;
}

/** Throws 404. */
export const getProvider = (reader: Reader, id: string): Provider => shown(rowOf(reader, id));

const placeOf = (id: string) => sealPlace("sign_in_providers", "sealed_secret", id);

/** Throws 404; 422 missing_credential where the secret can't be decrypted. */
export function openProvider(reader: Reader, sealer: Sealer, id: string): OpenProvider {
  const row = rowOf(reader, id);
  const secret = row.sealedSecret === null ? "" : sealer.open(row.sealedSecret, placeOf(id));
  if (secret === null)
    throw new ServiceError(
      "missing_credential",
      `The secret of ${row.name} must be entered again.`,
    );
  return { ...shown(row), secret };
}

/** Another client has another secret, even at the same issuer. */
const SENT = { where: ["issuer", "client_id"], secrets: ["client_secret"] };

export type ProviderInput = Omit<ProviderWrite, "test">;

/** The provider with these changes, unsaved. Throws 404; 422 where another issuer would get the stored secret. */
export function changedProvider(
  reader: Reader,
  sealer: Sealer,
  {
    id,
    change,
  }: { id: string; change: { [F in keyof ProviderInput]?: ProviderInput[F] | undefined } },
): ProviderInput {
  const row = shown(rowOf(reader, id));
  const given = Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  ) as Partial<ProviderInput>;
  const { name, issuer, client_id, scopes, groups_claim, roles, domains } = row;
  const next = { name, issuer, client_id, scopes, groups_claim, roles, domains, ...given };
  const fresh = given.client_secret ?? "";
  if (fresh !== "") return { ...next, client_secret: fresh };
  const secret = row.has_secret ? openProvider(reader, sealer, id).secret : "";
  const stored = { issuer, client_id, client_secret: secret };
  mustGiveAgain(SENT, { stored, given: { issuer: next.issuer, client_id: next.client_id } });
  return { ...next, client_secret: secret };
}

/** Creates a provider, or replaces the one with `id`. Throws 422 too_many. */
export function putProvider(
  tx: Tx,
  sealer: Sealer,
  { id: known, input }: { id: string | null; input: ProviderInput },
): Provider {
  if (known === null && listProviders(tx).length >= MOST_PROVIDERS)
    throw new ServiceError("too_many", `At most ${MOST_PROVIDERS} providers.`);
  const id = known ?? hexId(tx.random);
  const { name, issuer, client_id: clientId, client_secret: secret, groups_claim } = input;
  const set = {
    name,
    issuer,
    clientId,
    groupsClaim: groups_claim,
    updatedAt: tx.at,
    sealedSecret: secret === "" ? null : sealedAs(tx, sealer, { id, secret }),
    scopes: JSON.stringify(input.scopes),
    roles: JSON.stringify(input.roles),
    domains: JSON.stringify(input.domains),
  };
  tx.orm
    .insert(signInProviders)
    .values({ id, ...set, createdAt: tx.at })
    .onConflictDoUpdate({ target: signInProviders.id, set })
    .run();
  mustStayOpen(tx);
  tx.note({ topic: "people" });
  return getProvider(tx, id);
}

/** The sealed secret. An unchanged secret keeps its stored bytes, so the audit shows no change. */
function sealedAs(
  reader: Reader,
  sealer: Sealer,
  { id, secret }: { id: string; secret: string },
): string {
  const is = eq(signInProviders.id, id);
  const before = reader.orm.select().from(signInProviders).where(is).get()?.sealedSecret ?? null;
  const isSame = before !== null && sealer.open(before, placeOf(id)) === secret;
  return isSame ? before : sealer.seal(secret, placeOf(id));
}

/** Throws 404; 409 where passwords are off and no owner could sign in any more. Sessions stay. */
export function deleteProvider(tx: Tx, id: string): void {
  if (tx.orm.delete(signInProviders).where(eq(signInProviders.id, id)).run().changes !== 1)
    throw notFound("sign-in provider");
  mustStayOpen(tx);
  tx.note({ topic: "people" });
}

/** The path to which providers send browsers back. */
export const CALLBACK = "/signin/oidc/callback";

/** The redirect URI to register at a provider, for browsers that use the box's public address. */
export function redirectUri(reader: Reader, publicUrl: string): string {
  const base = publicUrl === "" ? String(getMeta(reader, "base_url") ?? "") : publicUrl;
  return base.replace(/\/$/, "") + CALLBACK;
}
