import { execFileSync } from "node:child_process";
import { join } from "node:path";
import Database from "better-sqlite3";
import { startRecording } from "./recording.ts";
import { type CrashState, replay } from "./replay.ts";

/** What the states of the control's run came to. */
export interface ControlFigures {
  states: number;
  corrupt: number;
  /** States that lack a commit which had been answered for. */
  losing: number;
  worstLoss: number;
}

/** Records the writer under one setting of `synchronous` and looks at what power cuts leave of it. */
export function runControl(
  synchronous: "FULL" | "NORMAL" | "OFF",
  how: { states: number; seed: number },
): ControlFigures {
  const recording = startRecording();
  try {
    const { directory } = recording;
    const writer = join(import.meta.dirname, "writer.ts");
    const env = { ...process.env, ...recording.env };
    execFileSync(process.execPath, [writer, directory, synchronous], { env });
    const figures = { states: 0, corrupt: 0, losing: 0, worstLoss: 0 };
    replay({ root: directory, log: recording.read(), into: recording.into }, how, (state) => {
      figures.states++;
      const kept = rowsOf(state);
      const acked = Number(state.acked.at(-1) ?? 0);
      if (kept === null) figures.corrupt++;
      else if (kept < acked) {
        figures.losing++;
        figures.worstLoss = Math.max(figures.worstLoss, acked - kept);
      }
    });
    return figures;
  } finally {
    recording.discard();
  }
}

/** The highest row that is there with all before it; null where the database is damaged. */
function rowsOf({ directory }: CrashState): number | null {
  try {
    const db = new Database(join(directory, "box.db"));
    try {
      if (db.pragma("integrity_check", { simple: true }) !== "ok") return null;
      const known = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'rows'").get();
      if (known === undefined) return 0;
      const found = db.prepare("SELECT count(*) AS n, max(n) AS last FROM rows").get();
      const { n, last } = found as { n: number; last: number | null };
      return n === (last ?? 0) ? n : null;
    } finally {
      db.close();
    }
  } catch {
    return null;
  }
}
