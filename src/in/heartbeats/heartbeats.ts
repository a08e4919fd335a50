import { isDeepStrictEqual } from "node:util";
import { isTimezone } from "../../core/oncall/zone.ts";
import { changeConfig, type Project } from "../../core/projects/projects.ts";
import { invalid, notFound, ServiceError } from "../../ground/kit/errors.ts";
import { base62Secret, hexId, sha256, uuid4 } from "../../ground/kit/ids.ts";
import { mustBeFewer } from "../../ground/store/rows-counted.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import {
  type HeartbeatAnswer,
  type HeartbeatChange,
  type HeartbeatCreate,
  slugOf,
  type Watched,
} from "./heartbeat.ts";
import { type CalendarTimes, cronOfCalendar } from "./on-calendar.ts";
import { beatOf, type HeartbeatRow, heartbeatRow, paceOf, writeHeartbeatState } from "./rows.ts";
import { heartbeatSource } from "./source.ts";
import { repaced, shownState } from "./state.ts";
import { cronFault } from "./times.ts";

/** Heartbeats of a project (contract §21). */
export const MOST_HEARTBEATS = 500;
const GRACE = 300;
const LEVEL = 400;
/** Characters of a secret in an address: 131 bits. */
const SECRET = 22;

/** A heartbeat's addresses, which are shown once. */
export interface Addresses {
  secret: string;
  uuid: string;
}

/** Throws 404. */
export function getHeartbeat(reader: Reader, project: Project, id: string): HeartbeatRow {
  const row = heartbeatRow(reader, id);
  if (row === null || row.project_id !== project.id) throw notFound("heartbeat");
  return row;
}

/** What people set of a heartbeat, by its columns. */
const SETTINGS = [
  "name",
  "slug",
  "period_seconds",
  "cron",
  "timezone",
  "grace_seconds",
  "max_run_seconds",
  "level",
  "watch",
] as const;
type Settings = Pick<HeartbeatRow, (typeof SETTINGS)[number]>;

const COUNT = "SELECT count(*) FROM heartbeats WHERE project_id = ?";
const ADD = `INSERT INTO heartbeats (id, project_id, secret_hash, uuid_hash, state, created_at, ${SETTINGS.join(", ")})
  VALUES (@id, @project, @secret, @uuid, 'new', @at, ${SETTINGS.map((name) => `@${name}`).join(", ")})`;

/** Creates a heartbeat. The first of a project also creates the source of their events. Throws 400, 409, 422. */
export function createHeartbeat(
  tx: Tx,
  project: Project,
  { tenantId, body }: { tenantId: string; body: HeartbeatCreate },
) {
  const there = tx.sql<[project: number], number>(COUNT).pluck().get(project.id) ?? 0;
  mustBeFewer(there, MOST_HEARTBEATS, { whose: "A project", what: "heartbeats" });
  const slug = body.slug ?? freeSlug(tx, project.id, body.name);
  const settings = settingsOf({ ...body, slug }, null);
  check(tx, project.id, { settings, id: "" });
  heartbeatSource(tx, project, tenantId);
  const id = hexId(tx.random);
  const addresses = mintAddresses(tx, body.uuid);
  const hashes = hashesOf(addresses);
  if (isTaken(tx, hashes.uuid))
    throw new ServiceError("name_taken", "Another heartbeat has this UUID.");
  tx.sql<[object]>(ADD).run({ ...settings, ...hashes, id, project: project.id, at: tx.at });
  tx.note({ topic: "ping-addresses" });
  changeConfig(tx, project.id);
  return { row: getHeartbeat(tx, project, id), addresses };
}

const CHANGE = `UPDATE heartbeats SET ${SETTINGS.map((name) => `${name} = @${name}`).join(", ")} WHERE id = @id`;

/** Changes the given fields; a new schedule leaves the job at least the grace. Throws 400, 404, 409. */
export function changeHeartbeat(
  tx: Tx,
  project: Project,
  { id, body }: { id: string; body: HeartbeatChange },
): HeartbeatRow {
  const row = getHeartbeat(tx, project, id);
  const settings = settingsOf(body, row);
  check(tx, project.id, { settings, id });
  if (isDeepStrictEqual(settings, settingsOf({}, row))) return row;
  tx.sql<[object]>(CHANGE).run({ ...settings, id });
  const changed = getHeartbeat(tx, project, id);
  if (!isDeepStrictEqual(paceOf(changed), paceOf(row)))
    writeHeartbeatState(tx, changed, repaced(beatOf(changed), paceOf(changed), tx.at), null);
  changeConfig(tx, project.id);
  return getHeartbeat(tx, project, id);
}

/** Replaces its addresses; with the commit the old ones are invalid. Throws 404. */
export function rotateHeartbeat(tx: Tx, project: Project, id: string) {
  const row = getHeartbeat(tx, project, id);
  const addresses = mintAddresses(tx);
  const hashes = hashesOf(addresses);
  tx.sql<[string, string, string]>(
    "UPDATE heartbeats SET secret_hash = ?, uuid_hash = ? WHERE id = ?",
  ).run(hashes.secret, hashes.uuid, id);
  tx.note({ topic: "ping-addresses" });
  return { row, addresses };
}

/** Throws 404. The caller ends its alert. */
export function deleteHeartbeat(tx: Tx, project: Project, id: string): void {
  getHeartbeat(tx, project, id);
  tx.sql<[id: string]>("DELETE FROM heartbeats WHERE id = ?").run(id);
  tx.note({ topic: "ping-addresses" });
  changeConfig(tx, project.id);
}

/** As the API shows it; `rule` is a rule that matches its events now. */
export function toHeartbeat(row: HeartbeatRow, rule: string | null, at: number): HeartbeatAnswer {
  const { id, name, slug, timezone, grace_seconds, max_run_seconds, level, created_at } = row;
  const { reason, last_at, last_duration, last_message, expected_at } = row;
  const isDown = row.state === "down";
  return {
    id,
    name,
    slug,
    ...(row.period_seconds === null ? {} : { period_seconds: row.period_seconds }),
    ...(row.cron === null ? {} : { cron: row.cron }),
    timezone,
    grace_seconds,
    max_run_seconds,
    level,
    rule,
    watch: watchedOf(row),
    state: shownState(beatOf(row), at),
    reason,
    last_at,
    last_duration,
    last_message,
    expected_at,
    due_at: isDown ? null : row.deadline_at,
    created_at,
  };
}

const textOf = (watch: Watched | null) => (watch === null ? null : JSON.stringify(watch));

/** The events that feed it, or null. */
export function watchedOf({ watch }: Pick<HeartbeatRow, "watch">): Watched | null {
  return watch === null ? null : (JSON.parse(watch) as Watched);
}

function settingsOf(body: HeartbeatChange, row: HeartbeatRow | null): Settings {
  const calendar = calendarOf(body);
  const isTimed = body.period_seconds !== undefined || (calendar?.cron ?? body.cron) !== undefined;
  const kept = isTimed ? null : row;
  return {
    name: body.name ?? row?.name ?? "",
    slug: body.slug ?? row?.slug ?? "",
    period_seconds: body.period_seconds ?? kept?.period_seconds ?? null,
    cron: calendar?.cron ?? body.cron ?? kept?.cron ?? null,
    timezone: calendar?.timezone ?? body.timezone ?? row?.timezone ?? "UTC",
    grace_seconds: body.grace_seconds ?? row?.grace_seconds ?? GRACE,
    max_run_seconds:
      body.max_run_seconds === undefined ? (row?.max_run_seconds ?? null) : body.max_run_seconds,
    level: body.level ?? row?.level ?? LEVEL,
    watch: body.watch === undefined ? (row?.watch ?? null) : textOf(body.watch),
  };
}

/** A systemd timer's expression as cron. Throws 400 for an unknown expression, and together with cron. */
function calendarOf({ oncalendar, cron }: HeartbeatChange): CalendarTimes | null {
  if (oncalendar === undefined) return null;
  const times = cron === undefined ? cronOfCalendar(oncalendar) : "stands beside cron: give one";
  if (typeof times === "string") throw invalid([{ field: "/oncalendar", reason: times }]);
  return times;
}

function check(
  tx: Tx,
  projectId: number,
  { settings, id }: { settings: Settings; id: string },
): void {
  const { period_seconds, cron, timezone } = settings;
  if ((period_seconds === null) === (cron === null))
    throw invalid([{ field: "/cron", reason: "give either period_seconds or cron" }]);
  if (!isTimezone(timezone))
    throw new ServiceError("invalid_timezone", "There is no such time zone.", {
      details: [{ field: "/timezone", reason: "is no IANA name", value: timezone }],
    });
  const fault = cron === null ? null : cronFault(cron, timezone, tx.at);
  if (fault !== null) throw invalid([{ field: "/cron", reason: fault }]);
  for (const field of ["name", "slug"] as const) {
    const other = tx
      .sql<[number, string], string>(
        `SELECT id FROM heartbeats WHERE project_id = ? AND ${field} = ?`,
      )
      .pluck()
      .get(projectId, settings[field]);
    if (other !== undefined && other !== id)
      throw new ServiceError("name_taken", `The project has a heartbeat of this ${field}.`);
  }
}

/** A slug from its name, with a number if another heartbeat has that. */
function freeSlug(tx: Tx, projectId: number, name: string): string {
  const base = slugOf(name, 58);
  const has = tx
    .sql<[number, string], number>("SELECT 1 FROM heartbeats WHERE project_id = ? AND slug = ?")
    .pluck();
  let slug = base;
  for (let n = 2; has.get(projectId, slug) !== undefined; n++) slug = `${base}-${n}`;
  return slug;
}

function mintAddresses(tx: Tx, uuid = uuid4(tx.random)): Addresses {
  return { secret: base62Secret(tx.random, SECRET), uuid: uuid.toLowerCase() };
}

function hashesOf({ secret, uuid }: Addresses): { secret: string; uuid: string } {
  return { secret: sha256(secret), uuid: sha256(uuid) };
}

function isTaken(tx: Tx, uuidHash: string): boolean {
  const text = "SELECT 1 FROM heartbeats WHERE uuid_hash = ?";
  return tx.sql<[string]>(text).get(uuidHash) !== undefined;
}
