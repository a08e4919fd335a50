import { Pool } from "undici";
import { events, eventValues } from "./events.ts";
import { fromRounds, type Row, type Scenario, start, withDirectory } from "./harness.ts";
import { closedLoop } from "./load.ts";

const STREAMS = 200;

export const changes: Scenario = {
  name: "changes",
  about: `${STREAMS} streams of /v1/changes: what they cost ingest, and a change's way to all of them`,
  async run(quick): Promise<Row[]> {
    const server = await start(process.execPath, ["bench/box-server.ts"]);
    const [url = "", token, key] = server.line.split(" ");
    const [region] = eventValues(1);
    const rate = () =>
      withDirectory(async (directory) => {
        const headers = { Authorization: `Bearer ${token}` };
        const load = { url: `${url}/v1/ingest`, headers, bodies: events(), directory };
        return (await closedLoop({ ...load, connections: 64, seconds: quick ? 2 : 4 })).rate;
      });
    await rate();
    const ratios: number[] = [];
    const last: number[] = [];
    for (let round = 0; round < (quick ? 3 : 7); round++) {
      const before = await rate();
      const pool = new Pool(url, { connections: STREAMS, pipelining: 1 });
      const told: number[] = [];
      let isWaiting = false;
      const headers = { authorization: `Bearer ${key}`, accept: "text/event-stream" };
      for (let i = 0; i < STREAMS; i++) {
        const answer = await pool.request({ path: "/v1/changes", method: "GET", headers });
        answer.body.on("error", () => {});
        let isTold = false;
        answer.body.on("data", () => {
          if (isWaiting && !isTold) told.push(performance.now());
          if (isWaiting) isTold = true;
        });
      }
      const beside = await rate();
      await new Promise((resolve) => setTimeout(resolve, 1000));
      isWaiting = true;
      const send = () =>
        fetch(`${url}/v1/ingest`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}` },
          body: JSON.stringify({ ...region, level: 400, keys: { region: `round ${round}` } }),
        });
      const sent = performance.now();
      await Promise.all([send(), send(), send()]);
      while (told.length < STREAMS) await new Promise((resolve) => setTimeout(resolve, 5));
      last.push(Math.max(...told) - sent);
      await pool.destroy();
      // Alone before and after, since the machine's own pace drifts.
      ratios.push(beside / ((before + (await rate())) / 2));
    }
    await server.stop();
    return [
      fromRounds("ingest beside streams / without", "ratio", ratios),
      fromRounds(`a change to all ${STREAMS}`, "ms", last),
    ];
  },
};
