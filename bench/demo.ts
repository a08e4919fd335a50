import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { Webhook } from "standardwebhooks";
import { systemClock } from "../src/kit/clock.ts";
import { isSignedBy, readSignatureHeaders } from "../src/kit/sign.ts";
import { testBox } from "../test/support/box.ts";

/**
 * The main job on real lines, watched: a box and a receiver on this machine, lines in, alerts open, and each
 * signed webhook is verified twice, by our own check and by the standardwebhooks library.
 */

interface Log {
  name: string;
  lines: string[];
}

/** The ten public log sets where they lie beside the checkout, else the log that the project ships. */
function logs(): Log[] {
  const sets = join(import.meta.dirname, "../../shared/data/loghub");
  if (!existsSync(sets)) {
    return [
      {
        name: "shop",
        lines: readFileSync(join(import.meta.dirname, "demo-lines.txt"), "utf8")
          .trim()
          .split("\n"),
      },
    ];
  }
  return readdirSync(sets)
    .filter((file) => file.endsWith(".csv"))
    .map((file) => ({
      name: basename(file).replace(/_2k.*/, ""),
      lines: contents(readFileSync(join(sets, file), "utf8")),
    }));
}

/** The Content column of a CSV file with quoted fields. */
function contents(csv: string): string[] {
  const rows = parseCsv(csv);
  const column = rows[0]?.indexOf("Content") ?? -1;
  return rows.slice(1).flatMap((row) => (row[column] === undefined ? [] : [row[column] as string]));
}

function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g,
  )) {
    rows.at(-1)?.push(quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'));
    if (end !== ",") rows.push([]);
  }
  return rows.filter((row) => row.length > 1);
}

const LOUD = /error|fail|fatal|exception|denied|refused|timeout|unable|invalid|lost|full/i;

const began = systemClock.mono();
const seconds = () => ((systemClock.mono() - began) / 1000).toFixed(1).padStart(5);
const say = (text: string) => console.log(`${seconds()} s  ${text}`);

let secret = "";
const received = { verified: 0, refused: 0 };
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString();
    const ok = verifies(request.headers as Record<string, string>, body);
    received[ok ? "verified" : "refused"]++;
    response.writeHead(ok ? 200 : 400).end();
    const event = JSON.parse(body) as {
      event: string;
      project: string;
      rule: string;
      template: string;
    };
    if (received.verified <= 12)
      say(
        `webhook ${ok ? "✔ both signatures verify" : "✘ REFUSED"}  ${event.event}  ${event.project}: ${event.template.slice(0, 70)}`,
      );
  });
});

function verifies(headers: Record<string, string>, body: string): boolean {
  const ours = readSignatureHeaders(headers["x-service-timestamp"], headers["x-service-signature"]);
  if (ours === null || !isSignedBy(secret, ours, body)) return false;
  new Webhook(secret).verify(body, headers);
  return true;
}

await new Promise<void>((ready) => receiver.listen(0, "127.0.0.1", ready));
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
const box = await testBox({}, systemClock as never);
say(`box on ${box.url}, receiver on ${url}`);

let sent = 0;
let loud = 0;
const all = logs();
for (const { name, lines } of all) {
  const token = await box.project(name, { retain_logs: true });
  const hook = await box.api("POST", `/v1/projects/${name}/webhooks`, {
    url,
    ...(secret === "" ? {} : { secret }),
  });
  secret ||= hook.body.secret as string;
  await box.api("POST", `/v1/projects/${name}/rules`, {
    name: "loud lines",
    match: { min_level: 400 },
  });
  for (let from = 0; from < lines.length; from += 500) {
    const batch = lines
      .slice(from, from + 500)
      .map((message) => ({ message, level: LOUD.test(message) ? 400 : 200 }));
    loud += batch.filter(({ level }) => level === 400).length;
    const answer = await fetch(`${box.url}/v1/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
      body: batch.map((event) => JSON.stringify(event)).join("\n"),
    });
    sent += ((await answer.json()) as { accepted: number }).accepted;
  }
}
const total = all.reduce((sum, { lines }) => sum + lines.length, 0);
say(`${sent} of ${total} lines accepted, ${loud} of them loud`);

const opened = box.tenant.store.sql("SELECT count(*) FROM alerts").pluck().get() as number;
const deadline = systemClock.mono() + 20_000;
while (received.verified + received.refused < opened && systemClock.mono() < deadline)
  await new Promise((later) => systemClock.after(20, () => later(null)));
const templates = box.tenant.store
  .sql("SELECT count(*) FROM templates WHERE alias_of IS NULL")
  .pluck()
  .get();
say(
  `${templates} templates, ${opened} alerts opened, ${received.verified} webhooks verified, ${received.refused} refused`,
);

const { body } = await box.api("GET", "/v1/alerts?limit=5");
for (const alert of body.alerts)
  say(`alert #${alert.id}  ${alert.project}  count ${alert.count}  ${alert.template.slice(0, 80)}`);
await box.api("POST", `/v1/alerts/${body.alerts[0].id}/ack`);
say(`alert #${body.alerts[0].id} acknowledged`);
await box.stop();
receiver.close();
receiver.closeAllConnections();
const well = sent === total && received.refused === 0 && received.verified >= opened && opened > 0;
console.log(well ? "every alert's webhook arrived and verified" : "SOMETHING IS MISSING");
process.exitCode = well ? 0 : 1;
