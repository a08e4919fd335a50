import { SLOT } from "./chars.ts";
import { tells } from "./evidence.ts";
import type { Tokens } from "./tokens.ts";

const SLOT_WORD = String.fromCharCode(SLOT);
/** Patterns looked at for one new shape. */
const MOST_PATTERNS = 32;

/** Shapes of one structure whose words differ in known places only. */
export interface Pattern<R> {
  /** The shape with a mark in the places that vary. */
  readonly words: string;
  readonly tokens: Tokens;
  readonly owner: R;
  dead: boolean;
}

/** Whether words of the pattern's structure fit it. */
export function coversWords(pattern: Tokens, words: readonly string[]): boolean {
  for (let i = 0; i < words.length; i++) {
    const expected = pattern.words[i];
    if (expected === words[i]) continue;
    if (expected !== SLOT_WORD || tells(pattern, i, words[i] as string)) return false;
  }
  return true;
}

/** A structure's words put back into it. */
export function joinWords(structure: string, words: readonly string[]): string {
  let next = 0;
  return structure.replaceAll(SLOT_WORD, () => words[next++] ?? "");
}

/** The patterns, by the structure they apply to. */
export class Patterns<R> {
  readonly #byStructure = new Map<string, Pattern<R>[]>();

  find(tokens: Tokens): Pattern<R> | undefined {
    return this.#byStructure
      .get(tokens.structure)
      ?.find((pattern) => coversWords(pattern.tokens, tokens.words));
  }

  add(pattern: Pattern<R>): void {
    const { structure } = pattern.tokens;
    const known = this.#byStructure.get(structure) ?? [];
    known.push(pattern);
    if (known.length > MOST_PATTERNS) this.remove(known[0] as Pattern<R>);
    this.#byStructure.set(structure, known);
  }

  remove(pattern: Pattern<R>): void {
    pattern.dead = true;
    const { structure } = pattern.tokens;
    const left = this.#byStructure.get(structure)?.filter((one) => one !== pattern) ?? [];
    if (left.length === 0) this.#byStructure.delete(structure);
    else this.#byStructure.set(structure, left);
  }
}
