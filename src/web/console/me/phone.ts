import { invalid } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { linkBase } from "../../../out/paging/capability.ts";
import type { PhoneLinkState } from "../../../people/phone-links.ts";
import type { PageCall, Screen } from "../screen.ts";
import { button, field } from "../ui/form.ts";
import { counted } from "../ui/pieces.ts";
import { qrCode } from "../ui/qr.ts";
import { until } from "../ui/times.ts";
import { meTabs } from "./tabs.ts";

const AT = "/me/phone";

/** Signing in on a phone, from here: a code to scan, and two digits to type. */
export const phoneScreen: Screen = {
  path: AT,
  view(call) {
    const sees = call.tenant.ways.phones.deskSees(call.who.sessionId);
    return {
      title: "Sign in on my phone",
      nav: "me",
      // The code signs somebody in.
      headers: sees?.state === "shown" ? { "Cache-Control": "no-store" } : {},
      sections: {
        tabs: () => meTabs(call, AT),
        // What another state shows is another thing, and nothing that moved.
        phone: {
          watches: ["people"],
          draw: () => html`<div id="phone-${sees?.state ?? "none"}">${drawn(call, sees)}</div>`,
        },
      },
    };
  },
  forms: {
    link: {
      verb: "makePhoneLink",
      auditAlways: true,
      target: "session",
      act({ tenant, who }) {
        tenant.ways.phones.make(who);
        return { said: "A code for your phone. It is good for five minutes." };
      },
    },
    answer: {
      verb: "answerPhoneLink",
      auditAlways: true,
      target: "session",
      act({ tenant, who }, form) {
        const { phones } = tenant.ways;
        if (phones.answer(who.sessionId, (form.get("digits") ?? "").trim()))
          return { said: "The digits are right. Your phone continues by itself." };
        const sees = phones.deskSees(who.sessionId);
        const left = sees?.state === "asked" ? sees.left : 0;
        const reason =
          left > 0
            ? `aren’t those on your phone: ${counted(left, "try", "tries")} left`
            : "were wrong too often, or the code is over: make a new one";
        throw invalid([{ field: "/digits", reason }]);
      },
    },
    cancel: {
      verb: "cancelPhoneLink",
      auditAlways: true,
      target: "session",
      act({ tenant, who }) {
        tenant.ways.phones.cancel(who.sessionId);
        return { said: "That code no longer works." };
      },
    },
  },
};

function drawn(call: PageCall, sees: PhoneLinkState | null): Markup {
  const again = (name: string) => button(call, { action: `${AT}/link`, name });
  const cancel = button(call, { action: `${AT}/cancel`, name: "Take it back", kind: "second" });
  if (sees === null)
    return html`<p>Scan a code here with your phone. It is then signed in as you, without a password.</p>${again("Show the code")}`;
  if (sees.state === "shown") return code(call, sees, cancel);
  if (sees.state === "asked")
    return html`<p><strong>A phone wants to sign in as you</strong>: ${sees.agent || "unknown"}, from ${sees.address}.</p>
<form class="form" method="post" action="${call.base}${AT}/answer">
${field(call, `${AT}/answer`, { name: "digits", label: "The two digits that it shows", required: true, autocomplete: "off", more: html`inputmode="numeric" pattern="[0-9]{2}" maxlength="2"` })}
<p class="form-foot"><button class="button">Let it in</button></p></form>
<p class="soft">Not yours? ${cancel}</p>`;
  if (sees.state === "answered")
    return html`<p>The digits are right. Your phone is being signed in …</p>${cancel}`;
  if (sees.state === "in")
    return html`<p class="good">Your phone is signed in. <a href="${call.base}/me/sessions">Sessions and keys</a> lists it.</p>${again("Another phone")}`;
  return html`<p class="wrong">The digits were wrong three times, so the code no longer works.</p>${again("Show a new code")}`;
}

function code(
  call: PageCall,
  sees: Extract<PhoneLinkState, { state: "shown" }>,
  cancel: Markup,
): Markup {
  const base = phoneBase(call);
  if (base === null)
    return html`<p class="warn">Your phone can’t come to ${new URL(call.origin).host}, which is this machine alone. Start the box with <code>--listen 0.0.0.0:8080</code> or <code>--public-url</code>.</p>${cancel}`;
  const link = `${base}/phone#code=${sees.code}`;
  return html`<p>Scan this with your phone’s camera. It is good ${until(call, sees.until)}, once.</p>
${qrCode(link, "The link for your phone")}
<p class="soft">Or open this there: <code id="phone-link">${link}</code></p>${cancel}`;
}

/** What the phone's link begins with: as this desk came, or as others come where this desk sits at the box itself. */
function phoneBase({ tenant, origin }: PageCall): string | null {
  const { hostname } = new URL(origin);
  const isOwn = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  return isOwn ? linkBase(tenant.store, tenant.publicUrl) : origin;
}
