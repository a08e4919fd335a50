import { isFromBox } from "./which.ts";

/* Whether the box is there. */

/**
 * The box's answer; null where it can't be reached: no network, nobody there, or only a proxy that says so. `ms`: how long it
 * may take.
 */
export async function reachBox(
  request: Request | string,
  { ms, ...init }: RequestInit & { ms?: number } = {},
): Promise<Response | null> {
  try {
    const signal = ms === undefined ? null : AbortSignal.timeout(ms);
    const answer = await fetch(request, signal === null ? init : { ...init, signal });
    return isFromBox(answer.status, answer.headers.get("x-request-id")) ? answer : null;
  } catch {
    return null;
  }
}
