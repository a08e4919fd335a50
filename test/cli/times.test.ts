import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box as run } from "../support/command-line.ts";

let served: TestBox;
const START = Date.UTC(2026, 0, 5, 23, 30) / 1000;

async function said(TZ: string, ...words: string[]): Promise<string> {
  const env = { BOX_URL: served.url, BOX_KEY: served.owner.key, TZ };
  const { code, out, err } = await run(words, { env });
  assert.equal(code, 0, err);
  return out;
}

before(async () => {
  served = await testBox({}, handClock(START * 1000));
  const token = await served.project("shop", { name: "web", retain_logs: true });
  const env = { BOX_URL: served.url, BOX_KEY: served.owner.key };
  const rule = '{"name": "errors", "match": {"min_level": 400}}';
  const { code, err } = await run(["rule", "set", "shop", "-"], { env, input: rule });
  assert.equal(code, 0, err);
  await served.ingest(token, { message: "payment failed", level: 400 });
  const base = "/v1/projects/shop/oncall/schedules";
  await served.api("POST", base, { name: "primary", timezone: "Asia/Tokyo", layers: [] });
});
after(() => served.stop());

const COMMANDS = [
  ["alerts"],
  ["alert", "show", "1"],
  ["timeline", "1"],
  ["why", "1"],
  ["tail", "shop"],
  ["rule", "list", "shop"],
  ["project", "list"],
  ["source", "list", "shop"],
  ["audit"],
  ["schedule", "show", "shop", "primary"],
  ["simulate", "--rule", "errors", "--at", "2026-01-06 00:30+01:00"],
];

test("every command prints times by the terminal's clock with its offset; UTC's where TZ is none", async () => {
  for (const [zone, begins] of [
    ["Europe/Berlin", "2026-01-06 00:30+01:00"],
    ["Asia/Kolkata", "2026-01-06 05:00+05:30"],
    ["UTC", "2026-01-05 23:30Z"],
    ["Mars/Phobos", "2026-01-05 23:30Z"],
  ] as const) {
    let dated = 0;
    for (const words of COMMANDS) {
      const text = await said(zone, ...words);
      // A schedule's own clock stands beside, under its name.
      const own = text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d to \d{4}-\d\d-\d\d \d\d:\d\d$/gm, "");
      const offset = begins.slice(16).replace("+", "\\+");
      const whole = new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d(:\\d\\d)?${offset}(?!\\d)`);
      const at = [...own.matchAll(/\d{4}-\d\d-\d\d/g)].map(({ index }) =>
        own.slice(index, index + 40),
      );
      dated += at.length;
      for (const time of at) assert.match(time, whole, `${zone}: ${words.join(" ")}`);
    }
    assert.ok(dated > 15, `${zone}: only ${dated} times were looked at`);
    assert.ok((await said(zone, "timeline", "1")).startsWith(`${begins}  Opened`), zone);
    const simulated = await said(zone, "simulate", "--rule", "errors", "--at", begins);
    assert.ok(simulated.includes(`${begins}`), `${zone}: what is printed is read again`);
  }
});

test("a schedule of another zone shows its own clock beside; days of a plot and a sweep are the terminal's", async () => {
  const far = await said("Europe/Berlin", "schedule", "show", "shop", "primary", "--until", "+1d");
  assert.match(far, /\nFROM +UNTIL +ON CALL +BY +BY THE CLOCK OF Asia\/Tokyo\n/);
  assert.match(far, /\+01:00 +NOBODY +\d{4}-\d\d-\d\d \d\d:\d\d to \d{4}-\d\d-\d\d \d\d:\d\d\n/);
  assert.doesNotMatch(await said("Asia/Tokyo", "schedule", "show", "shop", "primary"), /CLOCK OF/);
  const env = { BOX_URL: served.url, BOX_KEY: served.owner.key };
  const plot = async (TZ: string) => {
    const words = ["rule", "try", "shop", "-", "--plot"];
    return (await run(words, { env: { ...env, TZ }, input: '{"name":"r"}' })).out;
  };
  assert.match(await plot("UTC"), /\n2026-01-05 \|.{23}█\|/);
  assert.match(await plot("Europe/Berlin"), /\n2026-01-06 \|█ {23}\|/);
  assert.match(await plot("Asia/Kolkata"), /\n2026-01-06 \| {4}█ {19}\|/);
});
