import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { keyed, typed, wrongOf } from "../ui/form.ts";

/** Where a note is written. A section of its own, so that what is typed stands while all else changes. */
export function noteForm(call: PageCall, id: number): Markup {
  const action = `/a/${id}/note`;
  const wrong = wrongOf(call, action, "text");
  return html`<form class="form" method="post" action="${call.base}${action}"><div class="field"><label for="note-text">Note</label>
<textarea id="note-text" name="text" rows="2" maxlength="4096" required aria-describedby="note-hint${wrong !== null && " note-wrong"}"${
    wrong !== null && html` aria-invalid="true"`
  }${keyed("n", "Note")}>${typed(call, action, "text")}</textarea>
<p class="hint" id="note-hint">Markdown, without images. You can change it for five minutes.</p>${
    wrong !== null && html`<p class="wrong" id="note-wrong">${wrong}</p>`
  }</div><button class="button second">Add the note</button></form>`;
}
