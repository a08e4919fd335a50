import type { LadderEnd } from "../src/records/config-file/ladders-end.ts";
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
