import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { lastOfSequence } from "../../ground/store/meta.ts";
import type { Reader, Store } from "../../ground/store/store.ts";

const PROJECTS = `SELECT coalesce(max(id), 0) || ' ' || count(*) || ' ' || coalesce(sum(version), 0) FROM projects`;

/** Of all that readers of alerts may see. */
export interface Version {
  /** It rises with each change of an alert, which then has it as `updated_seq`. */
  seq: number;
  /** It is another after each change of a project or its rules. */
  projects: string;
}

export function alertsVersion(reader: Reader): Version {
  const projects = reader.sql<[], string>(PROJECTS).pluck().get() ?? "";
  return { seq: lastOfSequence(reader), projects };
}

/** What is remembered under a key, made where it isn't. */
type Remembered<K, T> = (key: K, make: () => T) => T;

/**
 * Remembers what was made of the unresolved alerts until one of them changes, `most` things at once: in a storm
 * many pages ask for the same. Nothing is remembered in a transaction, which may have changed them already.
 */
export function whileUnchanged<T>(most: number): (reader: Reader) => Remembered<string, T> {
  const known = new WeakMap<Store, { version: string; made: Map<string, T> }>();
  return (reader) => {
    if (!isStore(reader)) return (_key, make) => make();
    const version = Object.values(alertsVersion(reader)).join();
    let latest = known.get(reader);
    if (latest === undefined || latest.version !== version)
      latest = { version, made: new ForgetfulMap<string, T>(most) };
    known.set(reader, latest);
    return remembering(latest.made);
  };
}

/** More than a page has. */
const MOST_RULES = 64;

/** The same of a rule, by its row id, and its unresolved alerts: what changes in others is nothing to it. */
export function whileRuleUnchanged<T>(): (reader: Reader) => Remembered<number, T> {
  const known = new WeakMap<Store, Version & { made: Map<number, T> }>();
  return (reader) => {
    if (!isStore(reader)) return (_rule, make) => make();
    const version = alertsVersion(reader);
    const before = known.get(reader) ?? { projects: null, seq: 0, made: new Map<number, T>() };
    const changed = before.projects === version.projects ? rulesChanged(reader, before.seq) : null;
    const made = changed === null ? new ForgetfulMap<number, T>(MOST_RULES) : before.made;
    for (const rule of changed ?? []) made.delete(rule);
    known.set(reader, { ...version, made });
    return remembering(made);
  };
}

const MOST_CHANGED = 1000;
const CHANGED = `SELECT rule_id FROM alerts WHERE updated_seq > ? LIMIT ${MOST_CHANGED + 1}`;

/** Of which alerts changed; null: too many. */
function rulesChanged(reader: Reader, since: number): number[] | null {
  const rules = reader.sql<[seq: number], number>(CHANGED).pluck().all(since);
  return rules.length > MOST_CHANGED ? null : rules;
}

function remembering<K, T>(made: Map<K, T>): Remembered<K, T> {
  return (key, make) => {
    const before = made.get(key);
    if (before !== undefined) return before;
    const value = make();
    made.set(key, value);
    if (value instanceof Promise) value.catch(() => made.delete(key));
    return value;
  };
}

const isStore = (reader: Reader): reader is Store => "write" in reader;
