import { createMiner, type Mined } from "./miner.ts";

/** What some lines become: one row for each template. */
export interface TriedTemplate {
  template_id: string;
  template: string;
  /** Lines of this template. */
  count: number;
  /** The first of them. */
  example: string;
}

/** Lines tried one after the other, so that a file need not be held. */
export interface Trial {
  add(line: string): void;
  /**
   * The templates so far as a fresh project would see them, most frequent first; equal counts in the order of first
   * sight. Lines that merge later count for the template they end in.
   */
  templates(): TriedTemplate[];
}

/** More templates than any project keeps, so that nothing is evicted while a file is tried. */
const LIMIT = 100_000;

export function createTrial(): Trial {
  const miner = createMiner({ limit: LIMIT, rows: [] });
  const shapes = new Map<string, { count: number; example: string; mined: Mined }>();
  return {
    add(line) {
      const mined = miner.mine(line);
      const seen = shapes.get(mined.id);
      if (seen === undefined) shapes.set(mined.id, { count: 1, example: line, mined });
      else seen.count++;
    },
    templates() {
      const templates = new Map<string, TriedTemplate>();
      for (const { count, example, mined } of shapes.values()) {
        const { id, text } = mined.root;
        const known = templates.get(id);
        if (known === undefined)
          templates.set(id, { template_id: id, template: text, count, example });
        else known.count += count;
      }
      return [...templates.values()].sort((a, b) => b.count - a.count);
    },
  };
}

/** The templates of some lines. */
export function templatesOf(lines: Iterable<string>): TriedTemplate[] {
  const trial = createTrial();
  for (const line of lines) trial.add(line);
  return trial.templates();
}
