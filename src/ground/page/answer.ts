import { sourceOf } from "./style.ts";

/** A route's complete answer. */
export interface PageAnswer {
  status: 200 | 303 | 400 | 401 | 404 | 413 | 429;
  headers: Record<string, string>;
  body: string;
}

interface PageHead {
  /** The media type. */
  type: string;
  /** `no-cache` for what a browser may keep; it must ask the box again each time. */
  storing: "no-store" | "no-cache";
  /** The page's own style sheet and script. The policy allows no others. */
  style?: string;
  script?: string;
  /** A page of this box may show it in a frame. It can do nothing there. */
  framed?: true;
  /** The script may send requests to this box. */
  asks?: true;
}

/** The content security policy: no request to any other host, and forms go only to this box (contract §8). */
function policy({ style, script, framed, asks }: PageHead): string {
  return [
    "default-src 'none'",
    ...(style === undefined ? [] : [`style-src ${sourceOf(style)}`]),
    ...(script === undefined
      ? []
      : [
          `script-src ${sourceOf(script)}`,
          "require-trusted-types-for 'script'",
          "trusted-types 'none'",
        ]),
    ...(asks ? ["connect-src 'self'"] : []),
    "form-action 'self'",
    framed ? "frame-ancestors 'self'; sandbox" : "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

const DENIED_FEATURES = ["camera", "geolocation", "microphone", "payment", "usb"]
  .map((feature) => `${feature}=()`)
  .join(", ");

/** The headers of every page. */
export function pageHeaders(head: PageHead): Record<string, string> {
  return {
    "Content-Type": head.type,
    "Cache-Control": head.storing,
    "Content-Security-Policy": policy(head),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": DENIED_FEATURES,
    "Referrer-Policy": "no-referrer",
    Vary: "Accept, Cookie",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
  };
}
