/**
 * Two nodes are upgraded one after the other while boxes page and beat through a load balancer that looks at readiness, and
 * set back as far as the schema allows:
 *
 *     node test/scenarios/nodes/upgrade.ts [rounds, default 3] [seed, default 1] [the release before, as a file]
 *
 * The release before is this tree's program unless one is named, and the next one the same with a migration more. No page is
 * lost, none rings twice, and none is even asked for twice. Then a release comes that the other can't work beside.
 */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { programFile } from "../../support/program.ts";
import { seeded } from "../../support/seeded.ts";
import { type Judged, judge } from "./judge.ts";
import type { Node } from "./node.ts";
import { type NextMigration, nextRelease } from "./programs.ts";
import type { Excuse } from "./rings.ts";
import { Story } from "./story.ts";

/** Touches every hot table, under its lock; what the release before says goes on being true. */
const ADDITIVE: NextMigration = {
  isLeast: false,
  sql: `ALTER TABLE relay_claims ADD COLUMN said text;
ALTER TABLE heartbeats ADD COLUMN said text NOT NULL DEFAULT '';
ALTER TABLE relay_keys ADD COLUMN said text;
ALTER TABLE nodes ADD COLUMN said text;
CREATE INDEX heartbeats_said ON heartbeats (said);`,
};
/** What a program of the release before can't work on. */
const BREAKING: NextMigration = {
  isLeast: true,
  sql: "ALTER TABLE relay_claims RENAME TO relay_pages",
};
const renamed = (program: string) => program.replaceAll("relay_claims", "relay_pages");

const TOGETHER_MS = 1_000;
/** On a busy machine a look at readiness takes long, too. */
const DRAIN_SECONDS = 3;
const TOO_OLD = /changed by a newer program/;

export interface UpgradeResult extends Judged {
  /** Nodes that were stopped and started again with another program. */
  changes: number;
  /** Tries of pages that weren't answered 200, after the schema had left the older program behind. */
  refused: number;
}

/** Throws where a promise was broken. `database`: the URL of an empty one. */
export async function upgradeStory(options: {
  database: string;
  /** Of both nodes there and back; with none one of them goes there and back. */
  rounds: number;
  seed: number;
  boxes?: number;
  /** The program of the release before. Default: this tree's, and the next one has a migration more. */
  before?: string | undefined;
  togetherMs?: number;
  /** Whether a release comes in the end that the others can't work beside. */
  leavesBehind?: boolean;
}): Promise<UpgradeResult> {
  const { database, rounds, boxes = 3, togetherMs = TOGETHER_MS, leavesBehind = true } = options;
  const random = seeded(options.seed);
  const before = options.before ?? (await programFile());
  const more = options.before === undefined ? [ADDITIVE] : [];
  const next = await nextRelease(more);
  const breaking = await nextRelease([...more, BREAKING], renamed);
  const story = new Story({
    program: before,
    database,
    boxes,
    random,
    onlyReady: true,
    more: ["--drain-seconds", String(DRAIN_SECONDS)],
  });
  let changes = 0;
  try {
    for (const box of await story.begin()) story.boxes.start(box);
    const broken = story.boxes.failed();
    broken.catch(() => {});
    const together = () => Promise.race([pause(togetherMs * (0.5 + random())), broken]);
    const run = async (node: Node, program: string) => {
      await together();
      await change(node, program);
      changes++;
    };
    const [one, two] = story.nodes as [Node, Node];
    for (let round = 0; round < rounds; round++) {
      await run(one, next);
      await run(two, next);
      await run(round % 2 === 0 ? one : two, before);
      await run(round % 2 === 0 ? two : one, before);
    }
    // Side by side and back, at least.
    if (rounds === 0) for (const program of [next, before]) await run(one, program);
    await together();
    // Nobody died, and each was taken out before it stopped: boxes haven't noticed.
    assertUnnoticed(story);
    if (!leavesBehind) {
      await story.boxes.drain();
      return { ...judge(story, []), changes, refused: 0 };
    }
    const from = performance.now();
    const excuse = await leaveBehind([one, two], breaking);
    changes += 2;
    await together();
    await story.boxes.drain();
    const refused = story.boxes.pages
      .flatMap(({ tries }) => tries)
      .filter(({ at, status }) => at >= from && status !== 200);
    return { ...judge(story, [excuse]), changes, refused: refused.length };
  } finally {
    await story.end();
  }
}

/** As a supervisor does it: told to stop, it drains and ends; the next program is waited for until it is ready. */
async function change(node: Node, program: string): Promise<void> {
  node.signal("SIGTERM");
  assert.equal(await node.ended, 0, node.said);
  await node.start(program);
  while (!(await node.isReady())) await pause(50);
}

function assertUnnoticed({ boxes }: Story): void {
  const noticed = [...boxes.pages.flatMap(({ tries }) => tries), ...boxes.beats].filter(
    ({ status }) => status !== 200,
  );
  assert.deepEqual(noticed, [], "an upgrade is nothing that a box notices");
}

/** One node is given a program that changes the schema so that the other's can't work on it: that one leaves, and stays away. */
async function leaveBehind([one, two]: [Node, Node], program: string): Promise<Excuse> {
  one.signal("SIGTERM");
  await one.ended;
  const from = performance.now();
  await one.start(program);
  const leaves = performance.now();
  // It finds out by its next word of itself, is taken out, and ends.
  assert.equal(await two.ended, 78);
  assert.ok(performance.now() - leaves < 10_000, "it ends soon");
  assert.match(two.said, TOO_OLD);
  const until = performance.now();
  await assert.rejects(two.start(), (error: Error) => {
    assert.match(error.message, /ended with 78/);
    assert.match(error.message, TOO_OLD);
    return true;
  });
  await two.start(program);
  // What it was pushing when its tables went could not be noted.
  return { from, until, node: two };
}

if (import.meta.main) {
  const [rounds = 3, seed = 1] = process.argv.slice(2, 4).map(Number);
  const { startPostgresPair } = await import("../../support/postgres-pair.ts");
  const pair = await startPostgresPair();
  const database = `postgres://box@${encodeURIComponent(pair.socket())}/box`;
  const start = performance.now();
  try {
    const result = await upgradeStory({ database, rounds, seed, before: process.argv[4] });
    const seconds = Math.round((performance.now() - start) / 1000);
    process.stdout.write(`${JSON.stringify({ seed, seconds, ...result })}\n`);
  } finally {
    await pair.stop();
  }
}
