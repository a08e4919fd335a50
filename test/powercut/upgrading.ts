import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { migrations } from "../../src/ground/store/migrations.ts";
import { openStore } from "../../src/ground/store/store.ts";
import { verifyBackup } from "../../src/records/backup/verify.ts";
import { later } from "../ground/store/later.ts";
import { startRecording } from "./recording.ts";
import { type CrashState, replay } from "./replay.ts";

const PROJECTS = 40;

/** Records a first start and an upgrade to a later schema, and looks at what power cuts leave of them. */
export function cutUpgrades(how: { states: number; seed: number }): {
  states: number;
  wrong: string[];
} {
  const recording = startRecording();
  const { directory, into } = recording;
  const env = { ...process.env, ...recording.env };
  const run = (age: string) =>
    execFileSync(process.execPath, [join(import.meta.dirname, "upgrade.ts"), directory, age], {
      env,
    });
  try {
    recording.part("old");
    run("old");
    recording.ack("old");
    recording.part("upgrade");
    run("new");
    recording.ack("new");
    let states = 0;
    const wrong: string[] = [];
    replay({ root: directory, log: recording.read(), into }, how, (state) => {
      states++;
      wrong.push(...wrongAfter(state).map((what) => `${state.part}, ${state.mode}: ${what}`));
    });
    return { states, wrong };
  } finally {
    recording.discard();
  }
}

/** The old program opens it, or else the new one finds its own schema: never half of it. */
function wrongAfter({ directory, acked }: CrashState): string[] {
  try {
    const copy = join(directory, `box.db.schema-${migrations("box").length}`);
    if (acked.includes("new") && existsSync(copy)) verifyBackup(copy);
    return look(directory, acked);
  } catch (error) {
    return [`${error instanceof Error ? error.message : String(error)} ${readdirSync(directory)}`];
  }
}

function look(directory: string, acked: readonly string[]): string[] {
  const path = join(directory, "box.db");
  if (!existsSync(path)) return acked.length > 0 ? ["the database is gone"] : [];
  const store = openStore({
    path,
    kind: "box",
    clock: systemClock,
    random: systemRandom,
    migrations: later,
  });
  try {
    const count = (text: string) => store.sql(text).pluck().get() as number;
    const found = store.db.pragma("integrity_check", { simple: true });
    const projects = count("SELECT count(*) FROM projects");
    const rows = count("SELECT count(*) FROM later");
    const red = count("SELECT count(*) FROM projects WHERE colour = 'red'");
    return [
      ...(found === "ok" ? [] : [`integrity: ${found}`]),
      ...(acked.length === 0 || projects === PROJECTS ? [] : [`${projects} projects`]),
      ...(rows === 40 && red === projects ? [] : [`half an upgrade: ${rows} rows, ${red} red`]),
    ];
  } finally {
    store.close();
  }
}
