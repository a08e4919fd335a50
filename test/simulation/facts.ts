import type { RuleBody } from "../../src/projects/rule.ts";

/**
 * What happened to the box, in order: all that the reference needs to say what the box must have done.
 * `wall` is the box's own time in Unix seconds.
 */
export type Fact =
  /** Started. `down` is how long it was off by its own measure, 0 where its clock can't tell. */
  | { what: "started"; wall: number; down: number }
  /** Due work was looked at. */
  | { what: "looked"; wall: number }
  /** `word` is what the line names: the third for one rule makes all its lines one template. */
  | { what: "event"; wall: number; rule: number; host: string; word: string }
  /** A rule was replaced. */
  | { what: "ruled"; wall: number; rule: number; body: RuleBody }
  | { what: "acked"; wall: number; alert: number }
  | { what: "resolved"; wall: number; alert: number }
  /** The clock jumped by so many seconds, and the box has seen it. */
  | { what: "jumped"; by: number }
  | { what: "removed"; account: string };

/** One event of one alert, as it is in the log and as it must be. */
export interface LogEvent {
  alert: number;
  event: string;
  timestamp: number;
  level: number;
  accounts: string[];
}
