import type { Source } from "../../core/projects/sources.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { sha256 } from "../../ground/kit/ids.ts";
import type { IngestEvent } from "./event.ts";

/** Two servers of a pair that both send under different labels, so that every alert comes twice. */
export interface Replicas {
  projectId: number;
  source: string;
  /** The only label in which they differ, and two of its values. */
  label: string;
  values: readonly [string, string];
}

/** Usual names of the label that identifies a server of a pair. */
const LABELS = ["replica", "prometheus_replica", "__replica__", "ruler_replica", "prometheus"];
const SENDERS = new Set(["prometheus", "alertmanager"]);
const MOST = 5000;

/** Finds alerts of a project that differ only in such a label. */
export function watchReplicas() {
  const values = new ForgetfulMap<string, string>(MOST);
  const found = new ForgetfulMap<number, Replicas>(100);
  return {
    /** A sender reported that an alert with these labels fires. */
    note({ id, projectId, name, kind }: Source, { keys, named }: IngestEvent) {
      if (!SENDERS.has(kind) || keys === null || named?.action !== "fire") return;
      if (found.has(id)) return;
      for (const label of LABELS) {
        const value = keys[label];
        if (value === undefined) continue;
        const alike = `${projectId}:${othersOf(keys, label)}`;
        const before = values.get(alike);
        if (before === undefined) values.set(alike, value);
        else if (before !== value)
          found.set(id, { projectId, source: name, label, values: [before, value] });
      }
    },
    all: () => [...found.values()],
    /** Forgets those of sources that are gone. */
    prune(isLive: (sourceId: number) => boolean) {
      for (const id of found.keys()) if (!isLive(id)) found.delete(id);
    },
  };
}

/** A digest of all labels but one. Keys that an adapter adds contain a dot, which labels never do. */
function othersOf(keys: Readonly<Record<string, string>>, label: string): string {
  const labels = Object.keys(keys).filter((key) => key !== label && !key.includes("."));
  return sha256(JSON.stringify(labels.sort().map((key) => [key, keys[key]])));
}
