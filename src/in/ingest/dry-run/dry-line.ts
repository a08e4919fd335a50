import type { IngestEvent } from "../event.ts";
import type { Novelty } from "../first-seen.ts";
import type { MatchedText } from "../match.ts";

/** A line as the rule sees it. */
export interface DryLine {
  id: number;
  /** Unix seconds; never less than that of the line before. */
  at: number;
  sourceId: number;
  source: string;
  event: IngestEvent;
  text: MatchedText & { root: { id: string; text: string } };
  /** Its template was merged into a more general one since. */
  grew?: boolean;
}

/** What was known of a line's template and source when it came. */
export type NoveltyOf = (line: Pick<DryLine, "at" | "sourceId" | "text">) => Novelty;
