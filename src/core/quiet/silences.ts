import { notFound, ServiceError } from "../../ground/kit/errors.ts";
import { hexId } from "../../ground/kit/ids.ts";
import { mustBeFewer } from "../../ground/store/rows-counted.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { isTimezone } from "../oncall/zone.ts";
import { getProject } from "../projects/projects.ts";
import { coversAll, LONGEST_QUIET } from "./decide.ts";
import {
  countStanding,
  dropSilence,
  findSilence,
  insertSilence,
  MOST_SILENCES,
  timingOf,
  writeSilence,
} from "./rows.ts";
import type {
  SilenceAnswer,
  SilenceBody,
  SilenceChange,
  SilenceRow,
  SilenceWrite,
} from "./silence.ts";
import { PERIOD, windowAt } from "./windows.ts";

/** Making, changing and ending silences. */

const DAY = 86_400;
const LONGEST_WINDOW = 7 * DAY;
const FURTHEST = 366 * DAY;

/** Throws 404 for a project that isn't there, 422 invalid_silence, invalid_timezone or too_many. */
export function createSilence(
  tx: Tx,
  { write, createdBy }: { write: SilenceWrite; createdBy: string },
): SilenceRow {
  mustBeFewer(countStanding(tx, tx.at), MOST_SILENCES, { whose: "A tenant", what: "silences" });
  const row = silenceOf(tx, { write, createdBy, at: tx.at });
  insertSilence(tx, row);
  return row;
}

/** As it would be made, checked and not stored. Throws as `createSilence`. */
export function silenceOf(
  reader: Reader,
  { write, createdBy, at }: { write: SilenceWrite; createdBy: string; at: number },
): SilenceRow {
  const { project, starts_at, ends_at, repeat, repeat_until, tell_author, labels, ...told } = write;
  const body: SilenceBody = { ...told };
  if (labels.length > 0) body.labels = labels;
  if (tell_author) body.tell_author = true;
  const project_id = project === null ? null : getProject(reader, project).id;
  mustNarrow(body);
  if (!isTimezone(body.timezone))
    throw new ServiceError("invalid_timezone", "There is no such time zone.", {
      details: [{ field: "/timezone", reason: "invalid_timezone", value: body.timezone }],
    });
  const times = { starts_at: starts_at ?? at, ends_at, repeats: repeat, repeat_until };
  mustEndInTime(times, at);
  return {
    id: hexId(reader.random),
    project_id,
    repeats: repeat,
    starts_at: times.starts_at,
    ends_at,
    over_at: repeat_until ?? ends_at,
    body: JSON.stringify(body),
    created_by: createdBy,
    created_at: at,
  };
}

/** Throws 422 invalid_silence. */
export function refuseSilence(field: string, reason: string): never {
  throw new ServiceError("invalid_silence", `The silence can't be made: ${field} ${reason}.`, {
    details: [{ field: `/${field}`, reason }],
  });
}

function mustNarrow(body: Omit<SilenceBody, "timezone">): void {
  const covers = coversAll(body);
  if (covers && !body.all)
    refuseSilence("all", "must be true if nothing but a project or a level limits the silence");
  if (!covers && body.all)
    refuseSilence("all", "must be false or left out: the match limits the silence");
}

interface Times {
  starts_at: number;
  ends_at: number;
  repeats: SilenceRow["repeats"];
  repeat_until: number | null;
}

function mustEndInTime({ starts_at, ends_at, repeats, repeat_until }: Times, at: number): void {
  if (starts_at > at + FURTHEST) refuseSilence("starts_at", "must be at most a year ahead");
  if (ends_at <= starts_at) refuseSilence("ends_at", "must be later than starts_at");
  const length = ends_at - starts_at;
  if (repeats === "none") {
    if (repeat_until !== null)
      refuseSilence("repeat_until", "can be used only if the silence repeats");
    if (ends_at <= at) refuseSilence("ends_at", "has passed");
    if (length > LONGEST_QUIET) refuseSilence("ends_at", "must be at most 30 days after starts_at");
    return;
  }
  if (length > LONGEST_WINDOW) refuseSilence("ends_at", "must be at most 7 days after starts_at");
  // Windows that touch would be one silence without an end.
  if (length >= PERIOD[repeats])
    refuseSilence("ends_at", "must come before the next repetition begins");
  if (repeat_until === null) refuseSilence("repeat_until", "is required if the silence repeats");
  if (repeat_until <= at) refuseSilence("repeat_until", "has passed");
  if (repeat_until < ends_at) refuseSilence("repeat_until", "must not be before ends_at");
  if (repeat_until > starts_at + FURTHEST)
    refuseSilence("repeat_until", "must be at most a year after starts_at");
}

/** Throws 404, 422 invalid_silence, also for one that is over. */
export function changeSilence(
  tx: Tx,
  id: string,
  { ends_at, repeat_until, reason }: SilenceChange,
): SilenceRow {
  const before = getSilence(tx, id);
  if (before.over_at <= tx.at) refuseSilence("ends_at", "can't be changed: it is over");
  const isRepeated = before.repeats !== "none";
  const end = ends_at ?? before.ends_at;
  const until = isRepeated ? (repeat_until ?? before.over_at) : (repeat_until ?? null);
  mustEndInTime({ ...before, ends_at: end, repeat_until: until }, tx.at);
  const body = JSON.parse(before.body) as SilenceBody;
  const row = {
    ...before,
    ends_at: end,
    over_at: until ?? end,
    body: JSON.stringify(reason === undefined ? body : { ...body, reason }),
  };
  writeSilence(tx, row);
  return row;
}

/** Ends one that has begun; one that hasn't, or is over, is deleted. Throws 404. */
export function endSilence(tx: Tx, id: string): void {
  const row = getSilence(tx, id);
  const ends_at = row.repeats === "none" ? tx.at : row.ends_at;
  if (row.starts_at >= tx.at || row.over_at <= tx.at) dropSilence(tx, id);
  else writeSilence(tx, { ...untold(row), ends_at, over_at: tx.at });
}

/** Nobody has to be told of its end: it was ended by hand, or its author was told. */
export function untold(row: SilenceRow): SilenceRow {
  const { tell_author, ...body } = JSON.parse(row.body) as SilenceBody;
  return tell_author ? { ...row, body: JSON.stringify(body) } : row;
}

/** From now on the project's configuration says what becomes of it. */
export function ownByFile(tx: Tx, row: SilenceRow): void {
  const body = { ...(JSON.parse(row.body) as SilenceBody), managed: true };
  writeSilence(tx, { ...row, body: JSON.stringify(body) });
}

/** Throws 404. */
export function getSilence(reader: Reader, id: string): SilenceRow {
  const row = findSilence(reader, id);
  if (row === null) throw notFound("silence");
  return row;
}

const PROJECT = "SELECT name FROM projects WHERE id = ?";
const HOLDS = "SELECT count(*) FROM alerts WHERE silenced_by = ?";

/** As it is read at `at`. */
export function toSilence(reader: Reader, row: SilenceRow, at: number): SilenceAnswer {
  const body = JSON.parse(row.body) as SilenceBody;
  const window = windowAt(timingOf(row, body.timezone), at);
  const isActive = window !== null && window.from <= at;
  const next = isActive ? windowAt(timingOf(row, body.timezone), window.until) : window;
  const project =
    row.project_id === null
      ? null
      : (reader.sql<[id: number], string>(PROJECT).pluck().get(row.project_id) ?? null);
  return {
    id: row.id,
    project,
    ...body,
    labels: body.labels ?? [],
    tell_author: body.tell_author ?? false,
    starts_at: row.starts_at,
    ends_at: row.ends_at,
    repeat: row.repeats,
    repeat_until: row.repeats === "none" ? null : row.over_at,
    state: isActive ? "active" : window === null ? "over" : "planned",
    until: isActive ? window.until : null,
    next_at: next?.from ?? null,
    managed: body.managed ?? false,
    holds: reader.sql<[id: string], number>(HOLDS).pluck().get(row.id) ?? 0,
    created_by: row.created_by,
    created_at: row.created_at,
  };
}
