import assert from "node:assert/strict";
import { afterEach, beforeEach } from "node:test";
import { examine } from "../../src/app/operate/doctor.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { long, test } from "../support/long.ts";

/** Patterns that are made to cost: refused where they are written, put off where they stand already. */

let box: TestBox;
let token: string;
beforeEach(async () => {
  box = await testBox({}, handClock(Date.now()));
  token = await box.project("p");
});
afterEach(() => box.stop());

const HUGE = "(\\pL?){1000}".repeat(19);
const by = (value: string) => ({ conditions: [{ key: "k", op: "matches", value }] });
const value = `${"é".repeat(4095)}!`;
const alerts = async (): Promise<{ rule: string }[]> =>
  (await box.api("GET", "/v1/alerts?limit=500")).body.alerts;

/** Puts a pattern into a rule as an older program stored it, and starts the box anew. */
function stored(rule: string, pattern: string): Promise<void> {
  box.tenant.store.write((tx) => {
    const read = tx.sql<[name: string], string>("SELECT body FROM rules WHERE name = ?").pluck();
    const body = JSON.stringify({ ...JSON.parse(read.get(rule) ?? ""), ...by(pattern) });
    tx.sql<[body: string, name: string]>("UPDATE rules SET body = ? WHERE name = ?").run(
      body,
      rule,
    );
  });
  return box.restart();
}

test("every door where a pattern is written says that it is too large", async () => {
  const ends = { ends_at: Math.floor(box.clock.now() / 1000) + 600, reason: "r" };
  const config = (await box.api("GET", "/v1/projects/p/config")).body;
  const refused: [path: string, body: object, method?: string][] = [
    ["/v1/projects/p/rules", { name: "r", ...by(HUGE) }],
    ["/v1/projects/p/rules/dry-run", { rule: { name: "r", ...by(HUGE) } }],
    ["/v1/projects/p/rules/simulate", { rule: { name: "r", ...by(HUGE) } }],
    ["/v1/silences", { ...ends, project: "p", ...by(HUGE) }],
    ["/v1/silences/preview", { ...ends, project: "p", ...by(HUGE) }],
    [
      "/v1/projects/p/config",
      { ...config, config: { ...config.config, rules: [{ name: "r", ...by(HUGE) }] } },
      "PUT",
    ],
  ];
  for (const [path, body, method = "POST"] of refused) {
    const answer = await box.api(method, path, body);
    assert.equal(answer.status, 400, `${path}: ${JSON.stringify(answer.body)}`);
    const [detail] = answer.body.error.details;
    assert.match(detail.field, /conditions\/0\/value$/, path);
    assert.match(detail.reason, /comes to 76988 steps/, path);
  }
});

test("a rule of an older program whose pattern is too large lets the box start, rings, and is named", async () => {
  await box.api("POST", "/v1/projects/p/rules", { name: "old", ...by("x") });
  await stored("old", HUGE);
  const before = performance.now();
  const answer = await box.ingest(token, { message: "m", keys: { k: value } });
  assert.equal(answer.body.alerted, true, "what can't be looked at is taken to hold");
  assert.ok(performance.now() - before < 1000);
  assert.equal((await box.ingest(token, { message: "other" })).body.alerted, false);
  const { body } = await box.api("GET", "/readyz");
  const check = body.checks.find((one: { name: string }) => one.name === "patterns");
  assert.equal(check.ok, false);
  assert.match(check.detail, /p \/ old; write its pattern shorter/);
  const found = await examine({ data: box.data, clock: box.clock, random: systemRandom });
  assert.match(
    found.find((one) => one.check === "patterns")?.detail ?? "",
    /^p \/ old has a pattern that is too large to run/,
  );
});

long(
  "rules full of dear patterns hold up neither events nor previews, and ring with doubt",
  async () => {
    await box.stop();
    box = await testBox({}, Object.assign(handClock(), { mono: () => performance.now() }));
    token = await box.project("p");
    const dear = (i: number) => `.*${i}(\\pL?){40}x`;
    // So many that the time for them ends, however fast the machine is.
    const rules = Array.from({ length: 240 }, (_, i) => ({ name: `r${i}`, ...by(dear(i)) }));
    const config = (await box.api("GET", "/v1/projects/p/config")).body;
    const put = await box.api("PUT", "/v1/projects/p/config", {
      ...config,
      config: { ...config.config, rules },
    });
    assert.equal(put.status, 200, JSON.stringify(put.body));
    const events = Array.from({ length: 20 }, (_, i) =>
      JSON.stringify({ message: "m", keys: { k: `${i}${value.slice(0, 4090)}` } }),
    );
    const before = process.cpuUsage();
    const answer = await fetch(`${box.url}/v1/ingest`, {
      method: "POST",
      body: events.join("\n"),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    });
    const { user, system } = process.cpuUsage(before);
    assert.equal(answer.status, 202);
    assert.ok(user + system < 2_000_000, `${(user + system) / 1000} ms`);
    assert.ok((await alerts()).length > 0, "what couldn't be looked at rang");
  },
);
