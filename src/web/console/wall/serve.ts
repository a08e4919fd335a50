import { hash } from "node:crypto";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { isSession } from "../../../people/sessions.ts";
import { findWall, isSeenLater, seenWall } from "../../../people/walls.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import { changesAfter } from "../../http/changes-stream.ts";
import { RateLimited } from "../../http/limits.ts";
import { WALL } from "../../http/resources/walls.ts";
import type { Serving } from "../../http/serve-route.ts";
import { sendDocument } from "../answer.ts";
import type { PageRequest } from "../page-request.ts";
import type { RawDocument, Who } from "../screen.ts";
import type { Files } from "../shell.ts";
import type { System } from "../system-port.ts";
import { drawWall, wallClock } from "./draw.ts";
import { noWall, unchangedWall, type WallPage, wallPage, wallPart } from "./page.ts";

/** Seconds that a screen waits for a change before it is answered all the same: times on it move. */
const WAIT = 10;
/** Screens of one link, or of one session, that wait at a time; more are answered at once. */
const MOST_WAITING = 16;

interface WallDeps {
  tenant: Tenant;
  system: System;
  serving: Serving;
  files: Files;
}

/** Serves `/wall` to `who`, and below it to whoever has a link. A GET; nothing that a screen may do. */
type ServeWall = (asking: PageRequest, who: Who | null) => Promise<Response>;

/** Who looks, as long as they may. */
interface Looker {
  /** Of their screens, for the count of those that wait. */
  key: string;
  messages: boolean;
}

export const isWall = (path: string): boolean => path === WALL || path.startsWith(`${WALL}/`);

export function createWall({ tenant, system, serving, files }: WallDeps): ServeWall {
  const waiting = new Map<string, number>();
  const { store } = tenant;
  const now = () => unixSeconds(tenant.clock);
  const clockNow = () => Math.floor(tenant.clock.now());

  /** null: their link opens nothing, or their session is over. */
  const lookerOf = (path: string, who: Who | null): Looker | null => {
    if (path === WALL) {
      const isIn = who !== null && isSession(store, who.sessionId, now());
      return isIn ? { key: `wall of ${who.sessionId}`, messages: true } : null;
    }
    const wall = findWall(store, path.slice(WALL.length + 1));
    if (wall === null) return null;
    if (isSeenLater(wall, now())) note(wall.id);
    return { key: `wall ${wall.id}`, messages: wall.messages };
  };

  /** A full disk must not darken a screen. */
  const note = (id: string) => {
    try {
      store.write((tx) => seenWall(tx, id), { expendable: true });
    } catch {
      // It is noted with a later look.
    }
  };

  const draw = ({ messages }: Looker) =>
    drawWall({ tenant, now: now(), messages, health: system.health() });

  /** Where it goes on when something changed after `since`, at once or as soon as something does. */
  const changed = async ({ c }: PageRequest, key: string, since: string): Promise<string> => {
    const others = waiting.get(key) ?? 0;
    waiting.set(key, others + 1);
    try {
      const of = { key, since, signal: c.req.raw.signal };
      return (await changesAfter(tenant, of, others < MOST_WAITING ? WAIT : 0)).next;
    } finally {
      const left = (waiting.get(key) ?? 1) - 1;
      if (left === 0) waiting.delete(key);
      else waiting.set(key, left);
    }
  };

  /** What an open wall asks for again and again. */
  const again = async (
    asking: PageRequest,
    { looker, who }: { looker: Looker; who: Who | null },
    since: string,
  ): Promise<RawDocument | null> => {
    const next = await changed(asking, looker.key, since);
    // It may have been revoked meanwhile.
    const still = lookerOf(asking.url.pathname, who);
    if (still === null) return null;
    const main = await draw(still);
    const etag = `"${hash("sha256", main.markup, "base64url").slice(0, 22)}"`;
    const of = { files, now: clockNow(), next, etag };
    return asking.asked.ifNoneMatch === etag ? unchangedWall(of) : wallPart(main, of);
  };

  const whole = async ({ place, url }: PageRequest, looker: Looker): Promise<RawDocument> => {
    const since = tenant.changes.after(null).next;
    const asked = url.searchParams.get("theme");
    const theme: WallPage["theme"] = asked === "light" || asked === "dark" ? asked : null;
    const main = await draw(looker);
    const of = { base: place.base, files, theme, since, now: clockNow() };
    return wallPage({ ...of, clock: wallClock(now()), main });
  };

  /** Only what opens nothing is limited, so that nobody's guessing darkens a screen. */
  const stranger = ({ c, place }: PageRequest): RawDocument => {
    const of = { base: place.base, files };
    c.set("refusedAs", "not_found");
    try {
      c.set("rateHeaders", serving.limits.tries.spend(`${serving.address(c)} wall`));
      return noWall(of);
    } catch (error) {
      if (!(error instanceof RateLimited)) throw error;
      c.set("refusedAs", error.code);
      c.set("rateHeaders", error.headers);
      return noWall(of, error.retryAfter ?? 1);
    }
  };

  return async (asking, who) => {
    const { c, url, asked } = asking;
    const looker = lookerOf(url.pathname, who);
    if (looker === null) return sendDocument(stranger(asking), asked);
    serving.known(c);
    c.set("tenant", tenant);
    c.set("rateHeaders", serving.limits.api.spend(looker.key));
    const since = c.req.header("x-wall");
    const sheet =
      since === undefined
        ? await whole(asking, looker)
        : await again(asking, { looker, who }, since);
    return sendDocument(sheet ?? stranger(asking), asked);
  };
}
