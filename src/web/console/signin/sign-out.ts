import { html } from "../../../ground/kit/html.ts";
import { endSession } from "../../../people/sessions.ts";
import { dropSubscription, readSubscriptions } from "../../../tenant/push-verbs.ts";
import type { Screen } from "../screen.ts";

/** Ends this browser's session. */
export const signOutScreen: Screen = {
  path: "/signout",
  view: (call) => ({
    title: "Sign out",
    nav: "me",
    script: "signout",
    sections: {
      signout: () => html`<p>You are signed in as ${call.who.email}.</p>
<form method="post" action="${call.base}/signout"><p id="unsent" hidden><label class="check"><input type="checkbox" name="keep" value="drafts" checked disabled> Keep in this browser what you wrote for reports and did not publish</label></p>
<button class="button">Sign out</button></form>`,
    },
  }),
  forms: {
    "": {
      verb: "signOut",
      target: "session",
      act({ tenant, who }, form) {
        // The browser's worker says which device it is: its subscription goes with the session.
        const id = form.get("device");
        const isTheirs = readSubscriptions(tenant, who.accountId).some((one) => one.id === id);
        if (id !== null && isTheirs) dropSubscription(tenant, { account: who.accountId, id });
        tenant.store.write((tx) => endSession(tx, who.accountId, who.sessionId));
        // Who has unsent texts there is asked; else nothing of theirs stays.
        const signsOut = form.get("keep") === "drafts" ? "cached" : "all";
        return { said: "", to: "/signin", signsOut };
      },
    },
  },
};
