import { serverLimits } from "../../src/web/http/server-limits.ts";
import { served } from "../network/served.ts";
import { type Turns, watchTurns } from "../support/turns.ts";
import { watchMemory } from "./memory.ts";

/** What a request cost the process that served it. */
export interface Cost {
  /** Milliseconds of work in the longest turn of its loop. */
  stall: number;
  /** Bytes that it took more, at the most, than before the first. */
  growth: number;
  /** Errors of its own since the last time. */
  errors: string[];
}

/** Where the box is. */
export interface Place {
  port: number;
  ports: readonly { name: string; port: number }[];
  key: string;
  token: string;
}

const at = (name: string) => [`127.0.0.1:0=p/${name}`];

/** A box in a process of its own that says what each request cost it. */
const box = await served(serverLimits, {
  syslogUdp: at("syslog"),
  syslogTcp: at("syslog"),
  gelfUdp: at("gelf"),
  gelfTcp: at("gelf"),
  smtp: at("mail"),
  allowFrom: ["127.0.0.0/8"],
});
const memory = watchMemory();
let turns: Turns | null = null;

process.on("message", (what) => {
  if (what === "begin") {
    memory.begin();
    turns = watchTurns();
    process.send?.("begun");
  } else if (what === "read") {
    const cost: Cost = {
      stall: turns?.longest ?? 0,
      growth: memory.growth(),
      errors: box.errors.splice(0).map((error) => JSON.stringify(error, reason).slice(0, 2000)),
    };
    turns?.stop();
    process.send?.(cost);
  } else void box.stop().then(() => process.exit(0));
});

function reason(_: string, value: unknown): unknown {
  return value instanceof Error ? value.stack : value;
}

const { port, ports, key, token } = box;
process.send?.({ port, ports, key, token } satisfies Place);
