import { hasDuty } from "../../core/oncall/duty.ts";
import { html, type Markup } from "../../ground/kit/html.ts";
import { listSubscriptions, lostDevices } from "../../out/contacts/subscriptions.ts";
import type { PageCall } from "./screen.ts";
import { worstOfDoctor } from "./system/doctor.ts";
import { unconfirmedLine } from "./ui/unconfirmed.ts";

/**
 * The one line at the top, only for what nobody can do without: the box can't page, whoever takes over isn't confirmed,
 * one's own phone isn't rung or isn't proved. All else that is to be mended stands on `/system`, and as a sign beside it.
 * The browser itself puts "The box can't be reached" before all of them.
 */
export function bar(call: PageCall): Markup {
  const { system, base, who, tenant } = call;
  const failed = system.health().checks.find(({ ok, severity }) => !ok && severity === "failed");
  if (failed !== undefined) {
    const { named, detail, name } = failed;
    const words = who.role === "member" ? detail : (named ?? detail);
    return barLine(
      "alert",
      html`<strong>The box can’t page.</strong> ${words} <a href="${base}/system#check-${name}">Mend it</a>`,
    );
  }
  const unconfirmed = unconfirmedLine(call);
  if (unconfirmed !== null) return barLine("status", unconfirmed);
  const [lost] = lostDevices(tenant.store, tenant, who.accountId);
  if (lost !== undefined)
    return barLine(
      "status",
      html`<strong>${lost.label || lost.host} isn’t rung any more</strong>: ${lost.renew ? "the box has another key by now" : "its push service says that it is gone"}. <a href="${base}/me/devices">Add it again, or remove it</a>`,
    );
  const silent = silentDevicesLine(call);
  if (silent !== null) return barLine("status", silent);
  const mend = /^\/system(?:\?|$)/.test(call.at) ? firstToMend(call) : null;
  if (mend !== null) return barLine("status", mend);
  return html`<div id="bar" class="bar" data-live="system" role="status"></div>`;
}

/** What `/system` itself begins with. */
function firstToMend({ system, base, who, tenant, origin }: PageCall): Markup | null {
  const isManager = who.role !== "member";
  const sick = system.health().checks.find(({ ok }) => !ok);
  if (sick !== undefined)
    return html`<strong>Something is wrong:</strong> ${isManager ? (sick.named ?? sick.detail) : sick.detail} <a href="${base}/system#check-${sick.name}">Mend it</a>`;
  const found = isManager ? worstOfDoctor(tenant.host?.doctor.latest() ?? null) : null;
  if (found !== null)
    return html`<strong>The doctor found a problem.</strong> ${found.detail} <a href="${base}/system#${found.id}">Mend it</a>`;
  if (isSafe(origin)) return null;
  return html`<strong>Not encrypted.</strong> Whoever is on this network can read and change what you see.`;
}

/** Whether `/system` has something to mend, for those who can. */
export function isToMend({ system, who, tenant, origin }: PageCall): boolean {
  if (who.role === "member") return false;
  return (
    system.health().checks.some(({ ok }) => !ok) ||
    worstOfDoctor(tenant.host?.doctor.latest() ?? null) !== null ||
    !isSafe(origin)
  );
}

export function barLine(role: "alert" | "status", words: Markup, id = "bar"): Markup {
  return html`<div id="${id}" class="bar bar-${role}" data-live="system" role="${role}"><p>${words}</p></div>`;
}

/** Encrypted, or it doesn't leave this machine. */
export function isSafe(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === "https:" || /^(localhost|127\..*|\[::1\])$/.test(hostname);
}

/** Some services stop pushing to a device after about a week, and say nothing. */
const SILENT_DAYS = 8;

/** Whoever is on call now, and of whose devices none has shown a push for days, is asked to try one. */
function silentDevicesLine({ who, tenant, now, base }: PageCall): Markup | null {
  const { store } = tenant;
  const devices = listSubscriptions(store, tenant, { account: who.accountId });
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
