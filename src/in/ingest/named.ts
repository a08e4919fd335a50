import { type AlertRow, findAlertRow } from "../../core/alerts/alert.ts";
import {
  type Held,
  heldBack,
  namedAlerts,
  nameOfId,
  updateNamed,
} from "../../core/alerts/named.ts";
import { writeTimeline } from "../../core/alerts/timeline.ts";
import { acknowledge, resolve } from "../../core/alerts/verbs.ts";
import type { Source } from "../../core/projects/sources.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { sha256 } from "../../ground/kit/ids.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { IngestEvent } from "./event.ts";
import type { NamedState } from "./named-fields.ts";

/** Names whose digests are cached. */
const REMEMBERED = 10_000;
const DIGEST = 32;

/**
 * Makes the part of an alert's key that stands for its sender's name in place of the template (contract §22). No
 * template id begins like it. `scope` is the source that the names belong to; null: the project.
 */
export function subjectMaker(): (scope: number | null, dedupKey: string) => string {
  const digests = new ForgetfulMap<string, string>(REMEMBERED);
  return (scope, dedupKey) => {
    let digest = digests.get(dedupKey);
    if (digest === undefined) {
      digest = sha256(dedupKey).slice(0, DIGEST);
      digests.set(dedupKey, digest);
    }
    return `@${scope ?? ""}.${digest}`;
  };
}

/** The scope of a source's names. */
export function nameScopeOf(source: Source): number | null {
  return source.room === "source" ? source.id : null;
}

/** What an event that opens nothing did to the alerts of its name. */
interface Concluded {
  /** Alerts that it ended. */
  resolved: number;
  /** The keys of the unresolved alerts of that name; empty where none was known. */
  keys: readonly string[];
}

/** If the sender names an alert by the id made from its name, replaces the id by the name. */
export function identified(tx: Tx, source: Source, named: NamedState): NamedState {
  const { dedupKey, mayBeId } = named;
  if (dedupKey === null || mayBeId !== true) return named;
  const of = { projectId: source.projectId, room: nameScopeOf(source) };
  if (namedAlerts(tx, { ...of, dedupKey }).length > 0) return named;
  return { ...named, dedupKey: nameOfId(tx, { ...of, id: dedupKey }) ?? dedupKey };
}

/** The open alert of a name, or of the id made from the name; else the last one that ended. Null for none. */
export function latestNamed(
  reader: Reader,
  source: Source,
  { name, mayBeId }: { name: string; mayBeId: boolean },
): AlertRow | null {
  const of = { projectId: source.projectId, room: nameScopeOf(source) };
  const named = (dedupKey: string) => namedAlerts(reader, { ...of, dedupKey }).at(-1);
  const known = named(name) === undefined && mayBeId ? nameOfId(reader, { ...of, id: name }) : null;
  const dedupKey = known ?? name;
  const id = named(dedupKey)?.id ?? lastEnded(reader, of, subjectMaker()(of.room, dedupKey));
  return id === null ? null : findAlertRow(reader, id);
}

const LAST_OF = `SELECT max(a.id) AS id FROM rules r JOIN alerts a
    ON a.alert_key = r.id || ':' || :subject
    OR (a.alert_key > r.id || ':' || :subject || ':' AND a.alert_key < r.id || ':' || :subject || ';')
  WHERE r.project_id = :project`;

function lastEnded(reader: Reader, of: { projectId: number }, subject: string): number | null {
  const row = reader
    .sql<[{ subject: string; project: number }], { id: number | null }>(LAST_OF)
    .get({ subject, project: of.projectId });
  return row?.id ?? null;
}

/** The fields that an update changes. */
function updateOf({ updates }: NamedState, { level, message, title, extra }: IngestEvent) {
  if (updates === "level") return { level };
  return updates === "message"
    ? { message, title: title ?? null }
    : { details: extra?.details ?? "" };
}

/**
 * Applies an event other than a firing to every unresolved alert of its name, of any rule (contract §22). The caller
 * first writes what the batch has of these alerts in memory.
 */
export function conclude(
  tx: Tx,
  { source, named, event }: { source: Source; named: NamedState; event: IngestEvent },
): Concluded {
  const { action, dedupKey } = named;
  if (dedupKey === null) return { resolved: 0, keys: [] };
  const alerts = namedAlerts(tx, {
    projectId: source.projectId,
    dedupKey,
    room: nameScopeOf(source),
  });
  let resolved = 0;
  for (const alert of alerts) {
    if (action === "acknowledge") acknowledge(tx, alert.id, { source: source.name });
    if (action === "update") updateNamed(tx, alert, updateOf(named, event));
    if (action === "note" || named.updates === "level")
      writeTimeline(tx, alert.id, {
        kind: "note",
        detail: { source: source.name, note: event.message },
      });
    if (action === "resolve" && !isLate(named, alert.instance)) {
      if (alert.ends_with_source) {
        resolve(tx, alert.id, { source: source.name });
        resolved += 1;
      } else {
        writeTimeline(tx, alert.id, { kind: "source_resolved", detail: { source: source.name } });
      }
    }
  }
  return { resolved, keys: alerts.map(({ alert_key }) => alert_key) };
}

/** Whether an end arrives after the next firing has begun. Only instances that are times can be compared. */
export function isLate({ instance, endedAt }: NamedState, standing: string | null): boolean {
  const time = /^\d{1,15}$/;
  if (instance === null || standing === null || !time.test(instance) || !time.test(standing))
    return false;
  return Math.max(Number(instance), endedAt ?? 0) < Number(standing);
}

/** Whether a firing without an alert may open one. */
export function heldFiring(tx: Tx, key: string, { named, level }: IngestEvent): Held {
  return !named || named.dedupKey === null || named.instance === null
    ? { swallowed: false, stillFiring: null }
    : heldBack(tx, key, { instance: named.instance, level });
}
