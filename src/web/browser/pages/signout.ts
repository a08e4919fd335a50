/* Who has texts that weren't sent is asked whether they stay when they sign out. */
import { ownDrafts } from "../drafts.ts";

const line = document.getElementById("unsent");
if (line && ownDrafts().length > 0) {
  line.hidden = false;
  for (const box of line.querySelectorAll("input")) box.disabled = false;
}
