import { ServiceError } from "../../ground/kit/errors.ts";
import type { Work } from "../../ground/kit/slices.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import {
  type LadderChange,
  type LadderInput,
  ladderPartOf,
  type StoredLadder,
} from "../projects/ladder.ts";
import {
  checkLadder,
  defaultsOf,
  dropLadder,
  findLadder,
  getLadder,
  listLadders,
  projectsOnLadder,
  rewriteLadder,
} from "../projects/ladders.ts";
import { changeConfig, projectOf } from "../projects/projects.ts";
import type { StoredRule } from "../projects/rule.ts";
import { refuseNamed, rulesOnLadder } from "../projects/rules.ts";
import { type AlertRow, SELECT_ALERT } from "./alert.ts";
import { ladderBefore, markFollowers, ruleBefore } from "./followers.ts";
import { wholeLadder } from "./ladder.ts";
import { retimedBy, same } from "./life/rule.ts";
import { forgetRunOf } from "./retime.ts";
import { replacedIn } from "./rules.ts";
import { lookAhead, pagedAtOnce } from "./rungs-ahead.ts";

/** Changes of a ladder that has a name, each of which is a change of all rules that refer to it. */

/**
 * Replaces a ladder, or calls it something else. The alerts of its rules follow it: they are marked here, and each follows
 * when it is looked at next, which is at once. Throws 404, 409, 422.
 */
export function changeLadder(
  tx: Tx,
  { name, to }: { name: string; to: LadderInput },
): StoredLadder {
  const before = getLadder(tx, name);
  checkLadder(tx, to);
  const naming = rulesOnLadder(tx, before.id);
  const after = rewriteLadder(tx, before, to);
  if (after === null) return before;
  for (const id of projectsOnLadder(tx, before.id)) changeConfig(tx, id);
  const [was, is] = [ladderPartOf(before), ladderPartOf(after)];
  if (naming.length === 0 || same(wholeLadder(was), wholeLadder(is))) return after;
  for (const rule of naming) forgetRunOf(tx, rule, ruleBefore(rule, is));
  markFollowers(tx, { ladderId: before.id, before: was });
  return after;
}

/** Throws 404, and 409 while rules refer to it, or rules made in passing take it. */
export function deleteLadder(tx: Tx, name: string): void {
  const { id } = getLadder(tx, name);
  const home = (rule: StoredRule) => `${projectOf(tx, rule.project_id).name}/${rule.name}`;
  refuseNamed({ code: "ladder_in_use", what: "ladder" }, rulesOnLadder(tx, id).map(home));
  const projects = defaultsOf(tx).get(id) ?? [];
  if (projects.length > 0)
    throw new ServiceError(
      "ladder_in_use",
      `The ladder can't be deleted: it is the default_ladder of the projects ${projects.join(", ")}.`.slice(
        0,
        500,
      ),
      { details: projects.map((value) => ({ reason: "default_of_project", value })) },
    );
  dropLadder(tx, id);
}

/** `replaceInRules` for the ladders of the tenant; those that changed, by name. */
export function replaceInLadders(tx: Tx, change: { from: string; by: string }): string[] {
  return listLadders(tx).flatMap(({ id, created_at, updated_at, ...ladder }) => {
    const steps = replacedIn(ladder.steps, change);
    if (steps === null) return [];
    changeLadder(tx, { name: ladder.name, to: { ...ladder, steps } });
    return [ladder.name];
  });
}

const STANDING = `${SELECT_ALERT} WHERE a.project_id = ? AND a.rule_id = ? AND a.state <> 'resolved' AND a.id > ?
  ORDER BY a.id LIMIT 50`;
/** What one alert costs of a slice. */
const COST = 200;

/**
 * What a change of a ladder would come to at `now` (Unix seconds), as things stand: how many rules and alerts follow it, and
 * whom it pages at once. Throws 404, 422.
 */
export function* previewLadder(
  reader: Reader,
  { name, to }: { name: string; to: LadderInput },
  now: number,
): Work<LadderChange> {
  const before = getLadder(reader, name);
  checkLadder(reader, to);
  if (to.name !== name && findLadder(reader, to.name) !== null)
    throw new ServiceError("name_taken", "There is a ladder of this name.");
  const look = lookAhead(reader, now);
  const naming = rulesOnLadder(reader, before.id);
  const isSame = same(wholeLadder(ladderPartOf(before)), wholeLadder(ladderPartOf(to)));
  const paged = new Map<string, number>();
  let open_alerts = 0;
  for (const rule of naming) {
    const after = ruleBefore(rule, ladderPartOf(to));
    for (let last = 0, rows = rowsOf(reader, rule, last); rows.length > 0; ) {
      for (const row of rows) {
        open_alerts += 1;
        yield COST;
        if (isSame) continue;
        const was = ruleBefore(rule, ladderBefore(reader, row.id) ?? ladderPartOf(before));
        const timers = retimedBy(row, { before: was, after, now });
        for (const account of pagedAtOnce(reader, row, { rule: after, timers, look, now }))
          paged.set(account, (paged.get(account) ?? 0) + 1);
      }
      last = rows.at(-1)?.id ?? last;
      rows = rowsOf(reader, rule, last);
    }
  }
  return { rules: naming.length, open_alerts, pages: pagesOf(reader, paged) };
}

const rowsOf = (reader: Reader, { id, project_id }: StoredRule, last: number): AlertRow[] =>
  reader
    .sql<[project: number, rule: number, last: number], AlertRow>(STANDING)
    .all(project_id, id, last);

const EMAIL = "SELECT email FROM accounts WHERE id = ?";

function pagesOf(reader: Reader, paged: ReadonlyMap<string, number>): LadderChange["pages"] {
  const email = reader.sql<[id: string], string>(EMAIL).pluck();
  return [...paged]
    .map(([account_id, alerts]) => ({ account_id, email: email.get(account_id) ?? "", alerts }))
    .toSorted((a, b) => (a.email < b.email ? -1 : 1));
}

const CLIMBING = `SELECT r.ladder_id AS ladder, count(*) AS n FROM rules r
  JOIN alerts a ON a.project_id = r.project_id AND a.rule_id = r.id AND a.state = 'open' AND a.drill = 0
  WHERE r.ladder_id IS NOT NULL GROUP BY r.ladder_id`;

/** How many open alerts are on each ladder, by its row; none: it isn't there. Those that somebody has aren't. */
export function climbingAlerts(reader: Reader): Map<number, number> {
  const rows = reader.sql<[], { ladder: number; n: number }>(CLIMBING).all();
  return new Map(rows.map(({ ladder, n }) => [ladder, n]));
}
