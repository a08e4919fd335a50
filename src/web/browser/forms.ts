import { askPage, drawnAfterIn, isMarkup } from "./ask.ts";
import { focusWrong } from "./focus.ts";
import { shownRows } from "./lists.ts";
import { putSections } from "./morph.ts";
import { ownAddress } from "./page.ts";
import { unpickAll } from "./picks.ts";
import { formPosted, refreshBehind } from "./refresh.ts";
import { keepSaid, sayHere } from "./said-line.ts";
import { placeChanges } from "./second-press.ts";
import { parseAnswer } from "./trusted.ts";

/* Forms are posted by script where there is one: what changed is drawn in place, what was typed is kept. */

/** Only then the pressed button says what it waits for, milliseconds. */
const SLOW_MS = 400;

type Sender = HTMLButtonElement | HTMLInputElement;

export function takeForms(): void {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || event.defaultPrevented) return;
    const sender = event.submitter as Sender | null;
    if (!isOurs(form, sender)) return;
    event.preventDefault();
    if (!form.hasAttribute("aria-busy")) void post(form, sender);
  });
}

/** By attributes: a field named "method" or "action" hides the form's own property. */
const said = (form: HTMLFormElement, sender: Sender | null, name: string): string | null =>
  sender?.getAttribute(`form${name}`) ?? form.getAttribute(name);

function isOurs(form: HTMLFormElement, sender: Sender | null): boolean {
  if (said(form, sender, "method")?.toLowerCase() !== "post" || "plain" in form.dataset)
    return false;
  // Who signs in leaves the page, and a password manager wants to see it.
  if (document.body.classList.contains("alone")) return false;
  return (said(form, sender, "enctype") ?? "") !== "multipart/form-data";
}

/** Where a form goes. */
const formAddress = (form: HTMLFormElement, sender: Sender | null): string =>
  said(form, sender, "action") || ownAddress();

/** What a form holds, as it is sent. */
export function formBody(form: HTMLFormElement, sender: Sender | null): URLSearchParams {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form, sender)) body.append(name, String(value));
  return body;
}

async function post(form: HTMLFormElement, sender: Sender | null): Promise<void> {
  // Read before the menu that it may stand in closes.
  const request = { address: formAddress(form, sender), body: formBody(form, sender) };
  const rows = shownRows([...document.querySelectorAll("[data-stay]")]);
  const done = waits(form, sender);
  const heard = formPosted();
  placeChanges();
  try {
    const response = await askPage(request.address, {
      method: "POST",
      body: request.body,
      headers: {
        Accept: "text/html",
        "X-Sections": "1",
        // What became of a row that leaves by this very form comes with its answer.
        ...(rows === "" ? {} : { "X-Rows": rows }),
      },
    });
    await show(form, response);
  } catch {
    sayHere("Not known to be done: the box can’t be reached. What you typed is still here.");
  } finally {
    done();
    heard();
  }
}

async function show(form: HTMLFormElement, response: Response): Promise<void> {
  // For scripts of single pages: whether what it held is the box's now.
  form.dispatchEvent(new CustomEvent("answered", { bubbles: true, detail: response.ok }));
  const to = response.headers.get("x-go");
  if (to?.startsWith("/") && !to.startsWith("//")) return location.assign(to);
  if (response.redirected) return location.assign(response.url);
  if (!isMarkup(response)) {
    const id = response.headers.get("x-request-id");
    return sayHere(`Not done: the box answered ${response.status}${id ? `, request ${id}` : ""}.`);
  }
  const answer = parseAnswer(await response.text());
  if (response.ok) {
    for (const menu of document.querySelectorAll("details.menu[open]"))
      if (menu.contains(form)) menu.removeAttribute("open");
    if (form.closest("[data-selection]")) unpickAll();
  }
  putSections(answer, { form, refused: !response.ok, since: drawnAfterIn(response) });
  placeChanges();
  keepSaid();
  if (response.ok) refreshBehind();
  else focusWrong();
}

/** Marks the form as on its way; what it returns ends that. */
function waits(form: HTMLFormElement, sender: Sender | null): () => void {
  form.setAttribute("aria-busy", "true");
  sender?.setAttribute("aria-disabled", "true");
  const words = sender?.dataset["busy"];
  const before = sender?.textContent ?? "";
  const timer = setTimeout(() => {
    if (sender && words !== undefined) sender.textContent = words;
  }, SLOW_MS);
  return () => {
    clearTimeout(timer);
    form.removeAttribute("aria-busy");
    sender?.removeAttribute("aria-disabled");
    if (sender && words !== undefined && sender.textContent === words) sender.textContent = before;
  };
}
