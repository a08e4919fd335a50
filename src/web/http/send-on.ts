import type { IncomingMessage, ServerResponse } from "node:http";
import type { ElsewhereError } from "../../ground/kit/elsewhere.ts";
import { bytesRead } from "./read-request.ts";

/**
 * Sends a request on to the node that serves its tenant, and that node's answer back, piece by piece. `read`: its body where
 * that was read already. Resolves with false where nothing was answered: the caller refuses it. Never rejects.
 */
export type SendOn = (
  request: { incoming: IncomingMessage; outgoing: ServerResponse; read: Uint8Array | null },
  to: ElsewhereError,
) => Promise<boolean>;

/** What Hono's server takes for an answer that was made already. */
const ANSWERED = { "x-hono-already-sent": "true" };

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** The same for a request of the app; null where it is refused. */
export async function answeredElsewhere(
  c: { env: unknown; req: { raw: Request } },
  sendOn: SendOn | undefined,
  to: ElsewhereError,
): Promise<Response | null> {
  const { incoming, outgoing } = c.env as Partial<Parameters<SendOn>[0]>;
  if (sendOn === undefined || !incoming || !outgoing) return null;
  const read = bytesRead(c.req.raw) ?? (hasBody(incoming) ? null : Buffer.of());
  if (read === null && incoming.readableDidRead) return null;
  const isAnswered = await sendOn({ incoming, outgoing, read }, to);
  return isAnswered ? new Response(null, { headers: ANSWERED }) : null;
}
