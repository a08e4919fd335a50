/**
 * The database's synchronous standby is lost while boxes page and beat, so that every commit waits, and comes back or is
 * let go; or the database itself can't be reached for a while:
 *
 *     node test/scenarios/nodes/standby.ts [seconds without it, default 40] [seed, default 1] [back, gone or database, default back]
 *
 * No page is answered that wasn't committed, none is lost, and the database keeps room for others.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startForwarder } from "../../support/forwarder.ts";
import { type PostgresPair, startPostgresPair } from "../../support/postgres-pair.ts";
import { programFile } from "../../support/program.ts";
import { seeded } from "../../support/seeded.ts";
import type { Try } from "./boxes.ts";
import { type Judged, judge } from "./judge.ts";
import { Story } from "./story.ts";

const SAMPLE_MS = 500;
const CONNECTIONS =
  "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND usename = 'box'";

export interface StandbyResult extends Judged, Seen {
  /** Answers to pages while commits waited, by status. */
  answers: Record<string, number>;
  /** How long a box waited for one of them: one of two, and the longest, milliseconds. */
  waited: { median: number; most: number };
  /** From the moment that commits went on until a page was answered 200, milliseconds. */
  againMs: number;
}

interface Seen {
  /** Most connections that the database had at one time. */
  connections: number;
  /** From the loss until each node said that it isn't ready, milliseconds; -1: it never did. */
  unreadyMs: number[];
  /** How often a node then said that it is, though every commit waited. */
  wrongly: number;
}

/** Throws where a promise was broken. */
export async function standbyStory(options: {
  awayMs: number;
  seed: number;
  /** How it ends: the standby comes back, or the primary goes on without. `database`: that itself is away, and comes back. */
  end: "back" | "gone" | "database";
  boxes?: number;
}): Promise<StandbyResult> {
  const { awayMs, end, boxes = 4 } = options;
  const random = seeded(options.seed);
  const pair = await startPostgresPair();
  let isCutOff = false;
  const database = await startForwarder(() =>
    isCutOff ? [] : [{ path: join(pair.socket(), ".s.PGSQL.5432") }],
  );
  const url = `postgres://box@127.0.0.1:${database.port}/box?sslmode=disable`;
  const story = new Story({ program: await programFile(), database: url, boxes, random });
  try {
    const all = await story.begin();
    story.apns.otherwise({ status: 200, delayMs: 50 });
    for (const box of all) story.boxes.start(box);
    const broken = story.boxes.failed();
    broken.catch(() => {});
    await pause(1_000);
    const from = performance.now();
    if (end === "database") {
      isCutOff = true;
      database.cut();
    } else await pair.loseStandby();
    const lost = performance.now();
    const seen = await Promise.race([watch(story, pair, awayMs), broken.then(never)]);
    const again = performance.now();
    isCutOff = false;
    if (end === "back") await pair.standbyBack();
    if (end === "gone") await pair.letStandbyGo();
    const goesOn = performance.now();
    let first = firstGood(story, again);
    for (; first === null; first = firstGood(story, again)) await Promise.race([pause(20), broken]);
    for (const node of story.nodes)
      while (!(await node.isReady())) await Promise.race([pause(50), broken]);
    await story.boxes.drain();
    const meanwhile = triesOf(story).filter(({ at, ms }) => at > lost && at + ms < again);
    const judged = judge(story, [{ from, until: again, node: null }]);
    return { ...judged, ...seen, ...told(meanwhile), againMs: Math.round(first - goesOn) };
  } finally {
    await story.end();
    await database.close();
    await pair.stop();
  }
}

const never = (): never => {
  throw new Error("the boxes ended by themselves");
};

const triesOf = ({ boxes }: Story): Try[] => boxes.pages.flatMap(({ tries }) => tries);

/** When the first page after `since` was answered 200. */
function firstGood(story: Story, since: number): number | null {
  const good = triesOf(story).filter(({ at, ms, status }) => status === 200 && at + ms > since);
  return good.length === 0 ? null : Math.min(...good.map(({ at, ms }) => at + ms));
}

/** Looks at the nodes and their database while every commit waits. */
async function watch({ nodes }: Story, pair: PostgresPair, ms: number): Promise<Seen> {
  const from = performance.now();
  const seen: Seen = { connections: 0, unreadyMs: nodes.map(() => -1), wrongly: 0 };
  while (performance.now() < from + ms) {
    await pause(SAMPLE_MS);
    const connections = Number(await pair.ask(CONNECTIONS, "postgres"));
    seen.connections = Math.max(seen.connections, connections);
    for (const [at, node] of nodes.entries()) {
      const answer = await node.get("/readyz");
      const isUnready = seen.unreadyMs[at] !== -1;
      if (answer?.status === 503 && !isUnready)
        seen.unreadyMs[at] = Math.round(performance.now() - from);
      if (answer?.status === 200 && isUnready) seen.wrongly++;
    }
  }
  return seen;
}

function told(tries: readonly Try[]): Pick<StandbyResult, "answers" | "waited"> {
  const answers: Record<string, number> = {};
  for (const { status, retryAfter } of tries) {
    answers[String(status)] = (answers[String(status)] ?? 0) + 1;
    assert.ok(status !== 503 || retryAfter !== null, "503 says when to come again");
  }
  const waits = tries.map(({ ms }) => Math.round(ms)).sort((a, b) => a - b);
  const median = waits[Math.floor(waits.length / 2)] ?? 0;
  return { answers, waited: { median, most: waits.at(-1) ?? 0 } };
}

if (import.meta.main) {
  const [seconds = 40, seed = 1] = process.argv.slice(2, 4).map(Number);
  const end =
    process.argv[4] === "gone" || process.argv[4] === "database" ? process.argv[4] : "back";
  const result = await standbyStory({ awayMs: seconds * 1000, seed, end });
  process.stdout.write(`${JSON.stringify({ seed, seconds, end, ...result })}\n`);
}
