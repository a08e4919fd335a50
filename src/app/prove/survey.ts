import { join } from "node:path";
import { type Clock, sleep } from "../../ground/kit/clock.ts";
import { checkCopy } from "../../ground/store/check.ts";
import { openReadOnly } from "../../ground/store/database.ts";
import type { Api } from "./api.ts";
import type { SeenAlert, SeenPage } from "./evidence.ts";
import { numberOf } from "./feed.ts";

/** Longest time to send what waits, once nothing fails any more. */
const DRAIN_MS = 60_000;

/** Waits until nothing waits to be sent, a minute at most. Returns the number that still waits. */
export async function drained(api: Api, clock: Clock): Promise<number> {
  const from = clock.mono();
  for (;;) {
    const waiting = await readWaiting(api);
    if (waiting === 0 || clock.mono() - from > DRAIN_MS) return waiting;
    await sleep(clock, 100);
  }
}

async function readWaiting(api: Api): Promise<number> {
  const { body } = await api.call("GET", "/metrics");
  const gauge = (name: string) => {
    const found = new RegExp(`^${name} (\\d+)$`, "m").exec(body);
    if (found === null) throw new Error(`/metrics shows no ${name}`);
    return Number(found[1]);
  };
  const rows = ["deliveries", "executions", "pages"];
  return rows.reduce((sum, what) => sum + gauge(`box_${what}_pending`), 0);
}

/** Every alert from the API. */
export async function readAlerts(api: Api): Promise<SeenAlert[]> {
  const alerts: SeenAlert[] = [];
  let before = "";
  for (;;) {
    const page = await api.need("GET", `/v1/alerts?limit=500${before}`);
    alerts.push(...(page["alerts"] as SeenAlert[]));
    if (page["next"] === null) return alerts;
    before = `&before=${String(page["next"])}`;
  }
}

const PAGES = `SELECT CAST(alert_id AS TEXT) AS alertId, contact_id AS contactId, status FROM pages
  WHERE event IN ('alert.escalated', 'alert.renotified')`;

const LINES = `SELECT message,
  (SELECT outline FROM line_outlines WHERE id = l.id - l.id % 1024 + l.outline) AS outline FROM log_lines l`;

interface StoredMessage {
  message: string;
  outline: string | null;
}

/** Of a line that has an outline, what varies is stored. Read anew here: a judge shares nothing with what it judges. */
function messageOf({ message, outline }: StoredMessage): string {
  if (outline === null) return message;
  const { message: fixed } = JSON.parse(outline) as { message: string[] };
  const parts = message.split(" ");
  return fixed.map((text, i) => text + (i + 1 < fixed.length ? parts[i] : "")).join("");
}

/** The content of a stopped box's files. Reads every page and writes nothing. */
export function readFiles(data: string) {
  const path = join(data, "box.db");
  try {
    checkCopy(path);
    const db = openReadOnly(path);
    try {
      const stored = db.prepare(LINES).all() as StoredMessage[];
      const givenUp = db
        .prepare("SELECT count(*) FROM deliveries WHERE status NOT IN ('delivered', 'pending')")
        .pluck()
        .get() as number;
      const lines = stored.map((line) => numberOf(messageOf(line)) ?? -1);
      const pages = db.prepare(PAGES).all() as SeenPage[];
      return { lines, givenUp, pages, damage: null };
    } finally {
      db.close();
    }
  } catch (error) {
    return {
      lines: [],
      givenUp: 0,
      pages: [],
      damage: error instanceof Error ? error.message : String(error),
    };
  }
}
