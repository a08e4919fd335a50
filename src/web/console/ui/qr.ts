import { encode } from "uqr";
import { html, type Markup } from "../../../ground/kit/html.ts";

/** A QR code as a picture: dark on light whatever the theme, since cameras want it so. `label`: what it leads to. */
export function qrCode(text: string, label: string): Markup {
  const { data, size } = encode(text, { border: 3 });
  const cells = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" width="200" height="200" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${cells}" fill="#000"/></svg>`;
}
