import { type AlertRow, SELECT_ALERT } from "../core/alerts/alert.ts";
import { titleOfAlert } from "../core/alerts/title.ts";
import type { HandOver } from "../core/oncall/hand-over.ts";
import { writeNote } from "../core/oncall/notes.ts";
import { isNightAt } from "../core/oncall/shift-check.ts";
import { laddersWithSchedule } from "../core/projects/ladders.ts";
import { rulesOnLadder, rulesWithSchedule } from "../core/projects/rules.ts";
import { levelName } from "../ground/kit/level.ts";
import { cut } from "../ground/kit/text.ts";
import { timeFor } from "../ground/kit/wall-time.ts";
import type { Reader, Tx } from "../ground/store/store.ts";
import { confirmedTimes } from "../out/contacts/confirmed.ts";
import { listAccounts } from "../people/accounts.ts";
import { clockOfPerson } from "../people/reader-clock.ts";

/** What people are told, and can read, when a schedule passes from one to another. Times in Unix seconds. */

const DAY = 86_400;

/** A schedule by its name and that of its project. */
export interface Handed {
  project: { id: number; name: string };
  name: string;
  timezone: string;
}

/** What stands for whoever has a schedule: alerts of the rules whose ladders name it. */
export interface Standing {
  /** Those that aren't resolved, highest level first, then newest; 200 at most. Drills aren't among them. */
  alerts: AlertRow[];
  /** How many they are in all. */
  count: number;
  /** Of those: silenced, and with somebody who acknowledged them. */
  silenced: number;
  acknowledged: number;
  /** The rules that opened most in the last seven days, of the tenant's newest 5,000 alerts; three at most. */
  noisiest: { project: string; rule: string; count: number }[];
}

const MOST_STANDING = 200;
const NOISY_DAYS = 7;

const OF_RULES = `a.rule_id IN (SELECT value FROM json_each(@rules)) AND a.drill = 0`;
const STANDING = `${SELECT_ALERT} WHERE ${OF_RULES} AND a.state <> 'resolved'
  ORDER BY a.level DESC, a.id DESC LIMIT ${MOST_STANDING}`;
const COUNTS = `SELECT count(*) AS count, coalesce(sum(a.state = 'open' AND a.silenced_by IS NOT NULL), 0) AS silenced,
    coalesce(sum(a.state = 'acknowledged'), 0) AS acknowledged
  FROM alerts a WHERE ${OF_RULES} AND a.state <> 'resolved'`;
const NOISIEST = `SELECT (SELECT name FROM projects WHERE id = a.project_id) AS project, a.rule, count(*) AS count
  FROM alerts a WHERE a.id > (SELECT max(id) FROM alerts) - 5000 AND ${OF_RULES} AND a.opened_at >= @since
  GROUP BY a.project_id, a.rule_id ORDER BY count DESC, a.rule LIMIT 3`;

export function standingFor(reader: Reader, { project, name }: Handed, now: number): Standing {
  const whole = `${project.name}/${name}`;
  const own = rulesWithSchedule(reader, { project, name });
  const shared = laddersWithSchedule(reader, (one) => one === whole);
  const ids = [...own, ...shared.flatMap(({ id }) => rulesOnLadder(reader, id))].map(
    ({ id }) => id,
  );
  const rules = JSON.stringify(ids);
  type Counts = Pick<Standing, "count" | "silenced" | "acknowledged">;
  const counts = reader.sql<[{ rules: string }], Counts>(COUNTS).get({ rules }) as Counts;
  return {
    ...counts,
    alerts: reader.sql<[{ rules: string }], AlertRow>(STANDING).all({ rules }),
    noisiest: reader
      .sql<[{ rules: string; since: number }], Standing["noisiest"][number]>(NOISIEST)
      .all({ rules, since: now - NOISY_DAYS * DAY }),
  };
}

/** What a stretch on call was like for its person. */
interface OnCallStretch {
  since: number;
  until: number;
  /** Alerts that paged them, whatever for; of the tenant's newest 20,000 pages. */
  alerts: number;
  /** Of these, such as paged them between 22:00 and 07:00 on the schedule's clock. */
  atNight: number;
}

const PAGED = `SELECT alert_id AS alert, created_at AS at FROM pages
  WHERE id > (SELECT max(id) FROM pages) - 20000 AND account_id = ? AND created_at >= ? AND created_at < ?
    AND event IN ('alert.opened', 'alert.escalated', 'alert.renotified')`;

export function stretchOf(
  reader: Reader,
  account: string,
  { since, until, timezone }: { since: number; until: number; timezone: string },
): OnCallStretch {
  const paged = reader
    .sql<[string, number, number], { alert: number; at: number }>(PAGED)
    .all(account, since, until);
  const isNight = isNightAt(timezone);
  const night = paged.filter(({ at }) => isNight(at));
  const alerts = (of: typeof paged) => new Set(of.map(({ alert }) => alert)).size;
  return { since, until, alerts: alerts(paged), atNight: alerts(night) };
}

/** When any way of a person's proved last that it reaches them; null: never. */
export function lastProof(reader: Reader, account: string): number | null {
  const times = [...confirmedTimes(reader, account).values()];
  return times.length === 0 ? null : Math.max(...times);
}

const MOST_NAMED = 5;

/** Writes what both are told: at most one note each, in the transaction that notes that they were told. */
export function tellHandOver(
  tx: Tx,
  handed: Handed,
  { at, from, to, since, until }: HandOver & { since: number },
): void {
  const { project, name, timezone } = handed;
  const schedule = `${project.name} / ${name}`;
  const path = `/oncall/${encodeURIComponent(project.name)}/${encodeURIComponent(name)}/hand-over`;
  const names = new Map(listAccounts(tx).map((one) => [one.id, one.display_name || one.email]));
  const whenFor = (account: string) => {
    const clock = clockOfPerson(tx, account, timezone);
    return (time: number) => timeFor(clock, time, tx.at);
  };
  const standing = standingFor(tx, handed, tx.at);
  if (to !== null && names.has(to)) {
    const before = from === null ? null : names.get(from);
    const end = until === null ? "" : ` until ${whenFor(to)(until)}`;
    writeNote(tx, {
      accountId: to,
      title: `You're on call for ${schedule}${end}`,
      lines: [
        before ? `Before you: ${before}.` : "Before you: nobody.",
        ...standingLines(standing),
        ...noisyLines(standing),
        proofLine(lastProof(tx, to), tx.at),
      ],
      path,
    });
  }
  if (from === null || !names.has(from)) return;
  const stretch = stretchOf(tx, from, { since, until: at, timezone });
  const now = to === null ? "Nobody has it now" : `${names.get(to) ?? "Somebody else"} has it now`;
  const mine = standing.alerts.filter(({ acked_by }) => acked_by === from);
  writeNote(tx, {
    accountId: from,
    title: `You're off call for ${schedule}. ${now}`,
    lines: [
      `Since ${whenFor(from)(since)}: ${alertsThatPaged(stretch)}.`,
      ...(mine.length === 0
        ? []
        : [`Still acknowledged by you: ${alertCount(mine.length)}.`, ...named(mine)]),
    ],
    path,
  });
}

const alertCount = (n: number): string => (n === 1 ? "1 alert" : `${n} alerts`);

/** "12 alerts paged you, 3 of them at night". */
export function alertsThatPaged({ alerts, atNight }: OnCallStretch, whom = "you"): string {
  if (alerts === 0) return `no alert paged ${whom}`;
  return `${alertCount(alerts)} paged ${whom}${atNight === 0 ? ", none at night" : `, ${atNight} of them at night`}`;
}

/** "3 alerts are open: 1 acknowledged, 1 silenced." */
export function standingWords({ count, silenced, acknowledged }: Standing): string {
  if (count === 0) return "Nothing is open.";
  const parts = [
    acknowledged > 0 && `${acknowledged} acknowledged`,
    silenced > 0 && `${silenced} silenced`,
  ].filter((part) => part !== false);
  const more = parts.length === 0 ? "" : `: ${parts.join(", ")}`;
  return `${alertCount(count)} ${count === 1 ? "is" : "are"} open${more}.`;
}

const standingLines = (standing: Standing): string[] => {
  const more = standing.count - MOST_NAMED;
  return [
    standingWords(standing),
    ...named(standing.alerts),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
};

const named = (alerts: readonly AlertRow[]): string[] =>
  alerts
    .slice(0, MOST_NAMED)
    .map((row) => cut(`${levelName(row.level)} ${row.project}: ${titleOfAlert(row)}`, 120));

/** "Most alerts in 7 days: ops / disk (12)". */
export const noisyLines = ({ noisiest }: Pick<Standing, "noisiest">): string[] =>
  noisiest.length === 0
    ? []
    : [
        `Most alerts in ${NOISY_DAYS} days: ${noisiest.map(({ project, rule, count }) => `${project} / ${rule} (${count})`).join(", ")}.`,
      ];

export function proofLine(proved: number | null, now: number): string {
  if (proved === null) return "Nothing has ever proved that a page reaches you: test it.";
  const days = Math.floor((now - proved) / DAY);
  if (days < 1) return "That a page reaches you was proved in the last day.";
  return `That a page reaches you was last proved ${days === 1 ? "a day" : `${days} days`} ago${days > NOISY_DAYS ? ": test it" : ""}.`;
}
