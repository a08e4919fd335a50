import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Program, runCommand } from "../../src/app/prove/scratch-box.ts";
import { type BoxProcess, boxProcess } from "../support/box-process.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import type { Recording } from "./recording.ts";

/** Where things lie on the recorded disk. */
export const places = { data: "data", backup: "backups/box.backup" } as const;

/** How much of each part: the short story has everything that the long one has. */
export interface Length {
  events: number;
  /** Requests of twenty large lines: enough of them move the log into the database. */
  large: number;
}

/**
 * One box from its first start to its last stop, on a recorded disk: ingest, acknowledgements, alerts that their sender
 * names, a log that is moved into the database, backups, new keys. Everything that is answered "yes" is noted.
 */
export async function tellStory(
  program: Program,
  recording: Recording,
  length: Length,
): Promise<void> {
  const { directory } = recording;
  const data = join(directory, places.data);
  for (const place of [data, join(directory, "backups")]) mkdirSync(place, { mode: 0o700 });
  const recorded: Program = [
    "env",
    ...Object.entries(recording.env).map(([name, value]) => `${name}=${value}`),
    ...program,
  ];
  const receiver = await startReceiver();
  const box = boxProcess(recorded, data);
  try {
    recording.part("first start");
    await box.start();
    const token = await box.project("shop", receiver.url);
    const source = { name: "namer", retain_logs: false };
    const named = String(
      (await box.api.need("POST", "/v1/projects/shop/sources", source))["token"],
    );
    await pagePerson(box, receiver);
    recording.ack("project");
    const story = { recording, box, token, named, recorded, data };
    await ingest(story, length.events);
    await verbs(story);
    await names(story);
    await newKeys(story);
    await backups(story);
    // Last, since it makes every later state a large one.
    await checkpoint(story, length.large);
    recording.part("stop");
    await box.stop();
  } finally {
    await box.discard();
    await receiver.close();
  }
}

/** A rule whose ladder pages the owner, by a contact of their own. */
async function pagePerson({ api }: BoxProcess, receiver: Receiver): Promise<void> {
  const base = "/v1/accounts/me/contacts";
  const write = { kind: "webhook", address: `${receiver.url}/person` };
  const { id } = await api.need("POST", base, write);
  await api.need("POST", `${base}/${id}/verify`, {});
  const { code } = JSON.parse(receiver.received.at(-1)?.body ?? "{}") as { code?: string };
  await api.need("POST", `${base}/${id}/verify`, { code });
  const { accounts } = await api.need("GET", "/v1/accounts");
  const [owner] = accounts as { id: string }[];
  const {
    id: _,
    created_at,
    updated_at,
    ...rule
  } = await api.need("GET", "/v1/projects/shop/rules/any");
  const escalations = [{ accounts: [owner?.id], after_minutes: 0 }];
  await api.need("PUT", "/v1/projects/shop/rules/any", { ...rule, escalations });
}

interface Story {
  recording: Recording;
  box: BoxProcess;
  token: string;
  /** Of the source whose sender names its alerts; it keeps no lines. */
  named: string;
  recorded: Program;
  data: string;
}

let n = 0;

async function one({ recording, box, token }: Story): Promise<void> {
  const id = String(++n);
  const reply = await box.ingest(token, { message: "the till is stuck", keys: { n: id } });
  if (reply.status === 202) recording.ack(`event ${id}`);
}

async function many({ recording, box, token }: Story, filling: string): Promise<void> {
  const ids = Array.from({ length: 20 }, () => String(++n));
  const line = (id: string) =>
    JSON.stringify({ message: `the till is stuck ${filling}`, keys: { n: id } });
  const reply = await box.api.send("/v1/ingest", {
    bearer: token,
    type: "application/x-ndjson",
    body: ids.map(line).join("\n"),
  });
  if (reply.status === 202) for (const id of ids) recording.ack(`event ${id}`);
}

async function ingest(story: Story, events: number): Promise<void> {
  story.recording.part("ingest");
  for (let i = 0; i < events; i++) {
    if (i % 10 === 9) await many(story, "");
    else await Promise.all([one(story), one(story)]);
  }
}

async function verbs({ recording, box }: Story): Promise<void> {
  recording.part("verbs");
  for (let id = 1; id <= 20; id++) {
    const verb = id % 2 === 0 ? "ack" : "resolve";
    const { status } = await box.api.call("POST", `/v1/alerts/${id}/${verb}`);
    if (status === 200) recording.ack(`${verb} ${id}`);
  }
}

/** A sender fires, reports again and ends; of each name the word that was answered last is what holds. */
async function names({ recording, box, named }: Story): Promise<void> {
  recording.part("names");
  for (let i = 0; i < 36; i++) {
    const name = `name ${i % 6}`;
    // Fires, is reported twice and ended, and fires anew.
    const instance = 1 + Math.floor(i / 24);
    const status = Math.floor(i / 6) % 4 === 3 ? "resolved" : "firing";
    const reply = await box.ingest(named, {
      message: `${name} is ${status}`,
      dedup_key: name,
      status,
      instance: String(instance),
      expires_at: Math.floor(Date.now() / 1000) + 3600 + i,
    });
    if (reply.status === 202) recording.ack(`${status} ${instance} ${name}`);
  }
}

/** The log is moved every 1,000 pages; the database's time says that it was. */
async function checkpoint(story: Story, requests: number): Promise<void> {
  story.recording.part("checkpoint");
  const changed = () => statSync(join(story.data, "box.db")).mtimeMs;
  const before = changed();
  for (let i = 0; i < requests; i++) await many(story, "x".repeat(6000));
  if (changed() === before) throw new Error("no checkpoint came: the story is too short");
}

async function backups(story: Story): Promise<void> {
  const { recording, recorded, data } = story;
  recording.part("backup");
  const file = join(recording.directory, places.backup);
  const flags = ["--with-key", "--replace", "--data", data, "--json"];
  for (let i = 0; i < 2; i++) {
    const writing = runCommand(recorded, ["backup", file, ...flags]);
    await Promise.all([writing, one(story), one(story)]);
    recording.ack("backup");
  }
}

async function newKeys(story: Story): Promise<void> {
  const { recording, recorded, data } = story;
  recording.part("key rotation");
  for (let i = 0; i < 3; i++) {
    await runCommand(recorded, ["key-file", "rotate", "--data", data, "--json"]);
    recording.ack("rotation");
    await one(story);
  }
}
