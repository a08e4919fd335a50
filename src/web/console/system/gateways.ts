import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Gateway } from "../../../out/contacts/contact.ts";
import { deleteGateway, listGateways } from "../../../out/contacts/gateways.ts";
import type { GatewayKind } from "../../../out/services/contact-kind.ts";
import { contactKindList } from "../../../out/services/list.ts";
import { serviceName } from "../../../out/services/service-names.ts";
import { mustBeOwner } from "../../../people/roles.ts";
import { setGateway, testGateway } from "../../http/resources/gateways.ts";
import type { Form, PageCall, Screen } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { button, field, labelOf, tick } from "../ui/form.ts";
import { ago } from "../ui/times.ts";

const AT = "/system/gateways";

/** What serves people's contacts: a mail server, bots, accounts with services. For owners. */
export const gatewaysScreen: Screen = {
  path: AT,
  view(call) {
    const isOwner = call.who.role === "owner";
    const sections = {
      about,
      ...Object.fromEntries(
        contactKindList.gateways.map((kind) => [
          `gateway-${kind.kind}`,
          { watches: ["people"], draw: () => one(call, kind) },
        ]),
      ),
    };
    const none = () => html`<p>Owners set gateways up.</p>`;
    return { title: "Gateways", nav: "system", sections: isOwner ? sections : { none } };
  },
  forms: {
    "{gateway}": {
      verb: "putGateway",
      async act({ tenant, who, params: { gateway: kind = "" } }, form) {
        mustBeOwner(who.role);
        const { test, ...fields } = Object.fromEntries(form);
        const own = Object.keys(contactKindList.gateway(kind)?.fields.shape ?? {});
        const input = Object.fromEntries(
          own.map((name) => [name, String(fields[name] ?? "").trim()]),
        );
        await setGateway(tenant, { kind, input, test: test === "true" });
        return {
          said:
            test === "true"
              ? `${serviceName(kind)}: the service accepted the test.`
              : `${serviceName(kind)} is stored, untried.`,
        };
      },
    },
    "{gateway}/test": {
      verb: "testGateway",
      async act({ tenant, who, params: { gateway: kind = "" } }) {
        mustBeOwner(who.role);
        const error = await testGateway(tenant, kind);
        return {
          said: `${serviceName(kind)}${error === null ? " works: the service accepted the test" : `: ${error}`}.`,
        };
      },
    },
    "{gateway}/remove": {
      verb: "deleteGateway",
      act({ tenant, who, params: { gateway: kind = "" } }) {
        mustBeOwner(who.role);
        tenant.store.write((tx) => deleteGateway(tx, kind));
        return { said: `${serviceName(kind)} is removed: its contacts stay, and reach nobody.` };
      },
    } satisfies Form,
  },
};

const about = () =>
  html`<p class="soft">People are reached by these services: what is set up here, everybody can add under <em>Me</em>, <em>What rings for me</em>, and ring there to hear it.</p>`;

function one(call: PageCall, kind: GatewayKind): Markup {
  const { tenant } = call;
  const stored = listGateways(tenant.store, tenant).find((each) => each.kind === kind.kind);
  const about = kind.about.charAt(0).toUpperCase() + kind.about.slice(1);
  const name = serviceName(kind.kind);
  const at = `${AT}/${kind.kind}`;
  const isOpen = call.returned?.action === at;
  const actions =
    stored !== undefined &&
    html`<div class="buttons">${button(call, { action: `${at}/test`, name: "Test", kind: "second", label: `Test ${name}` })}${button(call, { action: `${at}/remove`, name: "Remove", kind: "danger", label: `Remove ${name}` })}</div>`;
  return html`<div class="card"><div class="card-head"><h2>${name}</h2>${standing(call, stored)}</div><p class="soft">${about}.</p>${actions}
<details id="set-${kind.kind}"${isOpen && html` open`}><summary>${stored === undefined ? "Set up" : "Change"} ${name}</summary>${form(call, at, { kind, stored })}</details>
${stored !== undefined && changesLink(call, "gateway", kind.kind)}</div>`;
}

function standing(call: PageCall, stored: Gateway | undefined): Markup {
  if (stored === undefined) return html`<span class="soft">not set up</span>`;
  const { last_error, last_ok_at } = stored;
  if (last_error !== null) return html`<span class="wrong">not accepted: ${last_error}</span>`;
  return last_ok_at === null
    ? html`<span class="warn">never tried</span>`
    : html`<span class="good">✓ accepted its last message ${ago(call, last_ok_at)}</span>`;
}

/** What is sealed is typed unseen and never drawn; at another address it has to be typed again. */
function form(
  call: PageCall,
  action: string,
  { kind, stored }: { kind: GatewayKind; stored: Gateway | undefined },
): Markup {
  const { fields, open = [] } = kind;
  return html`<form class="form" method="post" action="${call.base}${action}">
${Object.entries(fields.shape).map(([name, schema]) => {
  const isShown = name === "url" || open.includes(name);
  const said = schema.meta()?.description ?? "";
  const hint = said === "" ? "" : `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
  const keeps =
    !isShown &&
    stored !== undefined &&
    "Leave this empty to keep what is stored, if the address stays the same.";
  const value = name === "url" ? (stored?.url ?? "") : (stored?.open[name] ?? "");
  return field(call, action, {
    name,
    label: labelOf(name),
    autocomplete: "off",
    ...(isShown ? { value } : { type: "password" as const }),
    hint: [hint, keeps].filter(Boolean).join(" "),
  });
})}
${tick(call, action, { name: "test", value: "true", usual: true, words: "Store it only if the service accepts a test" })}
<p class="form-foot"><button class="button second" data-busy="Asking the service …">Save</button></p></form>`;
}
