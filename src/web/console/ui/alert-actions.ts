import { type AlertRow, alertId, getAlertRow } from "../../../core/alerts/alert.ts";
import { changeEach } from "../../../core/alerts/bulk.ts";
import { livingAlert, whoDid } from "../../../core/alerts/holder.ts";
import { type GroupedAlert, matching } from "../../../core/alerts/matching.ts";
import { labelsApartOfMany } from "../../../core/alerts/narrowest.ts";
import { silenceAlert } from "../../../core/alerts/silence-alert.ts";
import { liftSilence } from "../../../core/alerts/silencing.ts";
import { CRITICAL } from "../../../core/quiet/decide.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { Reader } from "../../../ground/store/store.ts";
import type { FormDone, PageCall } from "../screen.ts";
import { askedList, triageFilter } from "./asked-alerts.ts";
import { counted } from "./pieces.ts";
import { span } from "./times.ts";

/** What a page does to alerts, one or many: each answers in a sentence, and a race that was lost is told in it. */

/** Alerts that one form may be about, and those of one that does them all in one turn. */
const MOST = 10_000;
const MOST_IN_A_TURN = 200;

/**
 * The ids that a form names: `id` again and again, several behind commas, or `group-<rule>-<newest>`: all of the rule up to
 * this one that match the list it stood in (`list`, as an address writes it). `seen`: of a group that rings, without what is
 * silenced, which nobody acknowledges unseen; `quiet` counts it. Throws 422 for none or too many.
 */
export async function selectedAlerts(
  call: PageCall,
  form: URLSearchParams,
  { seen }: { seen: boolean } = { seen: false },
): Promise<AlertAction> {
  const names = form
    .getAll("id")
    .flatMap((value) => value.split(","))
    .filter(Boolean);
  const groups = names.flatMap((name) => {
    const [rule, newest] = /^group-(\d{1,15})-(\d{1,15})$/.exec(name)?.slice(1) ?? [];
    return rule === undefined ? [] : [{ rule: Number(rule), newest: Number(newest) }];
  });
  const ids = new Set(names.filter((name) => !name.startsWith("group-")));
  let quiet = 0;
  if (groups.length > 0) {
    const asked = askedList(new URLSearchParams(form.get("list") ?? ""));
    const filter = triageFilter({ ...asked, before: null }, call.who.accountId);
    const states = filter.states.filter((state) => state !== "resolved");
    const { ofRule } = await matching(call.tenant.store, { ...filter, states });
    for (const { rule, newest } of groups) {
      const all = (ofRule.get(rule) ?? []).filter(({ id }) => id <= newest);
      const rings = all.some((one) => one.state === "open" && !isQuiet(one));
      const taken = seen && rings ? all.filter((one) => !isQuiet(one)) : all;
      for (const { id } of taken) ids.add(String(id));
      quiet += all.length - taken.length;
    }
  }
  if (ids.size === 0) throw new ServiceError("invalid_request", "Select an alert first.");
  refuseMany([...ids], MOST);
  return { call, ids: [...ids], path: "/alerts", quiet };
}

const isQuiet = ({ state, silenced_by }: GroupedAlert): boolean =>
  state === "open" && silenced_by !== null;

/** Throws 422 where they are too many at once. */
export function refuseMany(ids: readonly string[], most = MOST_IN_A_TURN): void {
  if (ids.length <= most) return;
  const message = `At most ${most} alerts at once; ${ids.length} are selected.`;
  throw new ServiceError("invalid_request", message);
}

const named = (ids: readonly string[]): string =>
  ids.length === 1 ? `#${ids[0]}` : counted(ids.length, "alert");

/** "Acknowledged #130.", then of each other what had become of it. */
function sentence(verb: string, done: readonly string[], others: readonly string[]): string {
  const first = done.length === 0 ? [] : [`${verb} ${named(done)}.`];
  return [...first, ...others].join(" ");
}

const MOST_TOLD = 5;

/** Of a group the others may be thousands. */
function fewOf(others: readonly string[]): readonly string[] {
  if (others.length <= MOST_TOLD) return others;
  return [
    ...others.slice(0, MOST_TOLD),
    `${others.length - MOST_TOLD} more were not changed either.`,
  ];
}

/** How an alert that couldn't be changed as wanted stands: "Bob acknowledged #130 2 s before you." */
export function standing(reader: Reader, id: string, call: PageCall): string {
  const { who, now } = call;
  let row: AlertRow;
  try {
    row = getAlertRow(reader, alertId(id));
  } catch {
    return `#${id} is gone.`;
  }
  const living = livingAlert(reader, row.id);
  if (living !== row.id)
    return `#${id} is one with #${living} now. ${standing(reader, String(living), call)}`;
  if (row.state === "open") return `#${id} is open.`;
  const by = whoDid(reader, row.id, row.state);
  const at = (row.state === "acknowledged" ? row.acked_at : row.resolved_at) ?? now;
  const before = now - at < 1 ? "just before you" : `${span(now - at)} before you`;
  if (by === null) return `#${id} was ${row.state} by itself, ${span(now - at)} ago.`;
  return by === who.name || by === who.email
    ? `You have ${row.state} #${id} already.`
    : `${by} ${row.state} #${id} ${before}.`;
}

/** `path`: of the page's forms, `/a/130` or `/alerts`; `fields` name the alerts where the path doesn't. */
export interface AlertAction {
  call: PageCall;
  ids: readonly string[];
  path: string;
  /** Silenced alerts of the groups that it leaves as they are. */
  quiet?: number;
}

const fieldsOf = ({ path }: AlertAction, ids: readonly string[]): Record<string, string> =>
  path === "/alerts" ? { id: ids.join(",") } : {};

export async function ackThem(action: AlertAction): Promise<FormDone> {
  const { call, ids, path, quiet = 0 } = action;
  const { store } = call.tenant;
  const results = await changeEach(store, ids, { verb: "ack", accountId: call.who.accountId });
  const done = results.filter(({ changed }) => changed).map(({ id }) => id);
  const others = results.filter(({ changed }) => !changed);
  const told = fewOf(others.map(({ id }) => standing(store, id, call)));
  const left = `${counted(quiet, "silenced alert")} stay${quiet === 1 ? "s" : ""} open.`;
  const said = sentence("Acknowledged", done, quiet === 0 ? told : [...told, left]);
  if (done.length === 0) return { said };
  return { said, undo: { action: `${path}/unack`, fields: fieldsOf(action, done) } };
}

export async function unackThem({ call, ids }: AlertAction): Promise<FormDone> {
  const { store } = call.tenant;
  const results = await changeEach(store, ids, { verb: "unack", accountId: call.who.accountId });
  const done = results.filter(({ ok }) => ok).map(({ id }) => id);
  const others = results.filter(({ ok }) => !ok).map(({ id }) => standing(store, id, call));
  const are = done.length === 1 ? "is" : "are";
  const first = done.length === 0 ? [] : [`${named(done)} ${are} open again.`];
  return { said: [...first, ...fewOf(others)].join(" ") };
}

/** A match within so many seconds: resolved, it would most likely open again at once. */
const STILL_SECONDS = 300;

/** Those that still match are asked about first, unless `anyway`: `shown.still` names them. */
export async function resolveThem(action: AlertAction, anyway: boolean): Promise<FormDone> {
  const { call, ids } = action;
  const { store } = call.tenant;
  const still = anyway ? [] : ids.filter((id) => isMatching(store, id, call.now));
  const rest = ids.filter((id) => !still.includes(id));
  const results = await changeEach(store, rest, {
    verb: "resolve",
    accountId: call.who.accountId,
    pressed: true,
  });
  const done = results.filter(({ changed }) => changed).map(({ id }) => id);
  if (done.length === 0 && results.some(({ code }) => code === "just_acknowledged"))
    throw new ServiceError(
      "just_acknowledged",
      "You acknowledged it this very moment. To resolve it, press again.",
    );
  const others = results
    .filter(({ changed }) => !changed)
    .map(({ id }) => standing(store, id, call));
  const told = fewOf(others);
  if (still.length === 0) return { said: sentence("Resolved", done, told) };
  const asked = `Not resolved yet: ${named(still)} still match${still.length === 1 ? "es" : ""}.`;
  return {
    said: sentence("Resolved", done, [...told, asked]),
    shown: { still: still.join(",") },
  };
}

function isMatching(reader: Reader, id: string, now: number): boolean {
  try {
    const { state, last_seen, drill } = getAlertRow(reader, alertId(id));
    return state !== "resolved" && drill === 0 && last_seen >= now - STILL_SECONDS;
  } catch {
    return false;
  }
}

/** Silences what each alert counts; of critical ones only where that is said. */
export function silenceThem(
  { call, ids, path }: AlertAction,
  { seconds, reason, critical }: { seconds: number; reason: string; critical: boolean },
): FormDone {
  refuseMany(ids);
  const { store } = call.tenant;
  const { accountId } = call.who;
  const until = call.now + seconds;
  const labels = labelsApartOfMany();
  const made: string[] = [];
  const done: string[] = [];
  const others: string[] = [];
  for (const id of ids)
    try {
      if (!critical && getAlertRow(store, alertId(id)).level >= CRITICAL) {
        others.push(`#${id} is critical and rings on: tick that critical ones are meant, too.`);
        continue;
      }
      const why = reason === "" ? `From alert #${id}.` : reason;
      const silence = store.write((tx) =>
        silenceAlert(tx, alertId(id), {
          until,
          reason: why,
          accountId,
          labels: labels(tx, getAlertRow(tx, alertId(id))),
        }),
      );
      if (silence === null) others.push(`#${id} is quiet for longer already.`);
      else made.push(silence);
      if (silence !== null) done.push(id);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "alert_resolved") throw error;
      others.push(standing(store, id, call));
    }
  const what = `${named(done)} count${done.length === 1 ? "s" : ""}`;
  const first = done.length === 0 ? [] : [`Silenced what ${what}, for ${span(seconds)}.`];
  const said = [...first, ...others].join(" ");
  if (made.length === 0) return { said };
  return { said, undo: { action: `${path}/unsilence`, fields: { silence: made.join(",") } } };
}

export function liftThem({ call }: AlertAction, silences: readonly string[]): FormDone {
  for (const id of silences) call.tenant.store.write((tx) => liftSilence(tx, id));
  return { said: "Silenced no more." };
}
