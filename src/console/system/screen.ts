import { version } from "../../kit/assets.ts";
import { html, type Markup } from "../../kit/html.ts";
import { isManager } from "../../people/roles.ts";
import type { HealthCheck } from "../../tenant/health.ts";
import type { PageCall, Screen } from "../screen.ts";
import { counted } from "../ui/pieces.ts";

/** How the box is: what is wrong first, and what to do about it. Managers are told names. */
export const systemScreen: Screen = {
  path: "/system",
  view(call) {
    const { status, checks } = call.system.health();
    return {
      title: "System",
      nav: "system",
      sections: {
        standing: { watches: ["system"], draw: () => standing(status) },
        findings: { watches: ["system"], draw: () => findings(call, checks) },
        audit: { watches: [], draw: () => auditWay(call) },
      },
    };
  },
};

/** Who manages reads who changed what. */
function auditWay({ base, who }: PageCall): Markup {
  if (!isManager(who.role)) return html``;
  return html`<p><a href="${base}/audit" data-key="g l" aria-keyshortcuts="g l" title="Audit (g l)">Audit: who changed what, and who signed in</a></p>`;
}

const STANDING = {
  ok: ["good", "✓ Able to page. Nothing is found wrong."],
  degraded: ["warn", "△ Able to page, but something is wrong."],
  failed: ["wrong", "✕ Not able to page."],
} as const;

function standing(status: keyof typeof STANDING): Markup {
  const [look, words] = STANDING[status];
  return html`<p class="${look}">${words}</p><p class="soft">Version ${version}. Prove it by hand: <code>box doctor</code>.</p>`;
}

function findings(call: PageCall, checks: readonly HealthCheck[]): Markup {
  const sick = checks.filter(({ ok }) => !ok);
  const well = checks.filter(({ ok }) => ok);
  return html`<h2>Findings</h2>
${sick.length === 0 ? html`<p class="soft">None.</p>` : html`<ul class="who">${sick.map((check) => finding(call, check))}</ul>`}
<details id="well"><summary>${counted(well.length, "check")} went well</summary><ul class="who">${well.map((check) => finding(call, check))}</ul></details>`;
}

function finding({ who }: PageCall, { name, ok, severity, detail, named }: HealthCheck): Markup {
  const mark = ok ? "✓" : severity === "failed" ? "✕" : "△";
  const look = ok ? "good" : severity === "failed" ? "wrong" : "warn";
  const words = who.role === "member" ? detail : (named ?? detail);
  return html`<li class="who-item" id="check-${name}"><span class="${look}" aria-hidden="true">${mark}</span>
<div><p><strong>${name}</strong> <span class="${look}">${ok ? "well" : severity}</span></p><p>${words}</p></div></li>
`;
}
