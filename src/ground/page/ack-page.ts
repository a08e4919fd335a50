import { html, type Markup } from "../kit/html.ts";
import { type PageAnswer, pageHeaders } from "./answer.ts";
import { brand, checkMark, levelGlyph, levelOf } from "./drawings.ts";
import { framed, HTML_TYPE } from "./frame.ts";
import { PAGE_STYLE } from "./style.ts";

/** An alert on the page behind a message's link. */
export interface AckAlert {
  /** The id that the message named. The form sends it. */
  named: number;
  /** The id of the alert that continues it now. */
  id: number;
  /** `shop · errors`. */
  where: string;
  level: number;
  /** Who is told next, and in how long, where nobody takes it: "Jonas in 5 min". Null: nobody. */
  next: string | null;
  /** What people call it. */
  title: string;
  message: string;
  /** What tells it from the others of its rule. */
  apart: readonly { name: string; value: string }[];
  /** All its labels, with the values that they had. */
  labels: readonly (readonly [name: string, values: string])[];
  details: string | null;
  links: readonly { href: string; text: string }[];
  state: "open" | "acknowledged" | "resolved";
  /** A sentence that says who has acknowledged it. */
  whose: string;
  /** The person of this link has acknowledged it. */
  isMine: boolean;
  /** It changed a moment ago. */
  isFresh: boolean;
}

/** The page shows so many alerts; *Acknowledge all* applies to all of them. */
const MOST_SHOWN = 50;

const STYLE = `${PAGE_STYLE}
body{font-size:.9375rem;line-height:1.45}
main{display:flex;flex-direction:column;min-height:100vh;min-height:100svh;padding-top:1rem;padding-bottom:max(1rem,env(safe-area-inset-bottom))}
h1{font-size:clamp(1.5rem,6vw,1.75rem)}
.small{font-size:.8125rem;color:var(--soft)}
.top{display:flex;flex-wrap:wrap;gap:.25rem .5rem;align-items:center;margin:.75rem 0 .5rem;color:var(--soft);font-size:.8125rem}
.level{display:inline-flex;gap:.35rem;align-items:center;font-weight:600}
.level svg{width:15px;height:15px;fill:currentColor}
.level .o,.level .x,.level .y{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}
.level .x{stroke:var(--paper);stroke-width:2}
.critical{color:var(--crit)}.error{color:var(--err)}.warn{color:var(--warn)}.info{color:var(--accent)}
.now{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between;margin:.75rem 0}
.now p{margin:0;flex:1 1 12rem}
form{margin:0;max-width:none}
button{margin:0;overflow-wrap:normal}
.second,.undo{width:auto;background:var(--card);border-color:var(--edge);color:var(--ink)}
.undo{border-color:transparent;background:none;color:var(--accent)}
.far{position:sticky;bottom:0;margin-top:auto;padding-top:1.5rem;background:var(--paper)}
.far .small{margin:.5rem 0 .25rem}
.huge{min-height:4.5rem;padding-inline:.25rem;font-size:1.25rem}
.spot{display:flex;gap:.75rem;align-items:center;min-height:4.5rem;padding:0 .5rem 0 1.25rem;border-radius:12px;background:var(--sunk);font-size:1.0625rem;font-weight:600}
.spot svg{width:1.5rem;height:1.5rem;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.spot>span{flex:1}
.foot{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:center;justify-content:space-between;margin:0}
.foot a{display:inline-block;padding:.75rem 0;font-weight:600}
ol{list-style:none;padding:0;margin:1.5rem 0 0;display:grid;gap:.5rem}
ol>li{padding:.9rem 1rem;border-radius:12px;background:var(--card);border:1px solid var(--line)}
li .level .x{stroke:var(--card)}
li h2{margin:0 0 .5rem;font-size:1.0625rem}
.buttons{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:.75rem}
.buttons button{flex:1 1 8rem;width:auto}
.buttons .taken{flex:1 1 8rem;margin:0;min-height:3rem;display:grid;place-items:center;border-radius:12px;background:var(--sunk)}
.said{white-space:pre-wrap;overflow-wrap:anywhere}
.apart span{display:inline-block;border:1px solid var(--edge);border-radius:1rem;padding:0 .6rem;overflow-wrap:anywhere}
summary{min-height:2.75rem;padding-top:.6rem;color:var(--accent);cursor:pointer}
dl{display:grid;grid-template-columns:minmax(5rem,auto) minmax(0,3fr);gap:.25rem 1rem;overflow-wrap:anywhere}
dt{color:var(--soft)}
dd{margin:0}
.rests button{animation:rests 1.5s step-end}
@keyframes rests{from{visibility:hidden}}
@media (min-width:48rem){.far{position:static;margin-top:1.5rem}}
`;

const HEADERS = pageHeaders({ type: HTML_TYPE, storing: "no-store", style: STYLE });

/**
 * The page behind a message's link. Only a button changes anything. `as`: the name of the reader. `console`: whether an alert has
 * a page of its own here.
 */
export function ackPage(shown: {
  as: string;
  alerts: readonly [AckAlert, ...AckAlert[]];
  console: boolean;
}): PageAnswer {
  const [first, ...others] = shown.alerts;
  const title = others.length === 0 ? first.title : `${shown.alerts.length} alerts`;
  // A double tap must not press the button that appears in the first one's place.
  const rests = shown.alerts.some(({ isFresh }) => isFresh);
  const main = others.length === 0 ? one(first, rests) : several(shown.alerts, rests);
  const open =
    shown.console && others.length === 0
      ? html`<a href="../a/${first.id}">Open the alert</a>`
      : html`<span></span>`;
  return {
    status: 200,
    headers: { ...HEADERS },
    body: framed({
      title,
      style: STYLE,
      main: html`<p class="brand">${brand}</p>
${main}
<p class="foot">${open}<span class="small">You answer as ${shown.as}. Whoever has this link can answer for you: keep it to yourself.</span></p>`,
    }),
  };
}

const rest = (rests: boolean) => rests && html` rests`;

function top({ level, where, id }: AckAlert): Markup {
  const { kind, name } = levelOf(level);
  return html`<p class="top"><span class="level ${kind}">${levelGlyph(level)}${name}</span><span>${where} · #${id}</span></p>`;
}

/** One alert: what and where above, who has it below that, and in the lower third the one thing to press. */
function one(alert: AckAlert, rests: boolean): Markup {
  const { title, whose, state } = alert;
  return html`${top(alert)}
<h1>${title}</h1>
${apart(alert)}<div class="now${rest(rests)}"><p><span role="status"><b>${whose}</b></span><br><span class="small">${nextWords(alert)}</span></p>${
    state !== "resolved" && press(alert, { verb: "resolve", name: "Resolve", look: "second" })
  }</div>
${told(alert)}
${state !== "resolved" && html`<div class="far${rest(rests)}">${state === "open" ? press(alert, { verb: "acknowledge", name: "Acknowledge", look: "huge" }) : spot(alert)}<p class="small">${state === "open" ? "Then nobody else is rung. You can undo it." : "Nothing more to press."}</p></div>`}`;
}

function nextWords({ state, next, isMine }: AckAlert): string {
  if (state === "resolved") return "It is over.";
  if (state === "acknowledged")
    return isMine ? "Nobody else is rung." : "They have it: nobody else is rung.";
  return next === null ? "Nobody else is paged after you." : `Next, if nobody takes it: ${next}`;
}

/** Where *Acknowledge* stood: inert, so that a second tap presses nothing. */
const spot = (alert: AckAlert): Markup =>
  html`<div class="spot">${checkMark}<span>${alert.isMine ? "You have it" : "Somebody has it"}</span>${
    alert.isMine && press(alert, { verb: "unack", name: "Undo", look: "undo" })
  }</div>`;

/** A form of one button. `of`: where several alerts have the same. */
function press(
  { named, id }: AckAlert,
  { verb, name, look, of = false }: { verb: string; name: string; look: string; of?: boolean },
): Markup {
  return html`<form method="post"><input type="hidden" name="alert" value="${named}"><button class="${look}" name="verb" value="${verb}"${of && html` aria-label="${name} alert ${id}"`}>${name}</button></form>`;
}

function several(alerts: readonly AckAlert[], rests: boolean): Markup {
  const open = alerts.filter(({ state }) => state === "open").length;
  const shown = alerts.slice(0, MOST_SHOWN);
  const more = alerts.length - shown.length;
  return html`<h1>${alerts.length} alerts</h1>
<p class="small">One message told you of them.</p>
<ol${rests && html` class="rests"`}>
${shown.map(
  (alert) => html`<li>${top(alert)}<h2>${alert.title}</h2>
${apart(alert)}${told(alert)}
<p class="small" role="status">${alert.whose}</p>
${answers(alert)}</li>
`,
)}</ol>
${more > 0 && html`<p>and ${more} more</p>`}
<div class="far${rest(rests)}">${
    open > 0
      ? html`<form method="post"><button class="huge" name="verb" value="acknowledge">Acknowledge all that are open (${open})</button></form>`
      : html`<p class="spot">${checkMark}<span>None of them is open</span></p>`
  }</div>`;
}

const apart = ({ apart: words }: AckAlert): Markup | false =>
  words.length > 0 &&
  html`<p class="apart">${words.map(({ name, value }) => html`<span>${name}: ${value}</span> `)}</p>`;

/** All that the sender said, one tap away: it takes no room from the button. */
function told({ title, message, labels, details, links }: AckAlert): Markup | false {
  const isMore = message.trim() !== title;
  if (!isMore && labels.length === 0 && details === null && links.length === 0) return false;
  return html`<details><summary>What it says</summary>${isMore && html`<p class="said">${message}</p>`}${
    labels.length > 0 &&
    html`<dl>${labels.map(([name, values]) => html`<dt>${name}</dt><dd>${values}</dd>`)}</dl>`
  }${details !== null && html`<p class="said">${details}</p>`}${
    links.length > 0 &&
    html`<ul>${links.map(({ href, text }) => html`<li><a href="${href}" rel="noopener noreferrer nofollow">${text}</a></li>`)}</ul>`
  }</details>`;
}

/** The buttons that one of several still has; each names its alert. */
function answers(alert: AckAlert): Markup {
  const { state, isMine } = alert;
  if (state === "resolved") return html``;
  const of = (verb: string, name: string) => press(alert, { verb, name, look: "second", of: true });
  return html`<div class="buttons">${
    state === "open"
      ? of("acknowledge", "Acknowledge")
      : html`<p class="taken">${isMine ? "You have it" : "Somebody has it"}</p>`
  }${of("resolve", "Resolve")}${isMine && state === "acknowledged" && of("unack", "Undo")}</div>`;
}

/** The page of a wrong, expired or deleted link. `waitSeconds`: set after too many attempts. */
export function noAckPage(waitSeconds: number | null = null): PageAnswer {
  const title = waitSeconds === null ? "This link can't be used" : "Too many tries";
  const why =
    waitSeconds === null
      ? "It has ended, or it never was one. A message's link is good for a day."
      : `Try again in ${waitSeconds} seconds.`;
  return {
    status: waitSeconds === null ? 404 : 429,
    headers: { ...HEADERS, ...(waitSeconds !== null && { "Retry-After": String(waitSeconds) }) },
    body: framed({
      title,
      style: STYLE,
      main: html`<p class="brand">${brand}</p>
<h1>${title}</h1>
<p class="lead">${why}</p>
<p>With a key of this box you can still answer on your command line:</p>
<pre><code>box alerts --state open
box ack ID</code></pre>`,
    }),
  };
}
