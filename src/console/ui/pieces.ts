import { html, type Markup, type Piece } from "../../kit/html.ts";
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
