import { pageHeaders } from "../../ground/page/answer.ts";
import { PREVIEW_STYLE, STYLE } from "./style.ts";

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

/** The same for what only its writer sees, in a frame. */
export function previewHeaders(type: string): Record<string, string> {
  return pageHeaders({ type, storing: "no-store", style: PREVIEW_STYLE, framed: true });
}
