import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { names, readCorpus, writeCorpus } from "./corpus.ts";
import { type Jazzer, prepareJazzer } from "./jazzer.ts";

export interface Figures {
  target: string;
  executions: number;
  /** Edges reached. */
  coverage: number;
  /** What the target threw, and the input that made it. */
  crash: { error: string; input: Buffer } | null;
}

/** Longest input, in bytes. */
const LONGEST = 4096;

/**
 * Fuzzes one target for so many seconds from its corpus on. With `keep` the corpus becomes the smallest that
 * reaches the same; an input that broke something is kept always.
 */
export function fuzz(
  jazzer: Jazzer,
  target: string,
  how: { seconds: number; keep?: boolean },
): Figures {
  const folder = mkdtempSync(join(tmpdir(), `box-fuzz-${target}-`));
  const [found, kept] = [join(folder, "found"), join(folder, "kept")];
  for (const one of [found, kept]) mkdirSync(one);
  readCorpus(target).forEach((input, i) => void writeFileSync(join(found, `kept-${i}`), input));
  try {
    const run = (corpora: string[], flags: string[]) =>
      spawnSync(
        process.execPath,
        [
          jazzer.command,
          jazzer.bundle,
          "--fuzzEntryPoint",
          target,
          "--sync",
          "-i",
          "targets.cjs",
          ...corpora,
          "--",
          `-artifact_prefix=${folder}/`,
          `-max_len=${LONGEST}`,
          ...flags,
        ],
        { env: jazzer.env, encoding: "utf8", maxBuffer: 64 * 1024 * 1024, cwd: folder },
      );
    const { stderr, status, stdout } = run(
      [found],
      [`-max_total_time=${how.seconds}`, "-timeout=20"],
    );
    const crash = status === 0 ? null : { error: said(stderr + stdout), input: artifact(folder) };
    if (crash !== null) writeCorpus(target, [...readCorpus(target), crash.input]);
    else if (how.keep) {
      run([kept, found], ["-merge=1"]);
      writeCorpus(
        target,
        readdirSync(kept).map((name) => readFileSync(join(kept, name))),
      );
    }
    const number = (pattern: RegExp) => Number([...stderr.matchAll(pattern)].at(-1)?.[1] ?? 0);
    const executions = number(/^Done (\d+) runs/gm) || number(/^#(\d+)\s/gm);
    return { target, executions, coverage: number(/cov: (\d+)/g), crash };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function artifact(folder: string): Buffer {
  const name = readdirSync(folder).find((one) => /^(crash|timeout|oom|slow)/.test(one));
  return name === undefined ? Buffer.alloc(0) : readFileSync(join(folder, name));
}

function said(text: string): string {
  const lines = text.split("\n");
  const from = Math.max(
    0,
    lines.findIndex((line) => /Uncaught|ERROR|Error/.test(line)),
  );
  return lines
    .slice(from, from + 30)
    .join("\n")
    .slice(0, 3000);
}

/** `node test/fuzz/run.ts [--seconds 20] [--keep] [target…]`: a line of figures a target. */
if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: {
      seconds: { type: "string", default: "20" },
      keep: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const jazzer = prepareJazzer();
  if (typeof jazzer === "string") throw new Error(jazzer);
  for (const target of positionals.length > 0 ? positionals : names) {
    const figures = fuzz(jazzer, target, { seconds: Number(values.seconds), keep: values.keep });
    const { executions, coverage, crash } = figures;
    process.stdout.write(
      `${target}: ${executions} executions, ${coverage} edges${crash ? `, CRASH\n${crash.error}\n${crash.input.toString("base64")}` : ""}\n`,
    );
    if (crash) process.exitCode = 1;
  }
}
