import { boxNow, clockWords } from "./box-clock.ts";
import { ownAddress, pageBase } from "./page.ts";
import { leftSession } from "./pocket.ts";

/* The script's own line of the bar: it stands above whatever the box had to say while it was there. */

let lastHeard = boxNow();
let retry = (): void => {};

const { dataset } = document.documentElement;
/** Since when: of a page that the browser kept, as the worker wrote it. */
const sinceWords = (): string => dataset["asOf"] ?? clockWords(lastHeard);

/** The box answered: what is shown is of now. */
export function boxAnswered(): void {
  lastHeard = boxNow();
  delete dataset["asOf"];
  // Drawn by the worker in the box's place.
  if ("drawn" in dataset) location.reload();
  document.querySelector("#bar > .unreached")?.remove();
  for (const age of document.querySelectorAll("[data-as-of]")) age.removeAttribute("data-as-of");
}

/** Rows stay, each with the time that it is of: drawn by the style sheet, so that no answer has to take it away. */
function markRows(): void {
  const words = `as of ${sinceWords()}`;
  for (const age of document.querySelectorAll<HTMLElement>("[data-row] .row-age"))
    age.dataset["asOf"] = words;
}

/** `again` is what *Try now* does. */
export function boxUnreached(again: () => void): void {
  retry = again;
  markRows();
  if (document.querySelector("#bar > .unreached")) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button plain";
  button.textContent = "Try now";
  button.addEventListener("click", () => retry());
  say("The box can’t be reached", ` · shown as of ${sinceWords()} · `, button);
}

/** The session ended: what was typed stays, and nothing is asked any more. */
export function signedOut(): void {
  document.querySelector("#bar > .unreached")?.remove();
  leftSession();
  const link = document.createElement("a");
  link.href = `${pageBase}/signin?to=${encodeURIComponent(ownAddress().slice(pageBase.length))}`;
  link.textContent = "Sign in";
  say("You are signed out", ` · shown as of ${clockWords(lastHeard)} · `, link);
}

/** What stands above the page stands below the line, which is as high as its words make it, and 0 when it goes. */
const heights = new ResizeObserver((lines) => {
  for (const { target } of lines) {
    const { height } = target.getBoundingClientRect();
    document.documentElement.style.setProperty("--above", `${height}px`);
  }
});
// Of a page that the browser kept: the worker drew it.
const drawn = document.querySelector("#bar > .unreached");
if (drawn) heights.observe(drawn);

function say(what: string, since: string, action: HTMLElement): void {
  const strong = document.createElement("strong");
  strong.textContent = what;
  const line = document.createElement("p");
  line.className = "unreached";
  line.setAttribute("role", "alert");
  line.append(strong, since, action);
  document.getElementById("bar")?.prepend(line);
  heights.observe(line);
}
