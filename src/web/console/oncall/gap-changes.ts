/** [starts_at, ends_at) in Unix seconds. */
export interface Gap {
  starts_at: number;
  ends_at: number;
}

/** What of `these` none of `others` holds; both in order, each without overlaps. */
export function gapsWithout(these: readonly Gap[], others: readonly Gap[]): Gap[] {
  return these.flatMap(({ starts_at, ends_at }) => {
    const left: Gap[] = [];
    let at = starts_at;
    for (const other of others) {
      if (other.ends_at <= at || other.starts_at >= ends_at) continue;
      if (other.starts_at > at) left.push({ starts_at: at, ends_at: other.starts_at });
      at = Math.max(at, other.ends_at);
    }
    if (at < ends_at) left.push({ starts_at: at, ends_at });
    return left;
  });
}
