import { spawn } from "node:child_process";
import { join } from "node:path";
import { shared } from "./shared.ts";

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

const preload = shared ? ["--import", join(import.meta.dirname, "preload.ts")] : [];

/** The environment of a shell whose programs of this tree are to run as quickly. */
export const quick: Record<string, string> = shared ? { NODE_OPTIONS: preload.join(" ") } : {};

/** Runs a program in a process of its own until it ends. */
export function run(
  program: string,
  args: readonly (string | number)[],
  env: Record<string, string> = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const before = program.endsWith(".ts") ? preload : [];
    const child = spawn(process.execPath, [...before, program, ...args.map(String)], {
      env: { ...process.env, ...env },
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (err += data));
    child.on("close", (code, signal) => resolve({ code, signal, out, err }));
  });
}
