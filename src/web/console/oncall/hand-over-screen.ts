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
import { LOOK_DAYS, type SeatNow, scheduleOf, schedulePage, seatNow } from "../ui/schedule.ts";
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
    const pieceAt = readSchedule(schedule);
    const { accounts } = pieceAt(call.now);
    const held = (at: number, account: string | null) => ({
      account,
      since: heldSince(schedule, at, account),
    });
    const now = (accounts.length === 0 ? [null] : accounts).map((one) => held(call.now, one));
    // Where several have it: the last who came took over.
    const since = Math.max(...now.map((one) => one.since));
    const gone = pieceAt(since - 1).accounts.filter((account) => !accounts.includes(account));
    const watches = ["oncall", `oncall:${project.name}/${stored.name}`, "people"];
    return {
      title: `Hand-over: ${project.name} / ${stored.name}`,
      heading: html`<a href="${call.base}/oncall">On call</a> › <a href="${path}">${project.name} / ${stored.name}</a> › Hand-over`,
      nav: "oncall",
      sections: {
        about: () =>
          html`<p class="soft">A summary for whoever takes over: who is next, what is open, and how the shift before was.</p>`,
        now: { watches, draw: () => html`<h2>Now</h2>${now.map((one) => nowPart(call, one))}` },
        next: { watches, draw: async () => nextPart(call, await seatNow(call, stored)) },
        before: {
          watches,
          draw: () => {
            const before = gone.map((account) =>
              beforePart(call, { ...held(since - 1, account), until: since, handed, account }),
            );
            return html`<h2>Before</h2>${before.length === 0 ? html`<p>Nobody was on call until ${clockTime(call, since)}.</p>` : before}`;
          },
        },
        standing: {
          watches: ["alerts", "rules"],
          draw: () => standingPart(call, standingFor(store, handed, call.now)),
        },
      },
      body: (put) => html`${["about", "now", "next", "standing", "before"].map(put)}`,
    };
  },
};

function nowPart(
  call: PageCall,
  { account, since }: { account: string | null; since: number },
): Markup {
  const { base, now, tenant, who } = call;
  if (account === null) return html`<p>Nobody is on call.</p>`;
  const mine = account === who.accountId;
  const name = peopleNames(tenant.store)(account);
  return html`<p><strong>${mine ? "You" : name}</strong>, since ${clockTime(call, since)}.</p>${
    mine &&
    html`<p>${proofLine(lastProof(tenant.store, account), now)} <a href="${base}/me/devices">Test it</a></p>`
  }`;
}

function nextPart(call: PageCall, { next }: SeatNow): Markup {
  const name = peopleNames(call.tenant.store);
  return html`<p>${
    next === null
      ? `Nobody else in the next ${LOOK_DAYS} days.`
      : html`Next: <strong>${next.account_id === null ? "nobody" : next.account_id === call.who.accountId ? "you" : name(next.account_id)}</strong>, from ${clockTime(call, next.starts_at)}.`
  }</p>`;
}

function beforePart(
  call: PageCall,
  {
    account,
    since,
    until,
    handed,
  }: { account: string; since: number; until: number; handed: Handed },
): Markup {
  const { store } = call.tenant;
  const { timezone } = handed;
  const name = peopleNames(store)(account);
  const stretch = stretchOf(store, account, { since, until, timezone });
  return html`<p><strong>${name}</strong>, from ${clockTime(call, since)} until ${clockTime(call, until)}: ${alertsThatPaged(stretch, "them")}.</p>`;
}

function standingPart(call: PageCall, standing: Standing): Markup {
  const { alerts, count } = standing;
  const names = peopleNames(call.tenant.store);
  return html`<h2>Open alerts</h2><p>${standingWords(standing)}</p>${noisyLines(standing).map((line) => html`<p class="soft">${line}</p>`)}${
    count > 0 &&
    html`<ul class="who">${alerts.map(
      (row) =>
        html`<li class="who-item"><div><p>${levelBadge(row.level)} <a href="${call.base}/a/${row.id}">${markedTitle(row)}</a></p><p class="soft">${row.project} / ${row.rule}${
          row.state === "acknowledged" && html` · acknowledged by ${names(row.acked_by)}`
        }${row.state === "open" && row.silenced_by !== null && " · quiet"}</p></div></li>
`,
    )}</ul>`
  }${count > alerts.length && html`<p class="soft">and ${count - alerts.length} more</p>`}`;
}
