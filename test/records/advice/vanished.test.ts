import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Advice } from "../../../src/records/advice/shape.ts";
import { box as run } from "../../support/command-line.ts";
import { signedIn } from "../../support/console.ts";
import { boxAndReceiver } from "../../support/contacts.ts";
import { plantWeeks } from "../../support/counted-weeks.ts";

/** What came for two weeks and no longer comes, and what only looks like it. */

const HOUR = 3600;

interface Case {
  /** How often it comes in an hour, and how many hours ago it came last. */
  n: number;
  ago: number;
  /** The longest pause that it had. */
  gap?: number;
  rules?: object[];
  isFound: boolean;
}

const gone = { n: 2, ago: 20, isFound: true };
const CASES: Record<string, Case> = {
  gone,
  "asked for with another text": {
    ...gone,
    rules: [{ name: "m", missing: true, match: { template_contains: "payment" } }],
  },
  "asked for with another source": { ...gone, rules: [{ name: "m", missing: { source: "web" } }] },
  "taken when it comes": { ...gone, rules: [{ name: "any", match: { min_level: 100 } }] },
  "asked for": { ...gone, rules: [{ name: "m", missing: true }], isFound: false },
  "asked for by its source": {
    ...gone,
    rules: [{ name: "m", missing: { source: "app" } }],
    isFound: false,
  },
  "it still comes": { n: 2, ago: 1, isFound: false },
  "silent for as long before": { ...gone, gap: 8 * HOUR, isFound: false },
  "gone for more than a week": { ...gone, ago: 8 * 24, isFound: false },
  "it came every other hour": { n: 0.5, ago: 20, isFound: false },
};

async function story(t: TestContext, cases: Record<string, Case>) {
  const { box } = await boxAndReceiver(t);
  const ids = new Map<string, string>();
  for (const [project, { rules = [] }] of Object.entries(cases)) {
    const token = await box.project(project);
    const message = "backup of the orders has ended";
    ids.set(project, (await box.ingest(token, { message })).body.template_id as string);
    for (const rule of rules) {
      const at = `/v1/projects/${encodeURIComponent(project)}/rules`;
      assert.equal((await box.api("POST", at, rule)).status, 201);
    }
  }
  // It writes what it counted.
  await box.restart(() => {});
  const now = Math.floor(box.clock.now() / 1000 / HOUR);
  const today = Math.floor(now / 24);
  for (const [project, { n, ago, gap = HOUR }] of Object.entries(cases)) {
    const comes = (hour: number) => (hour > now - ago ? 0 : n < 1 ? (hour % 2) * n * 2 : n);
    const hoursOf = (back: number) =>
      Array.from({ length: 24 }, (_, i) => comes((today - back) * 24 + i));
    plantWeeks(box, { project, template: ids.get(project) as string, hoursOf, gap, back: 0 });
  }
  return { box, ids };
}

test("what vanished is proposed as a rule, and what only looks like it isn't", async (t) => {
  const { box, ids } = await story(t, CASES);
  const found: string[] = [];
  for (;;) {
    const { advice } = (await box.api("GET", "/v1/advice")).body as { advice: Advice[] };
    if (advice.length === 0) break;
    for (const { id, kind, project, change } of advice) {
      assert.equal(kind, "vanished");
      assert.deepEqual(change, { missing: { template_id: ids.get(String(project)) } });
      found.push(String(project));
      await box.api("POST", `/v1/advice/${id}/hide`);
    }
  }
  const wanted = Object.entries(CASES).flatMap(([name, { isFound }]) => (isFound ? [name] : []));
  assert.deepEqual(found.toSorted(), wanted.toSorted());
});

test("it stands in the same list, says what to press, and the form is filled in", async (t) => {
  const { box, ids } = await story(t, { gone });
  const tab = signedIn(box);
  const page = (await tab.get("/numbers")).text;
  const plain = page.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
  assert.match(
    plain,
    /It no longer comes · gone “backup of the orders has ended” came \d+ times in two weeks, and nothing of it for 1\d h; its longest pause was 1 h\. No rule would tell you/,
  );
  const to = /href="(\/p\/gone\/new-rule\?missing=[0-9a-f]{16})"/.exec(page)?.[1] ?? "";
  const form = (await tab.get(to)).text;
  assert.match(form, /<option value="template" selected>/);
  assert.ok(form.includes(`value="${ids.get("gone")}"`));
  assert.equal((await tab.get("/p/gone/new-rule?missing=0123456789abcdef")).status, 404);
  const env = { BOX_KEY: box.owner.key, BOX_URL: box.url };
  assert.match((await run(["advice"], { env })).out, /^vanished-\d+-[0-9a-f]{16} {2}gone\n/);
});
