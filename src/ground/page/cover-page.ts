import { html } from "../kit/html.ts";
import { type PageAnswer, pageHeaders } from "./answer.ts";
import { framed, HTML_TYPE } from "./frame.ts";
import { PAGE_STYLE } from "./style.ts";

const STYLE = `${PAGE_STYLE}
form{margin-top:1rem;display:flex;gap:.75rem;flex-wrap:wrap}
button{margin:0;width:auto;flex:1 1 9.5rem;overflow-wrap:normal}
.second{background:var(--card);color:var(--accent)}
.said{white-space:pre-wrap}
`;

const HEADERS = pageHeaders({ type: HTML_TYPE, storing: "no-store", style: STYLE });

/** An ask for cover, as one person who is asked sees it. */
interface CoverPage {
  whose: string;
  schedule: string;
  when: string;
  inReturn: string | null;
  note: string;
  /** What became of it; null: it may be answered. */
  became: string | null;
}

/** The page behind the link of an ask for cover. Only a button changes anything. */
export function coverPage(shown: CoverPage): PageAnswer {
  const { whose, schedule, when, inReturn, note, became } = shown;
  const title = `${whose} asks for cover`;
  return {
    status: 200,
    headers: { ...HEADERS },
    body: framed({
      title,
      style: STYLE,
      main: html`<h1>${title}</h1>
<p class="kind lead">${schedule}</p>
<p>${when}</p>
${inReturn !== null && html`<p>In return ${whose} takes ${inReturn}.</p>`}
${note !== "" && html`<p class="said">${note}</p>`}
${
  became === null
    ? html`<form method="post"><button name="verb" value="take">Take it</button><button class="second" name="verb" value="no">No</button></form>`
    : html`<p role="status">${became}</p>`
}
<p class="when">Whoever has this link can answer for you: keep it to yourself.</p>`,
    }),
  };
}

/** The page of a link that never was one. `waitSeconds`: set after too many attempts. */
export function noCoverPage(waitSeconds: number | null = null): PageAnswer {
  const title = waitSeconds === null ? "This link can't be used" : "Too many tries";
  const why =
    waitSeconds === null
      ? "It never was one, or what it asked is long over."
      : `Try again in ${waitSeconds} seconds.`;
  return {
    status: waitSeconds === null ? 404 : 429,
    headers: { ...HEADERS, ...(waitSeconds !== null && { "Retry-After": String(waitSeconds) }) },
    body: framed({ title, style: STYLE, main: html`<h1>${title}</h1><p class="lead">${why}</p>` }),
  };
}
