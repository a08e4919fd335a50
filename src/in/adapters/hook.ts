import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  UnreadableBody,
} from "./adapter.ts";
import { mapped } from "./mapping/apply.ts";
import { bodyValue } from "./mapping/body.ts";
import { mappingOf } from "./mapping/chosen.ts";
import { jsonReply, plainRefusal } from "./replies.ts";
import { isSigned } from "./signature.ts";

const METHODS = ["POST", "PUT", "GET"];

/** Any webhook (contract §23), read by guesses or the source's mapping. A list is one event per element. */
export const hook: Adapter = {
  kind: "hook",
  title: "Any webhook",
  room: "source",
  caps: alertCaps,
  isDescribed: true,
  // GitHub's signature, which others use, too.
  isSigned: (request, secret) =>
    isSigned(request, { secret, name: "x-hub-signature-256", prefix: "sha256=" }),
  decode,
  refuse: plainRefusal,
  setUp: ({ base, token }) => ({
    where: "the sender, where it asks for a webhook's address",
    paste: `${base}/v1/in/hook/${token}`,
    notes: [
      "POST, PUT and GET are taken; JSON, a form, text or the query. Without a mapping the message, level, state and name of the alert are guessed from the usual fields.",
      "Most senders of webhooks try once: what is sent while the box is down is lost.",
    ],
  }),
};

function decode(request: InRequest): Decoded {
  if (!METHODS.includes(request.method))
    throw new UnreadableBody({ why: "method", allowed: METHODS });
  const root = bodyValue(request);
  const { events, rejected } = mapped(root, {
    mapping: mappingOf(request.options),
    request,
    tag: "hook",
  });
  return { events, rejected, answer: ({ accepted }) => jsonReply(200, { accepted }) };
}
