import type { Command } from "commander";
import type { Simulation, SweepCells } from "../src/core/alerts/simulate/shape.ts";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { accountIds } from "./accounts.ts";
import { api, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { readNamed } from "./files.ts";
import { levelHelp } from "./level.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { allProjects } from "./projects.ts";
import { reasonText } from "./reached.ts";
import { ruleWithIds } from "./rules.ts";
import { printable, table, when } from "./table.ts";
import { localZone } from "./terminal.ts";
import { hoursByDay, timeHelp } from "./times.ts";

export function registerSimulate(program: Command): void {
  apiFlags(program.command("simulate"), simulateFlags)
    .description(
      "show who would be paged when, by which contact and why, if a rule opened an alert; sends nothing",
    )
    .action(runSimulate);
}

const simulateFlags = {
  "--rule <name>": "the rule",
  "--file <file>": "or a rule from a JSON file (- = standard input)",
  "--ladder <name>": "or a ladder, as a rule that names it would run it",
  "--project <name>": "its project, if there are several",
  "--at <time>": `when it opens: ${timeHelp} (default now)`,
  "--level <level>": `its level: ${levelHelp}`,
  "--silent <who>": { about: "a person who answers nothing (repeatable)", repeats: true },
  "--ack <who>": "a person who acknowledges it after being paged",
  "--after <length>": { about: "with --ack: how long after the page", usual: "5m" },
  "--hours <n>": { about: "hours to follow it, 1 to 48", usual: "24" },
  "--sweep [days]": "the result for each hour of the next days, 1 to 14 (without a number 14)",
} as const;
type SimulateOptions = GivenBy<typeof simulateFlags>;

async function runSimulate(options: SimulateOptions): Promise<void> {
  const { sweep, at } = options;
  const project = options.project ?? (await homeOf(options)) ?? (await onlyProject(options));
  const question = await questionOf(project, options);
  const base = ["projects", project, "rules"];
  const time = at ?? unixSeconds(systemClock);
  if (sweep !== undefined) {
    const days = sweep === true ? 14 : numberIn("--sweep", sweep, 14);
    const body = { ...question, from: time - (time % 3600), days };
    const answer = await api.post<SweepCells>(options, v1(...base, "sweep"), body);
    print(answer, options, () => sweepText(answer));
    return;
  }
  const body = { ...question, at };
  const answer = await api.post<Simulation>(options, v1(...base, "simulate"), body);
  print(answer, options, () => simulationText(answer, time));
}

/** Of a ladder: the project of the first rule that names it; undefined: none does. Throws CommandError where it isn't there. */
async function homeOf({ ladder, ...options }: SimulateOptions): Promise<string | undefined> {
  if (ladder === undefined) return undefined;
  const at = v1("ladders", ladder);
  const { rules } = await api.get<{ rules: string[] }>(options, at);
  return rules[0]?.split("/", 1)[0];
}

/** The only project. Throws CommandError where there is none or several. */
async function onlyProject(options: ApiOptions): Promise<string> {
  const names = (await allProjects(options)).map(({ name }) => name);
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  throw new CommandError(
    names.length === 0
      ? "there is no project"
      : `there are several projects, so --project must name one: ${names.join(", ")}`,
    exitCodes.usage,
  );
}

async function questionOf(project: string, options: SimulateOptions): Promise<object> {
  const { rule, file, ladder, level, silent, ack, after, hours } = options;
  if ([rule, file, ladder].filter((one) => one !== undefined).length !== 1)
    throw new CommandError("give one of --rule, --ladder and --file", exitCodes.usage);
  const idOf =
    silent.length > 0 || ack !== undefined ? await accountIds(options) : (who: string) => who;
  return {
    rule:
      file !== undefined
        ? await ruleWithIds(project, await readNamed(file, "a rule"), options)
        : ladder === undefined
          ? rule
          : { name: ladder, ladder },
    level,
    silent: silent.map(idOf),
    ...(ack !== undefined && { ack: { account: idOf(ack), after_seconds: after } }),
    horizon_hours: numberIn("--hours", hours, 48),
  };
}

function numberIn(what: string, text: string, most: number): number {
  const n = Number(text);
  if (Number.isInteger(n) && n >= 1 && n <= most) return n;
  throw new CommandError(`${what} must be 1 to ${most}, not "${text}"`, exitCodes.usage);
}

const WHY = {
  step: "",
  repeat: "again",
  nobody_reached_before: "at once, nobody before",
  renotify: "notified again",
  fallback: "fallback",
} as const;

const MOST_SHOWN = 40;

function simulationText(answer: Simulation, fires: number): string {
  const { opens_at: opens, rungs, shared, held, untold, verdict, ends } = answer;
  const nameOf = (id: string) =>
    rungs.flatMap(({ people }) => people).find(({ account_id }) => account_id === id)?.name ?? id;
  const rows = rungs.slice(0, MOST_SHOWN).flatMap(({ at, step, why, people, nobody }) => {
    const head = [when(at), `rung ${step}`, WHY[why]];
    if (nobody) return [[...head, "NOBODY", "", ""]];
    return people.map((one) => [...head, one.name, waysText(one), becauseText(one)]);
  });
  const quiet = held.map(
    ({ at, until, reason }) => `silenced ${when(at)} to ${when(until)}: ${printable(reason)}`,
  );
  const channels = shared.map(({ name, event, state, reason }) =>
    [printable(name), event, state, reason ?? ""].join(" ").trim(),
  );
  const without = untold
    .filter(({ account_id }) => account_id !== null)
    .map((entry) => `${printable(entry.name ?? "somebody")}: ${reasonText(entry, nameOf)}`);
  return [
    `${verdict.level.toUpperCase()}: ${printable(verdict.sentence)}`,
    ...(opens - fires < 60 ? [] : [`It opens ${when(opens)}: its rule waits first.`]),
    ...section(
      rows.length === 0 ? [] : [table(["WHEN", "STEP", "", "WHO", "BY", "BECAUSE"], rows)],
    ),
    ...(rungs.length > MOST_SHOWN ? [`and ${rungs.length - MOST_SHOWN} more, see --json`] : []),
    ...section(quiet),
    ...section(channels.map((line) => `channel ${line}`)),
    ...section(without),
    "",
    `It ends ${when(ends.at)}: ${ENDS[ends.how]}.`,
  ].join("\n");
}

const ENDS = {
  ack: "somebody acknowledged it",
  top: "the ladder has run, and nothing more comes",
  horizon: "the calculation ends here",
};

const section = (lines: string[]): string[] => (lines.length === 0 ? [] : ["", ...lines]);

type Person = Simulation["rungs"][number]["people"][number];

function waysText({ channels, answers }: Person): string {
  const ways = channels.map(({ kind, label, state, after_seconds: after }) => {
    if (kind === "none") return "NOTHING";
    const mark = state === "confirmed" ? "" : ` (${state})`;
    return `${kind} ${label}${mark}${after > 0 ? ` after ${after} s` : ""}`.trim();
  });
  return `${ways.join(", ")}${answers ? "" : ", no answer"}`;
}

function becauseText({ because }: Person): string {
  return because
    .map(({ kind, name, until }) => {
      if (kind === "named") return name;
      const by = kind === "override" ? ", by an override" : "";
      return `on call: ${name}${by}${until === null ? "" : ` until ${when(until)}`}`;
    })
    .join("; ");
}

const MARKS = { good: "·", warn: "!", error: "X" } as const;

/** A row for each day and a mark for each hour; then the faults, once for each reason. */
function sweepText({ cells }: SweepCells): string {
  const rows = hoursByDay(cells).map(
    ({ day, before, hours }) =>
      `${day} |${before}${hours.map(({ verdict }) => MARKS[verdict]).join("")}`,
  );
  const bad = Map.groupBy(
    cells.filter(({ verdict }) => verdict !== "good"),
    ({ verdict, why }) => `${verdict.toUpperCase()}: ${printable(why)}`,
  );
  const reasons = [...bad].slice(0, MOST_SHOWN).map(([why, all]) => {
    const first = when(all[0]?.at ?? 0);
    return `${first}  ${why}${all.length > 1 ? ` (${all.length} hours)` : ""}`;
  });
  const good = cells.filter(({ verdict }) => verdict === "good").length;
  return [
    `${good} of ${cells.length} hours are good (${localZone()})`,
    "",
    ...rows,
    ...section(reasons),
  ].join("\n");
}
