import { Pool } from "undici";
import { events } from "./events.ts";
import { fill, partOfFull } from "./growth-stage.ts";
import { mainThreadMs, type Row, type Scenario, start, withDirectory } from "./harness.ts";

const CONNECTIONS = 64;
/** The first ones also compile what they run. */
const WARM = 5_000;
const ROUNDS = 3;

/**
 * What an event waits for when it comes: the turn of the event loop that runs. Its time by the clock is also that of whatever
 * else the machine does; its processor time isn't, so this holds on a busy machine, too.
 */
export const tail: Scenario = {
  name: "tail",
  about: "processor time of the long turns in which events are taken, on a store of some years",
  run: (quick) =>
    withDirectory(async (data) => {
      fill(data, partOfFull(0.01));
      const n = quick ? 5_000 : 50_000;
      const bare = await start(process.execPath, ["bench/bare.mjs"]);
      const watched = ["--import", "./bench/turn-watch.ts", "bench/box-server.ts"];
      const box = await start(process.execPath, watched, { BOX_BENCH_DATA: data });
      const [turns = "", url = "", token = ""] = box.line.split(" ");
      const turnsOf = async () => (await (await fetch(turns)).json()) as number[];
      await send(bare.line, "", WARM);
      await send(url, token, WARM);
      const found: { bare: number; turn: number }[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const before = mainThreadMs(bare);
        await send(bare.line, "", n);
        const each = (mainThreadMs(bare) - before) / n;
        await turnsOf();
        await send(url, token, n);
        found.push({ bare: each, turn: oneInAHundred(await turnsOf()) });
      }
      await Promise.all([bare.stop(), box.stop()]);
      const least = (of: "bare" | "turn") => Math.min(...found.map((one) => one[of]));
      const ms = (what: string, value: number): Row => ({ what, unit: "ms", value, lower: true });
      return [
        ms("bare server: CPU for an event", least("bare")),
        ms("a turn that one of 100 events meets, or a longer one: CPU", least("turn")),
        {
          what: "a turn that one of 100 events meets / bare server's CPU for an event",
          unit: "ratio",
          value: least("turn") / least("bare"),
          lower: true,
          hold: 320,
        },
      ];
    }),
};

async function send(url: string, token: string, n: number): Promise<void> {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  const bodies = events();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  let left = n;
  const lane = async () => {
    while (left-- > 0) {
      const body = bodies[left % bodies.length] as string;
      const answer = await pool.request({ path: "/v1/ingest", method: "POST", headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 202) throw new Error(`an event was answered ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  await pool.close();
}

/** One event in a hundred comes in a turn at least so long: such turns take a hundredth of the time of all. */
function oneInAHundred(turns: readonly number[]): number {
  let left = turns.reduce((sum, ms) => sum + ms, 0) / 100;
  for (const ms of turns.toSorted((a, b) => b - a)) {
    left -= ms;
    if (left <= 0) return ms;
  }
  return 0;
}
