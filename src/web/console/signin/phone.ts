import { ServiceError } from "../../../ground/kit/errors.ts";
import { html } from "../../../ground/kit/html.ts";
import { getAccount } from "../../../people/accounts.ts";
import type { PhoneSees } from "../../../people/phone-links.ts";
import { signInByPhone } from "../../../people/sign-in.ts";
import { hostCookie, sessionCookie } from "../../http/session-cookie.ts";
import { calledOf } from "../ui/people-names.ts";
import type { GoOn, OpenPage, Visit, VisitAnswer } from "../visit.ts";

/** How the link stands, for the script of a page that waits. */
const STATE = "X-Phone";

const cookieName = (secure: boolean) => (secure ? "__Host-phone" : "phone");
const cookie = (value: string, secure: boolean, seconds: number) =>
  hostCookie(cookieName(secure), value, { secure, seconds, httpOnly: true });
/** Longer than any link is good. */
const SECONDS = 600;

/** Where the code of *Sign in on my phone* leads: two digits for the desk, then in. */
export const phonePage: OpenPage = {
  path: "/phone",
  get(visit) {
    const secret = visit.cookies[cookieName(visit.secure)] ?? "";
    const sees = secret === "" ? null : visit.tenant.ways.phones.phoneSees(secret);
    if (sees !== null) return waiting(visit, sees);
    return { ...entry(visit, secret === "" ? null : OVER), headers: { [STATE]: "over" } };
  },
  async post(visit, form) {
    const { tenant, address, agent, secure } = visit;
    const code = /(?:^|[#?&]code=)([0-9a-f]{48})$/.exec((form.get("code") ?? "").trim())?.[1];
    if (!form.has("code")) return enter(visit);
    try {
      visit.tried();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const wrong = `Too many tries from your address: wait ${error.retryAfter ?? 1} s.`;
      return { ...entry(visit, wrong), status: 429, refusedAs: error.code };
    }
    const secret = tenant.ways.phones.claim(code ?? "", { address, agent });
    if (secret === null)
      return { ...entry(visit, OVER), status: 401, refusedAs: "sign_in_refused" };
    // The desk's page shows who came.
    tenant.store.write((tx) => tx.note({ topic: "people" }));
    return { to: "/phone", cookies: [cookie(secret, secure, SECONDS)] };
  },
};

const OVER =
  "That code is over: it was used, is older than five minutes, was answered wrongly or taken back, or the box started anew. Make a new one at your desk.";

function enter(visit: Visit): VisitAnswer | GoOn {
  const { tenant, address, agent, secure, cookies } = visit;
  const secret = cookies[cookieName(secure)] ?? "";
  const done = signInByPhone(tenant, { secret, address, agent });
  if (done !== null)
    return {
      to: "/alerts",
      cookies: [sessionCookie(done.cookie, secure), cookie("", secure, 0)],
    };
  const sees = tenant.ways.phones.phoneSees(secret);
  if (sees !== null) return waiting(visit, sees);
  return {
    ...entry(visit, OVER),
    status: 401,
    refusedAs: "sign_in_refused",
    cookies: [cookie("", secure, 0)],
  };
}

const TITLE = "Sign in on this phone";

/** Without script the code, or the whole link, is pasted. */
function entry({ base }: Visit, wrong: string | null): VisitAnswer {
  return {
    title: TITLE,
    script: "phone",
    main: html`${wrong !== null && html`<p class="wrong" role="alert">${wrong}</p>`}
<p>At your desk open <strong>Me</strong>, <strong>Sign in on my phone</strong>, and scan the code there.</p>
<form class="form" method="post" action="${base}/phone" data-phone="code">
<div class="field"><label for="code">The code, or its link</label>
<input id="code" name="code" required autocomplete="off" autocapitalize="none" spellcheck="false"></div>
<p class="form-foot"><button class="button">Go on</button></p></form>`,
  };
}

function waiting({ tenant, base }: Visit, sees: PhoneSees): VisitAnswer {
  return {
    title: TITLE,
    script: "phone",
    headers: { [STATE]: sees.state },
    main: html`<p>This signs you in as <strong>${calledOf(getAccount(tenant.store, sees.accountId))}</strong>.</p>
${sees.state === "asked" ? html`<p>Type these digits at your desk:</p><p class="digits" id="digits">${sees.digits}</p>` : html`<p>Your desk has answered.</p>`}
<form class="form" method="post" action="${base}/phone" data-phone="wait">
<p class="form-foot"><button class="button second">Go on</button></p></form>
<p class="soft">Once they are typed, this page continues by itself.</p>`,
  };
}
