import { html, type Markup, trusted } from "../../../ground/kit/html.ts";
import type { Link } from "../../outbox/event-names.ts";
import type { MessageColour } from "../texts.ts";

/** What a mail shows: one card in tables, as every mail program draws them, without pictures and scripts. */
export interface MailCard {
  /** Of the strip at its side, and of the level's word. */
  colour: MessageColour | "plain";
  /** `CRITICAL`, `Resolved`; empty: none. */
  state: string;
  /** `shop · #130`. */
  place: string;
  title: string;
  /** Whom it rings and who is next; empty: nothing is said. */
  lead: string;
  /** A line each; what reads `name = value` stands in a table. What a sender wrote is never a link. */
  lines: readonly string[];
  /** The last line: level, count and times. */
  facts: string;
  /** Digits to type back. */
  code?: string | null;
  /** Where the alert is acknowledged: a page that asks once more, since programs open links by themselves. */
  acknowledge: string | null;
  /** Where it leads, of a mail with nothing to acknowledge. */
  open?: string | null;
  links: readonly Link[];
}

/** Text and strip: each text has at least 4.5 against its ground. */
const COLOURS: Readonly<Record<MailCard["colour"], readonly [text: string, strip: string]>> = {
  critical: ["#b3161b", "#d0302b"],
  bad: ["#a04100", "#cf680c"],
  warning: ["#755000", "#b3840e"],
  seen: ["#1f5fbf", "#1f5fbf"],
  over: ["#17693c", "#17693c"],
  plain: ["#5a6067", "#868c93"],
};

const STYLE = `body{margin:0;background:#faf9f7}
td{font-family:-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;font-size:15px;line-height:22px;color:#17191c;text-align:left;overflow-wrap:anywhere}
.wide{width:100%;max-width:560px}.state,.soft{font-size:13px;line-height:19px}.soft{color:#5a6067}
.title{margin:0;font-size:20px;line-height:27px;font-weight:bold}.lead{font-weight:bold}.code{font-size:32px;line-height:40px;letter-spacing:4px;font-weight:bold}
.press{text-align:center}.press a{display:block;padding:14px 20px;color:#fff;font-size:17px;line-height:24px;font-weight:bold;text-decoration:none}
.links a{color:#1f5fbf}.name{padding-right:12px;vertical-align:top}
@media(prefers-color-scheme:dark){body,.ground{background:#101215!important}.card{background:#191c20!important}td,.title,.state{color:#eceae6!important}
.soft,.name{color:#a5abb2!important}.press{background:#8ab8ff!important}.press a{color:#0b1220!important}.links a{color:#8ab8ff!important}}`;

const LABEL = /^([^=]{1,60}) = (.+)$/;

const space = (height: number): Markup => html`<tr><td height="${height}"></td></tr>
`;

const row = (look: string, text: string | Markup): Markup =>
  html`<tr><td class="${look}" dir="auto">${text}</td></tr>
`;

const pressed = (name: string, href: string): Markup =>
  html`${space(16)}<tr><td bgcolor="#1f5fbf" class="press"><a href="${href}">${name}</a></td></tr>
`;

/** The whole document. */
export function mailPage(card: MailCard): string {
  const { state, place, title, lead, lines, facts, code = null, acknowledge, links } = card;
  const open = acknowledge === null ? (card.open ?? null) : null;
  const [text, strip] = COLOURS[card.colour];
  const labels = lines.flatMap((line) => {
    const [, name, value] = LABEL.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [{ name, value }];
  });
  const plain = lines.filter((line) => line !== "" && !LABEL.test(line));
  const head = html`${state !== "" && html`<b class="state" style="color:${text}">&#9679; ${state}</b> `}<span class="soft">${place}</span>`;
  return html`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title}</title>
<style>${trusted(STYLE)}</style></head>
<body bgcolor="#faf9f7">${
    lead !== "" &&
    html`<div hidden>${lead}</div>
`
  }<div role="main"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#faf9f7" class="ground"><tr><td align="center" style="padding:16px 8px">
<table role="presentation" align="center" width="560" cellpadding="0" cellspacing="0" border="0" bgcolor="#ffffff" class="wide card"><tr><td width="6" bgcolor="${strip}" style="font-size:1px">&nbsp;</td><td style="padding:20px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
${(state !== "" || place !== "") && row("soft", head)}<tr><td><h1 class="title" dir="auto">${title}</h1></td></tr>
${lead !== "" && html`${space(8)}${row("lead", lead)}`}${
  code !== null && html`${space(8)}${row("code", code)}`
}${
  labels.length > 0 &&
  html`${space(8)}<tr><td><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">${labels.map(
    ({ name, value }) =>
      html`<tr><td width="34%" class="soft name" dir="auto">${name}</td><td dir="auto">${value}</td></tr>`,
  )}</table></td></tr>
`
}${plain.map((line) => html`${space(6)}${row("line", line)}`)}${facts !== "" && html`${space(8)}${row("soft", facts)}`}${acknowledge !== null && html`${pressed("Acknowledge", acknowledge)}${space(6)}${row("soft", "Asks once more before it acts.")}`}${
  open !== null && pressed("Open", open)
}${
  links.length > 0 &&
  html`${space(10)}<tr><td class="soft links">${links.map(({ text, href }, i) => html`${i > 0 && " · "}<a href="${href}">${text}</a>`)}</td></tr>
`
}</table></td></tr></table></td></tr></table></div></body></html>
`.markup;
}
