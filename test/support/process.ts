import { spawn } from "node:child_process";
import type { TestContext } from "node:test";
import { type Ended, run } from "./children.ts";
import { programFile } from "./program.ts";

const program = await programFile();

/** Runs `box …` as a process of its own until it ends. */
export function boxCommand(...args: (string | number)[]): Promise<Ended> {
  return run(program, args);
}

/** Runs `box … --json` and returns what it answers; throws what it says when it fails. */
// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
export async function boxJson(...args: (string | number)[]): Promise<any> {
  const { code, out, err } = await boxCommand(...args, "--json");
  if (code !== 0) throw new Error(`box ${args.join(" ")}: ${code}\n${err}${out}`);
  return JSON.parse(out);
}

/** A box that serves in a process of its own. */
export interface Served {
  readonly url: string;
  readonly pid: number;
  /** Ends it and waits: TERM is the planned stop. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** What it has logged. */
  log(): string;
  /** What it has said on standard output. */
  said(): string;
}

export function serve(t: TestContext, data: string, ...flags: string[]): Promise<Served> {
  const words = [program, "serve", "--data", data, "--listen", "127.0.0.1:0", ...flags];
  const child = spawn(process.execPath, words);
  const gone = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  let log = "";
  let out = "";
  child.stderr.on("data", (data) => (log += data));
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    child.kill(signal);
    await gone;
  };
  t.after(() => end("SIGKILL"));
  return new Promise((resolve, reject) => {
    child.on("exit", (code) => reject(new Error(`box serve ended with ${code}: ${log}`)));
    child.stdout.on("data", (data) => {
      out += data;
      const url = /listening on (\S+)/.exec(out)?.[1];
      if (url !== undefined)
        resolve({ url, end, pid: child.pid as number, log: () => log, said: () => out });
    });
  });
}

/** An owner's API key, by way of a pairing code. */
export async function firstKey(served: Served, data: string): Promise<string> {
  const { code } = await boxJson("pair-code", "--data", data, "--email", "owner@example.org");
  const answer = await fetch(`${served.url}/v1/pair`, {
    method: "POST",
    body: JSON.stringify({ code, password: "correct horse battery" }),
  });
  const body = (await answer.json()) as { api_key: string };
  return body.api_key;
}

/** Calls the API of a served box. */
export async function call(
  served: Served,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
): Promise<{ status: number; body: any }> {
  const answer = await fetch(served.url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      // Text is lines of JSON.
      ...(typeof body === "string" && { "content-type": "application/x-ndjson" }),
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
}
