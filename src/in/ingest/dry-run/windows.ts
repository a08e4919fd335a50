import { identifiersOf } from "../alert-key.ts";
import type { CompiledRule } from "../match.ts";
import { type Firing, SlidingWindow } from "../window.ts";
import type { DryLine } from "./dry-line.ts";
import type { DryRunFound } from "./dry-run.ts";

type Near = DryRunFound["near"][number];

interface Counting {
  window: SlidingWindow;
  lastAt: number;
  near: Near;
}

const MOST_NEAR = 10;

/** What counts towards alerts of a rule whose first match opens none. */
export class DryWindows {
  /** Matches in memory. */
  hits = 0;
  readonly #rule: CompiledRule;
  readonly #counting = new Map<string, Counting>();
  #near: Near[] = [];

  constructor(rule: CompiledRule) {
    this.#rule = rule;
  }

  get size(): number {
    return this.#counting.size;
  }

  count(key: string, { at, sourceId, event, text }: DryLine): Firing | null {
    const { fire_after, identifier_keys } = this.#rule.rule;
    let counting = this.#counting.get(key);
    if (counting === undefined) {
      const identifiers = { ...identifiersOf(identifier_keys, event.keys) };
      const near = { template: text.root.text, identifiers, best: 0, needed: fire_after.count, at };
      counting = { window: new SlidingWindow(), lastAt: at, near };
      this.#counting.set(key, counting);
    }
    const { window, near } = counting;
    const before = window.size;
    window.add({ at, sourceId, level: event.level });
    counting.lastAt = at;
    const fired = window.fires(at, { ...fire_after, seconds: this.#rule.windowSeconds });
    this.hits += window.size - before;
    if (fired === null) {
      if (window.total > near.best) Object.assign(near, { best: window.total, at });
      return null;
    }
    this.hits -= window.size;
    this.#counting.delete(key);
    return fired;
  }

  /** Forgets windows that are empty. */
  clean(at: number): void {
    for (const [key, { lastAt, window, near }] of this.#counting) {
      if (lastAt > at - this.#rule.windowSeconds) continue;
      this.#counting.delete(key);
      this.hits -= window.size;
      this.#keepNear([near]);
    }
  }

  /** What came nearest to firing. */
  nearest(): Near[] {
    this.#keepNear([...this.#counting.values()].map(({ near }) => near));
    return this.#near;
  }

  #keepNear(more: Near[]): void {
    this.#near = [...this.#near, ...more].toSorted((a, b) => b.best - a.best).slice(0, MOST_NEAR);
  }
}
