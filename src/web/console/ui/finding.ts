import { html, type Markup } from "../../../ground/kit/html.ts";

/** One thing that is well or isn't, as a row with a place that links lead to. */
export interface ShownFinding {
  /** Of its row: `check-store`, `doctor-backup`. */
  id: string;
  check: string;
  state: "failed" | "wrong" | "note" | "ok";
  words: Markup;
  /** What to do about it. */
  mend: Markup | null;
}

const MARKS = {
  failed: ["✕", "wrong", "failed"],
  wrong: ["△", "warn", "wrong"],
  note: ["·", "soft", "worth knowing"],
  ok: ["✓", "good", "well"],
} as const;

export function findingRow({ id, check, state, words, mend }: ShownFinding): Markup {
  const [mark, look, word] = MARKS[state];
  return html`<li class="who-item" id="${id}"><span class="${look}" aria-hidden="true">${mark}</span>
<div><p><strong>${words}</strong></p><p class="small soft">${check} · <span class="${look}">${word}</span></p>${
    mend !== null && html`<p>${mend}</p>`
  }</div></li>
`;
}

const RANK = { failed: 0, wrong: 1, note: 2, ok: 3 } as const;

/** What is wrong comes first. */
export const byNeed = (all: readonly ShownFinding[]): ShownFinding[] =>
  all.toSorted((a, b) => RANK[a.state] - RANK[b.state]);

/** A command that is typed on the machine, ready to be copied. `id`: of its text. */
export function commandLine(id: string, text: string): Markup {
  return html`<span class="command"><code id="${id}">${text}</code> <button type="button" class="button plain" data-copy="${id}" aria-label="Copy ${text}" hidden>Copy</button></span>`;
}
