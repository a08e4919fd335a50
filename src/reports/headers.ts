import { pageHeaders } from "../page/answer.ts";
import { STYLE } from "./style.ts";

/**
 * The headers of everything under `/public/reports`, whatever its form. Only an open report's answers may be
 * stored, and even they are asked for anew each time, so that a rotation and a deletion hold at once.
 */
export function publicHeaders(
  type: string,
  storing: "no-store" | "no-cache",
): Record<string, string> {
  return pageHeaders({ type, storing, style: STYLE });
}
