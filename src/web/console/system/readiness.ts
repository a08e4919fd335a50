import { html, type Markup } from "../../../ground/kit/html.ts";
import { isManager } from "../../../people/roles.ts";
import type { HealthCheck } from "../../../tenant/health.ts";
import type { PageCall } from "../screen.ts";
import { byNeed, commandLine, findingRow, type ShownFinding } from "../ui/finding.ts";
import { counted } from "../ui/pieces.ts";
import { remedy } from "../ui/way.ts";

const LOG = "journalctl -u box -n 200";
const RESTART = "systemctl restart box";

/** What to do where a check fails: a command for the machine, or a page. */
const COMMANDS: Readonly<Record<string, string>> = {
  store: LOG,
  scheduler: RESTART,
  outbox: RESTART,
  backup: LOG,
  clock: "timedatectl set-ntp true",
  disk: "box serve --log-days 3 --history-days 30",
  sealed: "box key-file add FILE",
};
const PAGES: Readonly<Record<string, readonly [path: string, words: string]>> = {
  breakers: ["/p", "Each project's channels"],
  channels: ["/p", "Each project's channels"],
  reach: ["/people", "Who is reached by what"],
  contacts: ["/people", "Everybody's ways"],
  silences: ["/silences", "Silences"],
  ingest: ["/p", "What each source sends"],
  relay: ["/system#relay", "The relay"],
};

const asSentence = (text: string) => `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;

function mendOf(call: PageCall, { name, ok }: HealthCheck): Markup | null {
  if (ok) return null;
  const command = COMMANDS[name];
  if (command !== undefined)
    return isManager(call.who.role) ? commandLine(`mend-${name}`, command) : null;
  const page = PAGES[name];
  // The relay's part of this page is for those who manage.
  if (page === undefined || (name === "relay" && !isManager(call.who.role))) return null;
  return remedy(call, ...page);
}

/** Whether the box is able to page, check by check, as of now. */
export function readiness(call: PageCall, checks: readonly HealthCheck[]): ShownFinding[] {
  const seesNames = isManager(call.who.role);
  return checks.map((check) => ({
    id: `check-${check.name}`,
    check: check.name,
    mend: mendOf(call, check),
    state: check.ok ? "ok" : check.severity === "failed" ? "failed" : "wrong",
    words: html`${asSentence(seesNames ? (check.named ?? check.detail) : check.detail)}`,
  }));
}

/** What the checks say of all failing channels together isn't said where each is named; the bar leads to the first of them. */
export function saidOnce(
  checks: readonly ShownFinding[],
  own: readonly ShownFinding[],
): readonly ShownFinding[] {
  const [first] = own.filter(({ check }) => check === "channel");
  const said = checks.filter(
    ({ check, state }) => state !== "ok" && (check === "channels" || check === "breakers"),
  );
  const [{ id } = { id: "" }] = said;
  if (first === undefined || id === "") return [...checks, ...own];
  const others = checks.filter((one) => !said.includes(one));
  return [...others, ...own.map((one) => (one === first ? { ...one, id } : one))];
}

export function findingsSection(all: readonly ShownFinding[]): Markup {
  const sick = byNeed(all).filter(({ state }) => state !== "ok");
  const well = all.filter(({ state }) => state === "ok");
  return html`<h2>Findings</h2>
${sick.length === 0 ? html`<p class="soft">None.</p>` : html`<ul class="who">${sick.map(findingRow)}</ul>`}
<details id="well"><summary>${counted(well.length, "check")} went well</summary><ul class="who">${well.map(findingRow)}</ul></details>`;
}
