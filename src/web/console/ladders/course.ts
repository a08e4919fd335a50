import { newsWords } from "../../../core/alerts/event-words.ts";
import type { Because, Simulation } from "../../../core/alerts/simulate/shape.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { CHANNEL_DOT, CHANNEL_STATE, channelWords } from "../ui/channel-words.ts";
import { chip, squareChip } from "../ui/faces.ts";
import { icon } from "../ui/icon.ts";
import type { LadderContext } from "../ui/ladder-context.ts";
import { peopleNames } from "../ui/people-names.ts";
import { reachWords } from "../ui/reach-words.ts";
import { remedy } from "../ui/way.ts";
import { clockIn } from "./clock-in.ts";
import { askLink, type LadderQuestion } from "./question.ts";

type Rungs = Simulation["rungs"];
type Step = Rungs[number];

const WHY: Readonly<Record<Step["why"], string>> = {
  step: "",
  repeat: "again",
  renotify: "notified again",
  fallback: "as the fallback",
  nobody_reached_before: "at once, since nobody was reached before",
};

/** Everybody whom it pages in turn, and those who are taken to sleep: a tap lets one sleep, or wakes them. */
export function whoSleeps(
  call: PageCall,
  question: LadderQuestion,
  { rungs }: Simulation,
  around: LadderContext,
): Markup {
  const paged = rungs.flatMap(({ people }) => people.map(({ account_id: account }) => account));
  const all = [...new Set([...paged, ...question.silent])];
  if (all.length === 0) return html``;
  return html`<p class="soft small">Tap who sleeps through it</p><div class="choices">${all.map(
    (account, i) => {
      const sleeps = question.silent.includes(account);
      const silent = sleeps
        ? question.silent.filter((other) => other !== account)
        : [...question.silent, account];
      const name = around.nameOf(account);
      return html`${askLink(call, question, {
        change: { silent },
        kind: sleeps ? "choice choice-off" : "choice",
        words: html`${chip(around.faces(account), { size: "small", dot: false })}${name}<span class="hidden-text"> ${sleeps ? "answers again" : "sleeps through it"}</span>`,
        key: i < 9 ? String(i + 1) : undefined,
      })} `;
    },
  )}</div>`;
}

/** Rungs as they run; those that only say the same again are said with the first. */
export function followLadder(
  call: PageCall,
  question: LadderQuestion,
  found: Simulation,
  around: LadderContext,
): Markup {
  const { zone, rule, at } = question;
  if (found.rungs.length === 0)
    return html`<p>${rule.escalations.length === 0 ? "No rung runs: there is none." : "No rung runs in this time."}</p>${ending(found, question)}`;
  return html`<ol class="rail">${grouped(found.rungs).map((group) => {
    const when = clockIn(group.first.at, zone, at);
    if (group.first.nobody)
      return html`<li class="rung-later">${squareChip("warn")}<p><b class="crit">Nobody to page</b> <span class="soft">${rungWords(group)}</span></p><span class="rung-when crit">${icon("close", "small")} ${when}</span></li>
`;
    return group.first.people.map((one) => person(call, question, { one, group, around }));
  })}</ol>${ending(found, question)}`;
}

/** "rung 1", "rung 2, at once, since nobody was reached before". */
const rungWords = ({ first }: Grouped) =>
  [first.step > 0 && `rung ${first.step}`, WHY[first.why]].filter(Boolean).join(", ");

const HOW = {
  ack: "Somebody acknowledges it.",
  top: "The ladder ends: nobody else is rung.",
  horizon: "It repeats like this until somebody takes it.",
} as const;

function ending({ ends, held }: Simulation, { zone, at: near }: LadderQuestion): Markup {
  return html`${held.map(
    ({ at, until, reason }) =>
      html`<p class="notice">Held back from ${clockIn(at, zone)} until ${clockIn(until, zone)}: ${reason}</p>`,
  )}<p class="soft small">${clockIn(ends.at, zone, near)}: ${HOW[ends.how]}</p>`;
}

interface Grouped {
  first: Step;
  /** What only says the same again, by why: until when, and how often. */
  again: Map<Step["why"], { last: Step; n: number }>;
}

/** How far back a rung looks for one that says the same: ladders repeat a step and a fallback in turns. */
const LOOK_BACK = 3;

function grouped(rungs: Rungs): Grouped[] {
  const groups: Grouped[] = [];
  for (const rung of rungs) {
    const saying = sayingOf(rung);
    const isFirst = rung.why === "step" || rung.why === "nobody_reached_before";
    const same = groups.slice(-LOOK_BACK).findLast(({ first }) => sayingOf(first) === saying);
    if (same === undefined || isFirst) groups.push({ first: rung, again: new Map() });
    else {
      const before = same.again.get(rung.why);
      same.again.set(rung.why, { last: rung, n: (before?.n ?? 0) + 1 });
    }
  }
  return groups;
}

const sayingOf = ({ step, people }: Step): string =>
  JSON.stringify([step, people.map(({ account_id, answers }) => [account_id, answers])]);

/** Somebody who is paged: when, by what and why. */
function person(
  call: PageCall,
  question: LadderQuestion,
  { one, group, around }: { one: Step["people"][number]; group: Grouped; around: LadderContext },
): Markup {
  const { account_id: account, name, because, answers, channels } = one;
  const { zone, at, rule } = question;
  const { first, again } = group;
  const every = rule.escalations[first.step - 1]?.repeat_minutes;
  const often = (why: Step["why"], n: number) =>
    why === "repeat" && every ? `every ${every} min` : n > 9 ? "many times" : `${n} ×`;
  const isSilent = question.silent.includes(account);
  const isDead = !answers && !isSilent;
  const repeats = [...again].map(
    ([why, { last, n }]) =>
      html`<li>${WHY[why]}${n === 1 ? " at" : why === "fallback" ? ", each time nobody is reached, until" : ` ${often(why, n)} until`} ${clockIn(last.at, zone, at)}</li>`,
  );
  return html`<li class="${isDead ? "rung-later" : "rung-done"}">${chip(around.faces(account))}<p><b>${name}</b> <span class="soft">${isSilent && "sleeps, "}${rungWords(group)}</span></p><span class="rung-when${isDead && " crit"}">${icon(isDead ? "close" : isSilent ? "moon" : "bell-ring", "small")} ${clockIn(first.at, zone, at)}</span><ul class="rung-ways plain">${channels.map((channel) => html`<li>${channelWords(call, channel)}</li>`)}${isDead && fix(call, account)}${repeats}${because.map((why) => html`<li>because ${becauseWords(why, zone)}</li>`)}</ul></li>
`;
}

function fix(call: PageCall, account: string): Piece {
  const way = remedy(call, pathOf("people", account), "Add a way to reach them");
  return way !== null && html`<li>${way}</li>`;
}

function becauseWords({ kind, name, layer, until }: Because, zone: string): Piece {
  const end = until !== null && html` until ${clockIn(until, zone)}`;
  if (kind === "named")
    return name === "fallback" ? "nobody else was reached: the fallback" : `${name} names them`;
  if (kind === "channel") return `the channel ${name}`;
  const how = kind === "override" ? ", by an override" : layer !== null ? `, layer ${layer}` : "";
  return html`on call: ${name}${how}${end}`;
}

/** Shared channels, and who of the ladder isn't told and why. */
export function untoldAndShared(
  call: PageCall,
  { project, rule }: LadderQuestion,
  found: Simulation,
): Markup {
  const about = {
    project: project.name,
    rule: rule.name,
    nameOf: peopleNames(call.tenant.store),
  };
  const { shared, untold } = found;
  // A rule that isn't stored has no page.
  const ofRules = pathOf("p", project.name, "rules");
  const leads = (path: string) => !path.startsWith(`${ofRules}/`) && call.leads(path);
  const seen = rule.id === 0 ? { ...call, leads } : call;
  return html`${
    shared.length > 0 &&
    html`<details id="sim-shared"><summary>Channels (${shared.length})</summary><ul class="who">${shared.map(
      (one) =>
        html`<li class="who-item"><strong>${one.name}</strong> <span>${sharedWords(one)}</span>${channelLink(call, project.name, one)}</li>`,
    )}</ul></details>`
  }${
    untold.length > 0 &&
    html`<details id="sim-untold"><summary>Who isn’t notified, and why (${untold.length})</summary><ul class="who">${untold.map(
      (entry) => {
        const { words, change } = reachWords(entry, seen, about);
        return html`<li class="who-item">${entry.name !== null && html`<strong>${entry.name}</strong> `}<span>${words}</span>${change !== null && html` · ${change}`}</li>`;
      },
    )}</ul></details>`
  }`;
}

type Shared = Simulation["shared"][number];

function sharedWords({ state, reason, event }: Shared): Markup {
  const news = newsWords(event);
  if (reason === "silenced")
    return html`<span class="dot dot-none" aria-hidden="true"></span> isn’t notified ${news}: silenced`;
  if (reason === "event_filtered")
    return html`<span class="dot dot-none" aria-hidden="true"></span> isn’t notified ${news}: it takes other events`;
  if (reason === "channel_disabled")
    return html`<span class="dot dot-none" aria-hidden="true"></span> isn’t notified ${news}: it is off`;
  return html`<span class="dot dot-${CHANNEL_DOT[state]}" aria-hidden="true"></span> is notified ${news} <span class="soft">(${CHANNEL_STATE[state]})</span>`;
}

function channelLink(
  call: PageCall,
  project: string,
  { integration_id: id, reason, state }: Shared,
): Piece {
  if (reason === null && state !== "failing") return false;
  const link = remedy(call, pathOf("p", project, "channels", id), "Its settings");
  return link !== null && html` · ${link}`;
}
