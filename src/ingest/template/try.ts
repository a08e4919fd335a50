import { createMiner } from "./miner.ts";

/** What a file of lines becomes: one row for each template. */
export interface TriedTemplate {
  template_id: string;
  template: string;
  /** Lines of this template. */
  count: number;
  /** The first of them. */
  example: string;
}

/** More templates than any project keeps, so that nothing is evicted while a file is tried. */
const LIMIT = 100_000;

/**
 * The templates of some lines as a fresh project would see them, most frequent first; equal counts in the order of
 * first sight. Lines that merge later count for the template they end in.
 */
export function templatesOf(lines: Iterable<string>): TriedTemplate[] {
  const miner = createMiner({ limit: LIMIT, rows: [] });
  const shapes = new Map<
    string,
    { count: number; example: string; mined: ReturnType<typeof miner.mine> }
  >();
  for (const line of lines) {
    const mined = miner.mine(line);
    const seen = shapes.get(mined.id);
    if (seen === undefined) shapes.set(mined.id, { count: 1, example: line, mined });
    else seen.count++;
  }
  const templates = new Map<string, TriedTemplate>();
  for (const { count, example, mined } of shapes.values()) {
    const { id, text } = mined.root;
    const known = templates.get(id);
    if (known === undefined) templates.set(id, { template_id: id, template: text, count, example });
    else known.count += count;
  }
  return [...templates.values()].sort((a, b) => b.count - a.count);
}
