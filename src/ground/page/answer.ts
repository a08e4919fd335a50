import { sourceOf } from "./style.ts";

/** What a route sends: nothing else has to be added. */
export interface PageAnswer {
  status: 200 | 303 | 400 | 401 | 404 | 413 | 429;
  headers: Record<string, string>;
  body: string;
}

export interface PageHead {
  /** The media type. */
  type: string;
  /** Only what may be shown again is `no-cache`; even that is asked for anew each time. */
  storing: "no-store" | "no-cache";
  /** The style sheet and the script that stand in the page; no other run. */
  style?: string;
  script?: string;
  /** It stands in a frame of a page of this box, and can do nothing there. */
  framed?: true;
  /** The script may ask this box. */
  asks?: true;
}

/** No request to anywhere else, and a form that only comes back here (contract §8). */
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

/** The headers of every page, whatever its form. */
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
