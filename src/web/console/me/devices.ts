import { check } from "../../../ground/kit/check.ts";
import { notFound, ServiceError } from "../../../ground/kit/errors.ts";
import { html } from "../../../ground/kit/html.ts";
import { subscriptionChange, subscriptionWrite } from "../../../out/contacts/subscription.ts";
import {
  addSubscription,
  alterSubscription,
  pushKey,
  readSubscriptions,
} from "../../../tenant/push-verbs.ts";
import type { Form, FormDone, PageCall, Screen } from "../screen.ts";
import { BROWSERS as AT, browserList } from "../ui/browsers.ts";
import { contactForms } from "../ui/contact-forms.ts";
import { addContactForm, contactRows } from "../ui/contact-list.ts";
import { newTopic } from "../ui/qr.ts";
import { meTabs } from "./tabs.ts";

const text = (form: URLSearchParams, name: string): string => (form.get(name) ?? "").trim();

/** What is done with one's own browsers; ringing and removing them are those of every contact. */
const browserForms: Readonly<Record<string, Form>> = {
  // A browser asks for it before it subscribes: no page that is only looked at makes it.
  key: {
    verb: "getPushKey",
    target: "gateway:web_push",
    auditAlways: true,
    act(call) {
      pushKey(call.tenant);
      return { said: "" };
    },
  },
  browser: {
    verb: "createPushSubscription",
    target: "contact",
    act: add,
  },
  "{contact}/change": {
    verb: "changePushSubscription",
    act(call, form) {
      const change = check(
        subscriptionChange,
        {
          label: text(form, "label"),
          wants: form.getAll("wants"),
          lock_screen: text(form, "lock_screen"),
        },
        "body",
      );
      const of = { account: call.who.accountId, id: call.params["contact"] ?? "" };
      const { label } = alterSubscription(call.tenant, of, change);
      return { said: `Saved for ${label === "" ? "this device" : label}.` };
    },
  },
};

function add({ tenant, who }: PageCall, form: URLSearchParams): FormDone {
  if (text(form, "endpoint") === "")
    throw new ServiceError(
      "invalid_request",
      "This browser gave no subscription: it takes scripts and your permission.",
    );
  const replaces = text(form, "replaces");
  // Only a worker says so: its browser may be somebody else's by now, who didn't ask for it.
  const isOwn = readSubscriptions(tenant, who.accountId).some(({ id }) => id === replaces);
  if (replaces !== "" && !isOwn) throw notFound("device");
  const given = (name: string) => (text(form, name) === "" ? {} : { [name]: text(form, name) });
  const write = check(
    subscriptionWrite,
    {
      endpoint: text(form, "endpoint"),
      keys: { p256dh: text(form, "p256dh"), auth: text(form, "auth") },
      ...given("label"),
      ...given("timezone"),
      ...given("server_key"),
      ...given("replaces"),
    },
    "body",
  );
  const { id, label } = addSubscription(tenant, who.accountId, write);
  return { said: `Added ${label === "" ? "this browser" : label}.`, shown: { device: id } };
}

/** What reaches whoever is signed in: each way with its state, a test, and how to add one. */
export const devicesScreen: Screen = {
  path: AT,
  view(call) {
    const of = { account: call.who.accountId, at: AT, but: "web_push" };
    return {
      title: "What rings for me",
      nav: "me",
      script: "devices",
      sections: {
        tabs: () => meTabs(call, AT),
        browsers: { watches: ["people", "projects"], draw: () => browserList(call) },
        contacts: {
          watches: ["people"],
          draw: () => html`${newTopic(call)}${contactRows(call, of)}`,
        },
        add: () => html`<h2>Add a way</h2>${addContactForm(call, of)}`,
      },
    };
  },
  forms: { ...contactForms(({ who }) => who.accountId), ...browserForms },
};
