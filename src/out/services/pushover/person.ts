import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { contactKind, gatewayKind } from "../contact-kind.ts";
import { lookAt, under } from "../look.ts";
import { masked } from "../shown.ts";
import { sendPushoverDirect, stopPushover } from "./direct.ts";
import { pushover } from "./room.ts";

const PUBLIC_API = "https://api.pushover.net";
const { token, user } = pushover.fields.shape;

export const pushoverGateway = gatewayKind({
  kind: "pushover",
  about: "a Pushover application",
  fields: z.strictObject({
    token,
    url: text(2048).optional().meta({ description: "its API, the public one if left out" }),
  }),
  addresses: ["url"],
  sent: { where: ["url"], secrets: ["token"] },
  refuses: /: token invalid$/,
  prove: ({ gateway, egress, now }) =>
    lookAt(
      { egress, now },
      {
        url: under(
          gateway.url || PUBLIC_API,
          `/1/apps/limits.json?${new URLSearchParams({ token: gateway.token })}`,
        ),
        isYes: ({ status }) => status === 1,
      },
    ),
});

export const pushoverContact = contactKind({
  kind: "pushover",
  about: "a person's Pushover app, which rings until somebody answers",
  gateway: "pushover",
  served: pushoverGateway.fields,
  fields: z.strictObject({ address: user.meta({ description: "the person's user key" }) }),
  shown: ({ address }) => masked(address),
  gapMs: 5_000,
  gone: /: user invalid$/,
  notes: true,
  send: ({ gateway, fields, message, egress, now }) =>
    sendPushoverDirect({ egress, now }, { gateway, address: fields.address, message }),
  // The emergency rings on until it is told to stop.
  edit: ({ gateway, egress, now }, ref) => stopPushover({ egress, now }, { gateway }, ref),
});
