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
  return { seq: lastOfSequence(reader, "updated_seq"), projects };
}

type Key = string | number;

/**
 * Remembers what was made of the unresolved alerts until one of them changes, `most` things at once: in a storm
 * many pages ask for the same. Nothing is remembered in a transaction, which may have changed them already.
 */
export function whileUnchanged<T>(most: number): (reader: Reader, key: Key, make: () => T) => T {
  const known = new WeakMap<Store, { version: string; made: Map<Key, T> }>();
  return (reader, key, make) => {
    if (!isStore(reader)) return make();
    const version = Object.values(alertsVersion(reader)).join();
    let latest = known.get(reader);
    if (latest === undefined || latest.version !== version)
      latest = { version, made: new ForgetfulMap<Key, T>(most) };
    known.set(reader, latest);
    const { made } = latest;
    const before = made.get(key);
    if (before !== undefined) return before;
    const value = make();
    made.set(key, value);
    if (value instanceof Promise) value.catch(() => made.delete(key));
    return value;
  };
}

const isStore = (reader: Reader): reader is Store => "write" in reader;
