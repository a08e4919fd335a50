import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { needs } from "../../support/commands.ts";
import { startHaproxy } from "../../support/haproxy.ts";
import { ask } from "../../support/hosted-role.ts";
import { postgresTest, type TestDatabase, testDatabase } from "../../support/postgres.ts";
import { programFile } from "../../support/program.ts";
import { seeded } from "../../support/seeded.ts";
import { until } from "../../support/until.ts";
import { type Box, bodyOf } from "./boxes.ts";
import type { Node } from "./node.ts";
import { Story } from "./story.ts";

/*
 * HAProxy by the sample file sends again what a node took and didn't answer, below /v1/relay/ alone: a page that is said
 * twice rings once, or over the node's death twice, and the box has one answer of it.
 */

function haproxyTest(name: string, run: (t: TestContext) => Promise<void>): void {
  const { skip } = needs("haproxy");
  postgresTest(name, (t) => (skip === false ? run(t) : t.skip(skip)));
}

interface Stage {
  story: Story;
  box: Box;
  made: TestDatabase;
}

async function staged(t: TestContext): Promise<Stage> {
  const made = await testDatabase(t, { empty: true });
  const program = await programFile();
  const story = new Story({ program, database: made.url, boxes: 1, random: seeded(1) });
  t.after(() => story.end());
  const [box] = (await story.begin()) as [Box];
  const [one, two] = story.nodes as [Node, Node];
  const haproxy = await startHaproxy([one.port, two.port]);
  t.after(() => haproxy.stop());
  story.url = haproxy.url;
  return { story, box, made };
}

/** How often a page was pushed and that was answered; and how often it was begun. */
function rung({ story: { apns } }: Stage, alert: string): { begun: number; delivered: number } {
  const pushes = apns.received.filter(({ body }) => body["alert_id"] === alert);
  return {
    begun: pushes.length,
    delivered: pushes.filter(({ status }) => status === 200).length,
  };
}

/** HAProxy says so, or ends the connection where it had used the node's before. */
const isUnanswered = (status: number | null) => status === 502 || status === null;

/** As a box does it: again until it is 200; every status. */
async function told({ story, box }: Stage, body: string): Promise<(number | null)[]> {
  const statuses: (number | null)[] = [];
  while (statuses.at(-1) !== 200) {
    if (statuses.length > 0) await pause(1_000);
    statuses.push((await story.boxes.say(box, body)).tried.status);
  }
  return statuses;
}

/** Requests, some of which come to a node that stands still, and then dies. */
async function diesOver<T>({ story }: Stage, requests: () => Promise<T>[]): Promise<T[]> {
  const node = story.nodes[0] as Node;
  node.signal("SIGSTOP");
  let answered = 0;
  const all = requests().map((request) => request.finally(() => answered++));
  await until(() => answered === all.length / 2, "the other node has answered its half");
  await node.kill();
  const answers = await Promise.all(all);
  await node.start();
  while ((await ask(`${story.url}/readyz`, {})).status !== 200) await pause(50);
  // HAProxy looks twice before it sends to it again.
  await pause(3_000);
  return answers;
}

haproxyTest("a page that a dying node had taken is sent to the other one by haproxy", async (t) => {
  const stage = await staged(t);
  const { story, box } = stage;
  const alerts = Array.from({ length: 8 }, (_, n) => String(n));
  const pages = await diesOver(stage, () =>
    alerts.map((alert) => story.boxes.say(box, bodyOf(alert))),
  );
  assert.deepEqual(
    pages.map(({ tried, body }) => [tried.status, body]),
    alerts.map(() => [200, { relayed: true, devices: 1 }]),
  );
  for (const alert of alerts)
    assert.deepEqual(rung(stage, alert), { begun: 1, delivered: 1 }, alert);

  // What else may have been done isn't asked for again.
  const others = await diesOver(stage, () =>
    alerts.map(() =>
      ask(`${story.url}/v1/account/devices`, {
        method: "POST",
        body: "{}",
        headers: { connection: "close" },
      }).then(
        ({ status }) => status,
        () => null,
      ),
    ),
  );
  assert.equal(others.filter((status) => status === 401).length, 4);
  assert.equal(others.filter(isUnanswered).length, 4);

  // Nor what doesn't fit HAProxy's buffer: the box asks again itself.
  const large = bodyOf("large").replace('"disk full"', JSON.stringify("x".repeat(20_000)));
  const sent = await diesOver(stage, () => [1, 2].map(() => story.boxes.say(box, large)));
  // 502, or the end of the connection where HAProxy had used it before.
  const unanswered = sent.filter(({ tried: { status } }) => status === 502 || status === null);
  assert.deepEqual([sent.length, unanswered.length], [2, 1]);
  assert.deepEqual(await told(stage, large), [200]);
  assert.deepEqual(rung(stage, "large"), { begun: 1, delivered: 1 });
});

haproxyTest(
  "a node dies while it pushes: the box is told once that it is in flight, and asks again",
  async (t) => {
    const stage = await staged(t);
    const { story, box } = stage;
    const { apns } = story;
    apns.script(box.device, { stall: true });
    const body = bodyOf("held");
    const answer = story.boxes.say(box, body);
    await apns.seen(1);
    const node = apns.received[0]?.connection as Node;
    const killedAt = performance.now();
    await node.kill();
    const { tried } = await answer;
    assert.deepEqual([tried.status, tried.retryAfter], [409, "2"]);
    const statuses = await told(stage, body);
    assert.ok(performance.now() - killedAt < 20_000);
    assert.deepEqual(
      statuses.filter((status) => status !== 409),
      [200],
    );
    // The first may have rung, too: nobody knows.
    assert.deepEqual(rung(stage, "held"), { begun: 2, delivered: 1 });
  },
);

haproxyTest(
  "a node dies between the push and its note: what the database was told still counts",
  async (t) => {
    const stage = await staged(t);
    const { story, box, made } = stage;
    const { apns } = story;
    const over = Promise.withResolvers<void>();
    apns.script(box.device, { until: over.promise, next: { status: 200 } });
    const body = bodyOf("noted");
    const answer = story.boxes.say(box, body);
    await apns.seen(1);
    const node = apns.received[0]?.connection as Node;
    const noted = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holding = made.open().transaction(async (tx) => {
      await tx.query("SELECT 1 FROM relay_claims FOR UPDATE");
      locked.resolve();
      await noted.promise;
    });
    await locked.promise;
    over.resolve();
    const look = made.open();
    const waits = () =>
      look.query(
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE relay_claims%' AND datname = $1",
        [made.name],
      );
    while ((await waits()).length === 0) await pause(20);
    await node.kill();
    noted.resolve();
    await holding;
    const { tried } = await answer;
    const statuses = tried.status === 200 ? [200] : await told(stage, body);
    assert.equal(statuses.at(-1), 200);
    assert.deepEqual(rung(stage, "noted"), { begun: 1, delivered: 1 });
  },
);
