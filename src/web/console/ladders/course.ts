import type { Because, Simulation } from "../../../core/alerts/simulate/shape.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { listAccounts } from "../../../people/accounts.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { CHANNEL_DOT, CHANNEL_STATE, channelWords } from "../ui/channel-words.ts";
import { reachWords } from "../ui/reach-words.ts";
import { remedy } from "../ui/way.ts";
import { clockIn } from "./clock-in.ts";
import { askLink, type LadderQuestion } from "./question.ts";

type Rungs = Simulation["rungs"];
type Step = Rungs[number];

const WHY: Readonly<Record<Step["why"], string>> = {
  step: "",
  repeat: "again",
  renotify: "told again",
  fallback: "fallback",
  nobody_reached_before: "at once, since nobody was reached before",
};

/** Rungs as they run; those that only say the same again are one line. */
export function followLadder(call: PageCall, question: LadderQuestion, found: Simulation): Markup {
  const { zone, rule } = question;
  if (found.rungs.length === 0)
    return html`<h2>What happens</h2><p>${rule.escalations.length === 0 ? "No step runs: there is none." : "No step runs in this time."}</p>${ending(found, zone)}`;
  const keys = new Map<string, number>();
  for (const { people } of found.rungs)
    for (const { account_id } of people)
      if (!keys.has(account_id) && keys.size < 9) keys.set(account_id, keys.size + 1);
  return html`<h2>What happens</h2><ol class="sim-rungs">${grouped(found.rungs).map(
    ({ first, last, n }) =>
      html`<li>${clockIn(first.at, zone)}<div><strong>${first.step > 0 && `step ${first.step}`} ${WHY[first.why]}</strong>${
        n > 1 && html` <span class="soft">${n} × until ${clockIn(last.at, zone)}</span>`
      }${first.nobody && html`<p class="wrong">Nobody to page.</p>`}
${first.people.map((one) => person(call, question, { one, rung: first, keys }))}</div></li>
`,
  )}</ol>${ending(found, zone)}`;
}

const HOW = {
  ack: "Somebody acknowledges it.",
  top: "The ladder is at its top: nothing more happens.",
  horizon: "It goes on like this.",
} as const;

function ending({ ends, held }: Simulation, zone: string): Markup {
  return html`${held.map(
    ({ at, until, reason }) =>
      html`<p class="notice">Held back from ${clockIn(at, zone)} until ${clockIn(until, zone)}: ${reason}</p>`,
  )}<p class="soft">${clockIn(ends.at, zone)}: ${HOW[ends.how]}</p>`;
}

interface Grouped {
  first: Step;
  last: Step;
  n: number;
}

/** How far back a rung looks for one that says the same: ladders repeat a step and a fallback in turns. */
const LOOK_BACK = 3;

function grouped(rungs: Rungs): Grouped[] {
  const groups: Grouped[] = [];
  for (const rung of rungs) {
    const saying = sayingOf(rung);
    const same = groups.slice(-LOOK_BACK).find(({ first }) => sayingOf(first) === saying);
    if (same === undefined || rung.why === "step") groups.push({ first: rung, last: rung, n: 1 });
    else {
      same.last = rung;
      same.n += 1;
    }
  }
  return groups;
}

const sayingOf = ({ why, step, people }: Step): string =>
  JSON.stringify([why, step, people.map(({ account_id, answers }) => [account_id, answers])]);

/** Somebody who is paged, by what and why, and a link that makes them silent. */
function person(
  call: PageCall,
  question: LadderQuestion,
  {
    one,
    rung,
    keys,
  }: { one: Step["people"][number]; rung: Step; keys: ReadonlyMap<string, number> },
): Markup {
  const { account_id: account, name, because, answers, channels } = one;
  const isSilent = question.silent.includes(account);
  const silent = isSilent
    ? question.silent.filter((other) => other !== account)
    : [...question.silent, account];
  const key = keys.get(account);
  const isShort =
    rung.why !== "step" && rung.why !== "nobody_reached_before" && rung.why !== "fallback";
  return html`<p><strong>${name}</strong> ${isSilent ? html`<span class="warn">doesn't answer</span>` : !answers && html`<span class="wrong">nothing would ring</span>`} ${askLink(call, question, { change: { silent }, kind: "small", words: isSilent ? `${name} answers` : `Make ${name} silent`, key: key === undefined ? undefined : String(key) })}</p>${
    !isShort &&
    html`<ul class="plain small">${channels.map((channel) => html`<li>${channelWords(call, channel)}</li>`)}${!answers && !isSilent && fix(call, account)}${because.map((why) => html`<li class="soft">because ${becauseWords(why, question.zone)}</li>`)}</ul>`
  }`;
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
  const names = new Map(
    listAccounts(call.tenant.store).map((one) => [one.id, one.display_name.trim() || one.email]),
  );
  const about = {
    project: project.name,
    rule: rule.name,
    nameOf: (account: string) => names.get(account) ?? "somebody who was removed",
  };
  const { shared, untold } = found;
  // A rule that isn't stored has no page.
  const ofRules = pathOf("p", project.name, "rules");
  const leads = (path: string) => !path.startsWith(`${ofRules}/`) && call.leads(path);
  const seen = rule.id === 0 ? { ...call, leads } : call;
  return html`${
    shared.length > 0 &&
    html`<h2>Channels</h2><ul class="who">${shared.map(
      (one) =>
        html`<li class="who-item"><strong>${one.name}</strong> <span class="soft">${one.event}</span> <span>${sharedWords(one)}</span>${channelLink(call, project.name, one)}</li>`,
    )}</ul>`
  }${
    untold.length > 0 &&
    html`<h2>Who isn't told</h2><ul class="who">${untold.map((entry) => {
      const { words, change } = reachWords(entry, seen, about);
      return html`<li class="who-item">${entry.name !== null && html`<strong>${entry.name}</strong> `}<span>${words}</span>${change !== null && html` · ${change}`}</li>`;
    })}</ul>`
  }`;
}

type Shared = Simulation["shared"][number];

function sharedWords({ state, reason }: Shared): Markup {
  if (reason === "silenced")
    return html`<span class="dot dot-none" aria-hidden="true"></span> silenced`;
  if (reason === "event_filtered")
    return html`<span class="dot dot-none" aria-hidden="true"></span> isn't told: it takes other events`;
  if (reason === "channel_disabled")
    return html`<span class="dot dot-none" aria-hidden="true"></span> isn't told: it is off`;
  return html`<span class="dot dot-${CHANNEL_DOT[state]}" aria-hidden="true"></span> ${CHANNEL_STATE[state]}`;
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
