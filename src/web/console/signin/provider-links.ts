import { html, type Markup } from "../../../ground/kit/html.ts";
import { listProviders } from "../../../people/oidc/providers.ts";
import type { Visit } from "../visit.ts";

/** The page that leads to a provider. */
export const BEGIN = "/signin/oidc";

/** A way to each provider: links, since a form may lead to no other host. */
export function providerLinks({ tenant, base }: Visit, to: string): Markup | false {
  const providers = listProviders(tenant.store);
  if (providers.length === 0) return false;
  const asked = to === "/alerts" ? "" : `&to=${encodeURIComponent(to)}`;
  return html`<p class="buttons">${providers.map(
    ({ id, name }) =>
      html`<a class="button second" href="${base}${BEGIN}?provider=${id}${asked}">Sign in with ${name}</a> `,
  )}</p>`;
}
