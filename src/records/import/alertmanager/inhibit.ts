import type { ImportReport } from "../importer.ts";
import { type Clause, canShare, narrowedByAll, without } from "./clause.ts";
import { conditionsOf } from "./conditions.ts";
import { type LabelMatcher, matcherText } from "./matchers.ts";
import type { Part } from "./part.ts";
import { mayHave, type PlannedRoute, splitExactly } from "./plan.ts";
import { matchersOf } from "./tree.ts";

/** Alertmanager's inhibition, as rules that silence rules. */

/** A rule to be made: a part of the alerts of a route. */
export interface RulePart {
  planned: PlannedRoute;
  clause: Clause;
  /** The matchers that separate it from the route's other parts. */
  words: string[];
  /** Its role in each inhibition that was imported, by the inhibition's place in the file. */
  roles: ReadonlyMap<number, Role>;
  /** The parts that silence it. */
  above: { piece: RulePart; equal: readonly string[] }[];
  identifiers: Set<string>;
}

type Role = "source" | "target" | "both";

type Inhibition = ReturnType<typeof readInhibition>;

/** The box's limits: rules of a project, rules that silence one rule, labels by which one does, identifiers of a rule. */
export const PROJECT_RULES = 500;
const MOST_ABOVE = 10;
const MOST_EQUAL = 32;
export const MOST_IDENTIFIERS = 32;
/** Rules that splitting may make. Nobody could read a file with more. */
const MOST_PIECES = 200;

interface Around {
  part: Part;
  /** Routes that notify nobody and become no rules. */
  quiet: readonly PlannedRoute[];
  report: ImportReport;
}

/** The rules to be made and what silences them. */
export function inhibited(
  planned: readonly PlannedRoute[],
  { part, quiet, report }: Around,
): RulePart[] {
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
    const { title, source, target } = inhibition;
    const isThere = (matchers: LabelMatcher[]) =>
      pieces.some(({ clause }) => mayHave(clause, matchers));
    if (!isThere(target)) report.exact(title, "no route has alerts that it would silence.");
    else if (!isThere(source))
      report.impossible(
        title,
        "no route that notifies anybody has its sources, and only alerts of rules silence others.",
      );
    else {
      const split = splitBy(pieces, i, inhibition);
      if (split !== null) taken.push([i, inhibition]);
      else
        report.impossible(
          title,
          `no conditions separate what it silences from the rest, or it would need more than ${MOST_PIECES} rules, so both are sent.`,
        );
      pieces = split ?? pieces;
    }
  }
  for (const [i, inhibition] of taken) silence(pieces, i, { inhibition, quiet, report });
  return pieces;
}

function readInhibition(at: Part) {
  const [source, target] = [matchersOf(at, "source_"), matchersOf(at, "target_")];
  const words = (matchers: LabelMatcher[]) => matchers.map(matcherText).join(", ") || "any alert";
  const title = `inhibit rule: ${words(source)} silences ${words(target)}`;
  return { title, source, target, equal: [...new Set(at.field("equal").labels())] };
}

/** Each piece, split into source, target, both and neither; null where conditions can't express that. */
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

/** Lets the sources silence the targets, within the limits. */
function silence(
  pieces: readonly RulePart[],
  i: number,
  { inhibition, quiet, report }: Omit<Around, "part"> & { inhibition: Inhibition },
): void {
  const { title, equal } = inhibition;
  const all = pieces.filter((piece) => piece.roles.has(i));
  // A rule that matches more than its part could silence alerts that Alertmanager sends.
  const sure = all.filter(({ clause }) => conditionsOf(clause, "absent").lost.length === 0);
  const has = (...roles: Role[]) =>
    sure.filter((piece) => roles.some((role) => piece.roles.get(i) === role));
  const isHeardNowhere = quiet.some(({ clauses }) =>
    clauses.some((clause) => mayHave(clause, inhibition.source)),
  );
  const [targets, sources] = [has("target", "both"), has("source", "both")];
  if (equal.length > MOST_EQUAL) {
    report.impossible(title, `at most ${MOST_EQUAL} labels are compared.`);
    return;
  }
  // An identifier that both lack is equal, as there; a label isn't.
  const identify = targets
    .concat(sources)
    .every((one) => one.identifiers.union(new Set(equal)).size <= MOST_IDENTIFIERS);
  let isCut = sure.length < all.length;
  for (const target of targets) {
    // As in Alertmanager: an alert that is both source and target isn't silenced by others that are both.
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
    if (identify)
      for (const name of equal) for (const one of [target, ...above]) one.identifiers.add(name);
  }
  if (isCut)
    report.nearly(
      title,
      `not every rule silences or is silenced as in Alertmanager: a rule is silenced by at most ${MOST_ABOVE} others and by none that it silences itself, and a rule that matches more than its route is left out. Alerts that aren't silenced are sent.`,
    );
  else if (isHeardNowhere)
    report.nearly(
      title,
      "sources that a route sends to nobody open no alerts here, and silence nothing.",
    );
  else if (!identify)
    report.nearly(
      title,
      `an alert that lacks a label of equal is sent: only identifiers that both lack are equal, and a rule has at most ${MOST_IDENTIFIERS}.`,
    );
  else report.exact(title, "rules are silenced by rules, with equal.");
}

function leadsTo(from: RulePart, to: RulePart): boolean {
  const reached = new Set([from]);
  // The loop also visits what it adds.
  for (const one of reached) for (const { piece } of one.above) reached.add(piece);
  return reached.has(to);
}
