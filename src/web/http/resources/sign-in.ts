import * as z from "zod";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { checkUrl } from "../../../ground/kit/url.ts";
import { passwordsOpen, setPasswordsOpen } from "../../../people/oidc/password-switch.ts";
import {
  providerAnswer,
  providerChange,
  providerLook,
  providerWrite,
  signInWrite,
} from "../../../people/oidc/provider.ts";
import {
  changedProvider,
  deleteProvider,
  getProvider,
  listProviders,
  openProvider,
  type ProviderInput,
  putProvider,
  redirectUri,
} from "../../../people/oidc/providers.ts";
import { faultSentence } from "../../../people/oidc/sign-in.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const signIn = routesIn(inTenant, {
  at: "/sign-in",
  tag: "People",
  additive: true,
  manager: true,
  boxOnly: true,
});

const answer = providerAnswer.extend({
  redirect_uri: z.string().meta({ description: "What the provider must know as this box's." }),
});
const shown = ({ store, publicUrl }: Tenant, id: string) => ({
  ...getProvider(store, id),
  redirect_uri: redirectUri(store, publicUrl),
});

/** Asks a provider before it is stored. Throws 403 address_refused, 422 gateway_refused. */
export async function proveProvider(
  { addressRules, ways }: Tenant,
  { input, test }: { input: ProviderInput; test: boolean },
): Promise<void> {
  checkUrl(input.issuer, addressRules, "/issuer");
  if (!test) return;
  const { client_secret: secret, ...fields } = input;
  const unstored = { id: "", has_secret: secret !== "", created_at: 0, updated_at: 0 };
  await ways.providers.look({ ...fields, ...unstored, secret }).catch((error) => {
    throw new ServiceError("gateway_refused", faultSentence(error, input.name));
  });
}

/** Whether a provider that is stored answers: its own sentence, or null. Throws 404. */
export async function lookAtProvider(
  { store, sealer, ways }: Tenant,
  id: string,
): Promise<string | null> {
  const provider = openProvider(store, sealer, id);
  return ways.providers.look(provider).then(
    () => null,
    (error) => faultSentence(error, provider.name),
  );
}

/** How people sign in: passwords or none, and providers of OpenID Connect (contract §32). */
export const signInRoutes: Route[] = [
  signIn.get("", {
    name: "getSignIn",
    summary: "Whether people can sign in by password",
    answer: z.object({ password: z.boolean() }),
    read: (store) => ({ password: passwordsOpen(store) }),
  }),
  signIn.put("", {
    name: "putSignIn",
    summary:
      "Turn passwords on or off (owners only): off only after an owner signed in by another way",
    owner: true,
    body: signInWrite,
    answer: z.object({ password: z.boolean() }),
    errors: ["last_owner"],
    write: (tx, { body }) => {
      setPasswordsOpen(tx, body.password);
      return body;
    },
  }),
  signIn.get("/providers", {
    name: "listSignInProviders",
    summary: "Providers of OpenID Connect, without their secrets",
    answer: z.object({ providers: z.array(answer) }),
    handle: ({ tenant }) => ({
      providers: listProviders(tenant.store).map(({ id }) => shown(tenant, id)),
    }),
  }),
  signIn.post("/providers", {
    name: "createSignInProvider",
    summary: "Add a provider (owners only)",
    owner: true,
    body: providerWrite,
    reads: answer,
    status: 201,
    answer,
    errors: ["address_refused", "missing_credential", "gateway_refused", "too_many"],
    handle: async ({ tenant, body: { test, ...input } }) => {
      await proveProvider(tenant, { input, test });
      const { id } = tenant.store.write((tx) =>
        putProvider(tx, tenant.sealer, { id: null, input }),
      );
      return shown(tenant, id);
    },
  }),
  signIn.get("/providers/{provider}", {
    name: "getSignInProvider",
    summary: "One provider, without its secret",
    answer,
    handle: ({ tenant, params }) => shown(tenant, params.provider),
  }),
  signIn.put("/providers/{provider}", {
    name: "changeSignInProvider",
    summary: "Change a provider (owners only): what is left out stays",
    owner: true,
    body: providerChange,
    reads: answer,
    answer,
    errors: ["address_refused", "missing_credential", "gateway_refused", "last_owner"],
    handle: async ({ tenant, params: { provider: id }, body: { test, ...change } }) => {
      const { store, sealer } = tenant;
      const input = changedProvider(store, sealer, { id, change });
      await proveProvider(tenant, { input, test });
      store.write((tx) => putProvider(tx, sealer, { id: getProvider(tx, id).id, input }));
      return shown(tenant, id);
    },
  }),
  signIn.delete("/providers/{provider}", {
    name: "deleteSignInProvider",
    summary: "Remove a provider (owners only): sessions that it opened stay valid",
    owner: true,
    errors: ["last_owner"],
    write: (tx, { params }) => deleteProvider(tx, params.provider),
  }),
  signIn.post("/providers/{provider}/test", {
    name: "testSignInProvider",
    summary: "Read a provider's settings, as a test (owners only)",
    owner: true,
    auditAlways: true,
    answer: providerLook,
    errors: ["missing_credential"],
    handle: async ({ tenant, params }) => {
      const error = await lookAtProvider(tenant, params.provider);
      return { ok: error === null, error };
    },
  }),
];
