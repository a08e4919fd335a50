import { encode } from "uqr";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { openGateway } from "../../../out/contacts/gateways.ts";
import type { PageCall } from "../screen.ts";
/** Where ntfy's topics are, without a slash at the end. */
export function ntfyServer({ tenant }: PageCall): string {
  const { url = "" } = openGateway(tenant.store, tenant.sealer, "ntfy") ?? {};
  return (url || "https://ntfy.sh").replace(/\/+$/, "");
}

/** A topic that was just made: how a phone gets it. */
export function newTopic(call: PageCall, topic = call.shown["topic"]): Markup | false {
  if (topic === undefined) return false;
  const url = `${ntfyServer(call)}/${topic}`;
  return html`<div class="notice"><p>Install the ntfy app on your phone, scan this and subscribe, or enter the topic by hand. Anybody who knows the topic can read the messages.</p>
${qrCode(url, `The topic ${topic}`)}
<p><code id="topic">${topic}</code> on <code>${new URL(url).host}</code></p></div>`;
}

/** A QR code as a picture: dark on light whatever the theme, since cameras want it so. `label`: what it leads to. */
export function qrCode(text: string, label: string): Markup {
  const { data, size } = encode(text, { border: 3 });
  const cells = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" width="200" height="200" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${cells}" fill="#000"/></svg>`;
}
