import { boxNow, clockWords } from "./box-clock.ts";
import { ownAddress, pageBase } from "./page.ts";

/* The script's own line of the bar: it stands above whatever the box had to say while it was there. */

let lastHeard = boxNow();
let retry = (): void => {};

/** The box answered: what is shown is of now. */
export function boxAnswered(): void {
  lastHeard = boxNow();
  document.querySelector("#bar > .unreached")?.remove();
  for (const age of document.querySelectorAll("[data-as-of]")) age.removeAttribute("data-as-of");
}

/** Rows stay, each with the time that it is of: drawn by the style sheet, so that no answer has to take it away. */
function markRows(): void {
  const words = `as of ${clockWords(lastHeard)}`;
  for (const age of document.querySelectorAll<HTMLElement>("[data-row] .row-age"))
    age.dataset["asOf"] = words;
}

/** `again` is what *Try now* does. */
export function boxUnreached(again: () => void): void {
  retry = again;
  if (document.querySelector("#bar > .unreached")) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button plain";
  button.textContent = "Try now";
  button.addEventListener("click", () => retry());
  markRows();
  say("The box can’t be reached", ` · shown as of ${clockWords(lastHeard)} · `, button);
}

/** The session ended: what was typed stays, and nothing is asked any more. */
export function signedOut(): void {
  document.querySelector("#bar > .unreached")?.remove();
  const link = document.createElement("a");
  link.href = `${pageBase}/signin?to=${encodeURIComponent(ownAddress().slice(pageBase.length))}`;
  link.textContent = "Sign in";
  say("You are signed out", ` · shown as of ${clockWords(lastHeard)} · `, link);
}

function say(what: string, since: string, action: HTMLElement): void {
  const strong = document.createElement("strong");
  strong.textContent = what;
  const line = document.createElement("p");
  line.className = "unreached";
  line.setAttribute("role", "alert");
  line.append(strong, since, action);
  document.getElementById("bar")?.prepend(line);
}
