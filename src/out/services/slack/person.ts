import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { contactKind, gatewayKind } from "../contact-kind.ts";
import { under } from "../look.ts";
import { masked } from "../shown.ts";
import { callSlack } from "./api.ts";
import { editSlackDirect, sendSlackDirect } from "./direct.ts";

const PUBLIC_API = "https://slack.com/api";

export const slackGateway = gatewayKind({
  kind: "slack",
  about: "a Slack app of one's own; with an app token its buttons work behind a firewall",
  fields: z.strictObject({
    bot_token: text(256, 1)
      .regex(/^xoxb-/, { error: "must begin with xoxb-" })
      .meta({ description: "the bot's token, with chat:write and im:write" }),
    app_token: text(256)
      .regex(/^(xapp-.*)?$/, { error: "must begin with xapp-" })
      .optional()
      .meta({ description: "the app's token, with connections:write: hears buttons" }),
    url: text(2048).optional().meta({ description: "its API, the public one if left out" }),
  }),
  addresses: ["url"],
  sent: { where: ["url"], secrets: ["bot_token", "app_token"] },
  refuses:
    /^slack: (invalid_auth|not_authed|token_revoked|token_expired|account_inactive|missing_scope|no_permission)$/,
  async prove({ gateway, egress, now }) {
    const { url = "", bot_token: bot, app_token: app = "" } = gateway;
    const apiUrl = under(url || PUBLIC_API, "");
    const ask = (token: string, method: string) =>
      callSlack({ egress, now }, { apiUrl, token }, { method, body: {} });
    const asked = await ask(bot, "auth.test");
    // An address to listen at; nobody is told of one that isn't used.
    const isOver = app === "" || asked.verdict.kind !== "delivered";
    return isOver ? asked : ask(app, "apps.connections.open");
  },
});

export const slackContact = contactKind({
  kind: "slack",
  about: "a direct message by the Slack app",
  gateway: "slack",
  served: slackGateway.fields,
  fields: z.strictObject({
    address: text(24, 1)
      .regex(/^[UW][A-Z0-9]{6,20}$/, { error: "must be a member's id, like U024BE7LH" })
      .meta({ description: "the person's member id: profile, More, Copy member ID" }),
  }),
  shown: ({ address }) => masked(address),
  gapMs: 5_000,
  gone: /^slack: user_disabled$/,
  notes: true,
  send: ({ gateway, fields, message, egress, now }) =>
    sendSlackDirect({ egress, now }, { gateway, address: fields.address, message }),
  edit: ({ gateway, fields, message, egress, now }, ref) =>
    editSlackDirect({ egress, now }, { gateway, address: fields.address, message }, ref),
});
