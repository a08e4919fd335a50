import { losePushes } from "../../../core/alerts/fallback.ts";
import { writeLateTimeline } from "../../../core/alerts/timeline.ts";
import { configureRelay, relayWrite, removeRelay } from "../../../core/projects/relay.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { checkUrl } from "../../../ground/kit/url.ts";
import { findRelay, RELAY_SECRET } from "../../../out/outbox/relay.ts";
import { listAccounts } from "../../../people/accounts.ts";
import { mustManage } from "../../../people/roles.ts";
import { checkPublicUrl } from "../../http/resources/relay.ts";
import type { Form, PageCall } from "../screen.ts";
import { button, field, tick } from "../ui/form.ts";
import { counted } from "../ui/pieces.ts";
import { ago } from "../ui/times.ts";

const CHANGE = "/system/relay";
const target = "relay:1";

/** The service that rings phones with the app: whether it hears this box. */
export async function relaySection(call: PageCall): Promise<Markup> {
  const relay = findRelay(call.tenant.store);
  return html`<h2>Relay</h2>
${relay === null ? html`<p>None: no phone with the app is paged. People are reached by their own ways.</p>` : await standing(call, relay.relayUrl)}
${changeForm(call, relay?.relayUrl ?? null)}`;
}

async function standing(call: PageCall, url: string): Promise<Markup> {
  const { tenant } = call;
  const contact = tenant.news?.contact() ?? null;
  const books = await Promise.all(
    listAccounts(tenant.store).map(({ id }) => tenant.devices.list(id)),
  );
  const people = books.filter((devices) => devices.length > 0).length;
  const heard = contact?.heardAt ?? null;
  return html`<p>Paired with <strong>${new URL(url).host}</strong> · ${people === 1 ? "1 person has" : `${people} people have`} ${counted(books.flat().length, "phone")} there · ${
    heard === null
      ? html`<span class="soft">no report of this box arrived there since the start</span>`
      : html`the last report of this box arrived there ${ago(call, heard)}`
  }</p>
${contact !== null && contact.error !== null && html`<p class="wrong">${contact.error}</p>`}
${contact?.anotherBox === true && html`<p class="wrong">Another box pages with this one's key: stop the copy, or give it a key of its own.</p>`}
<div class="buttons">${button(call, { action: `${CHANGE}/test`, name: "Test the relay", kind: "second" })}</div>`;
}

function changeForm(call: PageCall, url: string | null): Markup {
  const isOpen = call.returned?.action === CHANGE;
  return html`<details id="change-relay"${isOpen && html` open`}><summary>${url === null ? "Page through a relay" : "Change it"}</summary>
<form class="form" method="post" action="${call.base}${CHANGE}">
${field(call, CHANGE, { name: "relay_url", label: "Its address", type: "url", value: url ?? "", required: true, autocomplete: "off" })}
${field(call, CHANGE, { name: "relay_secret", label: "Its secret", type: "password", required: true, autocomplete: "off", hint: "As the service gave it to you. The box never shows it again." })}
${field(call, CHANGE, { name: "hosted_tenant_id", label: "This box's id there", autocomplete: "off", hint: "Phones find the box by the address below. Leave empty to keep the present one." })}
${field(call, CHANGE, { name: "box_public_url", label: "This box's public address", type: "url", autocomplete: "off" })}
${tick(call, CHANGE, { name: "test", value: "true", usual: true, words: "Store it only if the relay accepts a signed test" })}
<p class="form-foot"><button class="button" data-busy="Asking the relay …">Save</button></p></form>
${
  url !== null &&
  html`<p class="soft">Without it, phones with the app don’t ring, and messages that wait for it are dropped.</p>${button(
    call,
    { action: `${CHANGE}/remove`, name: "Page through no relay", kind: "danger" },
  )}`
}</details>`;
}

/** Forms of the section, by what stands behind `/system/`. */
export const relayForms: Readonly<Record<string, Form>> = {
  relay: {
    verb: "putRelay",
    target,
    async act({ tenant, who }, form) {
      mustManage(who.role);
      const typed = [...form].filter(([, value]) => value.trim() !== "");
      const body = check(
        relayWrite,
        { ...Object.fromEntries(typed), test: form.has("test") },
        "body",
      );
      const { relay_url, relay_secret: secret, hosted_tenant_id = "", box_public_url = "" } = body;
      checkUrl(relay_url, tenant.addressRules, "/relay_url");
      if (box_public_url !== "") checkPublicUrl(box_public_url);
      const relay = { relayUrl: relay_url, secret };
      if (body.test) await tenant.outbox.testFire.relay({ ...relay, tenantId: tenant.id });
      const isKnown = hosted_tenant_id !== "" && box_public_url !== "";
      const announcement = isKnown
        ? { hostedTenantId: hosted_tenant_id, boxPublicUrl: box_public_url }
        : null;
      tenant.store.write((tx) => configureRelay(tx, tenant.sealer, { ...relay, announcement }));
      return { said: `This box pages through ${new URL(relay_url).host} from now on.` };
    },
  },
  "relay/test": {
    verb: "testRelay",
    target,
    auditAlways: true,
    async act({ tenant, who }) {
      mustManage(who.role);
      const relay = findRelay(tenant.store);
      if (relay === null) throw new ServiceError("not_found", "No relay is configured.");
      const { relayUrl, sealedSecret } = relay;
      const secret = tenant.sealer.open(sealedSecret, RELAY_SECRET);
      if (secret === null) return { said: "Its secret can't be read. Enter it again." };
      try {
        await tenant.outbox.testFire.relay({ relayUrl, secret, tenantId: tenant.id });
        return { said: "The relay took a signed test. It rang nobody." };
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== "relay_not_proved") throw error;
        return { said: error.message.replace(" Nothing was changed.", "") };
      }
    },
  },
  "relay/remove": {
    verb: "deleteRelay",
    target,
    act({ tenant, who }) {
      mustManage(who.role);
      const dropped = tenant.store.write((tx) =>
        losePushes(tx, () => removeRelay(tx, writeLateTimeline)),
      );
      const lost = dropped === 0 ? "" : ` ${counted(dropped, "page")} that waited are dropped.`;
      return { said: `This box pages through no relay any more.${lost}` };
    },
  },
};
