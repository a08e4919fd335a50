import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { keyed } from "./form.ts";

export interface Tab {
  name: string;
  /** With the base. */
  href: string;
  here: boolean;
  count?: number | null;
  key?: string;
}

export function tabs(label: string, all: readonly Tab[]): Markup {
  return html`<nav class="tabs" aria-label="${label}">${all.map(
    ({ name, href, here, count = null, key }) =>
      html`<a href="${href}"${here && html` aria-current="page"`}${keyed(key, name)}>${name}${
        count !== null && html` <span class="count">${count}</span>`
      }</a>`,
  )}</nav>`;
}

/** Nothing to show: what that means, and the one next thing to do. */
export function empty(what: string, more: Piece = null): Markup {
  return html`<div class="empty"><p class="empty-what">${what}</p>${more}</div>`;
}

/** "3 alerts", "1 alert". */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });
const ENDINGS: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd" };

/** "2nd", "11th", "21st". */
export const nth = (n: number): string => `${n}${ENDINGS[ORDINALS.select(n)] ?? "th"}`;

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];

/** "212 MiB", "1.9 GiB". */
export function bytesText(bytes: number): string {
  const at = Math.min(SIZES.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const size = bytes / 1024 ** at;
  return `${size < 10 && at > 0 ? Math.round(size * 10) / 10 : Math.round(size)} ${SIZES[at]}`;
}
