import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import type { StoredRule } from "../../../src/core/projects/rule.ts";
import { admits, compileRule } from "../../../src/in/ingest/match.ts";
import { Miner, type MinerRow } from "../../../src/in/ingest/template/miner.ts";
import { Namer } from "../../../src/in/ingest/template/naming/general.ts";
import { mayHold } from "../../../src/in/ingest/template/naming/holds.ts";
import { ANNOUNCING, ANNOUNCING_CLOSED } from "../../../src/in/ingest/template/naming/words.ts";
import { Shaper } from "../../../src/in/ingest/template/reading/shape.ts";
import { hasNames, textOfShape, withoutNames } from "../../../src/in/ingest/template/text/marks.ts";
import { defaultRule } from "../../support/plane.ts";

const shaper = new Shaper();
const namer = new Namer();
const generalOf = (line: string) => namer.generalOf(shaper.shapeOf(line));
const textOf = (line: string) => textOfShape(generalOf(line));

function table(cases: Readonly<Record<string, string>>): void {
  for (const [line, text] of Object.entries(cases)) assert.equal(textOf(line), text, line);
}

test("names vary at first sight, and words that tell events apart stay", () => {
  table({
    "session opened for user alice by (uid=0)": "session opened for user <*> by (uid=<*>)",
    "user session expired": "user session expired",
    "server stopped": "server stopped",
    "queue shipping is full": "queue <*> is full",
    "process exiting": "process exiting",
    "Started container proxy": "Started container <*>",
    "proxy server proxy error": "proxy server proxy error",
    "orders-api is unhealthy": "<*> is unhealthy",
    "disk is read-only": "disk is read-only",
    "the job-conf file is missing": "the job-conf file is missing",
    "ingress prod/web: no endpoints": "ingress <*>: no endpoints",
    "read/write ratio": "read/write ratio",
    "calling the PutObject operation": "calling the <*> operation",
    "refunds.service: Main process exited": "<*>: Main process exited",
    "Started web.service - The Web Daemon.": "Started <*>",
    "[zeus] creating templates [audit]": "[<*>] creating templates [<*>]",
    "[error] disk is full": "[error] disk is full",
    "connected user=alice database=shop now": "connected user=<*> database=<*> now",
    "mode=true set": "mode=true set",
    "assumed arn:aws:iam::123:role/ops now": "assumed <*> now",
    "ended by SIGTERM(15)": "ended by <*>",
    "User 张伟 logged in": "User <*> logged in",
    "failed to find interface orders in sandbox": "failed to find interface <*> in sandbox",
    "snapshot orders of image web": "snapshot <*> of image <*>",
    "Unknown topic: orders": "Unknown topic: <*>",
    "topic: topics class billing": "topic: <*> class <*>",
    "topic: topics class Billing": "topic: <*> class <*>",
    "queue: backup is late": "queue: backup is late",
    "topic sessions is full": "topic <*> is full",
    "topic partitions are stale": "topic partitions are stale",
    'no route to subnet "orders": refused': "no route to subnet <*>: refused",
    '"orders" is attached': "<*> is attached",
    'retrying, "error": timeout': 'retrying, "error": timeout',
    "lost partitions [orders, audit]": "lost partitions [<*>]",
    "lost partitions [orders-3]": "lost partitions [<*>]",
    "conditions [memory, storage] are set": "conditions [memory, storage] are set",
    "coordinator orders-3 is active": "coordinator <*> is active",
    "lost node-3 again": "lost node-<*> again",
    "invalid utf-8 text": "invalid utf-<*> text",
    "connecting to atlas:5432": "connecting to <*>",
    "no rows of orders_archive": "no rows of <*>",
    "leaving drop_index: 7": "leaving drop_index: <*>",
    "failed to drop_index": "failed to drop_index",
    "cannot write in find_entry(7)": "cannot write in find_entry(<*>)",
    "objects of type com.shop.orders.Order": "objects of type <*>",
    "ended by com.shop.OrderException": "ended by com.shop.OrderException",
    "Started OrdersApplication in 3 seconds": "Started <*> in <*> seconds",
    "failed to mount tmpfs": "failed to mount tmpfs",
    "failed to set link up": "failed to set link up",
    "create topic(s)": "create topic(s)",
    "no task of type shop.send_mail: ignored": "no task of type <*>: ignored",
    "price of shop.stock is old": "price of <*> is old",
    "shop.stock is old": "shop.stock is old",
    "ended with net.timeout at last": "ended with net.timeout at last",
    "cannot call shop.stock(7)": "cannot call shop.stock(<*>)",
    "tasks of ImportJob are late": "tasks of ImportJob are late",
    "no tasks of ImportJob": "no tasks of <*>",
    "ended by ImportError": "ended by ImportError",
    "stream ORDERS is full": "stream <*> is full",
    "server TLS handshake": "server TLS handshake",
    "host DOWN": "host DOWN",
    "role Billing was removed": "role <*> was removed",
    "Service Unavailable": "Service Unavailable",
    "called by <orders> now": "called by <<*>> now",
    "state <error> was reached": "state <error> was reached",
    "skipped a file (path=docs/a.txt pkg=scan)": "skipped a file (path=<*> pkg=<*>)",
    "Deleted pod.": "Deleted pod.",
  });
});

/** What tells events apart, in words of people who are paged. Not read from the lists of the rules. */
const CONDITIONS =
  "up down start stop started stopped failed succeeded failure success error warning fatal critical panic timeout timed full empty lost missing stuck crash crashed hang flap leak overflow overload outage lag latency pressure throttling throttled starvation deadlock corruption mismatch exhausted exceeded expired degraded unhealthy healthy unreachable unavailable denied refused rejected restarted evicted drift skew backlog saturated slow offline online open closed enabled disabled paused resumed connected disconnected running active inactive readonly quota storm spike breach violation partition failover rollback";

test("a word that says what is wrong is never a name, whatever announces one", () => {
  for (const condition of CONDITIONS.split(" ")) {
    for (const noun of [...ANNOUNCING, ...ANNOUNCING_CLOSED]) {
      for (const line of [
        `the ${noun} ${condition}`,
        `${noun} ${condition} detected`,
        `${noun}: ${condition}`,
        `lost ${noun}: ${condition}, 3 left`,
        `${noun} ${condition} is high`,
        `lost ${noun} "${condition}": 3 left`,
        `${noun} ${condition.toUpperCase()} is high`,
        `the ${noun} ${condition[0]?.toUpperCase()}${condition.slice(1)}`,
      ])
        assert.ok(textOf(line).toLowerCase().includes(condition), `${line}: ${textOf(line)}`);
    }
    for (const line of [
      `${condition}-3 is set`,
      `from disk_${condition}`,
      `from disk-${condition}`,
      `ended by ${condition}.disk again`,
      `called by <${condition}>`,
    ])
      assert.ok(textOf(line).includes(condition), `${line}: ${textOf(line)}`);
  }
});

test("a general shape is the general shape of itself, whatever the words", () => {
  const words = fc.constantFrom(
    ...'the to not with from at is are of orders orders-api orders-3 orders_v1 db9 7 10.0.0.1 atlas:80 queue topic topics snapshot set class failed: topic: (s) [a, b] [orders] =x k=v,  . : ! "a" "a": \'b\' a/b <a> (p=a/b ImportJob ORDERS Billing shop.stock com.shop.Order Started OrdersApp web.service -'.split(
      " ",
    ),
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 14 }), (line) => {
      const once = withoutNames(generalOf(line.join(" ")));
      assert.equal(withoutNames(namer.generalOf(once)), once);
    }),
    { numRuns: 3_000 },
  );
});

test("one of a thing and several are one event; a number of its own is no count", () => {
  assert.equal(
    withoutNames(generalOf("removed 1 entry")),
    withoutNames(generalOf("removed 7 entries")),
  );
  assert.equal(textOf("removed 1 entry"), "removed <*> entries");
  assert.equal(textOf("worker 3 task failed"), "worker <*> task failed");
  assert.equal(textOf("paid amount=1 user=2"), "paid amount=<*> user=<*>");
});

test("a name and a number in one place are one template, by one id", () => {
  const miner = new Miner({ limit: 100, rows: [] });
  const named = miner.mine("user alice logged in");
  const numbered = miner.mine("user 42 logged in");
  assert.equal(named.id, numbered.id);
  assert.equal(named.root, numbered.root);
  assert.equal(named.ownText, "user alice logged in");
  assert.equal(numbered.ownText, "user <*> logged in");
  const { rows } = miner.takeChanges();
  assert.deepEqual(
    rows.map(({ id, text, shape }) => [id, text, hasNames(shape)]),
    [[named.id, "user <*> logged in", true]],
  );
});

test("that a place has names is learned late, and kept", () => {
  const miner = new Miner({ limit: 100, rows: [] });
  miner.mine("user 42 logged in");
  assert.deepEqual(
    miner.takeChanges().rows.map(({ shape }) => hasNames(shape)),
    [false],
  );
  miner.mine("user alice logged in");
  const { rows } = miner.takeChanges();
  assert.deepEqual(
    rows.map(({ shape }) => hasNames(shape)),
    [true],
  );
  const again = new Miner({ limit: 100, rows });
  again.mine("user 7 logged in");
  assert.deepEqual(again.takeChanges().rows, []);
});

test("a text may be in a line whose names fit, never for an ordinary word", () => {
  const shape = generalOf("queue orders of host web-1 is full");
  for (const part of ["queue orders", "queue pay", "ments of host", "stock", "of host db"])
    assert.ok(mayHold(shape, part), part);
  for (const part of ["queue orders is", "timeout", "topic orders", "orders web", ""])
    assert.ok(!mayHold(shape, part), part);
  assert.ok(!mayHold(generalOf("disk is full"), "disk"));
});

test("templates of rules 2 go on, also where a sign was taken for a name", () => {
  const miner = new Miner({ limit: 100, rows: RULES_2 });
  const rootOf = (line: string) => {
    const { root } = miner.mine(line);
    return RULES_2.find(({ id }) => id === root.id)?.text;
  };
  for (const [line, text] of Object.entries({
    "Unknown topic: orders": "Unknown topic<*> orders",
    "Unknown topic: audit": "Unknown topic<*> orders",
    "Unknown topic: billing": "Unknown topic<*> orders",
    "lost the host: 10.0.0.1, queue: orders-api, retrying": "lost the host<*>, queue<*>, retrying",
    "Deleted pod.": "Deleted pod<*>",
    "snapshot billing is missing": "snapshot orders is missing",
    "client telemetry registered with 3 servers": "client <*> registered with <*> servers",
    "topics [stock, mail] were created": "topics [orders, audit] were created",
    'no route to subnet "stock": refused': 'no route to subnet "orders": refused',
    "coordinator stock-7 is active": "coordinator orders-<*> is active",
    "failed to set link down: timed out": "failed to set <*> down: timed out",
    "disk is full": "disk is full",
    "queue stock is full": "queue <*> is full",
  }))
    assert.equal(rootOf(line), text, line);
  const again = new Miner({ limit: 100, rows: miner.takeChanges().rows });
  assert.deepEqual(again.takeChanges(), { rows: [], merged: [], evicted: [] });
});

test("templates of rules 3 go on, also where a word is a name today", () => {
  const miner = new Miner({ limit: 100, rows: RULES_3 });
  for (const [line, text] of Object.entries({
    "Unknown type shop.mail": "Unknown type shop.stock",
    "tasks of ImportJob are late": "tasks of ImportJob are late",
    "stream BILLING is full": "stream ORDERS is full",
    "role Stock was removed": "role Billing was removed",
    "Skipped a file (path=docs/b.txt pkg=walk)": "Skipped a file (path=docs/a.txt pkg=<*>)",
    "called by <stock> now": "called by <orders> now",
    "sent to directory beta": "sent to directory alpha",
    "prices of shop.mail are old": "prices of shop.stock are old",
    "user bob logged in": "user <*> logged in",
    "state DOWN was reached": "state DOWN was reached",
  })) {
    const { root } = miner.mine(line);
    assert.equal(RULES_3.find(({ id }) => id === root.id)?.text, text, line);
  }
  const { rows, merged } = miner.takeChanges();
  const streams = ["stream AUDIT is full", "stream ORDERS is full"];
  const [younger, older] = streams.map((of) => RULES_3.find(({ text }) => text === of)?.id);
  assert.deepEqual(merged, [{ younger, older }]);
  const again = new Miner({ limit: 100, rows });
  assert.deepEqual(again.takeChanges(), { rows: [], merged: [], evicted: [] });
});

/** What the miner of release rules 1 wrote, in which each name was a shape of its own. */
const rowsOf = (file: string): MinerRow[] =>
  JSON.parse(readFileSync(new URL(`../../fixtures/${file}`, import.meta.url), "utf8"));
const OLD = rowsOf("templates-rules-1.json");
const RULES_2 = rowsOf("templates-rules-2.json");
const RULES_3 = rowsOf("templates-rules-3.json");
const oldId = (text: string): string => OLD.find((row) => row.text === text)?.id as string;

test("templates of the release before keep their ids, and those that are one today merge", () => {
  const miner = new Miner({ limit: 100, rows: OLD });
  for (const { id, aliasOf } of OLD) {
    if (aliasOf !== null) assert.equal(miner.rootOf(id), aliasOf);
  }
  const alice = oldId("session opened for user alice");
  for (const name of ["alice", "bob", "carol"]) {
    const { root, ownText } = miner.mine(`session opened for user ${name}`);
    assert.deepEqual([root.id, root.text], [alice, "session opened for user <*>"]);
    assert.equal(ownText, `session opened for user ${name}`);
  }
  const bob = oldId("session opened for user bob");
  const same: Record<string, string> = {
    "disk is full": "disk is full",
    "queue stock has 7 messages": "queue <*> has <*> messages",
    "removed 1 entry": "removed <*> entry",
    "removed 4 entries": "removed <*> entry",
    "2024-05-02 11:00:00 ERROR com.shop.App: call of stock-api failed":
      "<*> call of orders-api failed",
  };
  for (const [line, text] of Object.entries(same))
    assert.equal(miner.mine(line).root.id, oldId(text), line);
  const { rows, merged } = miner.takeChanges();
  assert.deepEqual(
    merged.map(({ younger, older }) => [younger, older]).sort(),
    [
      [bob, alice],
      [oldId("removed <*> entries"), oldId("removed <*> entry")],
    ].sort(),
  );
  const again = new Miner({ limit: 100, rows });
  assert.deepEqual(again.takeChanges(), { rows: [], merged: [], evicted: [] });
  assert.equal(again.mine("session opened for user zoe").root.id, alice);
});

test("rules that name a word of an old template go on taking its lines, and only those", () => {
  const rule = compileRule({
    ...defaultRule,
    id: 1,
    match: { ...defaultRule.match, template_contains: "user bob" },
  } as unknown as StoredRule);
  const miner = new Miner({ limit: 100, rows: OLD });
  const takes = (line: string) => admits(rule, "app", miner.mine(line));
  assert.deepEqual(
    ["bob", "alice", "zoe"].map((name) => takes(`session opened for user ${name}`)),
    [true, false, false],
  );
});
