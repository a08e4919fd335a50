import type { Imported } from "./importer.ts";

type Config = Imported["config"];
type Ladder = NonNullable<NonNullable<Config["tenant"]>["ladders"]>[number];
type Step = NonNullable<Ladder["steps"]>[number];

const MOST_NAMES = 20;

/** Whom the alerts of the imported rules page, and when: a line for the rules of each ladder, and one for those of none. */
export function pagedLines({ tenant, projects = [] }: Config): string[] {
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
