import * as z from "zod";
import { ServiceError } from "../../ground/kit/errors.ts";
import { integer, text } from "../../ground/kit/fields.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { minuteOf } from "../../out/outbox/message.ts";
import type { StoredRule } from "../projects/rule.ts";
import type { AlertRow } from "./alert.ts";
import { openAlert } from "./open.ts";
import { displayNameOf } from "./said.ts";

/** Alerts of which nothing is true but the way they take: ladder, pages, channels. */

export const drillWrite = z
  .strictObject({
    level: integer(0).optional().describe("Default: the lowest that the rule takes, or 400."),
    message: text(500).default("").describe("What people read behind the word Drill."),
  })
  .meta({ id: "DrillWrite" });
type DrillInput = z.output<typeof drillWrite>;

/** It ends by itself after so long. */
export const DRILL_SECONDS = 900;
const USUAL_LEVEL = 400;
/** What stands in place of a template's id: no template and no name has it. */
const DRILL = "!drill";

/**
 * Opens a drill of the rule. It takes the whole way of a real alert, but runs no action, ends by itself and counts in
 * nothing. Throws 409 drill_running while one of the rule goes on.
 */
export function startDrill(
  tx: Tx,
  rule: StoredRule,
  { by, level, message }: DrillInput & { by: string },
): AlertRow {
  const alertKey = `${rule.id}:${DRILL}`;
  mustBeNone(tx, alertKey);
  const endsAt = tx.at + DRILL_SECONDS;
  const usual = `nothing is wrong. ${displayNameOf(tx, by)} tries the rule ${rule.name}: take it as you would a real alert. It ends by itself at ${minuteOf(endsAt)} UTC.`;
  return openAlert(tx, {
    projectId: rule.project_id,
    rule,
    alertKey,
    templateId: DRILL,
    template: "Drill: nothing is wrong",
    level: level ?? rule.match.min_level ?? USUAL_LEVEL,
    count: 1,
    firstSeen: tx.at,
    source: "",
    isOfOneSource: false,
    identifiers: {},
    lastMessage: `Drill: ${message === "" ? usual : message}`,
    drill: { by, endsAt },
  });
}

const LATEST = "SELECT max(id) FROM alerts WHERE alert_key = ? AND drill = 1";

/** The alert of the rule's latest drill, by its id; null where none is kept. */
export function latestDrill(reader: Reader, ruleId: number): number | null {
  return reader.sql<[key: string], number | null>(LATEST).pluck().get(`${ruleId}:${DRILL}`) ?? null;
}

const RUNNING = "SELECT id FROM alerts WHERE alert_key = ? AND state <> 'resolved'";

function mustBeNone(tx: Tx, key: string): void {
  const id = tx.sql<[key: string], number>(RUNNING).pluck().get(key);
  if (id === undefined) return;
  throw new ServiceError(
    "drill_running",
    `A drill of this rule goes on: alert ${id}. Resolve it, or wait until it ends.`,
    { details: [{ reason: "is running", value: String(id) }] },
  );
}
