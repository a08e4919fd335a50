import { type DatabaseMark, writeMark } from "../ground/store/record/mark.ts";
import type { BoxDeps } from "./parts.ts";

/** The directory's mark. What is noted is there before the next step. */
export function notesIn(data: string, first: DatabaseMark, { log }: BoxDeps) {
  let said = first;
  writeMark(data, said);
  const mustNote = (change: Partial<DatabaseMark>) => {
    const next = { ...said, ...change };
    if (JSON.stringify(next) === JSON.stringify(said)) return;
    writeMark(data, next);
    said = next;
  };
  return {
    now: () => said,
    mustNote,
    note(change: Partial<DatabaseMark>) {
      try {
        mustNote(change);
      } catch (error) {
        log.error(
          { err: error },
          "how the box stands to the database can't be written into the directory",
        );
      }
    },
  };
}

export type Notes = ReturnType<typeof notesIn>;
