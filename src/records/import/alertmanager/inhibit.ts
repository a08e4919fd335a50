import type { ImportLine } from "../importer.ts";
import { type Clause, canShare, narrowedByAll, without } from "./clause.ts";
import { conditionsOf } from "./conditions.ts";
import { type LabelMatcher, matcherText } from "./matchers.ts";
import type { Part } from "./part.ts";
import { mayHave, type PlannedRoute, splitExactly } from "./plan.ts";
import { matchersOf } from "./tree.ts";

/** Alerts that hold others back: Alertmanager's inhibition, as rules that are silenced by rules. */

/** A rule to be: a part of what a route takes. */
export interface RulePart {
  planned: PlannedRoute;
  clause: Clause;
  /** Matchers that tell it from the route's other parts. */
  words: string[];
  /** What it is in each inhibition that was taken over, by its place in the file. */
  roles: ReadonlyMap<number, Role>;
  /** Those that silence it. */
  above: { piece: RulePart; equal: readonly string[] }[];
  identifiers: Set<string>;
}

type Role = "source" | "target" | "both";

interface Inhibition {
  title: string;
  source: LabelMatcher[];
  target: LabelMatcher[];
  equal: string[];
}

/** What the box allows: of rules of a project, of rules that silence one, of identifiers of a rule. */
export const PROJECT_RULES = 500;
const MOST_ABOVE = 10;
export const MOST_IDENTIFIERS = 32;
/** Rules that the parts of routes may come to: more of them and nobody can read the file. */
const MOST_PIECES = 200;

/** The rules to be, with what silences them; `quiet` are routes that tell nobody, which become none. */
export function inhibited(
  planned: readonly PlannedRoute[],
  { part, quiet }: { part: Part; quiet: readonly PlannedRoute[] },
): { pieces: RulePart[]; report: ImportLine[] } {
  const report: ImportLine[] = [];
  let pieces = planned.flatMap((one) =>
    one.clauses.map(
      (clause): RulePart => ({
        planned: one,
        clause,
        words: [],
        roles: new Map(),
        above: [],
        identifiers: new Set(),
      }),
    ),
  );
  const taken: [number, Inhibition][] = [];
  for (const [i, at] of part.list().entries()) {
    const inhibition = readInhibition(at);
    const why = whyNothing(pieces, inhibition);
    if (why !== null) {
      report.push({ ...why, what: inhibition.title });
      continue;
    }
    const split = splitBy(pieces, i, inhibition);
    if (split === null) {
      const how = `no conditions part what it silences from the rest, or it would take more than ${MOST_PIECES} rules, so both are told.`;
      report.push({ sort: "impossible", what: inhibition.title, how });
      continue;
    }
    pieces = split;
    taken.push([i, inhibition]);
  }
  for (const [i, inhibition] of taken) report.push(silence(pieces, i, { inhibition, quiet }));
  return { pieces, report };
}

/** Where there is nothing that could be silenced, or could silence. */
function whyNothing(
  pieces: readonly RulePart[],
  { source, target }: Inhibition,
): Pick<ImportLine, "sort" | "how"> | null {
  const isThere = (matchers: LabelMatcher[]) =>
    pieces.some(({ clause }) => mayHave(clause, matchers));
  if (!isThere(target)) return { sort: "exact", how: "no route takes what it would silence." };
  if (isThere(source)) return null;
  return {
    sort: "impossible",
    how: "no route that tells anybody takes its sources, and only alerts of rules silence others.",
  };
}

function readInhibition(at: Part): Inhibition {
  const [source, target] = [matchersOf(at, "source_"), matchersOf(at, "target_")];
  const words = (matchers: LabelMatcher[]) => matchers.map(matcherText).join(", ") || "any alert";
  const title = `inhibit rule: ${words(source)} silences ${words(target)}`;
  return { title, source, target, equal: [...new Set(at.field("equal").labels())] };
}

/** Each piece as the parts of it that are source, target, both or neither; null where that can't be said. */
function splitBy(
  pieces: readonly RulePart[],
  i: number,
  { source, target }: Inhibition,
): RulePart[] | null {
  const parts: RulePart[] = [];
  for (const piece of pieces)
    for (const [isTarget, ofTarget] of [true, false].map((is) => [is, part(is, target)] as const))
      for (const isSource of [true, false]) {
        const found = splitExactly([piece.clause], (clause) =>
          ofTarget(clause).flatMap(part(isSource, source)),
        );
        if (found === null) return null;
        const role =
          isTarget && isSource ? "both" : isTarget ? "target" : isSource ? "source" : null;
        const words = [...(isTarget ? target : []), ...(isSource ? source : [])].map(matcherText);
        for (const clause of found)
          parts.push({
            ...piece,
            clause,
            above: [],
            identifiers: new Set(),
            words: [...new Set([...piece.words, ...words])],
            roles: role === null ? piece.roles : new Map([...piece.roles, [i, role]]),
          });
      }
  return parts.length > Math.max(MOST_PIECES, pieces.length) ? null : parts;
}

function part(isIn: boolean, matchers: readonly LabelMatcher[]): (clause: Clause) => Clause[] {
  if (!isIn) return (clause) => without(clause, matchers);
  return (clause) => {
    const narrow = narrowedByAll(clause, matchers);
    return narrow === null ? [] : [narrow];
  };
}

/** Lets the sources silence the targets as far as it goes. */
function silence(
  pieces: readonly RulePart[],
  i: number,
  { inhibition, quiet }: { inhibition: Inhibition; quiet: readonly PlannedRoute[] },
): ImportLine {
  const { title, equal } = inhibition;
  const all = pieces.filter((piece) => piece.roles.has(i));
  // A rule that takes more than its part might hold back what Alertmanager tells.
  const sure = all.filter(({ clause }) => conditionsOf(clause, "absent").lost.length === 0);
  const has = (...roles: Role[]) =>
    sure.filter((piece) => roles.some((role) => piece.roles.get(i) === role));
  const impossible = (how: string): ImportLine => ({ sort: "impossible", what: title, how });
  const isHeardNowhere = quiet.some(({ clauses }) =>
    clauses.some((clause) => mayHave(clause, inhibition.source)),
  );
  const [targets, sources] = [has("target", "both"), has("source", "both")];
  if (
    targets
      .concat(sources)
      .some((one) => one.identifiers.union(new Set(equal)).size > MOST_IDENTIFIERS)
  )
    return impossible(`a rule has at most ${MOST_IDENTIFIERS} identifiers.`);
  let isCut = sure.length < all.length;
  for (const target of targets) {
    // One that is a source itself isn't silenced by others that are both, as there.
    const fitting = (target.roles.get(i) === "both" ? has("source") : sources).filter((one) =>
      canShare(one.clause, target.clause, equal),
    );
    const near = fitting.filter(({ planned }) => planned === target.planned);
    const above = fitting.length + target.above.length <= MOST_ABOVE ? fitting : near;
    if (
      above.length + target.above.length > MOST_ABOVE ||
      above.some((one) => leadsTo(one, target))
    ) {
      isCut = true;
      continue;
    }
    isCut ||= above.length < fitting.length;
    for (const piece of above) target.above.push({ piece, equal });
    for (const name of equal) for (const one of [target, ...above]) one.identifiers.add(name);
  }
  if (isCut)
    return {
      sort: "approximate",
      what: title,
      how: `not every rule silences or is silenced as there: one is silenced by at most ${MOST_ABOVE} others and by none that it silences itself, and one that takes more than its route did has no part in it. What isn't silenced is told.`,
    };
  if (isHeardNowhere)
    return {
      sort: "approximate",
      what: title,
      how: "sources that a route sends to nobody are no alerts here, and silence nothing.",
    };
  return { sort: "exact", what: title, how: "rules are silenced by rules, with equal." };
}

function leadsTo(from: RulePart, to: RulePart): boolean {
  const reached = new Set([from]);
  // What is added while it is walked is walked, too.
  for (const one of reached) for (const { piece } of one.above) reached.add(piece);
  return reached.has(to);
}
