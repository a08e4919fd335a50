import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { sleep, systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { isSignedBy, readSignatureHeaders } from "../src/ground/kit/sign.ts";
import { realClock } from "../test/support/clock.ts";
import { relayStory } from "../test/support/relay-story.ts";
import { type Door, demoDoor } from "./demo-door.ts";
import { explore, staysOpen } from "./demo-explore.ts";
import { type Log, logs } from "./demo-logs.ts";
import { freePort, SYSLOG, senders } from "./demo-senders.ts";

/**
 * The main job on real lines, watched: a box, the hosted service that it pages phones through, a provider
 * of push messages that only this machine has, and a receiver of webhooks. Lines go in, alerts open, a ladder
 * pages whoever is on call, and each signed webhook is verified twice, by our own check and by the
 * standardwebhooks library. At a terminal it all stays there to be looked at.
 */

const LOUD = /error|fail|fatal|exception|denied|refused|timeout|unable|invalid|lost|full/i;
const MOST_SHOWN = 12;
const PATIENCE_MS = 20_000;

const began = systemClock.mono();
const say = (text: string) => {
  const seconds = ((systemClock.mono() - began) / 1000).toFixed(1).padStart(5);
  process.stdout.write(`${seconds} s  ${text}\n`);
};

let secret = "";
const received = { verified: 0, refused: 0 };
let door: Door | null = null;
/** A browser also asks for what nobody named: its icon. */
const enter = (request: IncomingMessage, response: ServerResponse) => {
  if (!door?.open(request, response)) response.writeHead(404).end();
};
const receiver = createServer((request, response) => {
  if (request.method === "GET") return enter(request, response);
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString();
    const ok = verifies(request.headers as Record<string, string>, body);
    received[ok ? "verified" : "refused"]++;
    response.writeHead(ok ? 200 : 400).end();
    const { event, project, template } = JSON.parse(body) as Record<string, string>;
    const what = `${event}  ${project}: ${template?.slice(0, 60)}`;
    if (received.verified <= MOST_SHOWN)
      say(`webhook ${ok ? "✔ both signatures verify" : "✘ REFUSED"}  ${what}`);
  });
});

function verifies(headers: Record<string, string>, body: string): boolean {
  const ours = readSignatureHeaders(headers["x-service-timestamp"], headers["x-service-signature"]);
  if (ours === null || !isSignedBy(secret, ours, body)) return false;
  new Webhook(secret).verify(body, headers);
  return true;
}

await new Promise<void>((ready) => receiver.listen(0, "127.0.0.1", ready));
const { port } = receiver.address() as AddressInfo;
const hook = `http://127.0.0.1:${port}/hook`;
const syslogPort = await freePort();
const bound = `${SYSLOG.project}/${SYSLOG.source}`;
const story = await relayStory(realClock(), { syslogTcp: [`127.0.0.1:${syslogPort}=${bound}`] });
const { box, ada } = story;
await story.putRelay();
// The relay hears from the box first: who comes second is checked against it.
await story.settle();
const bob = await story.join("bob");
say(`box on ${box.url}, receiver on ${hook}, ada and bob have phones`);

/** What the phones showed since the last look, told while there is room for it. */
let pages = 0;
function tellPages(): void {
  for (const shown of story.shown()) {
    pages++;
    if (pages <= MOST_SHOWN) say(`phone ☎ ${shown.slice(0, 90)}`);
  }
}

/** A project with a source, a webhook, and a rule that climbs from whoever is on call to both. */
async function project(name: string): Promise<string> {
  const at = `/v1/projects/${name}`;
  const token = await box.project(name, { retain_logs: true });
  const made = await box.api("POST", `${at}/webhooks`, {
    url: hook,
    ...(secret === "" ? {} : { secret }),
  });
  secret ||= made.body.secret as string;
  const layer = {
    name: "weekly",
    participants: [ada.boxAccountId, bob.boxAccountId],
    rotation_start: unixSeconds(systemClock) - 3600,
    shift_minutes: 7 * 1440,
  };
  await box.api("POST", `${at}/oncall/schedules`, {
    name: "primary",
    timezone: "Europe/Berlin",
    layers: [layer],
  });
  await box.api("POST", `${at}/rules`, {
    name: "loud lines",
    match: { min_level: 400 },
    escalations: [
      { schedules: ["primary"], after_minutes: 0 },
      { accounts: [ada.boxAccountId, bob.boxAccountId], after_minutes: 2, repeat_minutes: 5 },
    ],
  });
  return token;
}

/** Sends every line; how many were taken and how many were loud. */
async function feed({ name, lines }: Log): Promise<{ sent: number; loud: number }> {
  const token = await project(name);
  const counts = { sent: 0, loud: 0 };
  for (let from = 0; from < lines.length; from += 500) {
    const batch = lines
      .slice(from, from + 500)
      .map((message) => ({ message, level: LOUD.test(message) ? 400 : 200 }));
    counts.loud += batch.filter(({ level }) => level === 400).length;
    const answer = await fetch(`${box.url}/v1/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
      body: batch.map((event) => JSON.stringify(event)).join("\n"),
    });
    counts.sent += ((await answer.json()) as { accepted: number }).accepted;
    tellPages();
  }
  return counts;
}

const count = (query: string) => box.tenant.store.sql(query).pluck().get() as number;

const all = logs();
let sent = 0;
let loud = 0;
for (const log of all) {
  const counts = await feed(log);
  sent += counts.sent;
  loud += counts.loud;
}
const total = all.reduce((sum, { lines }) => sum + lines.length, 0);
say(`${sent} of ${total} lines accepted, ${loud} of them loud`);

await project(SYSLOG.project);
const others = await senders(box, { say, syslogPort });
const fromOthers = () =>
  count(
    "SELECT count(*) FROM alerts a JOIN projects p ON p.id = a.project_id WHERE p.name = 'machines'",
  );
const patience = systemClock.mono() + PATIENCE_MS;
while (fromOthers() < others.opened && systemClock.mono() < patience) await sleep(systemClock, 20);

const opened = count("SELECT count(*) FROM alerts");
const deadline = systemClock.mono() + PATIENCE_MS;
// A page that is still under way is withdrawn by who acknowledges, and then the history reads otherwise.
const pending = () => count("SELECT count(*) FROM deliveries WHERE status = 'pending'");
const isOwed = () =>
  received.verified + received.refused < opened || pages < opened || pending() > 0;
while (isOwed() && systemClock.mono() < deadline) {
  await sleep(systemClock, 20);
  tellPages();
}
const templates = count("SELECT count(*) FROM templates WHERE alias_of IS NULL");
const webhooks = `${received.verified} webhooks verified, ${received.refused} refused`;
say(`${templates} templates, ${opened} alerts opened, ${webhooks}, ${pages} pages on phones`);

const ended = await others.end();

const { body } = await box.api("GET", "/v1/alerts?limit=5");
for (const { id, project, count, last_message } of body.alerts)
  say(`alert #${id}  ${project}  count ${count}  ${last_message.slice(0, 80)}`);
// Which of the senders' alerts came last is chance, and some have ended: only an open one can be taken.
const standing = await box.api("GET", "/v1/alerts?state=open&limit=2");
const [taken, left] = standing.body.alerts;
await box.api("POST", `/v1/alerts/${taken.id}/ack`, undefined, ada.key);
say(`alert #${taken.id} acknowledged by ada`);

const well =
  ended &&
  sent === total &&
  received.refused === 0 &&
  received.verified >= opened &&
  pages >= opened;
process.stdout.write(
  well && opened > 0
    ? "every alert's webhook arrived and verified, and rang a phone\n"
    : "SOMETHING IS MISSING\n",
);
if (staysOpen(process.argv.slice(2), process.env, process.stdout.isTTY === true)) {
  const alerts = { open: String(left.id), acknowledged: String(taken.id) };
  door = demoDoor(box, ada.boxAccountId);
  const look = `http://localhost:${port}${door.path}`;
  const place = { url: box.url, key: ada.key, look, project: String(taken.project), alerts };
  process.stdout.write(explore(place));
  const rest = setInterval(tellPages, 200);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  clearInterval(rest);
}
await story.close();
receiver.close();
receiver.closeAllConnections();
process.exitCode = well && opened > 0 ? 0 : 1;
