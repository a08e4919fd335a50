/* The line that says what was done. */

/** It stays so long, milliseconds; somebody who reads it or is about to use it holds it. */
const STAYS_MS = 10_000;

let timer: ReturnType<typeof setTimeout> | undefined;

/** To be called when the line may have been drawn anew. */
export function keepSaid(): void {
  clearTimeout(timer);
  const line = document.getElementById("said");
  if (!line?.hasChildNodes()) return;
  timer = setTimeout(() => {
    if (line.matches(":hover, :focus-within")) keepSaid();
    else line.replaceChildren();
  }, STAYS_MS);
}

/** Says what only the browser knows: that something wasn't done, and what stayed as it was. */
export function sayHere(text: string): void {
  const line = document.getElementById("said");
  if (line === null) return;
  const words = document.createElement("span");
  words.className = "wrong";
  words.textContent = text;
  line.replaceChildren(words);
  keepSaid();
}
