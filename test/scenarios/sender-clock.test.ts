import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";

let box: TestBox;
let token: string;
before(async () => {
  box = await testBox();
  await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", { name: "any" });
  const source = { name: "prom", kind: "prometheus" };
  ({ token } = (await box.api("POST", "/v1/projects/p/sources", source)).body);
});
after(() => box.stop());

/** As Prometheus sends an alert whose clock says `off` seconds more than the box's: good for four minutes. */
async function report(off: number, { name = "Down", lasts = 240, began = 60 } = {}) {
  const time = (seconds: number) =>
    new Date(box.clock.now() + (off + seconds) * 1000).toISOString();
  const alert = { labels: { alertname: name }, startsAt: time(-began), endsAt: time(lasts) };
  const answer = await fetch(`${box.url}/v1/in/prometheus/${token}/api/v2/alerts`, {
    method: "POST",
    body: JSON.stringify([alert]),
  });
  assert.equal(answer.status, 200);
}

const facts = async () => (await box.api("GET", "/v1/projects/p/sources/prom/facts")).body;
const said = async () =>
  ((await box.api("GET", "/readyz")).body.checks as { name: string; detail: string }[]).find(
    ({ name }) => name === "ingest",
  )?.detail ?? "";

test("a sender whose clock is behind by more than its alerts last opens nothing, and readiness says why", async () => {
  await report(-600);
  assert.equal((await box.api("GET", "/v1/alerts")).body.alerts.length, 0);
  assert.equal((await facts()).clock_suspects, 1);
  assert.match(await said(), /a clock seems to be wrong, of prom of p$/);
});

test("once something fires the clock is right; ends of what was known, or is long over, are no sign", async () => {
  await report(0);
  assert.doesNotMatch(await said(), /clock/);
  await report(0, { lasts: -1 });
  await report(0, { lasts: -1 });
  await report(0, { name: "Old", began: 9000, lasts: -7200 });
  assert.equal((await facts()).clock_suspects, 1);
});
