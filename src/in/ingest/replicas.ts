import type { Source } from "../../core/projects/sources.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { sha256 } from "../../ground/kit/ids.ts";
import type { IngestEvent } from "./event.ts";

/** Two servers of a pair that both send, each under a name of its own: every trouble is two alerts. */
export interface Replicas {
  projectId: number;
  source: string;
  /** The label in which alone they differ, and two of its values. */
  label: string;
  values: readonly [string, string];
}

export interface ReplicaWatch {
  /** A sender said that an alert with these labels fires. */
  note(source: Source, event: IngestEvent): void;
  all(): Replicas[];
}

/** What such pairs call the label by which a server says which of the two it is. */
const LABELS = ["replica", "prometheus_replica", "__replica__", "ruler_replica", "prometheus"];
const SENDERS = new Set(["prometheus", "alertmanager"]);
const MOST = 5000;

/** Looks for alerts of a project that differ in such a label and in nothing else. */
export function watchReplicas(): ReplicaWatch {
  const values = new ForgetfulMap<string, string>(MOST);
  const found = new ForgetfulMap<string, Replicas>(100);
  return {
    note({ id, projectId, name, kind }, { keys, named }) {
      if (!SENDERS.has(kind) || keys === null || named?.action !== "fire") return;
      const place = `${projectId}:${id}`;
      if (found.get(place) !== undefined) return;
      for (const label of LABELS) {
        const value = keys[label];
        if (value === undefined) continue;
        const alike = `${projectId}:${othersOf(keys, label)}`;
        const before = values.get(alike);
        if (before === undefined) values.set(alike, value);
        else if (before !== value)
          found.set(place, { projectId, source: name, label, values: [before, value] });
      }
    },
    all: () => [...found.values()],
  };
}

/** All labels but one, as a digest: what an adapter adds of its own has a dot in its name, and no label has. */
function othersOf(keys: Readonly<Record<string, string>>, label: string): string {
  const labels = Object.keys(keys).filter((key) => key !== label && !key.includes("."));
  return sha256(JSON.stringify(labels.sort().map((key) => [key, keys[key]])));
}
