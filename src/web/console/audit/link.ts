import { html, type Markup } from "../../../ground/kit/html.ts";
import { isManager } from "../../../people/roles.ts";
import type { PageCall } from "../screen.ts";
import { auditAddress } from "./asked.ts";

/** The way from a thing's page to what was changed of it; nothing for whom the audit isn't. `id`: what it keeps for life. */
export function changesLink(
  { base, who }: Pick<PageCall, "base" | "who">,
  kind: string,
  id: string | number,
): Markup | null {
  if (!isManager(who.role)) return null;
  const href = base + auditAddress({ kind, thing: String(id) });
  return html`<p class="soft small"><a href="${href}">Who changed it</a></p>`;
}
