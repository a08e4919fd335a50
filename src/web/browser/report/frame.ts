/* The frame beside the editor: what is written, as readers would see it. */

/** After the last change, milliseconds. */
const REST_MS = 300;

let timer: ReturnType<typeof setTimeout> | undefined;
let isAsked = false;
let isBehind = false;
let count = 0;

/** Shows the form's fields soon; one at a time is asked for. */
export function previewSoon(form: HTMLFormElement, rest = REST_MS): void {
  clearTimeout(timer);
  timer = setTimeout(() => preview(form), rest);
}

/**
 * By a form of its own into a frame of its own, which takes the other's place when it is there: so nothing flickers, nothing
 * is added to where Back goes, and what comes is a page of the box with a policy of its own.
 */
function preview(form: HTMLFormElement): void {
  if (isAsked) {
    isBehind = true;
    return;
  }
  const shown = document.querySelector<HTMLIFrameElement>(".report-frames iframe");
  const address = form.dataset["previewTo"];
  if (!shown || !address || !form.isConnected) return;
  isAsked = true;
  const next = shown.cloneNode() as HTMLIFrameElement;
  next.removeAttribute("src");
  count += 1;
  next.name = `preview-${count}`;
  next.className = "report-waiting";
  next.setAttribute("aria-hidden", "true");
  shown.after(next);
  // Its own empty page is there before the listener is.
  next.addEventListener("load", () => show(form, next), { once: true });
  send(form, address, next.name);
}

function send(form: HTMLFormElement, address: string, target: string): void {
  const own = document.createElement("form");
  own.method = "post";
  own.action = address + ("old" in form.dataset ? `#entry-${field(form, "entry")}` : "");
  own.target = target;
  own.hidden = true;
  for (const name of ["title", "entry_type", "content_md", "entry"]) {
    const input = document.createElement("textarea");
    input.name = name;
    input.value = field(form, name);
    own.append(input);
  }
  document.body.append(own);
  own.submit();
  own.remove();
}

const field = (form: HTMLFormElement, name: string): string =>
  String(new FormData(form).get(name) ?? "");

function show(form: HTMLFormElement, next: HTMLIFrameElement): void {
  for (const old of document.querySelectorAll(".report-frames iframe"))
    if (old !== next) old.remove();
  next.className = "";
  next.removeAttribute("aria-hidden");
  next.name = "preview";
  isAsked = false;
  if (isBehind) previewSoon(form, 0);
  isBehind = false;
}
