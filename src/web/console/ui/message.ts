import type { AlertRow } from "../../../core/alerts/alert.ts";
import type { Apart } from "../../../core/alerts/apart.ts";
import { titleOfAlert, titleParts } from "../../../core/alerts/title.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";

/** A template as a person reads it: its variable parts marked by their element, not by colour alone. */
export function markedTemplate(template: string): Markup {
  return html`${template.split("<*>").map((fixed, at) => html`${at > 0 && html`<var>*</var>`}${fixed}`)}`;
}

/** What people call an alert, with what varies in it. */
export function markedTitle(row: Pick<AlertRow, "title" | "last_message" | "template">): Markup {
  return markedParts(titleParts(titleOfAlert(row), row));
}

/** The labels that tell an alert from its siblings; where nothing does, its identifiers. */
export function aboutText(row: Pick<AlertRow, "identifiers">, apart: Apart = []): string {
  if (apart.length > 0) return apart.map(({ name, value }) => withValue(name, value)).join(", ");
  return identifiersText(JSON.parse(row.identifiers) as Record<string, string>);
}

const withValue = (name: string, value: string): string =>
  value === "" ? `no ${name}` : `${name}=${value}`;

/** A message in its parts: fixed words, and what varies. */
export function markedParts(parts: readonly { text: string; variable: boolean }[]): Markup {
  return html`${parts.map(({ text, variable }) => (variable ? html`<var>${text}</var>` : text))}`;
}

/** `provider=acme, region=eu`: all of them, or the first. */
export function identifiersText(
  identifiers: Readonly<Record<string, string>>,
  most = Number.POSITIVE_INFINITY,
): string {
  return Object.entries(identifiers)
    .slice(0, most)
    .map(([name, value]) => withValue(name, value))
    .join(", ");
}
