import { html, type Markup } from "../kit/html.ts";
import { type PageAnswer, pageHeaders } from "./answer.ts";
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
form{margin-top:1rem;display:flex;gap:.75rem;flex-wrap:wrap}
button{margin:0;width:auto;flex:1 1 9.5rem;overflow-wrap:normal}
.second{background:var(--card);color:var(--accent)}
ol>li{margin:0 0 2rem}
ol{list-style:none;padding:0;margin:2.5rem 0 0}
main>.when{margin-top:2rem}
.said{white-space:pre-wrap;overflow-wrap:anywhere}
.what{font-weight:600;overflow-wrap:anywhere}
.apart span{display:inline-block;border:1px solid var(--soft);border-radius:1rem;padding:0 .6rem;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:minmax(5rem,auto) minmax(0,3fr);gap:.25rem 1rem;overflow-wrap:anywhere}
dt{color:var(--soft)}
dd{margin:0}
.taken{flex:1 1 100%;margin:0;min-height:3rem;display:grid;place-items:center;border:1px dashed var(--soft);border-radius:.5rem}
.rests button{animation:rests 1.5s step-end}
@keyframes rests{from{visibility:hidden}}
`;

const HEADERS = pageHeaders({ type: HTML_TYPE, storing: "no-store", style: STYLE });

/** The page behind a message's link. Only a button changes anything. `as`: the name of the reader. */
export function ackPage(shown: {
  as: string;
  alerts: readonly [AckAlert, ...AckAlert[]];
}): PageAnswer {
  const [first, ...others] = shown.alerts;
  const title = others.length === 0 ? `Alert ${first.id}` : `${shown.alerts.length} alerts`;
  const main = others.length === 0 ? one(first) : several(shown.alerts);
  // A double tap must not press the button that appears in the first one's place.
  const rests = shown.alerts.some(({ isFresh }) => isFresh);
  return {
    status: 200,
    headers: { ...HEADERS },
    body: framed({
      title,
      style: STYLE,
      main: html`<h1>${title}</h1>
<div${rests && html` class="rests"`}>${main}</div>
<p class="when">You answer as ${shown.as}. Whoever has this link can: keep it to yourself.</p>`,
    }),
  };
}

function one(alert: AckAlert): Markup {
  return html`<p class="kind lead">${alert.where}</p>
${told(alert)}
${answers(alert, { withName: false })}`;
}

function several(alerts: readonly AckAlert[]): Markup {
  const open = alerts.filter(({ state }) => state === "open").length;
  const shown = alerts.slice(0, MOST_SHOWN);
  const more = alerts.length - shown.length;
  return html`<p class="lead">One message told you of them.</p>
${
  open > 0
    ? html`<form method="post"><button name="verb" value="acknowledge">Acknowledge all that are open (${open})</button></form>`
    : html`<form><p class="taken">None of them is open</p></form>`
}
<ol>
${shown.map(
  (alert) => html`<li><h2>Alert ${alert.id}</h2>
<p class="kind">${alert.where}</p>
${told(alert)}
${answers(alert, { withName: true })}</li>
`,
)}</ol>
${more > 0 && html`<p>and ${more} more</p>`}`;
}

function told({ title, message, apart, labels, details, links, whose }: AckAlert): Markup {
  return html`<p class="what">${title}</p>
${apart.length > 0 && html`<p class="apart">${apart.map(({ name, value }) => html`<span>${name}: ${value}</span> `)}</p>`}${
  message.trim() !== title && html`<p class="said">${message}</p>`
}${labels.length > 0 && html`<dl>${labels.map(([name, values]) => html`<dt>${name}</dt><dd>${values}</dd>`)}</dl>`}${
  details !== null && html`<p class="said">${details}</p>`
}${links.length > 0 && html`<ul>${links.map(({ href, text }) => html`<li><a href="${href}" rel="noopener noreferrer nofollow">${text}</a></li>`)}</ul>`}
<p role="status">${whose}</p>`;
}

/**
 * The buttons that an alert still has. In a list each names its alert. Once *Acknowledge* is pressed, a text takes its
 * place, so a second tap presses nothing.
 */
function answers(alert: AckAlert, { withName }: { withName: boolean }): Markup {
  const { named, id, state, isMine } = alert;
  if (state === "resolved") return html``;
  const of = (verb: string) => withName && html` aria-label="${verb} alert ${id}"`;
  const press = (verb: string, name: string) =>
    html`<button class="second" name="verb" value="${verb}"${of(name)}>${name}</button>`;
  return html`<form method="post"><input type="hidden" name="alert" value="${named}">
${
  state === "open"
    ? html`<button name="verb" value="acknowledge"${of("Acknowledge")}>Acknowledge</button>`
    : html`<p class="taken">${isMine ? "You have it" : "Somebody has it"}</p>`
}
${press("resolve", "Resolve")}
${isMine && state === "acknowledged" && press("unack", "Take it back")}</form>`;
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
      main: html`<h1>${title}</h1>
<p class="lead">${why}</p>
<p>With a key of this box you can still answer on your command line:</p>
<pre><code>box alerts --state open
box ack ID</code></pre>`,
    }),
  };
}
