import { liftSilence, makeSilence, rewriteSilence } from "../../../core/alerts/silencing.ts";
import { projectOf } from "../../../core/projects/projects.ts";
import type { Source } from "../../../core/projects/sources.ts";
import { findSilence, silencesSince } from "../../../core/quiet/rows.ts";
import type { SilenceRow } from "../../../core/quiet/silence.ts";
import { toSilence } from "../../../core/quiet/silences.ts";
import { auditedStore } from "../../../ground/audit/record.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { Reader, Store, Tx } from "../../../ground/store/store.ts";
import type { SenderReply } from "../../../in/adapters/adapter.ts";
import { jsonReply, statusOf } from "../../../in/adapters/replies.ts";
import type { Actor } from "../../../people/actor.ts";
import { namedPeople } from "../../../people/named.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import type { AppContext } from "../raw-route.ts";
import type { Bodies } from "./bodies.ts";
import { parseMatcher } from "./matchers.ts";
import {
  comparedBy,
  type PostedSilence,
  readPosted,
  SilenceFault,
  sameMatchers,
  silenceView,
  silenceWriteOf,
} from "./silence-form.ts";
import { openBody, refusalOf } from "./take.ts";

/** Alertmanager's API of silences, for amtool and its readers: the box's silences, made and ended in a person's name. */

/** Alertmanager forgets a silence so long after its end. */
const KEPT = 120 * 3600;
const MOST_LISTED = 2000;
const CAPS = { sent: 65_536, inflated: 65_536 };

interface SilencesCall {
  tenant: Tenant;
  /** Whose key it is. */
  actor: Actor;
  /** Whose token is in the address: then it is about that source's project. */
  source: Source | null;
  bodies: Bodies;
  address: string;
}

const notThere = () => jsonReply(404, "silence not found");

/** The path of one silence, or of all. */
export const isOfSilences = (path: string): boolean =>
  path === "/api/v2/silences" || /^\/api\/v2\/silence\/[^/]+$/.test(path);

export async function serveSilences(
  c: AppContext,
  path: string,
  call: SilencesCall,
): Promise<SenderReply> {
  const id = /^\/api\/v2\/silence\/([^/]+)$/.exec(path)?.[1] ?? null;
  const { method } = c.req;
  if (id === null && method === "POST") return post(c, call);
  if (id === null && method === "GET")
    return list(call, new URL(c.req.url).searchParams.getAll("filter"));
  if (id !== null && method === "GET") return show(call, id);
  if (id !== null && method === "DELETE") return expire(call, id);
  const allowed = id === null ? ["GET", "POST"] : ["GET", "DELETE"];
  const { status, message } = statusOf({ why: "method", allowed });
  return jsonReply(status, message);
}

const emailOf = (reader: Reader, account: string): string =>
  namedPeople(reader, [account])[0]?.email ?? account;

const viewOf = (reader: Reader, row: SilenceRow) =>
  silenceView(toSilence(reader, row, unixSeconds(reader.clock)), emailOf(reader, row.created_by));

/** Whether an address of a source's shows it. */
const isShown = ({ source }: SilencesCall, { project_id }: SilenceRow) =>
  source === null || project_id === null || project_id === source.projectId;

/** Whether it may be changed there. */
const isOwn = ({ source }: SilencesCall, { project_id }: SilenceRow) =>
  source === null || project_id === source.projectId;

function list(call: SilencesCall, filters: readonly string[]): SenderReply {
  const { store } = call.tenant;
  const matchers = filters.map((text) => ({ text, holds: parseMatcher(text) }));
  const bad = matchers.find(({ holds }) => holds === null);
  if (bad !== undefined) return jsonReply(400, `bad matcher format: ${bad.text.slice(0, 200)}`);
  const since = unixSeconds(store.clock) - KEPT;
  const views = silencesSince(store, { since, most: MOST_LISTED })
    .filter((row) => isShown(call, row))
    .map((row) => viewOf(store, row))
    .filter((view) => {
      const compared = Object.fromEntries(view.matchers.map(({ name, value }) => [name, value]));
      return matchers.every(({ holds }) => holds?.(compared));
    });
  return jsonReply(200, views);
}

function show(call: SilencesCall, id: string): SenderReply {
  const row = findSilence(call.tenant.store, id);
  if (row === null || !isShown(call, row)) return notThere();
  return jsonReply(200, viewOf(call.tenant.store, row));
}

/** The store, which writes in the name of the key's owner. */
function storeOf({ tenant, actor, address }: SilencesCall, verb: string, id = ""): Store {
  const { accountId, keyId: hint } = actor;
  const target = { kind: "silence", id };
  return auditedStore(tenant.store, { accountId, via: "key", hint, address, verb, target });
}

function expire(call: SilencesCall, id: string): SenderReply {
  const store = storeOf(call, "deleteSilence", id);
  const row = findSilence(store, id);
  if (row === null || !isOwn(call, row)) return notThere();
  if (row.over_at <= unixSeconds(store.clock)) return jsonReply(404, "silence already expired");
  if (row.repeats !== "none") return jsonReply(400, REPEATS);
  store.write((tx) => liftSilence(tx, id));
  return { status: 200, body: "" };
}

const REPEATS = "it comes again each day or week: end or change it in the box";

async function post(c: AppContext, call: SilencesCall): Promise<SenderReply> {
  try {
    const { whole, release } = await openBody(c, {
      bodies: call.bodies,
      owner: call.actor.keyId,
      caps: CAPS,
    });
    try {
      return take(call, readPosted(whole.toString("utf8")));
    } finally {
      release();
    }
  } catch (error) {
    if (error instanceof SilenceFault) return jsonReply(400, error.message);
    if (error instanceof ServiceError && error.status < 429 && error.status !== 404) {
      const isSaid = error.code === "invalid_silence";
      const faults = error.details.map(({ field = "", reason }) =>
        isSaid ? "" : ` ${field} ${reason}`,
      );
      return jsonReply(400, [error.message, ...faults].join(""));
    }
    if (error instanceof ServiceError && error.status === 404)
      return jsonReply(400, "there is no such project");
    const { status, message } = statusOf(refusalOf(error));
    return jsonReply(status, message);
  }
}

function take(call: SilencesCall, posted: PostedSilence): SenderReply {
  const { store } = call.tenant;
  const now = unixSeconds(store.clock);
  const home = call.source === null ? null : projectOf(store, call.source.projectId).name;
  const author = emailOf(store, call.actor.accountId);
  const before = posted.id === "" ? null : findSilence(store, posted.id);
  if (posted.id !== "" && (before === null || !isOwn(call, before))) return notThere();
  const write = () => silenceWriteOf(posted, { home, now, author });
  const make = (tx: Tx) => makeSilence(tx, { write: write(), createdBy: call.actor.accountId }).id;
  if (before === null || before.over_at <= now)
    return made(storeOf(call, "createSilence").write(make));
  const silence = toSilence(store, before, now);
  if (silence.repeat !== "none") throw new SilenceFault(REPEATS);
  const { matchers, isWhole } = comparedBy(silence);
  const isSame = sameMatchers(matchers, posted.matchers) && posted.startsAt === before.starts_at;
  if (isSame) {
    if (posted.endsAt <= now)
      throw new SilenceFault("invalid silence: end time can't be in the past");
    const reason =
      posted.comment.trim() === "" ? {} : { reason: posted.comment.trim().slice(0, 1000) };
    const change = { ends_at: posted.endsAt, ...(silence.name === "" ? reason : {}) };
    storeOf(call, "changeSilence", before.id).write((tx) => rewriteSilence(tx, before.id, change));
    return made(before.id);
  }
  if (!isWhole)
    throw new SilenceFault("it was made in the box with what no matcher says: change it there");
  // As Alertmanager: the old one expires, and another takes its place.
  return made(
    storeOf(call, "createSilence").write((tx) => {
      const critical = silence.critical || write().critical;
      const id = makeSilence(tx, {
        write: { ...write(), critical },
        createdBy: call.actor.accountId,
      }).id;
      liftSilence(tx, before.id);
      return id;
    }),
  );
}

const made = (silenceID: string) => jsonReply(200, { silenceID });
