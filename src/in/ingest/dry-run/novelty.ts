import { ForgetfulMap } from "../../../ground/kit/forgetful-map.ts";
import type { Reader } from "../../../ground/store/store.ts";
import {
  heardSince,
  isLearning,
  type Novelty,
  readHeard,
  returnsByRoot,
  type Sight,
} from "../first-seen.ts";
import type { NoveltyOf } from "./dry-line.ts";
import { rootsOf } from "./lines.ts";

/** What was new when a line came, by what the store knows: a dry run then opens what the rule itself would have. */

const MOST_FORGOTTEN = 100_000;
const KNOWN: Sight = { since: Number.NEGATIVE_INFINITY, after: 0 };
const TEMPLATES = "SELECT id FROM templates WHERE project_id = ?";

/** For kept lines, in ascending order of time. */
export function noveltyOfKept(reader: Reader, projectId: number): NoveltyOf {
  const returns = returnsByRoot(reader, projectId, rootsOf(reader, projectId));
  const known = new Set(reader.sql<[project: number], string>(TEMPLATES).pluck().all(projectId));
  const sources = heardSince(reader, projectId);
  // Of a template that was forgotten over the limit, its first kept line stands for its first sight.
  const forgotten = new ForgetfulMap<string, Sight>(MOST_FORGOTTEN);
  const latest = (root: string, at: number): Sight => {
    const found = (returns.get(root) ?? []).findLast(({ since }) => since <= at);
    if (found !== undefined || known.has(root)) return found ?? KNOWN;
    const first = forgotten.get(root) ?? { since: at, after: Infinity };
    forgotten.set(root, first);
    return first;
  };
  return ({ at, sourceId, text }) => ({
    ...latest(text.root.id, at),
    isLearning: isLearning(sources.get(sourceId) ?? null, at),
  });
}

/** For lines that come now, from no source. */
export function noveltyOfGiven(
  reader: Reader,
  { projectId, now }: { projectId: number; now: number },
): NoveltyOf {
  const book = readHeard(reader, projectId, { rootOf: rootsOf(reader, projectId), now });
  return ({ at, text }): Novelty => ({
    ...book.hear(text.root.id, { at, isLearning: false }),
    isLearning: false,
  });
}
