/** Matches counted towards one key's firing: how many, from which source, in which second. */
export interface Hit {
  at: number;
  sourceId: number;
  n: number;
}

export interface WindowRule {
  count: number;
  distinct_sources: number;
  /** Length in seconds. */
  seconds: number;
}

/** The hits that still count at `now`: those of the last `seconds` seconds, this one included. */
export function within(hits: readonly Hit[], now: number, seconds: number): Hit[] {
  return hits.filter((hit) => hit.at > now - seconds);
}

/** Whether the window fires, and what the alert then starts from (decisions §5, fire_after). */
export function fires(
  hits: readonly Hit[],
  rule: WindowRule,
): { count: number; firstSeen: number } | null {
  let count = 0;
  let firstSeen = Number.MAX_SAFE_INTEGER;
  const sources = new Set<number>();
  for (const hit of hits) {
    count += hit.n;
    firstSeen = Math.min(firstSeen, hit.at);
    sources.add(hit.sourceId);
  }
  return count >= rule.count && sources.size >= rule.distinct_sources ? { count, firstSeen } : null;
}
