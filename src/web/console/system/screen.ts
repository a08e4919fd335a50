import { version } from "../../../ground/kit/assets.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import type { Health } from "../../../tenant/health.ts";
import type { TenantHost } from "../../../tenant/host.ts";
import type { Form, PageCall, Screen, Section } from "../screen.ts";
import { wholeText } from "../ui/config-text.ts";
import { commandLine } from "../ui/finding.ts";
import { backupNow, backupsSection } from "./backups.ts";
import { doctorSection } from "./doctor.ts";
import { keepingSection, loadSection, machineSection, upFor } from "./load.ts";
import { ownFindings } from "./own-findings.ts";
import { findingsSection, readiness } from "./readiness.ts";
import { relayForms, relaySection } from "./relay.ts";
import { wallForms, wallsSection } from "./walls.ts";

const lookAgain: Form = {
  verb: "runDoctor",
  target: () => ({ kind: "doctor", id: "" }),
  auditAlways: true,
  act({ tenant, who }) {
    mustManage(who.role);
    tenant.host?.doctor.look();
    return { said: "The doctor is looking again. Its findings appear here." };
  },
};

const WATCHED = ["system", "oncall", "oncall:*", "people", "channels:*"];

/** How the box is: what is wrong first, and what to do about it. Who doesn't manage sees the findings. */
export const systemScreen: Screen = {
  path: "/system",
  view(call) {
    const { status, checks } = call.system.health();
    const { host: house } = call.tenant;
    return {
      title: "System",
      nav: "system",
      sections: {
        standing: { watches: ["system"], draw: () => standing(call, status) },
        findings: {
          watches: WATCHED,
          draw: async () =>
            findingsSection([...readiness(call, checks), ...(await ownFindings(call))]),
        },
        doctor: { watches: ["system"], draw: () => doctorSection(call) },
        ...(house !== null && isManager(call.who.role) ? ofManagers(call, house) : {}),
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

function ofManagers(call: PageCall, house: TenantHost): Record<string, Section> {
  return {
    backups: { watches: ["system"], draw: () => backupsSection(call) },
    relay: { watches: ["system"], draw: () => relaySection(call) },
    walls: { watches: ["system"], draw: () => wallsSection(call) },
    load: { watches: ["alerts", "lines:*"], draw: () => loadSection(house) },
    keeping: { watches: [], draw: () => keepingSection(call, house) },
    machine: { watches: [], draw: machineSection },
    text: {
      watches: [],
      draw: () =>
        html`<p><a href="${call.base}/system/box.yaml" download>All projects, gateways and the fallback as one text</a> <span class="soft">as box config export prints it; several projects are applied by ${commandLine("apply-text", "box config apply box.yaml")}</span></p>`,
    },
    ...(call.who.role === "owner" ? { signing: { watches: [], draw: () => signingIn(call) } } : {}),
    audit: {
      watches: [],
      draw: () =>
        html`<p><a href="${call.base}/audit" data-key="g l" aria-keyshortcuts="g l" title="Audit (g l)">Audit: who changed what, and who signed in</a></p>`,
    },
  };
}

const STANDING = {
  ok: ["good", "✓ Able to page."],
  degraded: ["warn", "△ Able to page, but something is wrong."],
  failed: ["wrong", "✕ Not able to page."],
} as const;

function standing(call: PageCall, status: Health["status"]): Markup {
  const [look, words] = STANDING[status];
  const { host: house } = call.tenant;
  const findings = house?.doctor.latest()?.findings ?? [];
  const wrong = findings.filter(({ state }) => state === "wrong");
  const found =
    wrong.length > 0 &&
    html`<p class="wrong">✕ The doctor found what is wrong: ${wrong.map(({ check }) => check).join(", ")}.</p>`;
  return html`<p class="${look}">${words}</p>${found}<p class="soft">Version ${version}${house !== null && html`, ${upFor(call, house)}`}.</p>`;
}

const signingIn = ({ base }: PageCall) =>
  html`<p><a href="${base}/system/sign-in">Signing in: providers, and whether passwords open anything</a></p><p><a href="${base}/system/gateways">Gateways: the mail server, bots and services that reach people</a></p><p><a href="${base}/system/look">Look: what these pages are made of</a></p>`;
