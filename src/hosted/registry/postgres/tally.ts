import type { BatchKind, LaneLoad, TryFault } from "../load.ts";

/** Counts statements. */
export type DatabaseTally = ReturnType<typeof createDatabaseTally>;

export interface LaneTally {
  /** Counts one statement and its time. */
  statement(ms: number): void;
}

export function createDatabaseTally() {
  const lanes: (() => LaneLoad)[] = [];
  const faults = { undone: 0, late: 0, lost: 0, refused: 0, failed: 0 };
  const none = () => ({ statements: 0, rows: 0 });
  const batches = { take: none(), settle: none(), who: none(), beat: none() };
  return {
    lane(told: () => Pick<LaneLoad, "lane" | "places" | "busy" | "waiting">): LaneTally {
      const sum = { statements: 0, ms: 0 };
      lanes.push(() => ({ ...told(), statements: sum.statements, seconds: sum.ms / 1000 }));
      return {
        statement(ms) {
          sum.statements++;
          sum.ms += ms;
        },
      };
    },
    fault: (kind: TryFault) => void faults[kind]++,
    /** Counts one statement for so many rows. */
    batch(kind: BatchKind, rows: number) {
      batches[kind].statements++;
      batches[kind].rows += rows;
    },
    load: () => ({ lanes: lanes.map((lane) => lane()), faults, batches }),
  };
}
