import { type Mined, Miner } from "./miner.ts";

/** A template of some lines. */
export interface TriedTemplate {
  template_id: string;
  template: string;
  count: number;
  /** The first of its lines. */
  example: string;
}

/** More templates than a project keeps, so that none is evicted. */
const LIMIT = 100_000;

/** Lines are added one by one, so that a file needn't be in memory. */
export function createTrial() {
  const miner = new Miner({ limit: LIMIT, rows: [] });
  const shapes = new Map<string, { count: number; example: string; mined: Mined }>();
  return {
    add(line: string) {
      const mined = miner.mine(line);
      const seen = shapes.get(mined.id);
      if (seen === undefined) shapes.set(mined.id, { count: 1, example: line, mined });
      else seen.count++;
    },
    /**
     * The templates so far, as a new project would have them, most frequent first; equal counts in the order of first
     * sight. Lines that merge later count for their final template.
     */
    templates(): TriedTemplate[] {
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
