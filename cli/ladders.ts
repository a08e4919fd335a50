import type { Command } from "commander";
import type * as z from "zod";
import type { LadderChange, LadderCopies, ladderAnswer } from "../src/core/projects/ladder.ts";
import { api, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { readNamed } from "./files.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { stepsWithIds } from "./rules.ts";
import { printable, when } from "./table.ts";

type Ladder = z.output<typeof ladderAnswer>;

export function registerLadders(program: Command): void {
  const group = program
    .command("ladder")
    .description("ladders: who is paged and when, for every rule that refers to one by name");
  const ladder = nounCommands(group, { of: "", one: "<name>", at: () => "/v1/ladders" });
  ladder.list<Ladder>(
    "list ladders",
    {
      NAME: ({ name }) => name,
      RUNGS: ({ steps }) => String(steps.length),
      PASSES: ({ passes }) => String(passes),
      RULES: ({ rules }) => String(rules.length),
      TEAM: ({ team }) => team,
      UPDATED: ({ updated_at }) => when(updated_at),
    },
    { none: "no ladders: every rule has rungs of its own" },
  );
  ladder.verb("show", "print a ladder as JSON, with the rules that refer to it", async (at, o) => {
    const answer = await api.get<object>(o, at);
    print(answer, o, () => JSON.stringify(answer, null, 2));
  });
  apiFlags(group.command("set <file>"), setFlags)
    .description(
      "create or replace a ladder from a JSON file (- = standard input); open alerts of its rules follow it; people by email",
    )
    .action(set);
  apiFlags(group.command("adopt"), adoptFlags)
    .description(
      "find rules with equal rungs of their own; with --yes one shared ladder replaces them",
    )
    .action(adopt);
  ladder.delete("delete a ladder that no rule refers to");
}

interface LadderFile {
  name: string;
  steps?: unknown;
}

const setFlags = {
  "--name <name>": "the ladder to replace, if the file's name is a new one",
  "--preview": "only show whom the change would page at once",
};

async function set(file: string, options: GivenBy<typeof setFlags>): Promise<void> {
  const body = await ladderWithIds(await readNamed(file, "a ladder"), options);
  const name = options.name ?? body.name;
  const { ladders } = await api.get<{ ladders: Ladder[] }>(options, "/v1/ladders");
  const exists = options.name !== undefined || ladders.some((one) => one.name === name);
  if (!exists) {
    if (options.preview) {
      print({}, options, () => `${printable(name)} would be a new ladder: no rule refers to it`);
      return;
    }
    const made = await api.post<Ladder>(options, "/v1/ladders", body);
    print(made, options, () => `created ladder ${printable(name)}`);
    return;
  }
  const at = v1("ladders", name);
  const answer = options.preview
    ? await api.post<{ change: LadderChange }>(options, `${at}/preview`, body)
    : await api.put<{ change: LadderChange }>(options, at, body);
  const done = options.preview ? "would replace" : "replaced";
  print(answer, options, () => `${done} ladder ${printable(name)}\n${changeText(answer.change)}`);
}

const adoptFlags = {
  "--name <name>": "what the ladder is called",
  "--rule <project/rule>": "one of the rules, if several groups are found: which group to use",
  "--yes": "do it; without, it is only shown",
};

async function adopt(options: GivenBy<typeof adoptFlags>): Promise<void> {
  const { name, rule, yes } = options;
  const answer = await api.get<{ copies: LadderCopies[] }>(options, "/v1/ladder-copies");
  const copies = answer.copies.filter(({ rules }) => rule === undefined || rules.includes(rule));
  if (!yes) {
    print(
      { copies },
      options,
      () => copies.map(copiesText).join("\n") || "no two rules have equal rungs",
    );
    return;
  }
  const [one, ...others] = copies;
  if (one === undefined) throw new CommandError("no two rules have equal rungs");
  if (others.length > 0)
    throw new CommandError(
      `${copies.length} ladders could be made: say which with --rule PROJECT/RULE`,
      exitCodes.usage,
    );
  if (name === undefined) throw new CommandError("--name is needed with --yes", exitCodes.usage);
  const body = { name, rules: one.rules };
  const made = await api.post<Ladder>(options, "/v1/ladder-copies", body);
  print(made, options, () => `ladder ${printable(name)}: ${one.rules.length} rules refer to it`);
}

function copiesText({ steps, rules, not_shared }: LadderCopies): string {
  const times = steps.map(({ after_minutes }) => `${after_minutes}`).join(", ");
  const share =
    not_shared.length === 0 ? "" : `; share first: ${not_shared.map(printable).join(", ")}`;
  return `${rules.length} rules, rungs after ${times} minutes${share}\n${rules.map((one) => `  ${printable(one)}`).join("\n")}`;
}

/** A ladder as the API takes it. */
async function ladderWithIds(ladder: LadderFile, options: ApiOptions): Promise<LadderFile> {
  const { steps } = ladder;
  return Array.isArray(steps) ? { ...ladder, steps: await stepsWithIds(steps, options) } : ladder;
}

function changeText({ rules, open_alerts, pages }: LadderChange): string {
  const who = pages.map(({ email, alerts }) => `${printable(email)} (${alerts})`).join(", ");
  const paged = pages.length === 0 ? "it pages nobody at once" : `paged at once: ${who}`;
  return `rules: ${rules}, open alerts: ${open_alerts}; ${paged}`;
}
