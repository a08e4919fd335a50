import { shortToken } from "../../core/projects/sources.ts";
import { sha256 } from "../../ground/kit/ids.ts";
import type { Reader } from "../../ground/store/store.ts";
import { heartbeatSlug } from "./heartbeat.ts";
import type { HeartbeatReport } from "./state.ts";

/** One reading of a ping's path: the SHA-256 of the secret in it, and the report. */
export type Called = { word: HeartbeatReport; exit: number | null; hash: string } & (
  | { by: "secret" | "uuid" }
  | { by: "slug"; token: string; slug: string }
);

const SECRET = /^[0-9A-Za-z]{22}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Reads the path after `/ping`: an address, or a source's short token and a slug, then the report; a slash at the end
 * is optional. A short token can be written as a UUID, so there can be two readings; the first known one counts.
 */
export function readPingPath(path: string): Called[] {
  const [first = "", ...rest] = path.replace(/^\//, "").replace(/\/$/, "").split("/");
  const [second, third] = rest;
  const readings: Called[] = [];
  const own = rest.length <= 1 ? readAction(second) : null;
  if (own !== null && SECRET.test(first))
    readings.push({ ...own, by: "secret", hash: sha256(first) });
  if (own !== null && UUID.test(first))
    readings.push({ ...own, by: "uuid", hash: sha256(first.toLowerCase()) });
  // An address with an invalid exit status must not be read as a token with a slug of digits.
  if (own === null && UUID.test(first) && /^\d+$/.test(second ?? "")) return [];
  const said = rest.length === 1 || rest.length === 2 ? readAction(third) : null;
  const slug = heartbeatSlug.safeParse(second);
  const token = shortToken(first);
  if (said !== null && token !== null && slug.success)
    readings.push({ ...said, by: "slug", hash: sha256(token), token, slug: slug.data });
  return readings;
}

function readAction(
  action: string | undefined,
): { word: HeartbeatReport; exit: number | null } | null {
  if (action === undefined) return { word: "success", exit: null };
  if (action === "start" || action === "fail" || action === "log")
    return { word: action, exit: null };
  const exit = /^\d{1,3}$/.test(action) ? Number(action) : 256;
  return exit > 255 ? null : { word: exit === 0 ? "success" : "fail", exit };
}

const BY = {
  secret: "SELECT id FROM heartbeats WHERE secret_hash = ?",
  uuid: "SELECT id FROM heartbeats WHERE uuid_hash = ?",
};

/** The id of the heartbeat with this address, or null. */
export function findByAddress(reader: Reader, by: keyof typeof BY, hash: string): string | null {
  return reader.sql<[hash: string], string>(BY[by]).pluck().get(hash) ?? null;
}

const OF_SLUG =
  "SELECT id, json_extract(watch, '$.source') AS source FROM heartbeats WHERE project_id = ? AND slug = ?";

/** A project's heartbeat with this slug, and the name of the source whose reports it accepts; null for none. */
export function reportedBySlug(
  reader: Reader,
  projectId: number,
  slug: string,
): { id: string; source: string | null } | null {
  type Row = { id: string; source: string | null };
  return reader.sql<[number, string], Row>(OF_SLUG).get(projectId, slug) ?? null;
}

const BY_SLUG = "SELECT id FROM heartbeats WHERE project_id = ? AND slug = ?";

/** The id of a project's heartbeat with this slug, or null. */
export function findBySlug(reader: Reader, projectId: number, slug: string): string | null {
  return reader.sql<[number, string], string>(BY_SLUG).pluck().get(projectId, slug) ?? null;
}
