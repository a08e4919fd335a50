import { html, type Markup } from "../../../ground/kit/html.ts";

interface Level {
  from: number;
  word: string;
  kind: "critical" | "error" | "warn" | "info" | "debug";
  glyph: Markup;
}

/** Told apart by shape, then by word, then by colour. */
const LEVELS: readonly Level[] = [
  {
    from: 500,
    word: "critical",
    kind: "critical",
    glyph: html`<path d="M5 1h6l4 4v6l-4 4H5l-4-4V5z" fill="currentColor"/><path d="M8 4v5M8 11v1.5" stroke="var(--paper)" stroke-width="2"/>`,
  },
  {
    from: 400,
    word: "error",
    kind: "error",
    glyph: html`<path d="M8 1l7 7-7 7-7-7z" fill="currentColor"/>`,
  },
  {
    from: 300,
    word: "warn",
    kind: "warn",
    glyph: html`<path d="M8 2l6.5 12h-13z" fill="none" stroke="currentColor" stroke-width="2"/>`,
  },
  {
    from: 200,
    word: "info",
    kind: "info",
    glyph: html`<circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M8 7v5M8 4v1.5" stroke="currentColor" stroke-width="1.5"/>`,
  },
  {
    from: Number.NEGATIVE_INFINITY,
    word: "debug",
    kind: "debug",
    glyph: html`<circle cx="8" cy="8" r="5" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="2 2"/>`,
  },
];

/** The usual numbers; those between carry theirs. */
const USUAL = new Set([100, 200, 300, 400, 500]);

/** "error", or "error 430". */
export function levelWord(level: number): string {
  const { word } = levelOf(level);
  return USUAL.has(level) ? word : `${word} ${level}`;
}

export function levelBadge(level: number): Markup {
  const { kind, glyph } = levelOf(level);
  return html`<span class="badge badge-${kind}"><svg class="glyph glyph-${kind}" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${glyph}</svg> ${levelWord(level)}</span>`;
}

function levelOf(level: number): Level {
  return LEVELS.find(({ from }) => level >= from) ?? (LEVELS.at(-1) as Level);
}
