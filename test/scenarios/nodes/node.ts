import { type ChildProcess, spawn } from "node:child_process";
import { ask } from "../../support/hosted-role.ts";

/** A node of its own process that can be killed, stopped, and started again on its directory and port. */
export class Node {
  readonly name: string;
  readonly #words: readonly string[];
  #program: string;
  #child: ChildProcess | null = null;
  #ended: Promise<number | null> = Promise.resolve(null);
  port = 0;
  /** What it wrote to its standard error since its latest start. */
  said = "";
  /** What it wrote there before. */
  #before = "";

  /** `level`: of what it logs. */
  constructor(name: string, program: string, words: readonly string[], level = "fatal") {
    this.name = name;
    this.#program = program;
    this.#words = [...words, "--log-level", level];
  }

  /** All that it ever wrote there. */
  get everSaid(): string {
    return this.#before + this.said;
  }

  /** Resolves once it listens; rejects where it ends before, with what it said. `program`: what it runs from now on. */
  async start(program: string = this.#program): Promise<void> {
    this.#program = program;
    this.#before = this.everSaid;
    this.said = "";
    const listen = ["--listen", `127.0.0.1:${this.port}`];
    const child = spawn(process.execPath, [program, ...this.#words, ...listen], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    child.stderr.on("data", (data) => {
      this.said += data;
    });
    this.#ended = new Promise((resolve) => child.once("close", resolve));
    this.port = await new Promise<number>((resolve, reject) => {
      let out = "";
      child.once("close", (code) =>
        reject(new Error(`node ${this.name} ended with ${code}: ${this.said}`)),
      );
      child.stdout.on("data", (data) => {
        out += data;
        const port = /listening on \S+:(\d+)/.exec(out)?.[1];
        if (port !== undefined) resolve(Number(port));
      });
    });
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#ended;
  }

  /** Its exit code, once it has ended; null where a signal ended it. */
  get ended(): Promise<number | null> {
    return this.#ended;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  signal(signal: NodeJS.Signals): void {
    const child = this.#child;
    if (child?.exitCode === null && child.signalCode === null) child.kill(signal);
  }

  /** What it says at a path; null where nobody answers. */
  get(path: string): Promise<Awaited<ReturnType<typeof ask>> | null> {
    const url = `http://127.0.0.1:${this.port}${path}`;
    return ask(url, {
      signal: AbortSignal.timeout(1_000),
      headers: { connection: "close" },
    }).catch(() => null);
  }

  async isReady(): Promise<boolean> {
    return (await this.get("/readyz"))?.status === 200;
  }
}
