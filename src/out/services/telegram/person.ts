import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { contactKind, gatewayKind } from "../contact-kind.ts";
import { lookAt } from "../look.ts";
import { masked } from "../shown.ts";
import { botMethodUrl } from "./api.ts";
import { editTelegramDirect, sendTelegramDirect, TELEGRAM_API } from "./direct.ts";

export const telegramGateway = gatewayKind({
  kind: "telegram",
  about: "a Telegram bot; its buttons work behind a firewall, since the box asks for answers",
  fields: z.strictObject({
    token: text(128, 1).meta({ description: "the bot's token, from @BotFather" }),
    url: text(2048).optional().meta({ description: "its API, the public one if left out" }),
  }),
  addresses: ["url"],
  sent: { where: ["url"], secrets: ["token"] },
  // 404: a token of another form.
  refuses: /^http (401|404)\b/,
  prove: ({ gateway, egress, now }) =>
    lookAt(
      { egress, now },
      {
        url: botMethodUrl({ apiUrl: gateway.url || TELEGRAM_API, token: gateway.token }, "getMe"),
        isYes: ({ ok }) => ok === true,
      },
    ),
});

export const telegramContact = contactKind({
  kind: "telegram",
  about: "a chat with the box's bot",
  gateway: "telegram",
  served: telegramGateway.fields,
  fields: z.strictObject({
    address: text(32, 1)
      .regex(/^-?\d{1,20}$/, { error: "must be a chat's id, a number" })
      .meta({ description: "the chat's id: write /start to the bot, it says it" }),
  }),
  shown: ({ address }) => masked(address),
  gapMs: 5_000,
  gone: /bot was blocked by the user|user is deactivated/,
  notes: true,
  send: ({ gateway, fields, message, egress, now }) =>
    sendTelegramDirect({ egress, now }, { gateway, address: fields.address, message }),
  edit: ({ gateway, fields, message, egress, now }, ref) =>
    editTelegramDirect({ egress, now }, { gateway, address: fields.address, message }, ref),
});
