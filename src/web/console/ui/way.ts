import { html, type Markup } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf } from "../screen.ts";

/** A link to a page of this box (below the base); the words alone where there is no such page. */
export function way(call: Pick<PageCall, "base" | "leads">, path: string, words: string): Markup {
  return call.leads(path) ? html`<a href="${call.base}${path}">${words}</a>` : html`${words}`;
}

/** The same for what would change something: nothing at all where there is no such page. */
export function remedy(
  call: Pick<PageCall, "base" | "leads">,
  path: string,
  words: string,
): Markup | null {
  return call.leads(path) ? html`<a href="${call.base}${path}">${words}</a>` : null;
}

/** Where a project's new rule is written. It lies beside its rules: a rule may have any name. */
export const newRulePage = (project: string): string => pathOf("p", project, "new-rule");
