import { html, type Markup } from "../../../ground/kit/html.ts";
import { isManager } from "../../../people/roles.ts";
import type { Examined } from "../../../tenant/host.ts";
import type { PageCall } from "../screen.ts";
import { byNeed, commandLine, findingRow, type ShownFinding } from "../ui/finding.ts";
import { button } from "../ui/form.ts";
import { counted } from "../ui/pieces.ts";
import { ago } from "../ui/times.ts";

/** What the doctor found when it looked last, each with a place of its own: the second of one check is `doctor-channels-2`. */
export function doctorFindings({ findings }: Pick<Examined, "findings">): ShownFinding[] {
  const seen = new Map<string, number>();
  return findings.map(({ check, state, detail, advice }) => {
    const slug = check.replaceAll(/[^a-z0-9]+/g, "-");
    const n = (seen.get(slug) ?? 0) + 1;
    seen.set(slug, n);
    const id = `doctor-${slug}${n === 1 ? "" : `-${n}`}`;
    return { id, check, state, words: html`${detail}`, mend: adviceOf(id, advice) };
  });
}

/** One that begins with a command has it to copy. */
function adviceOf(id: string, advice: string): Markup | null {
  if (advice === "") return null;
  const command = /^(?:box|chmod) [^,;()]+$/.exec(advice)?.[0];
  return command === undefined ? html`${advice}` : commandLine(`${id}-command`, command.trim());
}

/** The first that is wrong, for the line at the top of every page; null where nothing is. */
export function worstOfDoctor(examined: Examined | null): { id: string; detail: string } | null {
  if (examined === null) return null;
  const at = examined.findings.findIndex(({ state }) => state === "wrong");
  const [found, shown] = [examined.findings[at], doctorFindings(examined)[at]];
  return found && shown ? { id: shown.id, detail: found.detail } : null;
}

export function doctorSection(call: PageCall): Markup {
  const desk = call.tenant.host?.doctor;
  const latest = desk?.latest() ?? null;
  const isRunning = desk?.isRunning() ?? false;
  const failure = desk?.failure() ?? null;
  const all = latest === null ? [] : byNeed(doctorFindings(latest));
  const sick = all.filter(({ state }) => state !== "ok");
  const well = all.filter(({ state }) => state === "ok");
  return html`<h2>What the doctor found</h2>
<p class="soft">${
    isRunning
      ? "It looks now: every page of the store is read, in a process of its own."
      : latest === null
        ? "It has not looked yet."
        : html`It looked ${ago(call, latest.at)}.`
  }${failure !== null && html` <span class="wrong">The last look came to nothing: ${failure}</span>`}</p>
${sick.length > 0 && html`<ul class="who">${sick.map(findingRow)}</ul>`}
${well.length > 0 && html`<details id="doctor-well"><summary>${counted(well.length, "thing")} in order</summary><ul class="who">${well.map(findingRow)}</ul></details>`}
${
  isManager(call.who.role) &&
  button(call, {
    action: "/system/doctor",
    name: latest === null ? "Look now" : "Look again",
    kind: "second",
    key: "d",
    ...(isRunning ? { why: "The doctor is looking." } : {}),
  })
}`;
}
