/*
 * The phone's side of *Sign in on my phone*: takes the code out of the address and sends it, then looks whether the desk has
 * answered.
 */

const LOOK_MS = 1500;

const form = document.querySelector<HTMLFormElement>("form[data-phone]");

function takeCode(): void {
  const found = /[#&]code=([0-9a-f]{48})(?:&|$)/.exec(location.hash);
  if (location.hash !== "") history.replaceState(null, "", location.pathname);
  const field = document.querySelector<HTMLInputElement>("#code");
  if (found === null || field === null) return;
  field.value = found[1] ?? "";
  form?.requestSubmit();
}

async function look(): Promise<void> {
  const answer = await fetch(location.pathname, {
    method: "HEAD",
    cache: "no-store",
    headers: { Accept: "text/html" },
  }).catch(() => null);
  const state = answer?.headers.get("x-phone");
  if (state === "answered") return form?.requestSubmit();
  if (state === "over") return location.reload();
  setTimeout(() => void look(), LOOK_MS);
}

if (form?.dataset["phone"] === "wait") void look();
else {
  takeCode();
  addEventListener("hashchange", takeCode);
}
