import type { FileProject } from "../src/records/config-file/document.ts";
import type { LadderEnd } from "../src/records/config-file/ladders-end.ts";
import type { LadderConfig } from "../src/records/config-file/shape.ts";
import { CommandError } from "./exit.ts";
import { printable } from "./table.ts";

/** `ladders_end`: undefined where there are none, or where the box is an older version. */
export interface EndingLadders {
  ladders_end?: readonly LadderEnd[];
}

interface OfProject extends EndingLadders {
  name: string;
}

const MOST = 10;

/** `ends the ladder of alerts 1, 2 of rule errors, which named ann@example.org`, a line for each rule. */
export const laddersText = ({ ladders_end = [] }: EndingLadders): string[] =>
  ladders_end.map(({ rule, alerts, count, people }) => {
    const more = count > MOST ? ` and ${count - MOST} more` : "";
    const which = `${count === 1 ? "alert" : "alerts"} ${alerts.slice(0, MOST).join(", ")}${more}`;
    const named = people.length === 0 ? "" : `, which named ${people.join(", ")}`;
    return printable(`ends the ladder of ${which} of rule ${rule}${named}`);
  });

/** The same, with the project. */
export const laddersOfProject = (project: OfProject): string[] =>
  laddersText(project).map((line) => `${printable(project.name)}: this ${line}`);

/** Throws CommandError where a ladder would end. */
export function mustEndNoLadder(projects: readonly OfProject[]): void {
  const ended = projects.flatMap(laddersOfProject);
  if (ended.length === 0) return;
  throw new CommandError(
    `nothing was changed, because these alerts would page nobody further:\n  ${ended.join("\n  ")}\n--yes applies it all the same`,
  );
}

type Config = FileProject["config"];

/**
 * What a project has to be before the file's ladders can be made: as it is, with the schedules that they name. Null where it
 * shares these already, or none.
 */
export function withNamedSchedules(
  { name, config }: FileProject,
  before: Config | null,
  ladders: readonly LadderConfig[],
): Config | null {
  const named = new Set(ladders.flatMap(({ steps }) => steps.flatMap((one) => one.schedules)));
  const present = before?.schedules ?? [];
  const missing = config.schedules.filter(
    (one) =>
      one.shared &&
      named.has(`${name}/${one.name}`) &&
      !present.some((other) => other.name === one.name && other.shared),
  );
  if (missing.length === 0) return null;
  const others = present.filter((one) => !missing.some((other) => other.name === one.name));
  const nothing = { sources: [], actions: [], integrations: [], rules: [] };
  return { ...(before ?? nothing), schedules: [...others, ...missing] };
}
