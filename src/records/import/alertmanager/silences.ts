import { shellQuoted } from "../../../ground/kit/shell.ts";
import type { ImportReport } from "../importer.ts";
import { EVERYTHING, narrowedByAll } from "./clause.ts";
import { conditionsOf } from "./conditions.ts";
import { type LabelMatcher, matcherText } from "./matchers.ts";
import type { Part } from "./part.ts";
import { checkedMatchers } from "./tree.ts";

/** Active silences, as `GET /api/v2/silences` or `amtool silence query -o json` returns them. */

export interface Silence {
  title: string;
  matchers: LabelMatcher[];
  startsAt: number;
  endsAt: number;
  reason: string;
}

const LONGEST = 30 * 86_400;

export function isSilences(part: Part): boolean {
  const { value } = part;
  if (!Array.isArray(value)) return false;
  return value.every(
    (one) => typeof one === "object" && one !== null && "matchers" in one && "endsAt" in one,
  );
}

/** The silences that aren't over. Throws ImportFault. */
export function readSilences(part: Part, now: number): Silence[] {
  return part
    .list()
    .map((at) => ({ at, ends: timeOf(at.field("endsAt")) }))
    .filter(({ at, ends }) => {
      const stands = at.field("status").field("state").text() !== "expired" && ends > now;
      if (!stands) at.leave();
      return stands;
    })
    .map(({ at, ends: endsAt }) => {
      const matchers = at
        .field("matchers")
        .list()
        .flatMap((one) => checkedMatchers([matcherOf(one)], one));
      const [comment, by] = [at.field("comment").text(), at.field("createdBy").text()];
      return {
        title: `silence ${matchers.map(matcherText).join(", ")}`,
        matchers,
        startsAt: timeOf(at.field("startsAt")),
        endsAt,
        reason: `${comment || "silenced in Alertmanager"}${by === "" ? "" : ` (${by})`}`,
      };
    });
}

function matcherOf(at: Part): LabelMatcher {
  const [isRegex, isEqual] = [at.field("isRegex").flag(false), at.field("isEqual").flag(true)];
  const op = isRegex ? (isEqual ? "=~" : "!~") : isEqual ? "=" : "!=";
  return { name: at.field("name").text(), op, value: at.field("value").text() };
}

function timeOf(at: Part): number {
  const seconds = Math.floor(Date.parse(at.text()) / 1_000);
  if (Number.isFinite(seconds)) return seconds;
  throw at.fault(`"${at.text()}" is no time`);
}

interface Around {
  project: string;
  /** Labels that the alerts of every imported rule have. */
  identifiers: ReadonlySet<string>;
  now: number;
  report: ImportReport;
}

/** A silence as a command; [] where the report says why there is none. */
export function silenceCommand(
  { title, matchers, startsAt, endsAt, reason }: Silence,
  { project, identifiers, now, report }: Around,
): string[] {
  const impossible = (how: string) => {
    report.impossible(title, how);
    return [];
  };
  const clause = narrowedByAll(EVERYTHING, matchers);
  if (clause === null) return impossible("nothing can match it.");
  const { conditions, lost } = conditionsOf(clause, "empty");
  if (lost.length > 0)
    return impossible(
      `no condition can express ${lost.join(", ")}, and a silence that would match more isn't made.`,
    );
  const strange = [...clause.keys()].filter((name) => !identifiers.has(name));
  if (strange.length > 0)
    return impossible(
      `silences match an alert's identifiers, and the rules can't have more of them: ${strange.join(", ")}.`,
    );
  const from = Math.max(startsAt, now);
  const isCut = endsAt > from + LONGEST;
  if (isCut) report.nearly(title, "ends after 30 days, the longest that a silence lasts.");
  else report.exact(title, "a command makes it.");
  const write = {
    project,
    conditions,
    critical: true,
    ...(conditions.length === 0 && { all: true }),
    ...(startsAt > now && { starts_at: startsAt }),
    ends_at: isCut ? from + LONGEST : endsAt,
    reason: [...reason].slice(0, 1_000).join(""),
  };
  return [`box api POST /v1/silences ${shellQuoted(JSON.stringify(write))}`];
}
