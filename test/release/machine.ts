import { spawn } from "node:child_process";

/** What a box runs on: how to call its commands there, and how to serve as its unit does. */
export interface Machine {
  /** `box … --json` as the user that the box belongs to; throws what it says when it fails. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
  box(...words: string[]): Promise<any>;
  serve(): Promise<Served>;
  /** A path that `box` can write to and that outlives the box's data. */
  backup: string;
  /** Takes the program away and puts it back. */
  reinstall(): Promise<void>;
  /** The disk that held the data is gone. */
  loseData(): Promise<void>;
}

export interface Served {
  url: string;
  /** The planned stop; answers the exit code. */
  stop(): Promise<number | null>;
}

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** How a process is started. */
export interface How {
  env?: Record<string, string>;
  cwd?: string;
}

/** Runs a command until it ends. */
export function run([program = "", ...words]: readonly string[], how: How = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { ...how, stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    let err = "";
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (err += data));
    child.once("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

/** Runs a command that has to succeed; answers its standard output. */
export async function must(command: readonly string[], how: How = {}): Promise<string> {
  const { code, out, err } = await run(command, how);
  if (code !== 0) throw new Error(`${command.join(" ")}: ${code}\n${out}${err}`);
  return out;
}

/** Starts a command that serves, and waits until it says where it listens. */
export function startServing(
  [program = "", ...words]: readonly string[],
  how: How = {},
): Promise<Served> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { ...how, stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise<number | null>((done) => child.once("exit", (code) => done(code)));
    const stop = () => {
      child.kill("SIGTERM");
      return ended;
    };
    const said: string[] = [];
    child.stderr.on("data", (data) => said.push(String(data)));
    child.stdout.on("data", (data) => {
      said.push(String(data));
      const url = /listening on (\S+)/.exec(said.join(""))?.[1];
      if (url !== undefined) resolve({ url, stop });
    });
    child.once("error", reject);
    void ended.then((code) => reject(new Error(`it ended with ${code}\n${said.join("")}`)));
  });
}
