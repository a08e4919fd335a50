import { html } from "../../kit/html.ts";
import { endSession } from "../../people/sessions.ts";
import type { Screen } from "../screen.ts";
import { button } from "../ui/form.ts";

/** Ends this browser's session. */
export const signOutScreen: Screen = {
  path: "/signout",
  view: (call) => ({
    title: "Sign out",
    nav: "me",
    sections: {
      signout: {
        watches: [],
        draw: () => html`<p>You are signed in as ${call.who.email}.</p>
${button(call, { action: "/signout", name: "Sign out" })}`,
      },
    },
  }),
  forms: {
    "": {
      verb: "signOut",
      target: () => ({ kind: "session", id: "" }),
      act({ tenant, who }) {
        tenant.store.write((tx) => endSession(tx, who.accountId, who.sessionId));
        return { said: "", to: "/signin", signsOut: true };
      },
    },
  },
};
