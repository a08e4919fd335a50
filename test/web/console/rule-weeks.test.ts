import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { testBox } from "../../support/box.ts";
import { box as run } from "../../support/command-line.ts";
import { signedIn } from "../../support/console.ts";
import { plantWeeks } from "../../support/counted-weeks.ts";
import { scratch } from "../../support/scratch.ts";
import { sentBy } from "../../support/sent-by.ts";

/** The four weeks of a rule for what is unusual, on its page and in a terminal. */

const DAY = 86_400;
const RULE = {
  name: "more",
  match: { unusual: { factor: 3, at_least: 20 } },
  fire_after: { window_minutes: 60 },
};

/** Ten an hour from 8 to 18, and eighty at noon three days ago. */
const hoursOf = (back: number) =>
  Array.from({ length: 24 }, (_, hour) =>
    back === 3 && hour === 12 ? 80 : hour >= 8 && hour < 18 ? 10 : 0,
  );

async function story(t: TestContext) {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", RULE)).status, 201);
  const { template_id: template } = (await box.ingest(token, { message: "payment failed" })).body;
  plantWeeks(box, { project: "shop", template, hoursOf });
  return { box, tab: signedIn(box) };
}

test("the page shows what came and where it would have fired, with the same numbers in a table; asked for only", async (t) => {
  const { tab } = await story(t);
  const at = "/p/shop/rules/more";
  const page = (await tab.get(at)).text;
  assert.ok(!page.includes("The last four weeks"), "nothing is reckoned by looking at the page");
  const fields = [...sentBy(page)] as [string, string][];
  const tried = (await tab.post(`${at}/try`, fields, { from: at })).text;
  const found = /<h3>The last four weeks<\/h3>[\s\S]*?weeks-fired[\s\S]*?<\/details>/.exec(tried);
  const shown = found?.[0] ?? assert.fail(tried);
  assert.match(shown, /it would have fired once\./);
  const numbers = (pattern: RegExp) => [...shown.matchAll(pattern)].map((one) => one.slice(1));
  const bars = numbers(/<title>([^<]*): (\d+) events, (\d+) fired<\/title>/g);
  const cell = '<td class="num">(\\d+)</td>';
  const rows = numbers(
    new RegExp(
      `<tr><td><time[^>]*>([^<]*)</time></td>${cell}<td class="num">[\\d–]+</td>${cell}</tr>`,
      "g",
    ),
  );
  assert.deepEqual(
    rows.filter(([, events]) => events !== "0"),
    bars,
  );
  assert.ok(bars.length > 60, `${bars.length} bars`);
  assert.equal(bars.filter(([, , fired]) => fired === "1").length, 1);
  assert.match(shown, /class="plot-usual"/);
  assert.match(shown, /payment failed<\/span> <span class="soft">80, usually 10</);
});

test("the terminal draws a row a day, and says when it fired; the interface gives no weeks where none are asked for", async (t) => {
  const { box } = await story(t);
  const file = join(scratch(t), "more.json");
  writeFileSync(file, JSON.stringify(RULE));
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key, TZ: "UTC" };
  const { out, err } = await run(["rule", "try", "shop", file, "--plot"], { env });
  assert.match(
    out,
    /In the last four weeks it would have fired once, by what is counted by the hour\./,
    err,
  );
  const day = new Date(box.clock.now() - 3 * DAY * 1000).toISOString().slice(0, 10);
  const of = (date: string) => new RegExp(`^${date} \\|(.*)\\|$`, "m").exec(out)?.[1];
  assert.equal(of(day), "        ▁▁▁▁▲▁▁▁▁▁      ");
  assert.match(out, /^FIRED +CAME +USUALLY +TEMPLATE +KEYS\n.* 80 +10 +payment failed/m);
  const body = { rule: RULE };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules/dry-run", body)).body.weeks, null);
  const plain = { rule: { name: "any" }, weeks: true };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules/dry-run", plain)).body.weeks, null);
});
