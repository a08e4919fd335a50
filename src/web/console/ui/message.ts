import { html, type Markup } from "../../../ground/kit/html.ts";

/** A template as a person reads it: its variable parts marked by their element, not by colour alone. */
export function markedTemplate(template: string): Markup {
  return html`${template.split("<*>").map((fixed, at) => html`${at > 0 && html`<var>*</var>`}${fixed}`)}`;
}

/** A message in its parts: fixed words, and what varies. */
export function markedParts(parts: readonly { text: string; variable: boolean }[]): Markup {
  return html`${parts.map(({ text, variable }) => (variable ? html`<var>${text}</var>` : text))}`;
}

/** `provider=acme, region=eu`. */
export function identifiersText(identifiers: Readonly<Record<string, string>>): string {
  return Object.entries(identifiers)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}
