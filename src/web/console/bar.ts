import { html, type Markup } from "../../ground/kit/html.ts";
import { lostDevices } from "../../out/contacts/subscriptions.ts";
import { contactGuardOf } from "../../tenant/contact-verbs.ts";
import { silentDevicesLine } from "./oncall/silent-devices.ts";
import { unconfirmedLine } from "./oncall/unconfirmed.ts";
import type { PageCall } from "./screen.ts";
import { worstOfDoctor } from "./system/doctor.ts";

/**
 * The one line at the top, at most one at a time, the worst first. The browser itself puts "The box can't be reached"
 * before all of them.
 */
export function bar(call: PageCall): Markup {
  const { system, base, origin, who, tenant } = call;
  const health = system.health();
  const first = health.checks.find(({ ok, severity }) => !ok && severity === "failed");
  const sick = health.checks.find(({ ok }) => !ok);
  const seesNames = who.role !== "member";
  const say = (check: { detail: string; named?: string }) =>
    seesNames ? (check.named ?? check.detail) : check.detail;
  const more = ({ name }: { name: string }) =>
    html` <a href="${base}/system#check-${name}">Look</a>`;
  if (first !== undefined)
    return line("alert", html`<strong>Not able to page.</strong> ${say(first)}${more(first)}`);
  if (sick !== undefined)
    return line("status", html`<strong>Degraded.</strong> ${say(sick)}${more(sick)}`);
  const unconfirmed = unconfirmedLine(call);
  if (unconfirmed !== null) return line("status", unconfirmed);
  const [lost] = lostDevices(tenant.store, contactGuardOf(tenant), who.accountId);
  if (lost !== undefined)
    return line(
      "status",
      html`<strong>${lost.label || lost.host} isn’t rung any more</strong>: ${lost.renew ? "the box has another key by now" : "its push service says that it is gone"}. <a href="${base}/me/devices">Add it again there, or remove it</a>`,
    );
  const silent = silentDevicesLine(call);
  if (silent !== null) return line("status", silent);
  const found = seesNames ? worstOfDoctor(tenant.host?.doctor.latest() ?? null) : null;
  if (found !== null)
    return line(
      "status",
      html`<strong>The doctor found something.</strong> ${found.detail} <a href="${base}/system#${found.id}">Look</a>`,
    );
  if (!isSafe(origin))
    return line(
      "status",
      html`<strong>Not encrypted.</strong> Whoever is on this network can read and change what you see.`,
    );
  return html`<div id="bar" class="bar" data-live="system" role="status"></div>`;
}

function line(role: "alert" | "status", words: Markup): Markup {
  return html`<div id="bar" class="bar bar-${role}" data-live="system" role="${role}"><p>${words}</p></div>`;
}

/** Encrypted, or it doesn't leave this machine. */
export function isSafe(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === "https:" || /^(localhost|127\..*|\[::1\])$/.test(hostname);
}
