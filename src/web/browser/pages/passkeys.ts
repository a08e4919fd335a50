/*
 * Adding a passkey, and signing in with one. What the authenticator answers goes out in a form's hidden field; the challenge
 * comes with a HEAD of the page itself, fresh each time.
 */

/** How long a challenge is asked for anew before the box would take it no more, milliseconds. */
const FRESH_MS = 4 * 60_000;

type Making = "parseCreationOptionsFromJSON" | "parseRequestOptionsFromJSON";
const knows = (what: Making): boolean =>
  typeof PublicKeyCredential === "function" && typeof PublicKeyCredential[what] === "function";

async function withChallenge<T>(options: string): Promise<T> {
  const head = await fetch(location.pathname + location.search, {
    method: "HEAD",
    cache: "no-store",
    headers: { Accept: "text/html" },
  });
  return { ...JSON.parse(options), challenge: head.headers.get("x-challenge") ?? "" } as T;
}

function say(form: HTMLFormElement, text: string): void {
  const line = form.querySelector("[data-passkey-said]");
  if (line) line.textContent = text;
}

/** Sends the form with what the authenticator said, as if its button had been pressed. */
function send(form: HTMLFormElement, made: Credential | null): void {
  const field = form.querySelector<HTMLInputElement>("input[name=passkey]");
  if (made === null || field === null) return;
  field.value = JSON.stringify((made as PublicKeyCredential).toJSON());
  form.requestSubmit();
  field.value = "";
}

const OLD = "This browser is too old for passkeys on a page, or has none.";

function why(error: unknown): string {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "InvalidStateError") return "That device has a passkey of yours already.";
  if (name === "NotAllowedError") return "Not done: it was cancelled, or took too long.";
  if (name === "SecurityError") return "Not done: this address can’t have passkeys.";
  return "Not done: the box can’t be reached, or the device couldn’t.";
}

async function add(form: HTMLFormElement, options: string): Promise<void> {
  if (!knows("parseCreationOptionsFromJSON")) return say(form, OLD);
  say(form, "");
  try {
    const json = await withChallenge<PublicKeyCredentialCreationOptionsJSON>(options);
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(json);
    send(form, await navigator.credentials.create({ publicKey }));
  } catch (error) {
    say(form, why(error));
  }
}

let asking: AbortController | null = null;

/** `mediation`: `conditional` offers passkeys in the email's list, and says nothing of what goes wrong. */
async function signIn(
  form: HTMLFormElement,
  options: string,
  mediation: CredentialMediationRequirement,
): Promise<void> {
  if (!knows("parseRequestOptionsFromJSON")) return say(form, OLD);
  asking?.abort();
  const own = new AbortController();
  asking = own;
  say(form, "");
  try {
    const json = await withChallenge<PublicKeyCredentialRequestOptionsJSON>(options);
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json);
    const { signal } = own;
    send(form, await navigator.credentials.get({ publicKey, signal, mediation }));
  } catch (error) {
    if (mediation !== "conditional" && !own.signal.aborted) say(form, why(error));
  }
}

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement)) return;
    const { passkeyNew, passkey } = form.dataset;
    const field = form.querySelector<HTMLInputElement>("input[name=passkey]");
    if ((passkeyNew ?? passkey) === undefined || field === null || field.value !== "") return;
    event.preventDefault();
    if (passkeyNew !== undefined) void add(form, passkeyNew);
    else void signIn(form, passkey ?? "", "optional");
  },
  { capture: true },
);

const form = document.querySelector<HTMLFormElement>("form[data-passkey]");
if (form !== null && knows("parseRequestOptionsFromJSON")) {
  const offer = () => void signIn(form, form.dataset["passkey"] ?? "", "conditional");
  void PublicKeyCredential.isConditionalMediationAvailable?.().then((can) => {
    if (!can) return;
    document.querySelector("#email")?.setAttribute("autocomplete", "username webauthn");
    offer();
    setInterval(() => {
      if (document.visibilityState === "visible") offer();
    }, FRESH_MS);
  });
}
