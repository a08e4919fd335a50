import type { Health } from "../../tenant/health.ts";

/** What lies above the pages and is handed to them. */
export interface System {
  /** Whether the box is able to page, check by check. */
  health(): Health;
}
