import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { join } from "node:path";
import { Pool } from "undici";
import { withHosted } from "../src/app/offline/hosted.ts";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { readApnsKey, signedToken } from "../src/hosted/apns-token.ts";
import { servedBefore } from "../test/support/data.ts";
import { start } from "./harness.ts";

export const CONCURRENT = 64;
const DEVICE = "ab".repeat(32);

export interface Apns {
  endpoint: string;
  ca: string;
  key: string;
  keyId: string;
  teamId: string;
  topic: string;
}

/** Runs `n` pieces of work, so many at a time; pieces a second. */
export async function rate(
  n: number,
  work: (i: number) => Promise<unknown>,
  lanes = CONCURRENT,
): Promise<number> {
  let next = 0;
  const began = performance.now();
  const lane = async () => {
    while (next < n) await work(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return n / ((performance.now() - began) / 1000);
}

/** Pushes straight to the provider, as bare as they can be, over one connection. */
export function bareClient(apns: Apns): { push(): Promise<void>; close(): void } {
  const key = readApnsKey(apns.key);
  if (key === null) throw new Error("no key");
  const { keyId, teamId, topic } = apns;
  const jwt = signedToken({ key, keyId, teamId, iat: unixSeconds(systemClock) });
  const session = connect(apns.endpoint, { ca: apns.ca });
  const payload = JSON.stringify({ aps: { alert: { title: "shop: any", body: "Disk is full" } } });
  const push = () =>
    new Promise<void>((resolve, reject) => {
      const stream = session.request({
        ":method": "POST",
        ":path": `/3/device/${DEVICE}`,
        authorization: `bearer ${jwt}`,
        "apns-topic": topic,
        "apns-push-type": "alert",
        "apns-priority": "10",
        "apns-expiration": "0",
      });
      stream.on("response", ({ ":status": status }) => {
        if (status !== 200) reject(new Error(`the provider answered ${status}`));
      });
      stream.on("close", resolve);
      stream.resume();
      stream.end(payload);
    });
  return { push, close: () => session.close() };
}

/** Who has a registry's data directory or database: what `withHosted` is told. */
export interface Place {
  data: string;
  database?: string;
  hostedKey?: string;
}

const deps = { clock: systemClock, random: systemRandom };

/** A new registry with its provider, one tenant and one person; what `pairPhone` needs. */
export async function furnishRegistry(place: Place, apns: Apns) {
  const [keyFile, ca] = [join(place.data, "k.p8"), join(place.data, "ca.pem")];
  writeFileSync(keyFile, apns.key);
  writeFileSync(ca, apns.ca);
  if (place.database === undefined) servedBefore(place.data, "hosted");
  return withHosted({ ...place, ...deps }, async (desk) => {
    await desk.setApns({ ...apns, keyFile, ca });
    await desk.addAccount("ada@example.com");
    const { tenant_id: tid } = await desk.addTenant({ kind: "box" });
    return { tid, ...(await desk.addSession("ada@example.com")) };
  });
}

/** A hosted role in a process of its own. */
export async function serveHosted({ data, database, hostedKey }: Place) {
  const words = ["cli/box.ts", "hosted", "serve", "--data", data, "--listen", "127.0.0.1:0"];
  if (database !== undefined) words.push("--database", database);
  if (hostedKey !== undefined) words.push("--hosted-key", hostedKey);
  const flags = ["--relay-rate", "0", "--pair-rate", "0", "--log-level", "error"];
  const child = await start(process.execPath, [...words, ...flags]);
  return { child, url: child.line.replace("listening on ", "").trim() };
}

export interface RelayKey {
  relay_key_id: string;
  relay_secret: string;
}

/** Gives the tenant its phone; the box's key. */
export async function pairPhone(url: string, who: { tid: string; token: string }) {
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${who.token}` };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return (await (await fetch(url + path, init)).json()) as { relay: RelayKey };
  };
  await post("/v1/account/devices", { token: DEVICE, platform: "ios" });
  const paired = { box_account_id: "b", receipt: "0".repeat(48) };
  return (await post(`/v1/tenants/${who.tid}/pair`, paired)).relay;
}

/** What boxes say to a hosted role, over so many connections. */
export function boxesAt(url: string, connections = CONCURRENT) {
  const pool = new Pool(url, { connections });
  const say = async (relay: RelayKey, event: object) => {
    const timestamp = Math.floor(Date.now() / 1000);
    const body = JSON.stringify({ timestamp, ...event });
    const signature = createHmac("sha256", relay.relay_secret)
      .update(`${timestamp}.${body}`)
      .digest("hex");
    const answer = await pool.request({
      method: "POST",
      path: `/v1/relay/${relay.relay_key_id}`,
      headers: { "x-service-timestamp": String(timestamp), "x-service-signature": signature },
      body,
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  const must = async (relay: RelayKey, event: object, expected: string) => {
    const { status, text } = await say(relay, event);
    if (text !== expected) throw new Error(`the relay answered ${status} ${text}`);
  };
  return {
    say,
    page: (relay: RelayKey, alert: string) =>
      must(relay, pageOf(alert), '{"relayed":true,"devices":1}'),
    beat: (relay: RelayKey) =>
      must(
        relay,
        { event: "box.heartbeat", alert_id: "", project: "" },
        '{"relayed":false,"devices":0}',
      ),
    close: () => pool.destroy(),
  };
}

export const pageOf = (alert: string) => ({
  event: "alert.opened",
  alert_id: alert,
  project: "shop",
  rule: "any",
  template: "Disk is full",
  count: 1,
  level: 400,
  page_accounts: [],
});
