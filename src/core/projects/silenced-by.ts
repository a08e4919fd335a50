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
  const above = new Map(
    listRules(reader, projectId).map((rule) => [rule.name, namesOf(rule)] as const),
  );
  above.set(name, namesOf(body));
  const i = body.silenced_by.findIndex(({ rule }) => leadsTo(above, { from: rule, to: name }));
  if (i === -1) return;
  throw new ServiceError("invalid_silence", "The rule would silence itself, by way of others.", {
    details: [
      { field: `/silenced_by/${i}/rule`, reason: "circle", value: body.silenced_by[i]?.rule ?? "" },
    ],
  });
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
