import { version } from "../../../ground/kit/assets.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import type { Health } from "../../../tenant/health.ts";
import type { TenantHost } from "../../../tenant/host.ts";
import type { Form, PageCall, Screen, Section } from "../screen.ts";
import { wholeText } from "../ui/config-text.ts";
import { commandLine } from "../ui/finding.ts";
import { keyed } from "../ui/form.ts";
import { type IconName, icon } from "../ui/icon.ts";
import { backupNow, backupsSection } from "./backups.ts";
import { doctorSection } from "./doctor.ts";
import { keepingSection, loadSection, machineSection, upFor } from "./load.ts";
import { ownFindings } from "./own-findings.ts";
import { findingsSection, readiness, saidOnce } from "./readiness.ts";
import { relayForms, relaySection } from "./relay.ts";
import { wallForms, wallsSection } from "./walls.ts";

const lookAgain: Form = {
  verb: "runDoctor",
  auditAlways: true,
  act({ tenant, who }) {
    mustManage(who.role);
    tenant.host?.doctor.look();
    return { said: "The doctor is looking again. Its findings appear here." };
  },
};

const WATCHED = ["system", "oncall", "oncall:*", "people", "channels:*", "heartbeats", "projects"];

/** How the box is: what is wrong first, and what to do about it. Who doesn't manage sees the findings. */
export const systemScreen: Screen = {
  path: "/system",
  view(call) {
    const { status, checks } = call.system.health();
    const { host } = call.tenant;
    return {
      title: "System",
      nav: "system",
      sections: {
        standing: { watches: ["system"], draw: () => standing(call, status) },
        findings: {
          watches: WATCHED,
          draw: async () =>
            findingsSection(saidOnce(readiness(call, checks), await ownFindings(call))),
        },
        pages: { watches: [], draw: () => (isManager(call.who.role) ? ownPages(call) : html``) },
        doctor: { watches: ["system"], draw: () => doctorSection(call) },
        ...(host !== null && isManager(call.who.role) ? ofManagers(call, host) : {}),
      },
    };
  },
  files: {
    async "box.yaml"(call) {
      mustManage(call.who.role);
      const body = await wholeText(call.tenant);
      return { name: "box.yaml", type: "application/yaml; charset=utf-8", body };
    },
  },
  forms: { doctor: lookAgain, backup: backupNow, ...relayForms, ...wallForms },
};

function ofManagers(call: PageCall, host: TenantHost): Record<string, Section> {
  return {
    backups: { watches: ["system"], draw: () => backupsSection(call) },
    relay: { watches: ["system"], draw: () => relaySection(call) },
    walls: { watches: ["system"], draw: () => wallsSection(call) },
    load: { watches: ["alerts", "lines:*"], draw: () => loadSection(host) },
    keeping: { watches: [], draw: () => keepingSection(call, host) },
    machine: { watches: [], draw: machineSection },
    text: {
      watches: [],
      draw: () =>
        html`<p><a href="${call.base}/system/box.yaml" download>All projects, gateways and the fallback as one text</a> <span class="soft">as box config export prints it; several projects are applied by ${commandLine("apply-text", "box config apply box.yaml")}</span></p>`,
    },
  };
}

const STANDING = {
  ok: ["good", "proof", "Able to page."],
  degraded: ["warn", "warn", "Able to page, but something is wrong."],
  failed: ["wrong", "close", "Not able to page."],
} as const;

function standing(call: PageCall, status: Health["status"]): Markup {
  const [look, sign, words] = STANDING[status];
  const { host } = call.tenant;
  const findings = host?.doctor.latest()?.findings ?? [];
  const wrong = findings.filter(({ state }) => state === "wrong");
  const found =
    wrong.length > 0 &&
    html`<p class="wrong">✕ The doctor found what is wrong: ${wrong.map(({ check }) => check).join(", ")}.</p>`;
  return html`<div class="notice notice-${look} verdict"><span class="${look}">${icon(sign, "large")}</span><div><p><strong>${words}</strong></p>${found}<p class="small soft">Version ${version}${host !== null && html`, ${upFor(call, host)}`}.</p></div></div>`;
}

/** What has a page of its own; all but the audit is for owners. */
function ownPages({ base, who }: PageCall): Markup {
  const row = (path: string, sign: IconName, name: string, words: string, key?: string) =>
    html`<li><a href="${base}${path}"${keyed(key, name)}>${icon(sign)}<span><b>${name}</b><br><span class="small soft">${words}</span></span>${icon("next", "small")}</a></li>`;
  return html`<ul class="list list-card">${
    who.role === "owner" && [
      row(
        "/system/gateways",
        "send",
        "Gateways",
        "the mail server, bots and services that reach people",
      ),
      row("/system/sign-in", "lock", "Signing in", "providers, and whether passwords may be used"),
      row("/system/look", "edit", "Look", "what these pages are made of"),
    ]
  }${row("/audit", "book", "Audit", "who changed what, and who signed in", "g l")}</ul>`;
}
