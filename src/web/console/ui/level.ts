import { html, type Markup } from "../../../ground/kit/html.ts";
import { type Level, levelGlyph, levelOf } from "../../../ground/page/drawings.ts";
import type { Choice } from "./form.ts";

/** The usual numbers; those between carry theirs. */
const USUAL = new Set([100, 200, 300, 400, 500]);

/** "error", or "error 430". */
export function levelWord(level: number): string {
  const { word } = levelOf(level);
  return USUAL.has(level) ? word : `${word} ${level}`;
}

/** Levels that are offered, the worst first. `any`: what none of them is called; `down`: the lowest. */
export function levelChoices(
  any: string | null,
  words = (name: string) => name,
  down = 200,
): Choice[] {
  const levels = [500, 400, 300, 200, 100].filter((level) => level >= down);
  return [
    ...(any === null ? [] : [{ value: "", name: any }]),
    ...levels.map((level) => ({ value: String(level), name: words(levelWord(level)) })),
  ];
}

/** "error or worse": nothing is worse than critical. */
export const orWorse = (name: string): string => (name === "critical" ? name : `${name} or worse`);

/** `of`: how many there are of the level. */
export function levelBadge(level: number, of: number | null = null): Markup {
  const { kind, name } = levelOf(level);
  return html`<span class="badge badge-${kind}">${levelGlyph(level)}${of === null ? name : `${of} ${levelWord(level)}`}${of === null && !USUAL.has(level) && ` ${level}`}</span>`;
}

/** What of the page has a level's colours: its name for classes. */
export const levelKind = (level: number): Level["kind"] => levelOf(level).kind;
