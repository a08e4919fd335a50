/**
 * A list that stays where it is while the one it shows changes. Pure: rows are their ids. Rows that are shown
 * keep their places, also those that left; new ones take theirs only with `takesNew`. `goes`: rows of `fresh` that
 * are there to say what became of them. `hasMore`: there is a next page, so that what is missing at the end only
 * moved there.
 */
export function mergeRows(
  shown: readonly string[],
  fresh: readonly string[],
  options: { takesNew: boolean; goes: ReadonlySet<string>; hasMore: boolean },
) {
  const before = new Set(shown);
  const now = new Set(fresh);
  const order = [...shown];
  const held: string[] = [];
  let last: string | null = null;
  for (const id of fresh) {
    const isNew = !before.has(id);
    if (isNew && options.goes.has(id)) continue;
    if (isNew && !options.takesNew) held.push(id);
    else {
      if (isNew) order.splice(last === null ? 0 : order.indexOf(last) + 1, 0, id);
      last = id;
    }
  }
  const end = order.findLastIndex((id) => now.has(id));
  const gone = order.filter(
    (id, at) => options.goes.has(id) || (!now.has(id) && !(options.hasMore && at > end)),
  );
  return {
    /** What is shown now, from top to bottom. */
    order,
    /** Of these: rows that left the list. */
    gone: new Set(gone),
    /** New rows that wait until somebody wants to see them, in the box's order. */
    held,
  };
}
