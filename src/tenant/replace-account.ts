import { replaceInLadders } from "../alerts/rules.ts";
import { replaceInFallback } from "../contacts/notify.ts";
import { ServiceError } from "../kit/errors.ts";
import { replaceInLayers, replaceInOverrides } from "../oncall/replace-person.ts";
import { getAccount } from "../people/accounts.ts";
import { membersAmong } from "../projects/rule-references.ts";
import type { Tx } from "../store/store.ts";

/** A place that named somebody and names another now. */
export interface ChangedPlace {
  kind: "rule" | "schedule" | "override" | "fallback";
  /** `project/name`, `project/schedule/id`; the fallback has none. */
  name: string;
}

/**
 * Puts `by` in the place of an account in every ladder, layer, override that isn't over, and in the fallback: nothing names
 * the account any more, so that it can be removed. Throws 404; 422 where `by` is no account.
 */
export function replaceAccount(
  tx: Tx,
  { account, by }: { account: string; by: string },
): ChangedPlace[] {
  const from = getAccount(tx, account).id;
  if (!membersAmong(tx, [by]).has(by))
    throw new ServiceError("not_a_member", "There is no such account to put in the place.", {
      details: [{ field: "/by", reason: "not_a_member", value: by }],
    });
  if (from === by) return [];
  const change = { from, by };
  const places = (kind: ChangedPlace["kind"], names: string[]) =>
    names.map((name): ChangedPlace => ({ kind, name }));
  return [
    ...places("rule", replaceInLadders(tx, change)),
    ...places("schedule", replaceInLayers(tx, change)),
    ...places("override", replaceInOverrides(tx, change)),
    ...places("fallback", replaceInFallback(tx, change) ? [""] : []),
  ];
}
