import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { targets } from "./targets.ts";

const folder = join(import.meta.dirname, "corpus");

/** Inputs of one target that are kept: each found something new, or something wrong. One a line, in base64. */
export function readCorpus(target: string): Buffer[] {
  try {
    const lines = readFileSync(join(folder, `${target}.txt`), "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => Buffer.from(line, "base64"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Keeps the inputs, each once, the shortest first. */
export function writeCorpus(target: string, inputs: readonly Buffer[]): void {
  const lines = [...new Set(inputs.map((input) => input.toString("base64")))];
  lines.sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  writeFileSync(join(folder, `${target}.txt`), `${lines.join("\n")}\n`);
}

export const names = Object.keys(targets).sort();
