import { STYLE_SOURCE } from "./style.ts";

/** What a route sends: nothing else has to be added. */
export interface PageAnswer {
  status: 200 | 303 | 401 | 404 | 429;
  headers: Record<string, string>;
  body: string;
}

/** No script, no request to anywhere, no frame, and a form that only comes back here (decisions §8). */
const POLICY = [
  "default-src 'none'",
  `style-src ${STYLE_SOURCE}`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

const DENIED_FEATURES = ["camera", "geolocation", "microphone", "payment", "usb"]
  .map((feature) => `${feature}=()`)
  .join(", ");

/**
 * The headers of everything under `/public/reports`, whatever its form. Only an open report's
 * answers may be stored, and even they are asked for anew each time, so that a rotation and a
 * deletion hold at once.
 */
export function publicHeaders(type: string, storing: "no-store" | "no-cache") {
  return {
    "Content-Type": type,
    "Cache-Control": storing,
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": DENIED_FEATURES,
    "Referrer-Policy": "no-referrer",
    Vary: "Accept, Cookie",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
  };
}
