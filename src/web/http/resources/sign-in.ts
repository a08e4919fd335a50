import { z } from "zod";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { checkUrl } from "../../../ground/kit/url.ts";
import { passwordsOpen, setPasswordsOpen } from "../../../people/oidc/password-switch.ts";
import {
  providerAnswer,
  providerChange,
  providerLook,
  providerReadOnly,
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
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";

const answer = providerAnswer.extend({
  redirect_uri: z.string().meta({ description: "What the provider must know as this box's." }),
});
const shown = ({ store, publicUrl }: Tenant, id: string) => ({
  ...getProvider(store, id),
  redirect_uri: redirectUri(store, publicUrl),
});

const common = {
  plane: "api",
  tag: "People",
  boxOnly: true,
  additive: true,
  manager: true,
} as const;
const providerPath = z.strictObject({ provider: z.string() });
const bodyErrors = ["invalid_request", "invalid_json", "address_refused"] as const;
const writeErrors = ["forbidden", ...bodyErrors, "missing_credential", "gateway_refused"] as const;

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
  route({
    ...common,
    method: "GET",
    path: "/v1/sign-in",
    name: "getSignIn",
    summary: "Whether passwords open sessions",
    status: 200,
    answer: z.object({ password: z.boolean() }),
    errors: ["forbidden"],
    handle: ({ tenant }) => ({ password: passwordsOpen(tenant.store) }),
  }),
  route({
    ...common,
    owner: true,
    method: "PUT",
    path: "/v1/sign-in",
    name: "putSignIn",
    summary: "Turn passwords on or off (owners only): off once an owner has come in otherwise",
    body: signInWrite,
    status: 200,
    answer: z.object({ password: z.boolean() }),
    errors: ["forbidden", "invalid_request", "invalid_json", "last_owner"],
    handle: ({ tenant, body }) => {
      tenant.store.write((tx) => setPasswordsOpen(tx, body.password));
      return body;
    },
  }),
  route({
    ...common,
    method: "GET",
    path: "/v1/sign-in/providers",
    name: "listSignInProviders",
    summary: "Providers of OpenID Connect, without their secrets",
    status: 200,
    answer: z.object({ providers: z.array(answer) }),
    errors: ["forbidden"],
    handle: ({ tenant }) => ({
      providers: listProviders(tenant.store).map(({ id }) => shown(tenant, id)),
    }),
  }),
  route({
    ...common,
    owner: true,
    method: "POST",
    path: "/v1/sign-in/providers",
    name: "createSignInProvider",
    summary: "Set one up (owners only)",
    body: providerWrite,
    readOnly: providerReadOnly,
    status: 201,
    answer,
    errors: [...writeErrors, "too_many"],
    async handle({ tenant, body: { test, ...input } }) {
      await proveProvider(tenant, { input, test });
      const { id } = tenant.store.write((tx) =>
        putProvider(tx, tenant.sealer, { id: null, input }),
      );
      return shown(tenant, id);
    },
  }),
  route({
    ...common,
    method: "GET",
    path: "/v1/sign-in/providers/{provider}",
    name: "getSignInProvider",
    summary: "One of them",
    params: providerPath,
    status: 200,
    answer,
    errors: ["forbidden", "not_found"],
    handle: ({ tenant, params }) => shown(tenant, params.provider),
  }),
  route({
    ...common,
    owner: true,
    method: "PUT",
    path: "/v1/sign-in/providers/{provider}",
    name: "changeSignInProvider",
    summary: "Change one (owners only): what is left out stays",
    params: providerPath,
    body: providerChange,
    readOnly: providerReadOnly,
    status: 200,
    answer,
    errors: [...writeErrors, "not_found", "last_owner"],
    async handle({ tenant, params: { provider: id }, body: { test, ...change } }) {
      const { store, sealer } = tenant;
      const input = changedProvider(store, sealer, { id, change });
      await proveProvider(tenant, { input, test });
      store.write((tx) => putProvider(tx, sealer, { id: getProvider(tx, id).id, input }));
      return shown(tenant, id);
    },
  }),
  route({
    ...common,
    owner: true,
    method: "DELETE",
    path: "/v1/sign-in/providers/{provider}",
    name: "deleteSignInProvider",
    summary: "Remove one (owners only): who came in by it stays in until their session ends",
    params: providerPath,
    status: 200,
    answer: deleted,
    errors: ["forbidden", "not_found", "last_owner"],
    handle({ tenant, params }) {
      tenant.store.write((tx) => deleteProvider(tx, params.provider));
      return { deleted: true };
    },
  }),
  route({
    ...common,
    owner: true,
    deed: true,
    method: "POST",
    path: "/v1/sign-in/providers/{provider}/test",
    name: "testSignInProvider",
    summary: "Ask one for its settings (owners only)",
    params: providerPath,
    status: 200,
    answer: providerLook,
    errors: ["forbidden", "not_found", "missing_credential"],
    async handle({ tenant, params }) {
      const error = await lookAtProvider(tenant, params.provider);
      return { ok: error === null, error };
    },
  }),
];
