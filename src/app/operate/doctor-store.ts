import { rulesAtLimit } from "../../core/alerts/too-many.ts";
import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import { getMeta } from "../../ground/store/meta.ts";
import type { Reader } from "../../ground/store/store.ts";
import { errorWords } from "../../out/outbox/error-words.ts";
import { type FailingChannel, listAiling } from "../../out/outbox/failing.ts";
import { oldestWaiting } from "../../out/outbox/rows.ts";
import { digestSettings } from "../../records/numbers/digest.ts";
import { LOST, lostZones } from "../../tenant/lost-zones.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";

const BEHIND_SECONDS = 60;
/** An earlier time is wrong: this program didn't exist then. */
const EARLIEST = Date.UTC(2026, 0, 1) / 1000;

export function clockFinding(reader: Reader, clock: Clock): Finding {
  const now = unixSeconds(clock);
  const seen = Number(getMeta(reader, "clock_seen") ?? 0);
  const utc = new Date(now * 1000).toISOString();
  if (now >= EARLIEST && now >= seen - BEHIND_SECONDS) return ok("clock", utc);
  return wrong(
    "clock",
    `${utc} is behind the latest time that the box has seen`,
    "set the machine's clock (timedatectl, NTP): relays refuse a wrong clock",
  );
}

/** Every channel that is off or failing, and why. */
export function ailingChannels(reader: Reader): Finding[] {
  const channels = listAiling(reader);
  const total = reader.sql<[], number>("SELECT count(*) FROM integrations").pluck().get() ?? 0;
  if (total === 0)
    return [note("channels", "there are none: no alert is sent anywhere", "add an integration")];
  if (channels.length === 0) return [ok("channels", `${total}, all well`)];
  return channels.map(channelFinding);
}

function channelFinding(channel: FailingChannel): Finding {
  const name = `${channel.type} "${channel.name || channel.id}" of ${channel.project}`;
  const why = errorWords(channel.last_error ?? "no reason was noted");
  const since =
    channel.failing_since === null
      ? ""
      : ` since ${new Date(channel.failing_since * 1000).toISOString()}`;
  if (channel.enabled === 0 && channel.failing_since === null)
    return note("channels", `${name} is disabled`);
  if (channel.enabled === 0)
    return wrong(
      "channels",
      `${name} was turned off after it failed${since}: ${why}`,
      `fix it, then enable it: POST /v1/projects/${encodeURIComponent(channel.project)}/integrations/${channel.id}/enable`,
    );
  // A test that failed isn't counted.
  const times = channel.consecutive_failures > 0 ? `, ${channel.consecutive_failures} times` : "";
  return wrong(
    "channels",
    `${name} fails${since}${times}: ${why}`,
    "fix the address or the credential; waiting deliveries are then sent",
  );
}

/** Rules with too many alerts to list: an identifier with endless values, or a storm that nobody ended. */
export function rulesAtLimitFindings(reader: Reader): Finding[] {
  return rulesAtLimit(reader).map(({ project, rule, alertId, count, since }) =>
    wrong(
      "rules",
      `${project} / ${rule} has too many unresolved alerts to list: since ${new Date(since * 1000).toISOString()} alert ${alertId} has counted ${count} ${count === 1 ? "event" : "events"} that would have opened others`,
      `check whether its identifier_keys have endless values, resolve alerts that are over (box resolve --all --project ${project} --rule ${rule}), or raise its max_open`,
    ),
  );
}

export const zoneFindings = (reader: Reader, clock: Clock): Finding[] =>
  [...lostZones(reader, unixSeconds(clock))].map(([zone, used]) =>
    wrong(
      "time zones",
      `${zone} is ${LOST}: ${used.slice(0, 10).join(", ")}`,
      "set a zone there that this program knows, or run the program that knew it",
    ),
  );

const LONG_WAIT = 3600;

export function waitingFinding(reader: Reader, clock: Clock): Finding {
  const { n, oldest } = oldestWaiting(reader);
  const age = oldest === null ? 0 : unixSeconds(clock) - oldest;
  if (age <= LONG_WAIT) return ok("deliveries", `${n} wait`);
  return wrong(
    "deliveries",
    `${n} wait, the oldest for ${age} s`,
    "see the findings on channels; a delivery is given up after 24 h",
  );
}

/** Nothing where no digest is wanted. */
export function digestFindings(reader: Reader): Finding[] {
  const { enabled, error } = digestSettings(reader);
  if (!enabled) return [];
  if (error === null) return [ok("weekly message", "on")];
  return [
    wrong(
      "weekly message",
      `the latest wasn't taken: ${errorWords(error)}`,
      "box digest send tries it; box digest set says where it goes",
    ),
  ];
}

const WEEK = 7 * 86_400;

export function backupFinding(reader: Reader, clock: Clock): Finding {
  const now = unixSeconds(clock);
  const last = getMeta(reader, "last_backup");
  const advice = "box backup FILE on another disk, or serve with --backup-dir";
  if (last === undefined) {
    const age = now - Number(getMeta(reader, "created_at") ?? now);
    const said = "none was ever proved";
    return age > WEEK ? wrong("backup", said, advice) : note("backup", said, advice);
  }
  const age = now - Number(last);
  const said = `the last one was proved ${Math.floor(age / 3600)} h ago`;
  return age > WEEK ? wrong("backup", said, advice) : ok("backup", said);
}
