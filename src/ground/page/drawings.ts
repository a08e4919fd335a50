import { html, type Markup } from "../kit/html.ts";

/** What pages of the box draw alike, whether they have the console's style sheet or their own. */

export interface Level {
  from: number;
  /** In a sentence, and as the badge has it. */
  word: string;
  name: string;
  kind: "critical" | "error" | "warn" | "info" | "debug";
  glyph: Markup;
}

/** Told apart by shape, then by word, then by colour: `o` is an outline, `x` is cut out, `y` is a line. */
const LEVELS: readonly Level[] = [
  {
    from: 500,
    word: "critical",
    name: "Critical",
    kind: "critical",
    glyph: html`<path d="M5 .8h6L15.2 5v6L11 15.2H5L.8 11V5z"/><path class="x" d="M8 4.3v4.4M8 11.6v.1"/>`,
  },
  {
    from: 400,
    word: "error",
    name: "Error",
    kind: "error",
    glyph: html`<path d="M8 .6 15.4 8 8 15.4.6 8z"/>`,
  },
  {
    from: 300,
    word: "warn",
    name: "Warning",
    kind: "warn",
    glyph: html`<path class="o" d="M8 2.2 14.8 14H1.2z"/>`,
  },
  {
    from: 200,
    word: "info",
    name: "Info",
    kind: "info",
    glyph: html`<circle class="o" cx="8" cy="8" r="6.6"/><path class="y" d="M8 7.6v3.7M8 4.7v.1"/>`,
  },
  {
    from: Number.NEGATIVE_INFINITY,
    word: "debug",
    name: "Debug",
    kind: "debug",
    glyph: html`<circle class="o" cx="8" cy="8" r="5"/>`,
  },
];

export function levelOf(level: number): Level {
  return LEVELS.find(({ from }) => level >= from) ?? (LEVELS.at(-1) as Level);
}

/** Its shape; the word stands beside it. */
export const levelGlyph = (level: number): Markup =>
  html`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">${levelOf(level).glyph}</svg>`;

/** The mark: an open box, and above it the dot of what is proved. */
export const mark: Markup = html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M4.5 9.5V17A3.5 3.5 0 0 0 8 20.5h8a3.5 3.5 0 0 0 3.5-3.5V9.5"/><circle cx="12" cy="8" r="4"/></svg>`;

/** The mark with the name. */
export const brand: Markup = html`${mark}<span>box</span>`;

export const checkMark: Markup = html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M5 12.5l4.5 4.5L19 7.5"/></svg>`;
