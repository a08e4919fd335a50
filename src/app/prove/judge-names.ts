import type { NamedLook, NamedWord, RunEvidence } from "./evidence.ts";

/** The last report that was answered, and later ones that may have been accepted. */
function lastAnswered({ said }: NamedLook): { word: NamedWord; later: NamedWord[] } | null {
  const at = said.findLastIndex(({ outcome }) => outcome === "accepted");
  const word = said[at];
  if (word === undefined) return null;
  return { word, later: said.slice(at + 1).filter(({ outcome }) => outcome === "unknown") };
}

/** A firing that was answered has an open alert, unless an end may have been accepted later. */
export function lostFirings({ looks }: RunEvidence): string[] {
  return looks
    .filter((look) => {
      const last = lastAnswered(look);
      if (last === null || last.word.status !== "firing") return false;
      const { instance } = last.word;
      const mayHaveEnded = last.later.some(({ status }) => status === "resolved");
      return !mayHaveEnded && !look.standing.some((standing) => standing >= instance);
    })
    .map(({ name }) => `"${name}" fires, and no alert of it stands`);
}

/** A firing whose end was answered has no open alert. */
export function undoneEnds({ looks }: RunEvidence): string[] {
  return looks
    .filter(({ said, standing }) => {
      const ends = said.filter(
        ({ status, outcome }) => status === "resolved" && outcome === "accepted",
      );
      const ended = Math.max(0, ...ends.map(({ instance }) => instance));
      return standing.some((instance) => instance <= ended);
    })
    .map(({ name }) => `"${name}" has ended, and an alert of it stands`);
}

export function doubles({ looks }: RunEvidence): string[] {
  return looks
    .filter(({ standing }) => standing.length > 1)
    .map(({ name, standing }) => `${standing.length} alerts of "${name}" stand`);
}

/** Each firing counts once, however often it was reported. One without an answer may count or not. */
export function miscounted({ words, alerts }: RunEvidence): string[] {
  const firings = words.filter(({ status }) => status === "firing");
  return [...Map.groupBy(firings, ({ name }) => name)].flatMap(([name, said]) => {
    const counted = alerts
      .filter(({ dedup_key }) => dedup_key === name)
      .reduce((sum, { count }) => sum + count, 0);
    const distinct = (some: NamedWord[]) => new Set(some.map(({ instance }) => instance)).size;
    const least = distinct(said.filter(({ outcome }) => outcome === "accepted"));
    const most = distinct(said.filter(({ outcome }) => outcome !== "refused"));
    if (counted >= least && counted <= most) return [];
    return [`"${name}": ${least} to ${most} firings, ${counted} counted`];
  });
}
