import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { StoredRule } from "../../../src/core/projects/rule.ts";
import { admits, compileRule } from "../../../src/in/ingest/match.ts";
import { createMiner, type MinerRow } from "../../../src/in/ingest/template/miner.ts";
import { Namer } from "../../../src/in/ingest/template/naming/general.ts";
import { mayHold } from "../../../src/in/ingest/template/naming/holds.ts";
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
  });
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
  const miner = createMiner({ limit: 100, rows: [] });
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
  const miner = createMiner({ limit: 100, rows: [] });
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
  const again = createMiner({ limit: 100, rows });
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

/** What the miner of release rules 1 wrote, in which each name was a shape of its own. */
const OLD = JSON.parse(
  readFileSync(new URL("../../fixtures/templates-rules-1.json", import.meta.url), "utf8"),
) as MinerRow[];
const oldId = (text: string): string => OLD.find((row) => row.text === text)?.id as string;

test("templates of the release before keep their ids, and those that are one today merge", () => {
  const miner = createMiner({ limit: 100, rows: OLD });
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
  const again = createMiner({ limit: 100, rows });
  assert.deepEqual(again.takeChanges(), { rows: [], merged: [], evicted: [] });
  assert.equal(again.mine("session opened for user zoe").root.id, alice);
});

test("rules that name a word of an old template go on taking its lines, and only those", () => {
  const rule = compileRule({
    ...defaultRule,
    id: 1,
    match: { ...defaultRule.match, template_contains: "user bob" },
  } as unknown as StoredRule);
  const miner = createMiner({ limit: 100, rows: OLD });
  const takes = (line: string) => admits(rule, "app", miner.mine(line));
  assert.deepEqual(
    ["bob", "alice", "zoe"].map((name) => takes(`session opened for user ${name}`)),
    [true, false, false],
  );
});
