import type { Source } from "../../core/projects/sources.ts";
import type { IngestEvent } from "./event.ts";

/** An event with its source. */
export interface Arrival {
  source: Source;
  event: IngestEvent;
  /** The next event came in the same request, so both are committed together. */
  more?: boolean;
}

export interface IngestAnswer {
  /** The event opened an alert or was folded into one that is not resolved (contract §5). */
  alerted: boolean;
  template_id: string;
  /** Alerts that the event ended; only for an event of that action. */
  resolved?: number;
}
