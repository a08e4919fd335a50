import { type GivenFields, isEmpty } from "../unread.ts";
import type { TeamDraft } from "./draft.ts";
import { Given } from "./given.ts";

/** The things of an export's files, by kind. Of one that is in two files, the one with more content counts. */
export class ExportedThings<K extends string> {
  readonly #draft: TeamDraft;
  /** What the report calls a kind, in the plural. */
  readonly #words: Readonly<Record<K, string>>;
  readonly #kept = new Map<string, { kind: K; value: GivenFields }>();

  constructor(draft: TeamDraft, words: Readonly<Record<K, string>>) {
    this.#draft = draft;
    this.#words = words;
  }

  /** `id`: "" for a thing without one. */
  keep(kind: K, value: GivenFields, id: string): void {
    const key = `${kind} ${id || `#${this.#kept.size}`}`;
    const before = this.#kept.get(key)?.value;
    const isMore = before === undefined || contentOf(before) < contentOf(value);
    const [kept, other] = isMore ? [value, before] : [before, value];
    this.#kept.set(key, { kind, value: kept });
    this.#draft.unread.leave(other);
    if (other !== undefined && !saysAll(kept, other))
      this.#draft.nearly(
        `${this.#words[kind]} ${id}`,
        "Two files have it and differ: the one with more content is used.",
      );
  }

  all(): Record<K, Given[]> {
    const all = Object.fromEntries(Object.keys(this.#words).map((kind) => [kind, [] as Given[]]));
    for (const { kind, value } of this.#kept.values())
      all[kind]?.push(new Given(value, this.#words[kind], this.#draft.unread));
    return all as Record<K, Given[]>;
  }
}

const contentOf = (value: GivenFields): number => JSON.stringify(value).length;

/** Whether `more` contains everything that `less` does. */
function saysAll(more: unknown, less: unknown): boolean {
  if (isEmpty(less) || more === less) return true;
  if (typeof more !== "object" || more === null || typeof less !== "object") return false;
  return Object.entries(less ?? {}).every(([key, one]) => saysAll((more as GivenFields)[key], one));
}
