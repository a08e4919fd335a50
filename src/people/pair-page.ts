import { html, type Markup, type Piece } from "../ground/kit/html.ts";
import { type PageAnswer, pageHeaders } from "../ground/page/answer.ts";
import { brand } from "../ground/page/drawings.ts";
import { framed, HTML_TYPE } from "../ground/page/frame.ts";
import { PAGE_STYLE } from "../ground/page/style.ts";
import type { Invited } from "./codes.ts";
import { SCRIPT } from "./pair-script.ts";
import type { Redemption } from "./pairing.ts";

/** What the person has entered so far. It is shown only to them, and never contains the password. */
export interface PairForm {
  code: string;
  email: string;
  displayName: string;
  /** Whether the person wants an API key; null where one is always made. */
  wantsKey: boolean | null;
}

/** Why the form is shown again: invalid fields, a refusal, or too many tries. */
type PairTrouble =
  | { kind: "invalid"; fields: readonly PairField[] }
  | { kind: "refused" }
  | { kind: "wait"; seconds: number };

const FIELDS = ["code", "email", "display_name", "password"] as const;
export type PairField = (typeof FIELDS)[number];

const STYLE = `${PAGE_STYLE}
form{max-width:26rem}
.field{margin-top:1.25rem}
.hint{color:var(--soft);font-size:.9375rem;margin:.3rem 0 0}
#code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.9em}
.check{display:grid;grid-template-columns:auto 1fr;column-gap:.6rem;align-items:center}
.check input{width:1.5rem;min-height:1.5rem;margin:0}
.check label{margin:0;padding:.5rem 0}
.check .hint{grid-column:2;margin:0}
form>button{margin-top:1.5rem}
@media (pointer:coarse){input{font-size:1rem}}
main{max-width:28rem;padding-top:1rem}
body{font-size:.9375rem;line-height:1.45}
h1{font-size:1.5rem}
label{font-size:.8125rem}
.hint{font-size:.8125rem}
form>.copy{width:100%;min-height:3rem;margin:.75rem 0 0;border-color:var(--edge);color:var(--ink)}
pre{user-select:all;margin-bottom:.5rem}
.copy{width:auto;min-height:2.75rem;margin:0 0 1.25rem;background:var(--card);color:var(--accent)}
[hidden]{display:none}
`;

const HEADERS = pageHeaders({
  type: HTML_TYPE,
  storing: "no-store",
  style: STYLE,
  script: SCRIPT,
  asks: true,
});

/**
 * The page of a pairing link (contract §3). The code stands behind the link's `#`, which no browser sends: the script
 * copies it into the form and removes it from the address. Without the script the person pastes it.
 */
export function pairPage(
  form: PairForm,
  trouble: PairTrouble | null = null,
  invited: Invited | null = null,
): PageAnswer {
  const wrong = trouble?.kind === "invalid" ? trouble.fields : [];
  const body = framed({
    style: STYLE,
    script: SCRIPT,
    title: trouble === null ? "Join this box" : "Join this box: try again",
    main: html`<p class="brand">${brand}</p>
<h1 id="title">${invited === null ? "Join this box" : titleOf(invited)}</h1>
<p class="lead" id="invited" role="status">${invited === null ? `A pairing code makes you an account on this box${form.wantsKey === null ? " and gives you an API key" : ""}.` : invitation(invited)}</p>
<form method="post">
${trouble !== null && html`<p class="wrong" id="wrong" role="alert">${complaint(trouble)}</p>`}
${fields(form, wrong, invited?.email ?? null)}
<button type="submit">Continue</button>
<button type="submit" class="copy" id="look" name="look" value="yes" formnovalidate>See who invites to what</button>
</form>`,
  });
  const told = invited !== null && {
    title: titleOf(invited),
    sentence: invitation(invited),
    email: invited.email,
  };
  const headers = {
    ...headersFor(trouble),
    // For the script, which asks without leaving the page.
    ...(told && { "X-Invited": encodeURIComponent(JSON.stringify(told)) }),
  };
  return { status: STATUS[trouble?.kind ?? "none"], headers, body };
}

function titleOf({ by, resets }: Invited): string {
  if (resets) return "A new password";
  return by === null ? "You are invited" : `${by} invites you`;
}

/** To which role; who invites is in the title. Only for a code that can be redeemed. */
function invitation({ role, resets, email }: Invited): string {
  if (resets) return `This link sets a new password for ${email}.`;
  return `You join this box as ${role === "member" ? "a" : "an"} ${role}.`;
}

const STATUS = { none: 200, invalid: 400, refused: 401, wait: 429 } as const;

function headersFor(trouble: PairTrouble | null): Record<string, string> {
  if (trouble?.kind === "refused") return { ...HEADERS, "WWW-Authenticate": "Bearer" };
  if (trouble?.kind === "wait") return { ...HEADERS, "Retry-After": String(trouble.seconds) };
  return { ...HEADERS };
}

const REASONS: Record<PairField, string> = {
  code: "The code has 48 characters, 0 to 9 and a to f.",
  email: "The e-mail address isn't complete.",
  display_name: "The name has at most 128 characters.",
  password: "The password must have 8 to 72 characters.",
};

/** One sentence for every refusal: a stranger must not learn which part was wrong. */
function complaint(trouble: PairTrouble): string {
  if (trouble.kind === "invalid")
    return FIELDS.filter((field) => trouble.fields.includes(field))
      .map((field) => REASONS[field])
      .join(" ");
  if (trouble.kind === "wait")
    return `Too many tries. Wait ${trouble.seconds} seconds, then try again.`;
  return "The pairing was not accepted. The code may be used, old or mistyped, or it is for another address, or the account has another password. Ask the person who gave you the link.";
}

function fields(form: PairForm, wrong: readonly PairField[], bound: string | null): Markup {
  const marked = (field: PairField): Piece =>
    wrong.includes(field) && html` aria-invalid="true" aria-errormessage="wrong"`;
  return html`<div class="field" id="code-field">
<label for="code">Pairing code</label>
<input id="code" name="code" required autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="code-hint" value="${form.code}"${marked("code")}>
<p class="hint" id="code-hint">The 48 characters behind <code>#code=</code> in your link; the whole link will do, too.</p>
</div>
<div class="field">
<label for="display_name">Your name</label>
<input id="display_name" name="display_name" autocomplete="name" aria-describedby="name-hint" value="${form.displayName}"${marked("display_name")}>
<p class="hint" id="name-hint">As others see it. Optional.</p>
</div>
<div class="field">
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" aria-describedby="email-hint" value="${bound ?? form.email}"${bound !== null && html` readonly`}${marked("email")}>
<p class="hint" id="email-hint">May stay empty if the invitation was made for your address.</p>
</div>
<div class="field">
<label for="password">Password</label>
<input id="password" name="password" type="password" required minlength="8" maxlength="72" autocomplete="new-password" aria-describedby="password-hint"${marked("password")}>
<p class="hint" id="password-hint">At least 8 characters. If you have an account here already, type its password; a link that resets it sets a new one.</p>
</div>${
    form.wantsKey !== null &&
    html`<div class="field check">
<input id="wants_key" name="wants_key" type="checkbox" value="yes" aria-describedby="key-hint"${form.wantsKey && html` checked`}>
<label for="wants_key">Make me an API key, too</label>
<p class="hint" id="key-hint">For the command line, for programs, and to pair a phone's app.</p>
</div>`
  }`;
}

/** Shows key and receipt once. `baseUrl`: no slash at the end. `signedIn`: whether to link to the console. */
export function pairedPage(
  paired: Redemption,
  baseUrl: string,
  { signedIn }: { signedIn: boolean },
): PageAnswer {
  const body = framed({
    style: STYLE,
    script: SCRIPT,
    title: "Your account is ready",
    main: html`<h1>Your account is ready</h1>
${signedIn && html`<p class="lead">You are signed in. When you have stored your key: <a href="${baseUrl}/welcome">to the first steps</a>.</p>`}
<section aria-labelledby="key">
<h2 id="key">Your API key</h2>
<p>It is shown this once. Keep it like a password.</p>
${copyable("api-key", paired.api_key, "Copy the key")}
</section>
<section aria-labelledby="next">
<h2 id="next">What now</h2>
<p>In a terminal; it asks for the key and keeps it for every later command:</p>
${copyable("login", `box login --url ${baseUrl}`, "Copy the command")}
<p>Or, for this shell alone and for <code>curl</code>:</p>
${copyable("export", `export BOX_URL=${baseUrl}\nexport BOX_KEY=${paired.api_key}`, "Copy both lines")}
<p>Then look around with <code>box project list</code> and <code>box alerts</code>.</p>
</section>
<section aria-labelledby="phone">
<h2 id="phone">To pair a phone</h2>
<p>The app of the hosted service asks for your account here and this receipt, within ten minutes:</p>
${copyable("account", paired.box_account_id, "Copy the account")}
${copyable("receipt", paired.receipt, "Copy the receipt")}
</section>`,
  });
  return { status: 200, headers: { ...HEADERS }, body };
}

function copyable(id: string, text: string, button: string): Markup {
  return html`<pre id="${id}">${text}</pre>
<button class="copy" type="button" data-copy="${id}" hidden>${button}</button>`;
}
