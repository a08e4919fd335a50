import { text } from "../../ground/kit/fields.ts";
import type { SubscribedKind } from "../../out/outbox/event.ts";
import type { ChannelList, CredentialField } from "../../out/services/list.ts";
import { integrationEvents, sharingFields, stormThreshold, templateText } from "./integration.ts";
import type { TextInput } from "./integration-input.ts";
import type { IntegrationWrite } from "./integrations.ts";
import type { SharingInput } from "./sharing.ts";

const common = {
  name: text(128).optional(),
  events: integrationEvents.optional(),
  storm_threshold: stormThreshold.optional(),
  ...sharingFields.partial().shape,
};

/** Its own texts: not for kinds that send the event's own body. */
const texts = {
  title_template: templateText.optional().meta({
    description: "A title in Mustache, in place of the usual; empty = the usual.",
  }),
  body_template: templateText.optional().meta({
    description: "The same for the text below the title.",
  }),
};

/** The fields of the body that changes a channel; one that makes it has `type` beside them. */
export function integrationFields(channels: ChannelList) {
  return { ...common, ...texts, ...channels.fields };
}

/** A body's fields as the verbs take them: what isn't common to all kinds is a credential. */
export function writeOf(
  body: {
    name?: string | undefined;
    events?: SubscribedKind[] | undefined;
    storm_threshold?: number | undefined;
  } & SharingInput &
    TextInput & { [F in CredentialField]?: string | undefined },
): IntegrationWrite {
  const { name, events, storm_threshold, title_template, body_template, ...others } = body;
  const { shared, except, ...credentials } = others;
  const own = { title_template, body_template };
  const sharing = { shared, except };
  return { name, events, stormThreshold: storm_threshold, credentials, texts: own, sharing };
}
