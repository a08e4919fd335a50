import type { ReachEntry } from "../../../core/alerts/reach-report.ts";
import { readReach } from "../../../core/alerts/reached.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { button } from "../ui/form.ts";
import { reachWords } from "../ui/reach-words.ts";
import type { ShownAlert } from "./shown-alert.ts";

/** Those who are asked about together: a person's ways, a channel's news. */
interface Asked {
  id: string;
  name: string;
  account: string | null;
  entries: ReachEntry[];
}

/** Who was told by what, who wasn't and why. */
export function whoKnows(call: PageCall, shown: ShownAlert): Markup {
  const all = readReach(call.tenant.store, shown.row.id, call.now);
  const about = { project: shown.row.project, rule: shown.row.rule, nameOf: shown.nameOf };
  const said = (entry: ReachEntry) => reachWords(entry, call, about);
  const { people, loose } = grouped(all);
  return html`<h2>Who knows</h2>
<ul class="who">${people.map(
    (one) => html`<li class="who-item" id="${one.id}"><strong>${one.name}</strong>
<ul class="who-ways">${one.entries.map((entry) => {
      const { dot, words, change } = said(entry);
      const by = [entry.via, entry.address].filter((part) => part !== null).join(" ");
      return html`<li><span class="dot dot-${dot}" aria-hidden="true"></span> ${
        by !== "" && html`<span class="soft">${by}</span> `
      }<span>${words}</span>${change !== null && html` · ${change}`}</li>`;
    })}</ul>${pageNow(call, shown, one)}</li>
`,
  )}</ul>
${loose.map((entry) => {
  const { words, change } = said(entry);
  return html`<p class="notice${entry.reason === "no_ladder" && " notice-warn"}">${words}${change !== null && html` ${change}`}</p>`;
})}`;
}

function grouped(all: readonly ReachEntry[]): { people: Asked[]; loose: ReachEntry[] } {
  const asked = new Map<string, Asked>();
  const loose: ReachEntry[] = [];
  for (const entry of all) {
    const id = entry.account_id ?? entry.integration_id;
    if (id === null) {
      loose.push(entry);
      continue;
    }
    const known = asked.get(id);
    if (known !== undefined) known.entries.push(entry);
    else
      asked.set(id, {
        id: `who-${id}`,
        name: entry.name ?? "Somebody who was removed",
        account: entry.account_id,
        entries: [entry],
      });
  }
  return { people: [...asked.values()], loose };
}

const NOT_YET: readonly ReachEntry["reason"][] = [
  "step_not_reached",
  "not_on_call",
  "covered_by_override",
];

/** Whoever isn't paged yet can be, beside the ladder. */
function pageNow(call: PageCall, { row }: ShownAlert, { account, name, entries }: Asked) {
  const isWaiting = entries.every(({ reason }) => NOT_YET.includes(reason));
  if (account === null || row.state === "resolved" || !isWaiting) return false;
  return button(call, {
    action: `/a/${row.id}/assign`,
    name: "Page now",
    kind: "second",
    label: `Page now: ${name}`,
    fields: { account, keep_ladder: "true" },
  });
}
