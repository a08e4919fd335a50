import { Pool } from "undici";
import { events, eventValues } from "./events.ts";
import { fromRounds, type Row, type Scenario, start, withDirectory } from "./harness.ts";
import { closedLoop } from "./load.ts";

const READERS = 1000;
/** Longer than a round. */
const WAIT_SECONDS = 55;

interface Page {
  alerts: unknown[];
  cursor: number;
}

/** One box with a client that can park readers on it. */
async function parkedBox() {
  const server = await start(process.execPath, ["bench/box-server.ts"]);
  const [url = "", token, key] = server.line.split(" ");
  // One more than readers, for what is sent meanwhile.
  const pool = new Pool(url, { connections: READERS + 1, pipelining: 1 });
  const call = async (method: "GET" | "POST", path: string, bearer = key, body?: string) => {
    const headers = { authorization: `Bearer ${bearer}` };
    const answer = await pool.request({ path, method, headers, body: body ?? null });
    return JSON.parse(await answer.body.text());
  };
  const pull = (cursor: number, wait: number): Promise<Page> =>
    call("GET", `/v1/pull?cursor=${cursor}&wait=${wait}`);
  return {
    url,
    token,
    pull,
    send: (event: object) => call("POST", "/v1/ingest", token, JSON.stringify(event)),
    async newest(): Promise<number> {
      let page = await pull(0, 0);
      while (page.alerts.length > 0) page = await pull(page.cursor, 0);
      return page.cursor;
    },
    async stop() {
      await pool.destroy();
      await server.stop();
    },
  };
}

export const parked: Scenario = {
  name: "parked",
  about: `${READERS} readers parked on /v1/pull: what they cost ingest, and an alert's way to all of them`,
  async run(quick): Promise<Row[]> {
    const box = await parkedBox();
    const [region] = eventValues(1);
    const first: number[] = [];
    const last: number[] = [];
    const ratios: number[] = [];
    const rate = () =>
      withDirectory(async (directory) => {
        const headers = { Authorization: `Bearer ${box.token}` };
        const load = { url: `${box.url}/v1/ingest`, headers, bodies: events(), directory };
        return (await closedLoop({ ...load, connections: 64, seconds: quick ? 2 : 4 })).rate;
      });
    await rate();
    for (let round = 0; round < (quick ? 2 : 5); round++) {
      const alone = await rate();
      const cursor = await box.newest();
      const answered: number[] = [];
      const readers = Array.from({ length: READERS }, async () => {
        const { alerts } = await box.pull(cursor, WAIT_SECONDS);
        if (alerts.length > 0) answered.push(performance.now());
      });
      ratios.push((await rate()) / alone);
      const event = { ...region, level: 400, keys: { region: `round ${round}` } };
      await box.send(event);
      const sent = performance.now();
      await box.send(event);
      await Promise.all(readers);
      if (answered.length !== READERS) throw new Error(`${answered.length} readers were told`);
      first.push(Math.min(...answered) - sent);
      last.push(Math.max(...answered) - sent);
    }
    await box.stop();
    return [
      fromRounds("ingest beside parked readers / without", "ratio", ratios),
      fromRounds("an alert to the first reader", "ms", first),
      fromRounds(`an alert to all ${READERS}`, "ms", last),
    ];
  },
};
