import { hasDuty } from "../../../core/oncall/duty.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { listSubscriptions } from "../../../out/contacts/subscriptions.ts";
import { contactGuardOf } from "../../../tenant/contact-verbs.ts";
import type { PageCall } from "../screen.ts";

/** Some services stop pushing to a device after about a week, and say nothing. */
const SILENT_DAYS = 8;

/** Whoever is on call now, and of whose devices none has shown a push for days, is asked to try one. */
export function silentDevicesLine({ who, tenant, now, base }: PageCall): Markup | null {
  const { store } = tenant;
  const devices = listSubscriptions(store, contactGuardOf(tenant), { account: who.accountId });
  const used = devices.filter(({ state }) => state !== "off");
  const heardAt = used.map(({ shown_at, created_at }) => shown_at ?? created_at);
  const silentFor = now - Math.max(...heardAt);
  if (used.length === 0 || silentFor < SILENT_DAYS * 86_400) return null;
  if (!hasDuty(store, who.accountId, now)) return null;
  const days = Math.floor(silentFor / 86_400);
  const [first] = used;
  const which =
    used.length > 1 ? "None of your devices is" : `${first?.label || first?.host} is not`;
  return html`<strong>${which} proved for ${days} days</strong>, and you are on call. <a href="${base}/me/devices">Prove it</a>`;
}
