import { shellQuoted } from "../../ground/kit/shell.ts";
import type { Imported, ImportLine } from "./importer.ts";

/** The report of an import for people: counts, then what isn't the same here, and what to do by hand. */
export function reportText(
  title: string,
  { config, report, secrets, commands }: Imported,
  { next }: { next: readonly string[] },
): string {
  const of = (sort: ImportLine["sort"]) => report.filter((line) => line.sort === sort);
  const missing = secrets.filter(({ value }) => value === null);
  const parts = [
    `From ${title}: ${of("exact").length} exact, ${of("approximate").length} approximate, ${of("impossible").length} impossible.`,
    section("Whom alerts of these rules page:", pagedLines(config)),
    section("Approximate:", of("approximate").map(lineText)),
    section("Impossible here:", of("impossible").map(lineText)),
    section("The same here:", of("exact").map(lineText)),
    section(
      "Credentials to be entered, by the names of their variables:",
      missing.map(({ env, what }) => `- ${env}: ${what}`),
    ),
    section(
      "Run after it is applied, because a configuration file can't contain it:",
      commands.map((command) => `  ${command}`),
    ),
    section(
      "Nothing was applied. Next:",
      next.map((command) => `  ${command}`),
    ),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

const lineText = ({ what, how }: ImportLine): string => `- ${what}: ${how}`;

const section = (head: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : [head, ...lines].join("\n");

/** The variables as a file for a shell (`. FILE`). A missing value is empty, with a comment that says what it is. */
export function secretsText({ secrets }: Pick<Imported, "secrets">): string {
  const lines = secrets.flatMap(({ env, value, what }) => [
    `# ${what.replace(/\s+/g, " ")}${value === null ? " (enter it here)" : ""}`,
    `${env}=${value === null ? "" : shellQuoted(value)}`,
  ]);
  return `${lines.join("\n")}\n`;
}

type Config = Imported["config"];
type Ladder = NonNullable<NonNullable<Config["tenant"]>["ladders"]>[number];
type Step = NonNullable<Ladder["steps"]>[number];

const MOST_NAMES = 20;

/** Whom the alerts of the imported rules page, and when: a line for the rules of each ladder, and one for those of none. */
function pagedLines({ tenant, projects = [] }: Config): string[] {
  const rules = projects.flatMap(({ rules = [] }) => rules);
  const policies = (tenant?.ladders ?? []).map((ladder) => ({
    names: rules.filter((rule) => rule.ladder === ladder.name).map(({ name }) => name),
    what: `ladder ${ladder.name}`,
    whom: whomOf(ladder),
  }));
  const own = rules.filter(({ ladder }) => ladder == null);
  const others = [...Map.groupBy(own, ({ escalations }) => JSON.stringify(escalations ?? []))].map(
    ([, same]) => {
      const whom = whomOf({ steps: same[0]?.escalations });
      const what = whom === "" ? "without a ladder" : "rungs of their own";
      return { names: same.map(({ name }) => name), what, whom };
    },
  );
  return [...policies, ...others]
    .toSorted((a, b) => Number(a.whom === "") - Number(b.whom === ""))
    .map(({ names, what, whom }) => {
      const who = whom === "" ? "nobody" : whom;
      return `- ${names.length === 0 ? "no rule" : namesText(names)} (${what}): ${who}`;
    });
}

/** "" where it is nobody. */
function whomOf({ steps = [], passes = 1 }: Pick<Ladder, "steps" | "passes">): string {
  const all = steps.map(stepText).filter((text) => text !== "");
  const times = all.length > 0 && passes > 1 ? `; ${passes} times, then the fallback` : "";
  return `${all.join(", ")}${times}`;
}

function stepText({ after_minutes = 0, accounts = [], schedules = [] }: Step): string {
  const onCall = schedules.map((name) => `whoever is on call in ${name.replace(/^.*\//, "")}`);
  const whom = [...accounts, ...onCall];
  if (whom.length === 0) return "";
  return `${after_minutes === 0 ? "at once" : `after ${after_minutes} min`} ${whom.join(" and ")}`;
}

function namesText(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return `${names.slice(0, MOST_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
