import type { BatchKind, DatabaseLoad, LaneLoad, TryFault } from "../load.ts";

/** Counts statements. */
export interface DatabaseTally {
  lane(told: () => Pick<LaneLoad, "lane" | "places" | "busy" | "waiting">): LaneTally;
  fault(kind: TryFault): void;
  /** Counts one statement for so many rows. */
  batch(kind: BatchKind, rows: number): void;
  load(): DatabaseLoad;
}

export interface LaneTally {
  /** Counts one statement and its time. */
  statement(ms: number): void;
}

export function createDatabaseTally(): DatabaseTally {
  const lanes: (() => LaneLoad)[] = [];
  const faults = { undone: 0, late: 0, lost: 0, refused: 0, failed: 0 };
  const none = () => ({ statements: 0, rows: 0 });
  const batches = { take: none(), settle: none(), who: none(), beat: none() };
  return {
    lane(told) {
      const sum = { statements: 0, ms: 0 };
      lanes.push(() => ({ ...told(), statements: sum.statements, seconds: sum.ms / 1000 }));
      return {
        statement(ms) {
          sum.statements++;
          sum.ms += ms;
        },
      };
    },
    fault: (kind) => void faults[kind]++,
    batch(kind, rows) {
      batches[kind].statements++;
      batches[kind].rows += rows;
    },
    load: () => ({ lanes: lanes.map((lane) => lane()), faults, batches }),
  };
}
