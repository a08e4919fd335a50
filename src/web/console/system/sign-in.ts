import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { passwordsOpen, setPasswordsOpen } from "../../../people/oidc/password-switch.ts";
import { type Provider, providerChange, providerWrite } from "../../../people/oidc/provider.ts";
import {
  CALLBACK,
  changedProvider,
  deleteProvider,
  getProvider,
  listProviders,
  putProvider,
} from "../../../people/oidc/providers.ts";
import { mustBeOwner, roles } from "../../../people/roles.ts";
import { lookAtProvider, proveProvider } from "../../http/resources/sign-in.ts";
import { onMachine } from "../on-machine.ts";
import type { PageCall, Screen } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { button, field, tick } from "../ui/form.ts";

const AT = "/system/sign-in";

/** How people sign in: providers of OpenID Connect, and whether passwords open anything. For owners. */
export const signInScreen: Screen = {
  path: AT,
  view(call) {
    const isOwner = call.who.role === "owner";
    const watches = ["people"];
    const sections = {
      providers: { watches, draw: () => providers(call) },
      add: () => adding(call),
      password: { watches, draw: () => password(call) },
    };
    const none = () => html`<p>Owners decide how people sign in.</p>`;
    return {
      title: "Signing in",
      nav: "system",
      sections: isOwner ? sections : { none },
    };
  },
  forms: {
    password: {
      verb: "putSignIn",
      target: "sign_in:1",
      act({ tenant, who }, form) {
        mustBeOwner(who.role);
        const isOpen = form.get("password") === "on";
        tenant.store.write((tx) => setPasswordsOpen(tx, isOpen));
        return { said: isOpen ? "Passwords sign in again." : "Passwords open nothing any more." };
      },
    },
    providers: {
      verb: "createSignInProvider",
      async act({ tenant, who }, form) {
        mustBeOwner(who.role);
        const { test, ...input } = check(providerWrite, typedProvider(form), "body");
        await proveProvider(tenant, { input, test });
        tenant.store.write((tx) => putProvider(tx, tenant.sealer, { id: null, input }));
        return { said: `${input.name} stands on the sign-in page.` };
      },
    },
    "providers/{sign_in_provider}/change": {
      verb: "changeSignInProvider",
      async act({ tenant, who, params: { sign_in_provider: id = "" } }, form) {
        mustBeOwner(who.role);
        const { store, sealer } = tenant;
        const { test, ...change } = check(providerChange, typedProvider(form), "body");
        const input = changedProvider(store, sealer, { id, change });
        await proveProvider(tenant, { input, test });
        store.write((tx) => putProvider(tx, sealer, { id: getProvider(tx, id).id, input }));
        return { said: `${input.name} is changed.` };
      },
    },
    "providers/{sign_in_provider}/test": {
      verb: "testSignInProvider",
      auditAlways: true,
      async act({ tenant, who, params: { sign_in_provider: id = "" } }) {
        mustBeOwner(who.role);
        const { name } = getProvider(tenant.store, id);
        return { said: (await lookAtProvider(tenant, id)) ?? `${name} answers.` };
      },
    },
    "providers/{sign_in_provider}/remove": {
      verb: "deleteSignInProvider",
      act({ tenant, who, params: { sign_in_provider: id = "" } }) {
        mustBeOwner(who.role);
        const { name } = getProvider(tenant.store, id);
        tenant.store.write((tx) => deleteProvider(tx, id));
        return { said: `${name} signs nobody in any more. Who came by it stays in.` };
      },
    },
  },
};

const words = (form: URLSearchParams, name: string, between: RegExp) =>
  (form.get(name) ?? "")
    .split(between)
    .map((word) => word.trim())
    .filter((word) => word !== "");

/** A form as the interface takes it. */
function typedProvider(form: URLSearchParams): object {
  const text = (name: string) => (form.get(name) ?? "").trim();
  const groups = roles.flatMap((role) =>
    words(form, `groups_${role}`, /,/).map((group) => [group, role]),
  );
  return {
    name: text("name"),
    issuer: text("issuer"),
    client_id: text("client_id"),
    client_secret: form.get("client_secret") ?? "",
    scopes: words(form, "scopes", /\s+/),
    groups_claim: text("groups_claim"),
    roles: Object.fromEntries(groups),
    domains: words(form, "domains", /[\s,]+/),
    test: form.has("test"),
  };
}

function providers(call: PageCall): Markup {
  const all = listProviders(call.tenant.store);
  return html`<h2>Providers</h2>
<p class="soft">Register this redirect URI with each of them: <code>${call.origin + CALLBACK}</code></p>
${all.length === 0 && html`<p>None yet: people sign in by what this box knows itself.</p>`}
${all.map((provider) => one(call, provider))}`;
}

function one(call: PageCall, provider: Provider): Markup {
  const { id, name, issuer, domains } = provider;
  const at = `${AT}/providers/${id}`;
  const who = domains.length === 0 ? "who is invited" : `who is invited, and ${domains.join(", ")}`;
  return html`<div class="card"><h3>${name}</h3><p class="soft">${issuer} · for ${who}</p>
<div class="buttons">${button(call, { action: `${at}/test`, name: "Test", kind: "second", label: `Test ${name}` })}${button(call, { action: `${at}/remove`, name: "Remove", kind: "danger", label: `Remove ${name}` })}</div>
<details id="change-${id}"${call.returned?.action === `${at}/change` && html` open`}><summary>Change ${name}</summary>${form(call, `${at}/change`, provider)}</details>
${changesLink(call, "sign_in_provider", id)}</div>`;
}

function adding(call: PageCall): Markup {
  const action = `${AT}/providers`;
  const isOpen = call.returned?.action === action;
  return html`<details id="add-provider"${isOpen && html` open`}><summary>Add a provider</summary>${form(call, action, null)}</details>`;
}

function form(call: PageCall, action: string, known: Provider | null): Markup {
  const of = (role: string) =>
    Object.entries(known?.roles ?? {})
      .filter(([, given]) => given === role)
      .map(([group]) => group)
      .join(", ");
  const put = (name: string, label: string, value: string, hint?: string) =>
    field(call, action, {
      name,
      label,
      value,
      autocomplete: "off",
      ...(hint === undefined ? {} : { hint }),
    });
  return html`<form class="form" method="post" action="${call.base}${action}">
${put("name", "Name", known?.name ?? "", "As the sign-in page calls it.")}
${put("issuer", "Issuer", known?.issuer ?? "", "The address that the provider calls itself by.")}
${put("client_id", "Client id", known?.client_id ?? "")}
${field(call, action, { name: "client_secret", label: "Client secret", type: "password", autocomplete: "off", hint: known?.has_secret ? "Empty: it stays." : "It is never shown again." })}
${put("domains", "Domains that may come", known?.domains.join(" ") ?? "", "Anybody with a verified address of these. Empty: only who has an account or an invitation.")}
${put("scopes", "Scopes", (known?.scopes ?? ["openid", "email", "profile"]).join(" "))}
${put("groups_claim", "Claim that lists groups", known?.groups_claim ?? "groups")}
${roles.map((role) => put(`groups_${role}`, `Groups whose people are ${role}`, of(role), role === "owner" ? "With commas between. Once any is named, roles follow groups at each sign-in, and who is in none is a member." : undefined))}
${tick(call, action, { name: "test", value: "true", usual: true, words: "Store it only if the provider answers" })}
<p class="form-foot"><button class="button" data-busy="Asking the provider …">Save</button></p></form>`;
}

function password(call: PageCall): Markup {
  const isOpen = passwordsOpen(call.tenant.store);
  return html`<h2>Passwords</h2>
<p>${isOpen ? "Email and password sign in." : "Passwords open nothing: people come by a provider, a passkey, a phone link or an API key."}</p>
${button(call, { action: `${AT}/password`, name: isOpen ? "Turn passwords off" : "Turn passwords on", kind: isOpen ? "danger" : "second", fields: { password: isOpen ? "off" : "on" } })}
<p class="soft">On the machine <code>${onMachine(call.tenant, "sign-in password on")}</code> brings them back, and <code>${onMachine(call.tenant, "pair-code")}</code> makes a way in, whatever stands here.</p>`;
}
