import type { LadderEnd } from "../../../records/config-file/ladders-end.ts";
import { counted } from "./pieces.ts";

/** What goes with a rule, before it goes and after. */
export function ladderEndWords({ rule, count, people }: LadderEnd): string {
  const named = people.length > 0 ? `: its ladder named ${people.join(", ")}` : "";
  return `Of ${counted(count, "open alert")} of rule ${rule} nobody further is paged${named}.`;
}
