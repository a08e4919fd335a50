import type { Command } from "commander";
import type { WaitingAnswer } from "../src/core/alerts/waiting.ts";
import { learningWords } from "../src/core/projects/learning-words.ts";
import type { Rule } from "../src/core/projects/rule.ts";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { accountIds } from "./accounts.ts";
import { api, namedId, path, v1 } from "./api.ts";
import { type EndingLadders, laddersOfProject, mustEndNoLadder } from "./config-ladders.ts";
import type { ApiOptions } from "./connection.ts";
import { readNamed } from "./files.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { tryFlags, tryRule } from "./rule-try.ts";
import { printable, table, when } from "./table.ts";
import { terminal } from "./terminal.ts";

export function registerRules(program: Command): void {
  const group = program.command("rule").description("rules: which events open an alert");
  const rule = nounCommands(group, {
    of: "<project>",
    one: "<name>",
    at: ([project = ""]) => v1("projects", project, "rules"),
  });
  rule.list<Rule>("list rules", {
    NAME: ({ name }) => name,
    MATCH: ({ match }) => JSON.stringify(match),
    UPDATED: ({ updated_at }) => when(updated_at),
  });
  rule.verb("show", "print a rule as JSON", async (place, options) => {
    const answer = await api.get<Rule>(options, place);
    print(answer, options, () => JSON.stringify(answer, null, 2));
    // Beside the JSON, so that it can be piped.
    for (const words of learningWords(answer, { now: unixSeconds(systemClock), when }))
      terminal().stderr.write(`${printable(words)}\n`);
  });
  rule.verb(
    "waiting",
    "list pending alerts: their rule has fired, but for_minutes are not over yet",
    async (place, options) => {
      const answer = await api.get<WaitingAnswer>(options, `${place}/waiting`);
      print(answer, options, () => waitingText(answer));
    },
  );
  apiFlags(group.command("set <project> <file>"))
    .description(
      "create or replace a rule from a JSON file (- = standard input); a field that the file leaves out goes back to its default; people by email, actions by name",
    )
    .action(set);
  apiFlags(group.command("try <project> <file>"), tryFlags)
    .description(
      "show the alerts that a rule from a JSON file (- = standard input) would have opened on kept log lines",
    )
    .action(tryRule);
  apiFlags(group.command("delete <project> <name>"), removeFlags)
    .description("delete a rule; its alerts stay open, and nobody further is paged for them")
    .action(remove);
}

function waitingText({ count, waiting }: WaitingAnswer): string {
  if (count === 0) return "nothing waits";
  const rows = waiting.map((one) => [
    when(one.opens_at),
    when(one.since),
    String(one.level),
    String(one.count),
    printable(one.title),
  ]);
  const more = count > waiting.length ? [`and ${count - waiting.length} more`] : [];
  return [table(["OPENS", "SINCE", "LEVEL", "EVENTS", "WHAT"], rows), ...more].join("\n");
}

const removeFlags = {
  "--yes": "confirm a change after which some open alerts page nobody any more",
};

async function remove(
  project: string,
  name: string,
  options: GivenBy<typeof removeFlags>,
): Promise<void> {
  const at = v1("projects", project, "rules", name);
  if (!options.yes)
    mustEndNoLadder([{ ...(await api.get<EndingLadders>(options, at)), name: project }]);
  const done = await api.delete<EndingLadders>(options, at);
  print(done, options, () =>
    [`deleted ${name}`, ...laddersOfProject({ ...done, name: project })].join("\n"),
  );
}

interface RuleFile {
  name: string;
  actions?: unknown;
  escalations?: unknown;
}

async function set(project: string, file: string, options: ApiOptions): Promise<void> {
  const body = await ruleWithIds(project, await readNamed(file, "a rule"), options);
  const base = v1("projects", project, "rules");
  const { rules } = await api.get<{ rules: { name: string }[] }>(options, base);
  const exists = rules.some(({ name }) => name === body.name);
  const answer = exists
    ? await api.put<Rule>(options, base + path(body.name), body)
    : await api.post<Rule>(options, base, body);
  const done = `${exists ? "replaced" : "created"} rule ${body.name}`;
  print(answer, options, () => [done, actionsText(answer)].join("\n"));
}

/** The rule as the API takes it. Faulty parts are sent unchanged, so that the box refuses them with its own message. */
export async function ruleWithIds(
  project: string,
  rule: RuleFile,
  options: ApiOptions,
): Promise<RuleFile> {
  const { actions, escalations } = rule;
  const ids: unknown[] = [];
  for (const action of Array.isArray(actions) ? actions : [])
    ids.push(
      typeof action === "string"
        ? await namedId(options, { kind: "action", project }, action)
        : action,
    );
  return {
    ...rule,
    ...(Array.isArray(actions) ? { actions: ids } : {}),
    ...(Array.isArray(escalations)
      ? { escalations: await stepsWithIds(escalations, options) }
      : {}),
  };
}

/** Steps with ids in the place of emails; faulty ones as they are. */
export async function stepsWithIds(
  steps: readonly unknown[],
  options: ApiOptions,
): Promise<unknown[]> {
  const named = namesPeople(steps) ? await accountIds(options) : (who: string) => who;
  return steps.map((step) =>
    hasAccounts(step)
      ? {
          ...step,
          accounts: step.accounts.map((who) => (typeof who === "string" ? named(who) : who)),
        }
      : step,
  );
}

function hasAccounts(step: unknown): step is { accounts: unknown[] } {
  const accounts = (step as { accounts?: unknown } | null)?.accounts;
  return Array.isArray(accounts);
}

/** Whether the ladder names a person in another way than by id. */
function namesPeople(escalations: readonly unknown[]): boolean {
  const people = escalations.filter(hasAccounts).flatMap(({ accounts }) => accounts);
  return people.some((who) => typeof who === "string" && !/^[0-9a-f]{16}$/.test(who));
}

function actionsText({ actions, runs_actions: runs }: Rule): string {
  const list = runs.map(({ name, events }) => `${printable(name)} (${events.join(", ")})`);
  const now = list.length === 0 ? "none now" : list.join(", ");
  return actions === undefined
    ? `it names no actions, so it runs every enabled one: ${now}`
    : `it runs the enabled ones of the actions that it names: ${now}`;
}
