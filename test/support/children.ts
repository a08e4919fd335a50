import { spawn } from "node:child_process";

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

/** Runs a TypeScript program in a process of its own until it ends. */
export function run(
  program: string,
  args: readonly (string | number)[],
  env: Record<string, string> = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...args.map(String)], {
      env: { ...process.env, ...env },
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (err += data));
    child.on("close", (code, signal) => resolve({ code, signal, out, err }));
  });
}
