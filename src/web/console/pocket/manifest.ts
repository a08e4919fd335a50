import type { Assets } from "../assets.ts";
import type { Site } from "../page-request.ts";

/** Addresses below the base that every browser asks for by itself, session or not. They tell nothing of this box. */
export const MANIFEST = "/manifest.webmanifest";
export const WORKER = "/sw.js";

/** What a phone needs to know to put the box on its home screen (W3C Web Application Manifest). */
export function manifest({ base }: Pick<Site, "base">, files: Pick<Assets, "at">): Response {
  const icon = (name: string, size: number, purpose: "any" | "maskable") => ({
    src: base + files.at(name),
    sizes: `${size}x${size}`,
    type: "image/png",
    purpose,
  });
  const start = `${base}/alerts`;
  const body = {
    id: `${base}/`,
    scope: `${base}/`,
    start_url: start,
    name: "box",
    short_name: "box",
    description: "Alerts, and who has them.",
    display: "standalone",
    lang: "en",
    dir: "ltr",
    theme_color: "#1c2024",
    background_color: "#faf9f7",
    categories: ["utilities"],
    icons: [
      icon("icon-192.png", 192, "any"),
      icon("icon-512.png", 512, "any"),
      icon("maskable-512.png", 512, "maskable"),
    ],
    shortcuts: [
      { name: "Open alerts", url: start },
      { name: "On call now", url: `${base}/oncall` },
    ],
  };
  return new Response(JSON.stringify(body), {
    headers: {
      "Content-Type": "application/manifest+json",
      // It names files by what is in them.
      "Cache-Control": "no-cache",
      "X-Content-Type-Options": "nosniff",
      "Cross-Origin-Resource-Policy": "same-origin",
    },
  });
}
