import { html } from "../kit/html.ts";
import { type PageAnswer, pageHeaders } from "./answer.ts";
import { framed, HTML_TYPE } from "./frame.ts";
import { PAGE_STYLE } from "./style.ts";

/**
 * The page of a link in a message: how to see the alert with this number. It doesn't depend on whether the alert
 * exists, because anyone who gets the link can read the page.
 */
export function alertPage(id: string): PageAnswer {
  const style = PAGE_STYLE;
  return {
    status: 200,
    headers: pageHeaders({ type: HTML_TYPE, storing: "no-store", style }),
    body: framed({
      title: `Alert ${id}`,
      style,
      main: html`<h1>Alert ${id}</h1>
<p class="lead">An alert is shown to who has a key of this box. With one, on your command line:</p>
<pre><code>box alert show ${id}
box ack ${id}</code></pre>
<p>Programs ask <code>GET /v1/alerts/${id}</code>.</p>
<p class="when">No key yet? Ask whoever runs this box for a pairing code.</p>`,
    }),
  };
}
