import { html, type Markup } from "../../../ground/kit/html.ts";

interface Level {
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

/** The usual numbers; those between carry theirs. */
const USUAL = new Set([100, 200, 300, 400, 500]);

/** "error", or "error 430". */
export function levelWord(level: number): string {
  const { word } = levelOf(level);
  return USUAL.has(level) ? word : `${word} ${level}`;
}

/** `of`: how many there are of the level. */
export function levelBadge(level: number, of: number | null = null): Markup {
  const { kind, glyph, name } = levelOf(level);
  return html`<span class="badge badge-${kind}"><svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">${glyph}</svg>${of === null ? name : `${of} ${levelWord(level)}`}${of === null && !USUAL.has(level) && ` ${level}`}</span>`;
}

/** What of the page has a level's colours: its name for classes. */
export const levelKind = (level: number): Level["kind"] => levelOf(level).kind;

function levelOf(level: number): Level {
  return LEVELS.find(({ from }) => level >= from) ?? (LEVELS.at(-1) as Level);
}
