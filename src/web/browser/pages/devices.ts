import { deviceName } from "../device-name.ts";
import { keyText } from "../key-text.ts";

/*
 * *Add this browser*: permission by the click, a subscription with the box's key, and the form goes with what came. Whether
 * *Ring it* was shown is told by the page itself; after half a minute without it the chain is opened.
 */

/** After this nothing was shown, milliseconds. */
const SHOWN_MS = 30_000;

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement)) return;
    if (form.id === "add-browser" && fieldOf(form, "endpoint")?.value === "") {
      event.preventDefault();
      void add(form);
    } else if (form.action.endsWith("/ring")) watch(form);
  },
  { capture: true },
);

const fieldOf = (form: HTMLFormElement, name: string): HTMLInputElement | null =>
  form.querySelector(`input[name=${name}]`);

function say(form: HTMLFormElement, text: string): void {
  const line = form.querySelector("[data-browser-said]");
  if (line) line.textContent = text;
}

async function add(form: HTMLFormElement): Promise<void> {
  say(form, "");
  try {
    const why = await cannot();
    if (why !== null) return say(form, why);
    const key = form.dataset["serverKey"] || (await askKey(form));
    const { endpoint, keys } = (await subscribed(key, "anew" in form.dataset)).toJSON();
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const values: Record<string, string | undefined> = {
      endpoint,
      p256dh: keys?.["p256dh"],
      auth: keys?.["auth"],
      timezone: timeZone,
      server_key: key,
      label: deviceName(navigator.userAgent),
    };
    for (const [name, value] of Object.entries(values)) {
      const field = fieldOf(form, name);
      if (field) field.value = value ?? "";
    }
    form.requestSubmit();
    for (const name of Object.keys(values)) {
      const field = fieldOf(form, name);
      if (field) field.value = "";
    }
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    say(form, `Not added: this browser’s push service didn’t answer (${what}).`);
  }
}

/** Why not, in a sentence; asks for permission, which a browser allows only right after the click. */
async function cannot(): Promise<string | null> {
  if (!("Notification" in window) || !("PushManager" in window))
    return /iPhone|iPad/.test(navigator.userAgent)
      ? "Not yet: tap Share, then Add to Home Screen, and open the box from there."
      : "This browser can’t be pushed to.";
  const permission = await Notification.requestPermission();
  if (permission === "denied")
    return "Not added: notifications of this site are blocked in this browser’s settings.";
  return permission === "granted" ? null : "Not added: it wasn’t allowed.";
}

/** The box makes it now. */
async function askKey(form: HTMLFormElement): Promise<string> {
  const answer = await fetch(form.dataset["keyFrom"] ?? "", {
    method: "POST",
    body: new URLSearchParams(),
    headers: { Accept: "text/html", "X-Sections": "1" },
  });
  const key = /data-server-key="([\w-]+)"/.exec(await answer.text())?.[1];
  if (key === undefined) throw new Error(`the box answered ${answer.status}`);
  return key;
}

/** One that was made with another key is worth nothing, nor may be what there is where a service gave one up. */
async function subscribed(key: string, isAnew: boolean): Promise<PushSubscription> {
  const { pushManager } = await navigator.serviceWorker.ready;
  const before = await pushManager.getSubscription();
  const known = before?.options?.applicationServerKey;
  if (!isAnew && before && known && keyText(known) === key) return before;
  await before?.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

/** What the box draws anew knows nothing of this browser: it is told again each time. */
new MutationObserver(fillIn).observe(document.body, {
  childList: true,
  subtree: true,
  characterData: true,
});
let told = "";
fillIn();

function fillIn(): void {
  tellWorker();
  sayPermission();
}

/** The worker learns which device it is: it renews its subscription by itself, and takes it back with the session. */
function tellWorker(): void {
  const device = document.querySelector<HTMLElement>("[data-device]")?.dataset["device"] ?? "";
  if (device === "" || device === told) return;
  told = device;
  void navigator.serviceWorker?.ready.then(({ active }) => active?.postMessage({ device }));
}

/** Opens the chain of a device that was rung and showed nothing. */
function watch(form: HTMLFormElement): void {
  const id = form.closest("[data-shown]")?.id;
  if (id === undefined) return;
  const shownAt = () => document.getElementById(id)?.dataset["shown"];
  const before = shownAt();
  setTimeout(() => {
    const chain = document.getElementById(id.replace("device-", "chain-"));
    if (shownAt() !== before || !(chain instanceof HTMLDetailsElement)) return;
    chain.open = true;
    sayPermission();
  }, SHOWN_MS);
}

/** The chain's first link, of which only the browser knows. */
function sayPermission(): void {
  if (!("Notification" in window)) return;
  const said = { granted: "allowed", denied: "blocked", default: "not asked for yet" };
  const text = `in this browser notifications are ${said[Notification.permission]}; in another one look there.`;
  for (const line of document.querySelectorAll("[data-permission]"))
    if (line.textContent !== text) line.textContent = text;
}
