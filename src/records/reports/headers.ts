import { pageHeaders } from "../../ground/page/answer.ts";
import { PREVIEW_STYLE, STYLE } from "./style.ts";

/**
 * The headers of every answer under `/public/reports`. Only answers of a report without a password may be stored, and
 * browsers must ask again each time, so that a new address and a deletion take effect at once.
 */
export function publicHeaders(
  type: string,
  storing: "no-store" | "no-cache",
): Record<string, string> {
  return pageHeaders({ type, storing, style: STYLE });
}

/** The headers of a preview, which only the writer sees, in a frame. */
export function previewHeaders(type: string): Record<string, string> {
  return pageHeaders({ type, storing: "no-store", style: PREVIEW_STYLE, framed: true });
}
