import { ServiceError } from "../../../ground/kit/errors.ts";
import { CALLBACK } from "../../../people/oidc/providers.ts";
import { beginAtProvider, signInByProvider } from "../../../people/oidc/sign-in.ts";
import { hostCookie, sessionCookie } from "../../http/session-cookie.ts";
import { type OpenPage, type Visit, type Visited, wanted } from "../visit.ts";
import { BEGIN } from "./provider-links.ts";
import { refusedSignIn } from "./sign-in.ts";

const cookieName = (secure: boolean) => (secure ? "__Host-oidc" : "oidc");
/** As long as a sign-in may take; it comes back with the browser's way from the provider (`Lax`). */
const SECONDS = 600;
const cookie = (value: string, secure: boolean, seconds: number) =>
  hostCookie(cookieName(secure), value, { secure, seconds, httpOnly: true });

const refusal = async (visit: Visit, work: () => Promise<Visited>): Promise<Visited> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    return refusedSignIn(visit, error, "");
  }
};

/** Leads to a provider. */
export const toProviderPage: OpenPage = {
  path: BEGIN,
  get: (visit) =>
    refusal(visit, async () => {
      visit.tried();
      const { tenant, query, origin, secure } = visit;
      const { url, secret } = await beginAtProvider(tenant, {
        providerId: query.get("provider") ?? "",
        redirectUri: origin + CALLBACK,
        to: wanted(query),
      });
      return { away: url, cookies: [cookie(secret, secure, SECONDS)] };
    }),
};

/** Where providers lead back to. */
export const fromProviderPage: OpenPage = {
  path: CALLBACK,
  async get(visit) {
    const { tenant, query, secure, cookies, address, agent } = visit;
    const answer = await refusal(visit, async () => {
      const secret = cookies[cookieName(secure)] ?? "";
      const flow = tenant.ways.flows.take(query.get("state") ?? "", secret);
      if (flow === null) {
        visit.tried();
        throw new ServiceError("sign_in_refused", OVER);
      }
      const done = await signInByProvider(tenant, { flow, query, address, agent });
      return { to: flow.to, cookies: [sessionCookie(done.cookie, secure)] };
    });
    return { ...answer, cookies: [...(answer.cookies ?? []), cookie("", secure, 0)] };
  },
};

const OVER =
  "That sign-in is over: it took longer than ten minutes, was used before, began in another browser, or the box started anew. Try again.";
