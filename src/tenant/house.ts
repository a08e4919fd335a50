import type { Health } from "./health.ts";

/** What the program around a tenant knows and does for it. */
export interface House {
  /** Whether it is able to page. */
  health(): Health;
}
