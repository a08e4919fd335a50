import type { Hit } from "../../core/alerts/hits.ts";
import type { AlertLabels } from "../../core/alerts/label-book.ts";
import { joinedLabels, labelChars, NO_LABELS, withKeys } from "../../core/alerts/labels.ts";
import type { IngestEvent } from "./event.ts";

interface WindowRule {
  count: number;
  distinct_sources: number;
  /** Length in seconds. */
  seconds: number;
}

/** What an alert starts from: the content of its window. */
export interface Firing {
  count: number;
  firstSeen: number;
  level: number;
  sources: number;
  /** What its events say about themselves; left out: it is one event. */
  labels?: AlertLabels;
}

/** Hits whose keys an alert starts from. */
const MOST_HEARD = 10_000;
/** Characters of labels that take the memory of a hit. */
const CHARS_OF_HIT = 64;

function saidSize({ said }: Hit): number {
  return said ? Math.ceil(labelChars(said) / CHARS_OF_HIT) : 0;
}

/**
 * The sliding window of one key, exact to the second (contract §5, fire_after). Sums are updated with each hit, so that
 * a match costs the same for any length of window.
 */
export class SlidingWindow {
  readonly #hits: Hit[] = [];
  /** Hits before this index have left the window. */
  #first = 0;
  #count = 0;
  /** Of what hits say of themselves, in hits. */
  #saidSize = 0;
  readonly #bySource = new Map<number, number>();

  /** Hits in ascending order of time. */
  constructor(hits: Iterable<Hit> = []) {
    for (const hit of hits) this.#append(hit);
  }

  get total(): number {
    return this.#count;
  }

  /** Its hits; what they say of themselves counts as further ones. */
  get size(): number {
    return this.#hits.length - this.#first + this.#saidSize;
  }

  /** A hit has one more event with these keys. */
  hear(hit: Hit, keys: IngestEvent["keys"], names: readonly string[]): void {
    if (keys === null) return;
    this.#saidSize -= saidSize(hit);
    hit.said = withKeys(hit.said ?? NO_LABELS, keys, names);
    this.#saidSize += saidSize(hit);
  }

  /** What the hits say of themselves; of very many the newest. */
  said(names: readonly string[]): AlertLabels {
    let said = NO_LABELS;
    const first = Math.max(this.#first, this.#hits.length - MOST_HEARD);
    for (const hit of this.#hits.slice(first))
      if (hit.said) said = joinedLabels(said, hit.said, names);
    return said;
  }

  /** Counts a match. Returns its hit, which is new or the one of the same second and source. */
  add(match: { at: number; sourceId: number; level: number }): { hit: Hit; isNew: boolean } {
    const joined = this.#latest(match.at, match.sourceId);
    if (joined !== null) {
      joined.n++;
      joined.level = Math.max(joined.level, match.level);
      this.#count++;
      this.#bySource.set(match.sourceId, (this.#bySource.get(match.sourceId) ?? 0) + 1);
      // Of its second it was heard last: what it says now is the newest.
      if (this.#hits.at(-1) !== joined)
        this.#hits.push(...this.#hits.splice(this.#hits.lastIndexOf(joined), 1));
      return { hit: joined, isNew: false };
    }
    const hit = { ...match, n: 1 };
    this.#append(hit);
    return { hit, isNew: true };
  }

  /** Whether the window fires at `now`, and what the alert then starts from. */
  fires(now: number, rule: WindowRule): Firing | null {
    this.#expire(now - rule.seconds);
    if (this.#count < rule.count || this.#bySource.size < rule.distinct_sources) return null;
    const hits = this.#hits.slice(this.#first);
    const level = hits.reduce((highest, hit) => Math.max(highest, hit.level), 0);
    const sources = this.#bySource.size;
    return { count: this.#count, firstSeen: hits[0]?.at ?? now, level, sources };
  }

  #append(hit: Hit): void {
    this.#hits.push(hit);
    this.#saidSize += saidSize(hit);
    this.#count += hit.n;
    this.#bySource.set(hit.sourceId, (this.#bySource.get(hit.sourceId) ?? 0) + hit.n);
  }

  /** The hit of this second and source; hits of this second are the last ones. */
  #latest(at: number, sourceId: number): Hit | null {
    for (let i = this.#hits.length - 1; i >= this.#first; i--) {
      const hit = this.#hits[i] as Hit;
      if (hit.at !== at) return null;
      if (hit.sourceId === sourceId) return hit;
    }
    return null;
  }

  /** Drops hits at or before `until`. */
  #expire(until: number): void {
    for (
      let hit = this.#hits[this.#first];
      hit !== undefined && hit.at <= until;
      hit = this.#hits[++this.#first]
    ) {
      this.#count -= hit.n;
      this.#saidSize -= saidSize(hit);
      const left = (this.#bySource.get(hit.sourceId) ?? 0) - hit.n;
      if (left > 0) this.#bySource.set(hit.sourceId, left);
      else this.#bySource.delete(hit.sourceId);
    }
    if (this.#first > 1000 && this.#first * 2 > this.#hits.length) {
      this.#hits.splice(0, this.#first);
      this.#first = 0;
    }
  }
}
