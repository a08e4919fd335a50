import { execFileSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { events } from "./events.ts";
import { type Child, type Row, type Scenario, start, withDirectory } from "./harness.ts";
import { command, serving } from "./start.ts";

/** V8's own collections come 20 to 30 s after the last work, and spare memory is given back after a quiet minute. */
const REST_MS = 80_000;

/** Events after which memory is looked at on the way. */
const PART_WAY = 200_000;

/** As many events, of fifty hosts with an alert each, and as many pages by turns. */
const USES = 200;
const PAGES = ["/alerts", "/me", "/oncall", "/numbers", "/search?q=failed", "/p/used"];

const megabytes = (what: string, bytes: number, bounds: Partial<Row> = {}): Row => ({
  what,
  unit: "MB",
  value: bytes / 1024 / 1024,
  lower: true,
  ...bounds,
});

interface Seat {
  send(lines: readonly string[]): Promise<void>;
  see(page: string): Promise<void>;
}

/** A person with a project, whose rule tells a webhook of each host's alert. */
async function seated(data: string, url: string, receiver: string): Promise<Seat> {
  const [program, words] = command();
  const said = execFileSync(program, [...words, "pair-code", "--json", "--data", data]);
  const { code } = JSON.parse(`${said}`) as { code: string };
  const call = async (path: string, body: object | string, bearer = "") => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${bearer}`,
        "content-type": `application/${typeof body === "string" ? "x-ndjson" : "json"}`,
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json() as Promise<Record<string, string>>;
  };
  const who = { code, email: "bench@example.org", password: "bench and memory" };
  const { api_key: key = "" } = await call("/v1/pair", who);
  await call("/v1/projects", { name: "used" }, key);
  const { token } = await call("/v1/projects/used/sources", { name: "app" }, key);
  const failed = { template_contains: "failed" };
  const rule = { name: "failed", match: failed, identifier_keys: ["host"] };
  await call("/v1/projects/used/rules", rule, key);
  const hook = { type: "webhook", url: `${receiver}/fast` };
  await call("/v1/projects/used/integrations", hook, key);
  const signed = await fetch(`${url}/signin`, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ key }),
    headers: { origin: url, accept: "text/html" },
  });
  const [cookie = ""] = (signed.headers.getSetCookie()[0] ?? "").split(";");
  return {
    send: async (lines) => void (await call("/v1/ingest", lines.join("\n"), token)),
    async see(page) {
      const answer = await fetch(url + page, { headers: { cookie, accept: "text/html" } });
      await answer.text();
      if (answer.status !== 200) throw new Error(`${page}: ${answer.status}`);
    },
  };
}

/** Some seconds of use: pages by turns, and events that open alerts and are told. */
async function use(seat: Seat): Promise<void> {
  for (let n = 0; n < USES; n++) {
    const keys = { host: `web-${n % 50}` };
    await seat.send([JSON.stringify({ message: `payment ${n} failed`, level: 500, keys })]);
    await seat.see(PAGES[n % PAGES.length] ?? "/");
  }
}

/** `total` events of 10,000 templates. Returns the memory on the way there, where it is that far. */
async function flood(server: Child, seat: Seat, total: number): Promise<number | null> {
  const base = events();
  let partWay: number | null = null;
  for (let sent = 0; sent < total; sent += 4000) {
    if (sent === PART_WAY) partWay = server.memory().anonymous;
    const lanes = Array.from({ length: 8 }, (_, lane) =>
      Array.from({ length: 500 }, (_, i) => {
        const n = sent + lane * 500 + i;
        return n % 4 === 0
          ? JSON.stringify({ message: `${words(n % 10_000)} happened to ${n}` })
          : (base[n % base.length] ?? "");
      }),
    );
    await Promise.all(lanes.map(seat.send));
  }
  return partWay;
}

export const memory: Scenario = {
  name: "memory",
  about:
    "anonymous memory of the executable: nobody there, after some use, after a million events of 10,000 templates",
  run: (quick) =>
    withDirectory((unused) =>
      withDirectory(async (data) => {
        const receiver = await start(process.execPath, ["bench/receiver.mjs"]);
        const [alone, server] = [await serving(unused), await serving(data)];
        const seat = await seated(data, server.line.split(" ").at(-1) ?? "", receiver.line);
        await use(seat);
        await pause(REST_MS);
        const [nobody, used] = [alone.memory().anonymous, server.memory().anonymous];
        await alone.stop();
        const total = quick ? 50_000 : 1_000_000;
        const partWay = await flood(server, seat, total);
        const after = server.memory();
        await Promise.all([server.stop(), receiver.stop()]);
        // The sources are read, stripped of their types and compiled: no bound is for them.
        const isBuilt = command()[1].length === 0;
        const held = (bounds: Partial<Row>) => (isBuilt ? bounds : {});
        return [
          megabytes("nobody there", nobody, held({ must: 50, aim: 40, hold: 43 })),
          megabytes("after some use", used, held({ must: 50, hold: 62 })),
          ...(partWay === null ? [] : [megabytes(`after ${PART_WAY} events`, partWay)]),
          megabytes(
            `after ${total} events`,
            after.anonymous,
            held({ must: 150, hold: quick ? 120 : 190 }),
          ),
          megabytes("peak resident set", after.peak),
        ];
      }),
    ),
};

const SYLLABLES = ["ka", "lo", "mi", "ner", "pu", "ra", "sto", "ti", "vel", "zu"];

/** A phrase of letters alone, another for each number below 10,000: digits would be masked. */
function words(n: number): string {
  const at = (i: number) => SYLLABLES[Math.floor(n / 10 ** i) % 10];
  return `${at(0)}${at(1)} ${at(2)}${at(3)}`;
}
