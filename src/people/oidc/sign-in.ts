import { type Author, writeEntry } from "../../ground/audit/record.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { hexId } from "../../ground/kit/ids.ts";
import type { Log } from "../../ground/kit/log.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Role } from "../../ground/store/columns.ts";
import type { Tx } from "../../ground/store/store.ts";
import { type Browser, enter, refused, type SignedIn, type SignInParts } from "../sign-in.ts";
import type { WaysIn } from "../ways-in.ts";
import { type Admission, admission, admit } from "./admit.ts";
import { ProviderFault } from "./client.ts";
import type { ProviderFlow } from "./flows.ts";
import { type OpenProvider, openProvider } from "./providers.ts";

interface ProviderParts extends SignInParts {
  ways: Pick<WaysIn, "providers" | "flows">;
  sealer: Sealer;
  log: Log;
}

const no = (message: string) => new ServiceError("sign_in_refused", message);

/** Why a sign-in at a provider failed, as a sentence for the person. */
const FAULT: Readonly<Record<ProviderFault["kind"], (name: string) => string>> = {
  away: (name) => `${name} can't be reached now: sign in another way.`,
  denied: (name) => `You declined at ${name}, or ${name} refused you.`,
  refused: (name) =>
    `${name} refused the sign-in: ask the person who runs this box to check its settings.`,
  clock: (name) =>
    `The answer of ${name} is out of date: its clock and this box's differ by more than a minute.`,
  wrong: (name) => `The answer of ${name} is invalid, so nobody is signed in. Try again.`,
};

const REFUSED: Readonly<Record<Exclude<Admission["is"], "in">, (name: string) => string>> = {
  unverified: (name) =>
    `${name} doesn't say that your e-mail address is verified, and you haven't signed in here before.`,
  removed: () => "Your account here was removed: ask for an invitation.",
  not_invited: () =>
    "You have no account here and no invitation: ask the person who runs this box.",
  another: (name) => `The account with your address belongs to another identity at ${name}.`,
};

const told = (log: Log, { id, name }: OpenProvider, error: unknown): never => {
  if (!(error instanceof ProviderFault)) throw error;
  log.warn(
    { provider: id, fault: error.kind, reason: error.reason },
    "a provider signed nobody in",
  );
  throw no(FAULT[error.kind](name));
};

/** The sentence for a provider's fault. Throws any other error again. */
export function faultSentence(error: unknown, name: string): string {
  if (!(error instanceof ProviderFault)) throw error;
  return `${FAULT[error.kind](name)} (${error.reason})`;
}

/**
 * Returns the provider's address for the browser, and the secret for its cookie. Throws 404; 401 sign_in_refused where
 * the provider can't be used.
 */
export async function beginAtProvider(
  { store, ways, sealer, log }: ProviderParts,
  asked: Pick<ProviderFlow, "providerId" | "redirectUri" | "to">,
): Promise<{ url: string; secret: string }> {
  const provider = openProvider(store, sealer, asked.providerId);
  const { flow, secret } = ways.flows.begin(asked);
  const lead = ways.providers.lead(provider, flow);
  const url = await lead.catch((error) => {
    ways.flows.take(flow.state, secret);
    return told(log, provider, error);
  });
  return { url, secret };
}

/** Signs in the person who came back from a provider with this query. Throws 401 sign_in_refused. */
export async function signInByProvider(
  parts: ProviderParts,
  { flow, query, ...browser }: { flow: ProviderFlow; query: URLSearchParams } & Browser,
): Promise<SignedIn> {
  const { store, ways, sealer, log } = parts;
  const provider = openProvider(store, sealer, flow.providerId);
  const identity = await ways.providers
    .redeem(provider, flow, query)
    .catch((error) => told(log, provider, error));
  const asking = { provider, identity, at: unixSeconds(store.clock), newId: hexId(store.random) };
  const seen = admission(store, asking);
  const { address } = browser;
  if (seen.is !== "in") {
    refused(store, { method: "oidc", account: "", address });
    throw no(REFUSED[seen.is](provider.name));
  }
  const { accountId } = seen;
  const session = { accountId, method: "oidc", keyId: null, provider: provider.name } as const;
  return enter(parts, { ...session, ...browser }, (tx) => {
    const { keptOwner } = admit(tx, asking, seen);
    if (keptOwner !== null) ownerStays(tx, { accountId, address, wanted: keptOwner });
  });
}

/** Notes in the audit that the groups would leave the box without an owner, and that the role stayed. */
function ownerStays(
  tx: Tx,
  { accountId, address, wanted }: { accountId: string; address: string; wanted: Role },
): void {
  const target = { kind: "account", id: accountId };
  const who = { accountId, via: "page", hint: "oidc", address } as const;
  const author: Author = { ...who, verb: "lastOwnerStays", target };
  const changes = [{ field: "role_by_groups", from: null, to: wanted }];
  writeEntry(tx, author, { ...target, name: "", project: null, changes });
}
