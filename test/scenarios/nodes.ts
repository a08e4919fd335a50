/**
 * Two hosted nodes on one PostgreSQL with a synchronous standby, and boxes that page and beat through a load balancer,
 * while nodes are killed, stand still, connections are cut, the standby goes and comes, and the database is lost to it,
 * again and again:
 *
 *     node test/scenarios/nodes.ts [blows, default 200] [seed, default 1] [fault]
 *
 * Every page that was answered was pushed, and every push made twice is excused by a blow between the two. `fault` plants
 * one of `faults` in the program, which has to be found.
 */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { FakeApns } from "../support/apns.ts";
import { type Forwarder, startForwarder } from "../support/forwarder.ts";
import { type PostgresPair, startPostgresPair } from "../support/postgres-pair.ts";
import { programFile } from "../support/program.ts";
import { seeded } from "../support/seeded.ts";
import { type Judged, judge } from "./nodes/judge.ts";
import type { Node } from "./nodes/node.ts";
import { type Fault, spoilt } from "./nodes/programs.ts";
import type { Excuse } from "./nodes/rings.ts";
import { Story } from "./nodes/story.ts";

const LATEST_BLOW_MS = 400;
/** A hold is over after so long: whoever stood still longer may find that another has pushed. */
const HOLD_MS = 15_000;
/** How long most pushes take at most. */
const PUSH_MS = 80;
/** One in so many takes long, up to so many milliseconds: whoever asks again meanwhile finds it in flight. */
const SLOW_ONE_IN = 12;
const SLOW_PUSH_MS = 3_000;
/** A page may be under way for so long before it has to be noted: to learn of its hold, and to push. */
const LONGEST_PUSH_MS = 10_000;

const BLOWS = ["kill", "pause", "database cut", "box cut", "standby away", "fail-over"] as const;
type Blow = (typeof BLOWS)[number];

export interface NodesResult extends Judged {
  blows: Record<Blow, number>;
}

/** Blows fall at random moments, each tenth is a fail-over; throws where a promise was broken. */
export async function nodesStory(options: {
  blows: number;
  seed: number;
  boxes?: number;
  /** The database is lost by each such blow. Default: each tenth. */
  failOverEvery?: number;
  fault?: Fault | undefined;
}): Promise<NodesResult> {
  const { boxes = 6, failOverEvery = 10, fault } = options;
  // What is struck comes again with the seed; when each box pages hangs on the machine.
  const random = seeded(options.seed);
  const chance = seeded(options.seed + 1);
  const program = fault === undefined ? await programFile() : await spoilt(fault);
  const pair = await startPostgresPair();
  const database = await startForwarder(() => [{ path: join(pair.socket(), ".s.PGSQL.5432") }]);
  const url = `postgres://box@127.0.0.1:${database.port}/box?sslmode=disable`;
  const story = new Story({ program, database: url, boxes, random: chance });
  const excuses: Excuse[] = [];
  const counted = Object.fromEntries(BLOWS.map((blow) => [blow, 0])) as Record<Blow, number>;
  try {
    const all = await story.begin();
    slowPushes(story.apns, chance);
    for (const box of all) story.boxes.start(box);
    const broken = story.boxes.failed();
    broken.catch(() => {});
    for (let n = 1; n <= options.blows; n++) {
      await Promise.race([pause(random() * LATEST_BLOW_MS), broken]);
      const blow: Blow = n % failOverEvery === 0 ? "fail-over" : (BLOWS[blowOf(random())] as Blow);
      counted[blow]++;
      const from = performance.now();
      const how = { random, isLong: n % 25 === 3 };
      const on = await strike({ story, pair, database }, blow, how);
      if (on !== undefined) excuses.push({ from, until: performance.now(), node: on });
    }
    await story.boxes.drain();
    return { ...judge(story, excuses), blows: counted };
  } finally {
    await story.end();
    await database.close();
    await pair.stop();
  }
}

const blowOf = (chance: number): number =>
  [0.5, 0.7, 0.85, 0.95].filter((bound) => chance >= bound).length;

/** One blow; what it fell on, where it excuses that a page that was under way there rings twice. */
async function strike(
  { story, pair, database }: { story: Story; pair: PostgresPair; database: Forwarder },
  blow: Blow,
  { random, isLong }: { random: () => number; isLong: boolean },
): Promise<Node | null | undefined> {
  const node = story.nodes[random() < 0.5 ? 0 : 1] as Node;
  switch (blow) {
    case "kill":
      await node.kill();
      await node.start();
      // The balancer finds both again, and those who waited ask again.
      story.balancer.cut();
      return node;
    case "pause": {
      const ms = isLong ? HOLD_MS + 2_000 : random() * 3_000;
      node.signal("SIGSTOP");
      await pause(ms);
      node.signal("SIGCONT");
      return isLong ? node : undefined;
    }
    case "database cut":
      database.cut();
      return undefined;
    case "box cut":
      story.balancer.cut();
      return undefined;
    case "standby away": {
      const from = performance.now();
      await pair.loseStandby();
      await pause(random() * 2_000);
      await pair.standbyBack();
      // Nobody could note a push in that time, and the holds of before may have run out.
      return performance.now() - from > HOLD_MS - LONGEST_PUSH_MS ? null : undefined;
    }
    case "fail-over": {
      const over = pair.failOver();
      await pause(50);
      database.cut();
      await over;
      return null;
    }
  }
}

/** Pushes take a while, so that blows fall into them. */
function slowPushes(apns: FakeApns, random: () => number): void {
  apns.otherwise({
    get delayMs() {
      const most = random() < 1 / SLOW_ONE_IN ? SLOW_PUSH_MS : PUSH_MS;
      return Math.round(random() * most);
    },
    status: 200,
  });
}

if (import.meta.main) {
  const [blows = 200, seed = 1] = process.argv.slice(2, 4).map(Number);
  const fault = process.argv[4] as Fault | undefined;
  const start = performance.now();
  const result = await nodesStory({ blows, seed, fault });
  const seconds = Math.round((performance.now() - start) / 1000);
  process.stdout.write(`${JSON.stringify({ seed, seconds, ...result })}\n`);
}
