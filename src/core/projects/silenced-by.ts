import { ServiceError } from "../../ground/kit/errors.ts";
import type { Reader } from "../../ground/store/store.ts";
import type { RuleBody } from "./rule.ts";
import { listRules } from "./rules.ts";

/** Throws 422 invalid_silence where a rule would silence itself, by whatever way round. A rule that isn't there yet silences nothing. */
export function checkSilencedBy(
  reader: Reader,
  projectId: number,
  { name, body }: { name: string; body: RuleBody },
): void {
  if (body.silenced_by.length === 0) return;
  const { silenced_by } = body;
  const i = silencesItself(listRules(reader, projectId), { name, silenced_by });
  if (i === null) return;
  throw new ServiceError("invalid_silence", "The rule would silence itself, by way of others.", {
    details: [
      { field: `/silenced_by/${i}/rule`, reason: "circle", value: body.silenced_by[i]?.rule ?? "" },
    ],
  });
}

type Silenced = Pick<RuleBody, "silenced_by"> & { name: string };

/** By which of its entries a rule would silence itself, beside the others of its project; null: by none. Pure. */
export function silencesItself(
  others: readonly Silenced[],
  { name, silenced_by }: Silenced,
): number | null {
  const above = new Map(others.map((rule) => [rule.name, namesOf(rule)] as const));
  above.set(name, namesOf({ silenced_by }));
  const i = silenced_by.findIndex(({ rule }) => leadsTo(above, { from: rule, to: name }));
  return i === -1 ? null : i;
}

const namesOf = ({ silenced_by }: Pick<RuleBody, "silenced_by">) =>
  silenced_by.map(({ rule }) => rule);

function leadsTo(
  above: ReadonlyMap<string, readonly string[]>,
  { from, to }: { from: string; to: string },
): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === to) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    open.push(...(above.get(at) ?? []));
  }
  return false;
}
