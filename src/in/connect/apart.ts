import type { StoredRule } from "../../core/projects/rule.ts";
import { identityOf } from "../adapters/list.ts";
import type { IngestEvent } from "../ingest/event.ts";

/** Labels by which senders usually name what an event is about, the most telling first. */
const USUAL =
  "host hostname host.name host_name instance node server server_name device service service.name service_name monitor check component app application container container_name job site resource".split(
    " ",
  );
/** More would split an alert by what belongs together. */
const MOST = 3;

type Told = Pick<StoredRule, "name" | "identifier_keys">;

/** The identifiers of a rule that is made for such senders: none where they name their alerts, or the labels are theirs. */
export function usualIdentifiers(kind: string): readonly string[] {
  const identity = identityOf(kind);
  return identity?.named === "none" ? identity.labels : [];
}

const TEMPLATE = "another template of the message";
const NAME = "another name by the sender (dedup_key)";
const OWN_WORDS = {
  all: NAME,
  some: `${NAME} or, where it gives none, ${TEMPLATE}`,
  none: TEMPLATE,
};

/** One sentence: what makes two alerts of such senders two, by the rules that may take their events. */
export function apartSentence(kind: string, rules: readonly Told[]): string {
  const groups = new Map<string, string[]>();
  for (const { name, identifier_keys } of rules) {
    const other = identifier_keys.map((key) => `, another ${key}`).join("");
    groups.set(other, [...(groups.get(other) ?? []), name]);
  }
  const own = OWN_WORDS[identityOf(kind)?.named ?? "some"];
  const [first = ""] = groups.keys();
  if (groups.size < 2) return `What makes two alerts two: ${own}${first}.`;
  const each = [...groups].map(([other, names]) => `${own}${other} (${names.join(", ")})`);
  return `What makes two alerts two, by rule: ${each.join("; ")}.`;
}

/** What to add to rules, so that each thing that an event names has an alert of its own. */
export interface Proposal {
  rules: string[];
  identifier_keys: string[];
}

/**
 * The labels of a sender's first event that name a thing, for those of the rules taking it that tell alerts apart by
 * none of them. Null where there is nothing to propose: the event has a name of its own, or no such label.
 */
export function proposalFor(
  kind: string,
  event: IngestEvent,
  rules: readonly Told[],
): Proposal | null {
  if (event.named?.dedupKey) return null;
  const labels = thingsIn(kind, event);
  const open = rules.filter(
    ({ identifier_keys }) => !labels.some((key) => identifier_keys.includes(key)),
  );
  if (labels.length === 0 || open.length === 0) return null;
  return { rules: open.map(({ name }) => name), identifier_keys: labels };
}

function thingsIn(kind: string, { keys }: IngestEvent): string[] {
  const filled = Object.keys(keys ?? {}).filter((name) => keys?.[name] !== "");
  const known = identityOf(kind)?.labels.filter((name) => filled.includes(name)) ?? [];
  if (known.length > 0) return known;
  return USUAL.flatMap((usual) => filled.filter((name) => name.toLowerCase() === usual)).slice(
    0,
    MOST,
  );
}
