import { followAwayShifts } from "../../core/oncall/away-shifts.ts";
import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import { finish } from "../../ground/kit/slices.ts";
import { shortTime } from "../../ground/kit/wall-time.ts";
import type { Reader } from "../../ground/store/store.ts";
import { type Finding, note } from "./finding.ts";

const MOST = 20;

/** Shifts of the next 14 days whose people say that they are away. */
export function awayFindings(reader: Reader, clock: Clock): Finding[] {
  const now = unixSeconds(clock);
  const emails = new Map(
    reader.sql<[], [id: string, email: string]>("SELECT id, email FROM accounts").raw().all(),
  );
  const shifts = finish(followAwayShifts(reader, now));
  const found = shifts.slice(0, MOST).map((shift) => {
    const { project, schedule, timezone, starts_at, ends_at } = shift;
    const from = shortTime(starts_at, timezone, now);
    const until = shortTime(ends_at, timezone, now);
    return note(
      "away",
      `${emails.get(shift.account) ?? "somebody"} is away, and on call in ${project} / ${schedule} from ${from} to ${until} ${timezone}`,
      `put somebody else there: box override add ${project} ${schedule} PERSON --from TIME --until TIME`,
    );
  });
  const more = shifts.length - found.length;
  return more > 0 ? [...found, note("away", `${more} more shifts of people who are away`)] : found;
}
