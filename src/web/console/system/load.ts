import { html, type Markup } from "../../../ground/kit/html.ts";
import { LONG_TURN_MS } from "../../../ground/kit/turns.ts";
import type { TenantHost } from "../../../tenant/host.ts";
import type { PageCall } from "../screen.ts";
import { commandLine } from "../ui/finding.ts";
import { bytesText } from "../ui/pieces.ts";
import { hourPlot } from "../ui/plot.ts";
import { ago, span } from "../ui/times.ts";

/** What the box has to do now. */
export function loadSection({ load }: TenantHost): Markup {
  const { minutes, commitMs, longestTurn, waiting, oldestSeconds, streams, refused, shed } = load();
  // The present minute goes on: the one before is whole.
  const lately = (minutes.at(-2) ?? 0) / 60;
  const rate = lately >= 10 ? Math.round(lately) : Math.round(lately * 10) / 10;
  return html`<h2>Load</h2><dl class="facts">
<div><dt>Events</dt><dd>${rate} a second <span class="soft">in the last whole minute</span> · the hour: ${hourPlot(minutes)}</dd></div>
<div><dt>A commit takes</dt><dd>${commitMs === null ? "none yet" : html`${Math.round(commitMs * 10) / 10} ms <span class="soft">at most, of 99 in a hundred</span>`}</dd></div>
<div><dt>Longest pause of the last hour</dt><dd>${longestTurn === null ? html`under ${LONG_TURN_MS} ms` : html`${Math.round(longestTurn.ms)} ms <span class="soft">in ${longestTurn.work}</span>`}</dd></div>
<div><dt>Waiting to go out</dt><dd>${waiting}${oldestSeconds !== null && html`, the oldest for ${span(oldestSeconds)}`}</dd></div>
<div><dt>Open pages and readers</dt><dd>${streams}</dd></div>
<div><dt>Told to come later (429)</dt><dd>${refused} <span class="soft">since the start</span>${shed > 0 && html`, <span class="warn">${shed} events could not be taken</span>`}</dd></div>
</dl>`;
}

const DAY = 86_400;

/** What is set, and what is there of it. */
export function keepingSection(call: PageCall, { keeping, held }: TenantHost): Markup {
  const { logDays, logBytes, historyDays } = keeping;
  const { oldestLine, oldestEntry, bytes, storeBytes } = held();
  const reaches = (at: number | null) =>
    at === null ? "nothing is there" : `now ${Math.round(((call.now - at) / DAY) * 10) / 10} days`;
  return html`<h2>Keeping</h2><div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">what</th><th scope="col">kept for</th><th scope="col">there is</th><th scope="col">set by</th></tr></thead><tbody>
<tr><td data-label="what">Lines</td><td data-label="kept for">${logDays} days, or until the store has ${bytesText(logBytes)}</td><td data-label="there is">${reaches(oldestLine)}, ${bytesText(bytes)} in all</td><td class="mono small" data-label="set by">--log-days, --log-gib</td></tr>
<tr><td data-label="what">Resolved alerts and what was sent</td><td data-label="kept for">${historyDays} days</td><td data-label="there is">${bytesText(storeBytes)} is the file</td><td class="mono small" data-label="set by">--history-days</td></tr>
<tr><td data-label="what">Who changed what</td><td data-label="kept for">400 days</td><td data-label="there is">${reaches(oldestEntry)}</td><td class="soft small" data-label="set by">fixed</td></tr>
</tbody></table></div>`;
}

/** What this page doesn't do: whoever may, has the machine. */
export function machineSection(): Markup {
  const commands = [
    ["Change flags", "systemctl edit box"],
    ["Restart", "systemctl restart box"],
    ["Put back a backup", "box restore FILE --replace"],
    ["Look at everything", "box doctor"],
    ["Somebody can't get in", "box account set-password EMAIL"],
  ] as const;
  return html`<details id="on-machine"><summary>What is done on the machine</summary><dl class="facts">${commands.map(
    ([what, command], i) =>
      html`<div><dt>${what}</dt><dd>${commandLine(`machine-${i}`, command)}</dd></div>
`,
  )}</dl></details>`;
}

/** "up 12 days". */
export function upFor(call: PageCall, { startedAt }: TenantHost): Markup {
  return html`started ${ago(call, startedAt)}`;
}
