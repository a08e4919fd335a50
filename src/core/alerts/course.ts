import type { Work } from "../../ground/kit/slices.ts";
import type {
  OpenAlertRow,
  SimulationContext,
  SimulationQuery,
  SimulationResult,
} from "./course-shape.ts";
import type { Life } from "./life/turn.ts";
import { SimulatedAlert } from "./simulated-alert.ts";
import { timerColumns, timersAtOpening } from "./timers.ts";

/**
 * What becomes of an alert whose trouble lasts: the verbs' own decisions, one after the other, on a time that is thought of.
 * Messages are taken to be taken. Whoever says what a ladder will do, or would have done, asks here.
 */

/** What one turn costs beside a look at one layer of a schedule. */
const COST = 20;

/**
 * Follows an alert that opens when the question begins, or stands `from` then. `isEnough`: whether all that is asked for is
 * known by now.
 */
export function* followAlert(
  around: SimulationContext,
  question: SimulationQuery,
  {
    from = null,
    isEnough = () => false,
  }: {
    from?: OpenAlertRow | null;
    isEnough?: (course: SimulationResult, now: number) => boolean;
  } = {},
): Work<SimulationResult> {
  const alert = new SimulatedAlert(around, question, from ?? opening(around, question.at));
  const { course } = alert;
  if (from === null) alert.open();
  for (let now: number | null = question.at; ; ) {
    if (now === null) {
      const last = course.rungs.at(-1)?.at ?? question.at;
      const { takenAt } = alert;
      course.ends = takenAt === null ? { at: last, how: "top" } : { at: takenAt, how: "ack" };
      return course;
    }
    if (now > question.until || course.rungs.length >= question.most || isEnough(course, now)) {
      course.ends = { at: Math.min(now, question.until), how: "horizon" };
      course.rungs.length = Math.min(course.rungs.length, question.most);
      return course;
    }
    yield COST;
    alert.turn(now);
    now = alert.next();
  }
}

/** Its trouble lasts: quiet doesn't end it. */
function opening({ rule, level }: SimulationContext, at: number): OpenAlertRow {
  const alert: Life = {
    id: 0,
    project_id: rule.project_id,
    state: "open",
    level,
    drill: 0,
    opened_at: at,
    acked_at: null,
    acked_by: null,
    resolved_at: null,
    escalation_level: 0,
    page_accounts: "[]",
    expires_at: null,
    silenced_by: null,
    untold: 0,
    updated_seq: 0,
    ...timerColumns({ ...timersAtOpening(rule, at), quietAt: null }),
  };
  return { alert, pages: [], fallbackSince: () => null, undelivered: () => null };
}
