import { projectOf } from "../../core/projects/projects.ts";
import { HEARTBEATS } from "../../core/projects/sources.ts";
import { ElsewhereError } from "../../ground/kit/elsewhere.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { storableMessage } from "../../ground/kit/text.ts";
import {
  type Called,
  findByAddress,
  findBySlug,
  readPingPath,
} from "../../in/heartbeats/address.ts";
import { MESSAGE_BYTES } from "../../in/heartbeats/heartbeat.ts";
import { createHeartbeat } from "../../in/heartbeats/heartbeats.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { SECRET_ADDRESS } from "./answer.ts";
import { RateLimited } from "./limits.ts";
import type { AppContext } from "./raw-route.ts";
import type { Serving } from "./serve-route.ts";

/** Everything below this path belongs to jobs that report. */
export const PING = "/ping";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Of a body; the rest of what is sent is thrown away. */
const MOST_READ = 1024 * 1024;
/** What one has that is made by its first ping: a day, and an hour of grace. */
const USUAL = { period_seconds: 86_400, grace_seconds: 3600 };

/** Where GoAlert's heartbeat monitors report: a UUID, which a heartbeat here may have been given. */
const GOALERT = /^\/api\/v2\/heartbeat(\/[0-9A-Fa-f-]{36})\/?$/;

/**
 * The doors for jobs. `/ping/{address}` and what may stand behind it (contract §25): nothing but the address is
 * asked for, GET, HEAD and POST all count, and the answer comes once what it said is committed.
 */
export function createPing(serving: Serving) {
  const ping = async (c: AppContext, path: string) => {
    // The app asks for a GET where a HEAD came.
    const { method } = c.req.raw;
    if (method === "OPTIONS") return plain(204, "", { "access-control-allow-methods": METHODS });
    if (!METHODS.split(", ").includes(method)) {
      c.set("refusedAs", "method_not_allowed");
      return plain(405, "method not allowed", { allow: METHODS });
    }
    try {
      return await take(c, serving, path);
    } catch (error) {
      if (!(error instanceof ServiceError) || error instanceof ElsewhereError) throw error;
      c.set("refusedAs", error.code);
      // Whoever calls tries again at a 503; a 429 is what a flood gets.
      const isFlood = error instanceof RateLimited;
      const status = error.status === 429 && !isFlood ? 503 : error.status;
      const headers = error.retryAfter ? { "retry-after": String(error.retryAfter) } : {};
      return plain(status, isFlood ? "rate limited" : error.message, headers);
    }
  };
  return {
    /** `/ping/{address}`. */
    ours: (c: AppContext) => ping(c, c.req.path.slice(PING.length)),
    /** The address that GoAlert's jobs know; null where the path is another. */
    theirs: async (c: AppContext): Promise<Response | null> => {
      const [found, path = ""] = GOALERT.exec(c.req.path) ?? [];
      return found === undefined ? null : ping(c, path);
    },
  };
}

const METHODS = "GET, HEAD, POST";

async function take(c: AppContext, serving: Serving, path: string): Promise<Response> {
  const readings = readPingPath(path);
  if (readings.length === 0) return refuse(c, 400, "invalid url format");
  const rid = c.req.query("rid") ?? null;
  if (rid !== null && !UUID.test(rid)) return refuse(c, 400, "invalid uuid format");
  const places = await placesOf(serving, readings);
  const found = find(places) ?? (c.req.query("create") === "1" ? make(places) : null);
  if (found === null) {
    c.set("rateHeaders", serving.limits.failures.spend(serving.address(c)));
    return refuse(c, 404, "not found");
  }
  const { tenant, id, called, isNew } = found;
  serving.known(c);
  c.set("tenant", tenant);
  serving.limits.ping.spend(`${tenant.id}:${id}`);
  const message = await readEnd(c.req.raw.body);
  const { word, exit } = called;
  await tenant.heartbeats.hear(id, { word, exit, rid: rid?.toLowerCase() ?? null, message });
  return isNew ? plain(201, "Created") : plain(200, "OK");
}

/** A reading of the path, and whose it may be. */
interface Place {
  tenant: Tenant;
  called: Called;
}

interface Found extends Place {
  id: string;
  isNew: boolean;
}

async function placesOf(serving: Serving, readings: readonly Called[]): Promise<Place[]> {
  const places: Place[] = [];
  for (const called of readings) {
    const tenant = await serving.findLinked(called.hash);
    if (tenant !== null) places.push({ tenant, called });
  }
  return places;
}

function find(places: readonly Place[]): Found | null {
  for (const place of places) {
    const id = idOf(place);
    if (id !== null) return { ...place, id, isNew: false };
  }
  return null;
}

function idOf({ tenant: { store, ingest }, called }: Place): string | null {
  if (called.by !== "slug") return findByAddress(store, called.by, called.hash);
  const source = ingest.authenticate(called.token);
  return source?.kind === HEARTBEATS ? findBySlug(store, source.projectId, called.slug) : null;
}

/** A slug that isn't known, where the token is, gets its heartbeat with its first ping. */
function make(places: readonly Place[]): Found | null {
  for (const place of places) {
    const { tenant, called } = place;
    const source = called.by === "slug" ? tenant.ingest.authenticate(called.token) : null;
    if (called.by !== "slug" || source?.kind !== HEARTBEATS) continue;
    const { row } = tenant.store.write((tx) =>
      createHeartbeat(tx, projectOf(tx, source.projectId), {
        tenantId: tenant.id,
        body: { name: called.slug, slug: called.slug, ...USUAL },
      }),
    );
    return { ...place, id: row.id, isNew: true };
  }
  return null;
}

/** The end of a body: a job's error stands at the end of what it says. Null where nothing was sent. */
async function readEnd(body: ReadableStream<Uint8Array> | null): Promise<string | null> {
  let end = Buffer.alloc(0);
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      const part = chunk.subarray(0, Math.max(0, MOST_READ - size));
      size += part.byteLength;
      if (part.byteLength > 0) end = Buffer.concat([end, part]).subarray(-MESSAGE_BYTES);
    }
  } catch {
    // Who went away in the middle has still reported.
  }
  if (size === 0) return null;
  // A character that was cut in two isn't begun with.
  let from = 0;
  while (size > end.length && from < 4 && ((end[from] ?? 0) & 0xc0) === 0x80) from++;
  const text = new TextDecoder("utf-8", { ignoreBOM: true });
  return storableMessage(text.decode(end.subarray(from), { stream: true }));
}

function refuse(c: AppContext, status: 400 | 404, text: string): Response {
  c.set("refusedAs", status === 404 ? "not_found" : "invalid_request");
  return plain(status, text);
}

function plain(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(text === "" ? null : text, {
    status,
    headers: {
      ...(text === "" ? {} : { "content-type": "text/plain; charset=utf-8" }),
      "ping-body-limit": String(MESSAGE_BYTES),
      "access-control-allow-origin": "*",
      ...SECRET_ADDRESS,
      ...headers,
    },
  });
}
