import { unconfirmedShifts } from "../../core/oncall/shift-checks.ts";
import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { namedClock, wallTime } from "../../ground/kit/wall-time.ts";
import type { Reader } from "../../ground/store/store.ts";
import { subscriptionsToRenew } from "../../out/contacts/subscriptions.ts";
import { type Finding, note, wrong } from "./finding.ts";

/** Browsers that pushes go to, and whether they reach the people whose shifts begin. */

const EMAIL = "SELECT email FROM accounts WHERE id = ?";

/** `sealer`: null where there is no key, which is a finding of its own. */
export function pushFindings(reader: Reader, sealer: Sealer | null, clock: Clock): Finding[] {
  const emailOf = (account: string) =>
    reader.sql<[id: string], string>(EMAIL).pluck().get(account) ?? account;
  const old = sealer === null ? [] : subscriptionsToRenew(reader, { sealer });
  const names = old.map(
    ({ accountId, label, shown }) => `${emailOf(accountId)}: ${label || shown}`,
  );
  return [
    ...(old.length === 0
      ? []
      : [
          wrong(
            "push",
            `${old.length} ${old.length === 1 ? "browser" : "browsers"} must subscribe again, because the key of the subscription is lost: ${names.slice(0, 10).join(", ")}`,
            "open Me, Devices in each of them and add it again; or remove it there",
          ),
        ]),
    ...unconfirmedShifts(reader, unixSeconds(clock)).map((shift) => {
      const { accountId, project, schedule, timezone, askedAt } = shift;
      const { zone, label } = namedClock(timezone);
      return note(
        "shifts",
        `${emailOf(accountId)} is not confirmed for ${project} / ${schedule}: no device of theirs has shown a push since ${wallTime(askedAt, zone)}${label}`,
        "ask them in another way; ladders page them as usual",
      );
    }),
  ];
}
