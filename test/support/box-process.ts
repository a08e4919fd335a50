import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Api, type ApiReply, createApi } from "../../src/app/prove/api.ts";
import {
  type Ending,
  type Process,
  type Program,
  runCommand,
  startBoxProcess,
  within,
} from "../../src/app/prove/scratch-box.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { memoryOrTemp } from "./memory.ts";

/** A box as a process of its own, which can be killed and started again on its data. */
export interface BoxProcess {
  readonly data: string;
  /** Where it listens since its latest start. */
  readonly url: string;
  /** With the owner's key once there is a seat. */
  readonly api: Api;
  /** Starts it, and makes the first seat at the first start. Throws with its log where it doesn't come up. */
  start(program?: Program): Promise<void>;
  /** Makes the owner's seat, for a box that was started without `start`. */
  seat(): Promise<void>;
  /** SIGKILL, now. */
  kill(): Promise<void>;
  /** SIGSTOP or SIGCONT. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** When the process ends by itself or is ended. */
  ended(): Promise<Ending>;
  /** SIGTERM, and its end. */
  stop(): Promise<Ending>;
  /** A project with one source and one rule for everything that tells alerts apart by `n`; its ingest token. */
  project(name: string, webhook?: string): Promise<string>;
  ingest(token: string, event: object): Promise<ApiReply>;
  /** Kills what runs and removes the data. */
  discard(): Promise<void>;
}

const START_MS = 300_000;

/** `data`: where its files are; a new place under the system's temporary one unless told. */
export function boxProcess(program: Program, data?: string): BoxProcess {
  const at = data ?? mkdtempSync(join(memoryOrTemp(), "box-process-"));
  const api = createApi();
  let running: Process | null = null;
  let url = "";

  const ended = () => (running as Process).ended;
  const seat = async () => {
    const issued = await runCommand(program, ["pair-code", "--data", at, "--json"]);
    const code = String(issued["code"]);
    const paired = await api.need("POST", "/v1/pair", {
      code,
      email: "owner@example.org",
      password: "correct horse battery",
    });
    api.key = String(paired["api_key"]);
  };

  return {
    data: at,
    get url() {
      return url;
    },
    api,
    async start(other = program) {
      running = startBoxProcess(other, at);
      const listens = await within(systemClock, START_MS, running.ready);
      if (listens === null) {
        running.kill("SIGKILL");
        const { code, said } = await running.ended;
        throw new Error(`the box did not start (exit code ${code}): ${said}`);
      }
      url = listens;
      api.at(url);
      if (api.key === "") await seat();
    },
    seat,
    async kill() {
      running?.kill("SIGKILL");
      await running?.ended;
    },
    signal: (signal) => running?.kill(signal),
    ended,
    async stop() {
      running?.kill("SIGTERM");
      return ended();
    },
    async project(name, webhook) {
      const path = `/v1/projects/${name}`;
      await api.need("POST", "/v1/projects", { name });
      const source = await api.need("POST", `${path}/sources`, { name: "app", retain_logs: true });
      if (webhook !== undefined) await api.need("POST", `${path}/webhooks`, { url: webhook });
      await api.need("POST", `${path}/rules`, { name: "any", identifier_keys: ["n"], max_open: 0 });
      return String(source["token"]);
    },
    ingest: (token, event) =>
      api.send("/v1/ingest", {
        bearer: token,
        type: "application/json",
        body: JSON.stringify(event),
      }),
    async discard() {
      running?.kill("SIGKILL");
      await running?.ended;
      api.close();
      if (data === undefined) rmSync(at, { recursive: true, force: true });
    },
  };
}
