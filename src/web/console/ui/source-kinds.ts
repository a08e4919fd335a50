import { EVENTS, HEARTBEATS } from "../../../core/projects/sources.ts";
import { findAdapter, sourceKinds } from "../../../in/adapters/list.ts";
import { setUpOf } from "../../../in/connect/connect.ts";

const OWN: Readonly<Record<string, string>> = {
  [EVENTS]: "Your own programs (curl, any language)",
  [HEARTBEATS]: "Jobs that must report (cron, backups)",
};

/** A kind as a person knows it. */
export function kindTitle(kind: string): string {
  return OWN[kind] ?? findAdapter(kind)?.title ?? kind;
}

/** What can be connected: its kind, name, and where in the sender its text goes. */
export interface KindCard {
  kind: string;
  title: string;
  where: string;
  notes: readonly string[];
}

/** Every kind there is, one's own programs first. `base`: the box's address for senders. */
export function kindCards(base: string): KindCard[] {
  const at = { base, token: "TOKEN", shortToken: "TOKEN" };
  return sourceKinds.map((kind) => {
    const { where, notes } = setUpOf(kind, at);
    return { kind, title: kindTitle(kind), where, notes };
  });
}
