import { parseArgs } from "node:util";
import { changes } from "./changes.ts";
import { consolePages } from "./console.ts";
import { consoleBrowser } from "./console-browser.ts";
import { consoleLive } from "./console-live.ts";
import { contacts } from "./contacts.ts";
import { deliveries, fairness } from "./deliveries.ts";
import { bytes, slowdisk } from "./disk.ts";
import { growth } from "./growth.ts";
import { habits } from "./habits.ts";
import { isBroken, type Row, remember, type Scenario, table } from "./harness.ts";
import { close, ingest, ndjson, openloop } from "./ingest.ts";
import { labels } from "./labels.ts";
import { list, occurrences } from "./list.ts";
import { memory } from "./memory.ts";
import { nodes } from "./nodes.ts";
import { numbers } from "./numbers.ts";
import { parked } from "./parked.ts";
import { refresh } from "./refresh.ts";
import { hosted, relay } from "./relay.ts";
import { reads, scale } from "./scale.ts";
import { start } from "./start.ts";
import { stores } from "./stores.ts";
import { tail } from "./tail.ts";
import { trying } from "./trying.ts";
import { webhook } from "./webhook.ts";

/**
 * `npm run bench -- [NAME…] [--quick] [--json]`: scenarios by name, each beside its yardstick in
 * interleaved runs. It fails on a row that isn't held three times, and on a ratio that fell to half of the last one.
 */
const scenarios: Scenario[] = [
  ingest,
  close,
  ndjson,
  openloop,
  tail,
  slowdisk,
  bytes,
  webhook,
  contacts,
  consolePages,
  consoleBrowser,
  consoleLive,
  parked,
  changes,
  relay,
  hosted,
  nodes,
  stores,
  deliveries,
  fairness,
  scale,
  reads,
  growth,
  list,
  labels,
  habits,
  occurrences,
  refresh,
  trying,
  numbers,
  memory,
  start,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean" },
    json: { type: "boolean" },
    history: { type: "string", default: "bench/history.jsonl" },
  },
});
const wanted =
  positionals.length === 0 ? scenarios : scenarios.filter(({ name }) => positionals.includes(name));
if (wanted.length < positionals.length) {
  console.error(
    `no such scenario; there are: ${scenarios.map(({ name, about }) => `\n  ${name}  ${about}`).join("")}`,
  );
  process.exit(2);
}
/** What others do on the machine only makes a figure worse: a row that isn't held is measured so often in all. */
const TRIES = 3;

async function measured(scenario: Scenario): Promise<Row[]> {
  for (let tries = 1; ; tries++) {
    const rows = await scenario.run(values.quick ?? false).catch((error: Error) => {
      console.error(`${scenario.name}: ${error.message}`);
      process.exit(1);
    });
    const broken = rows.filter(isBroken);
    if (broken.length === 0) return rows;
    const what = broken.map(({ what, value, hold }) => `${what}, ${value} for ${hold}`).join("; ");
    console.error(`${scenario.name}: NOT HELD: ${what}`);
    if (tries === TRIES) {
      process.exitCode = 1;
      return rows;
    }
  }
}

for (const scenario of wanted) {
  const rows = await measured(scenario);
  const fallen = remember(
    values.history,
    `${scenario.name}${values.quick ? " (quick)" : ""}`,
    rows,
  );
  console.log(
    values.json
      ? JSON.stringify({ scenario: scenario.name, rows })
      : `\n${scenario.name}: ${scenario.about}\n${table(rows)}`,
  );
  if (fallen.length > 0) {
    console.error(`fell to less than half: ${fallen.map(({ what }) => what).join(", ")}`);
    process.exitCode = 1;
  }
}
