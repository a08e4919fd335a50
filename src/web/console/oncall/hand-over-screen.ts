import { heldSince } from "../../../core/oncall/hand-over.ts";
import { followed } from "../../../core/oncall/holder.ts";
import { readSchedule } from "../../../core/oncall/roster.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import {
  alertsThatPaged,
  type Handed,
  lastProof,
  noisyLines,
  proofLine,
  type Standing,
  standingFor,
  standingWords,
  stretchOf,
} from "../../../tenant/hand-over.ts";
import type { PageCall, Screen } from "../screen.ts";
import { levelBadge } from "../ui/level.ts";
import { markedTitle } from "../ui/message.ts";
import { peopleNames } from "../ui/people-names.ts";
import { scheduleOf, schedulePage } from "../ui/schedule.ts";
import { clockTime } from "../ui/times.ts";

/** What whoever takes over a schedule, and whoever handed it over, want to know: the page behind their notes. */
export const handOverScreen: Screen = {
  path: "/oncall/{project}/{schedule}/hand-over",
  view(call) {
    const { project, stored } = scheduleOf(call.tenant.store, call.params);
    const path = `${call.base}${schedulePage(stored)}`;
    const { store } = call.tenant;
    const handed = { project, name: stored.name, timezone: stored.timezone };
    const schedule = followed(store, stored);
    const now = readSchedule(schedule)(call.now).account_id;
    const since = heldSince(schedule, call.now);
    const watches = ["oncall", `oncall:${project.name}/${stored.name}`, "people"];
    return {
      title: `Hand-over: ${project.name} / ${stored.name}`,
      heading: html`<a href="${call.base}/oncall">On-call</a> › <a href="${path}">${project.name} / ${stored.name}</a> › Hand-over`,
      nav: "oncall",
      sections: {
        now: { watches, draw: () => nowPart(call, { account: now, since, handed }) },
        before: {
          watches,
          draw: () => {
            const account = readSchedule(schedule)(since - 1).account_id;
            const began = heldSince(schedule, since - 1);
            return beforePart(call, { account, since: began, until: since, handed });
          },
        },
        standing: {
          watches: ["alerts", "rules"],
          draw: () => standingPart(call, standingFor(store, handed, call.now)),
        },
      },
      body: (put) => html`${["now", "standing", "before"].map(put)}`,
    };
  },
};

interface Part {
  account: string | null;
  since: number;
  handed: Handed;
}

function nowPart(call: PageCall, { account, since }: Part): Markup {
  const { base, now, tenant, who } = call;
  if (account === null) return html`<h2>Now</h2><p>Nobody is on call.</p>`;
  const mine = account === who.accountId;
  const name = peopleNames(tenant.store)(account);
  return html`<h2>Now</h2><p><strong>${mine ? "You" : name}</strong>, since ${clockTime(call, since)}.</p>${
    mine &&
    html`<p>${proofLine(lastProof(tenant.store, account), now)} <a href="${base}/me/devices">Test it</a></p>`
  }`;
}

function beforePart(
  call: PageCall,
  { account, since, until, handed }: Part & { until: number },
): Markup {
  const { store } = call.tenant;
  if (account === null) return html`<h2>Before</h2><p>Nobody was on call.</p>`;
  const { timezone } = handed;
  const name = peopleNames(store)(account);
  const stretch = stretchOf(store, account, { since, until, timezone });
  return html`<h2>Before</h2><p><strong>${name}</strong>, from ${clockTime(call, since)} until ${clockTime(call, until)}: ${alertsThatPaged(stretch, "them")}.</p>`;
}

function standingPart(call: PageCall, standing: Standing): Markup {
  const { alerts, count } = standing;
  const names = peopleNames(call.tenant.store);
  return html`<h2>What stands</h2><p>${standingWords(standing)}</p>${noisyLines(standing).map((line) => html`<p class="soft">${line}</p>`)}${
    count > 0 &&
    html`<ul class="who">${alerts.map(
      (row) =>
        html`<li class="who-item"><div><p>${levelBadge(row.level)} <a href="${call.base}/a/${row.id}">${markedTitle(row)}</a></p><p class="soft">${row.project} / ${row.rule}${
          row.state === "acknowledged" && html` · acknowledged by ${names(row.acked_by)}`
        }${row.state === "open" && row.silenced_by !== null && " · silenced"}</p></div></li>
`,
    )}</ul>`
  }${count > alerts.length && html`<p class="soft">and ${count - alerts.length} more</p>`}`;
}
