import type { Command } from "commander";
import type { Alert } from "../src/core/alerts/alert.ts";
import type { ReachEntry } from "../src/core/alerts/reach-report.ts";
import type { TimelineEntry } from "../src/core/alerts/timeline.ts";
import type { Rule } from "../src/core/projects/rule.ts";
import { accountIds, namesOf } from "./accounts.ts";
import { api, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { reasonText, wayText } from "./reached.ts";
import { printable, when } from "./table.ts";
import { entryText } from "./timeline.ts";

/** `box why`: why a person was notified of an alert, or wasn't. */
export function registerWhy(program: Command): void {
  apiFlags(program.command("why <id>"), whyFlags)
    .description("show why people and channels were, or weren't, notified of an alert")
    .action(why);
}

const whyFlags = { "--person <who>": "one person: email, its part before the @, or id" };

/** Timeline entries that explain why a person was paged. */
const TELLS = new Set([
  "opened",
  "escalated",
  "reached_nobody",
  "unreachable",
  "fallback",
  "renotified",
  "silenced",
  "silence_over",
  "snoozed",
  "joined",
  "unacknowledged",
  "acknowledged",
  "resolved",
  "assigned",
  "escalated_now",
]);

async function why(id: string, options: GivenBy<typeof whyFlags>): Promise<void> {
  const alert = await api.get<Alert>(options, v1("alerts", id));
  const { pages } = await api.get<{ pages: ReachEntry[] }>(options, v1("alerts", id, "pages"));
  const { timeline } = await api.get<{ timeline: TimelineEntry[] }>(
    options,
    v1("alerts", id, "timeline"),
  );
  const person = options.person === undefined ? null : (await accountIds(options))(options.person);
  const nameOf = await namesOf(options);
  const learning = await learningOf(alert, options);
  const shown = person === null ? pages : pages.filter(({ account_id }) => account_id === person);
  print({ alert, pages: shown, timeline }, options, () => {
    const lines = shown.map((entry) => lineOf(entry, nameOf));
    const none =
      person === null || lines.length > 0
        ? []
        : [
            `${nameOf(person)}: no rung of the ladder of ${printable(alert.rule)} names them, and none of its schedules has them.`,
          ];
    const history = timeline
      .filter(({ kind }) => person === null && TELLS.has(kind))
      .map((entry) => `${when(entry.at)}  ${entryText(entry, nameOf)}`);
    return [
      `alert ${id} of ${printable(`${alert.project}/${alert.rule}`)}, ${alert.state}`,
      "",
      ...lines,
      ...none,
      ...(history.length === 0 ? [] : ["", ...history]),
      ...(learning.length === 0 ? [] : ["", ...learning]),
    ].join("\n");
  });
}

/** Of a rule that asks for what is new, unusual or missing: what it learns still, and until when. */
async function learningOf({ project, rule }: Alert, options: ApiOptions): Promise<string[]> {
  const at = v1("projects", project, "rules");
  const { rules } = await api.get<{ rules: Rule[] }>(options, at);
  const { learning = [], compares_from: from } = rules.find(({ name }) => name === rule) ?? {};
  const sources = learning.map(
    ({ source, until }) =>
      `${printable(source)} is learned ${until === null ? "from its first event on, for 24 hours" : `until ${when(until)}`}: until then nothing of it is new to the rule.`,
  );
  if (from === undefined) return sources;
  const begun = from === null ? "nothing was counted for it yet" : `it does from ${when(from)} on`;
  return [...sources, `The rule needs two weeks to tell what is usual: ${begun}.`];
}

function lineOf(entry: ReachEntry, nameOf: (id: string) => string): string {
  const who = entry.name ?? (entry.account_id === null ? "nobody" : nameOf(entry.account_id));
  const way = wayText(entry);
  const what = `${who}${way === "" ? "" : ` by ${way}`}: ${reasonText(entry, nameOf)}`;
  const error = entry.reason !== "event_filtered" && entry.error !== null ? `: ${entry.error}` : "";
  return printable(`${what}${error}${entry.at === null ? "" : `, ${when(entry.at)}`}`);
}
