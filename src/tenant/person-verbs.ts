import { losePerson } from "../core/alerts/fallback.ts";
import { replaceInLadders } from "../core/alerts/ladders.ts";
import { replaceInRules } from "../core/alerts/rules.ts";
import { replaceInLayers, replaceInOverrides } from "../core/oncall/replace-person.ts";
import { membersAmong } from "../core/projects/rule-references.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import type { Tx } from "../ground/store/store.ts";
import { replaceInFallback } from "../out/contacts/notify.ts";
import { type ActingAccount, getAccount, removeAccount } from "../people/accounts.ts";

/** A place that named one person and now names another. */
interface ChangedPlace {
  kind: "rule" | "ladder" | "schedule" | "override" | "fallback";
  /** `project/name`, `project/schedule/id`, a ladder's name; "" for the fallback. */
  name: string;
}

/**
 * Replaces an account by `by` in every ladder, layer and override that isn't over, and in the fallback. Nothing names
 * the account afterwards, so it can be removed. Throws 404; 422 where `by` is no account.
 */
export function replaceAccount(
  tx: Tx,
  { account, by }: { account: string; by: string },
): ChangedPlace[] {
  const from = getAccount(tx, account).id;
  if (!membersAmong(tx, [by]).has(by))
    throw new ServiceError("not_a_member", "There is no account with the id in by.", {
      details: [{ field: "/by", reason: "not_a_member", value: by }],
    });
  if (from === by) return [];
  const change = { from, by };
  const places = (kind: ChangedPlace["kind"], names: string[]) =>
    names.map((name): ChangedPlace => ({ kind, name }));
  return [
    ...places("rule", replaceInRules(tx, change)),
    ...places("ladder", replaceInLadders(tx, change)),
    ...places("schedule", replaceInLayers(tx, change)),
    ...places("override", replaceInOverrides(tx, change)),
    ...places("fallback", replaceInFallback(tx, change) ? [""] : []),
  ];
}

/** As `removeAccount`; an alert that they had acknowledged, or that had paged nobody else, pages others now. */
export function removePerson(tx: Tx, by: ActingAccount, id: string): void {
  removeAccount(tx, by, id);
  losePerson(tx, id);
}
