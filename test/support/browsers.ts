import { createPublicKey, verify } from "node:crypto";
import type { Behaviour, Received } from "./receiver.ts";

/** A push service for one box: it checks who sends, and keeps what it took. */
export function pushService(
  origin: () => string,
  knownKey: string | (() => string),
  nowSeconds: number | (() => number),
): { behaviour: Behaviour; taken: Received[]; faults: string[] } {
  const taken: Received[] = [];
  const faults: string[] = [];
  const behaviour: Behaviour = (response, _socket, request) => {
    const refuse = (status: number, fault: string) => {
      faults.push(fault);
      response.writeHead(status).end(`canary ${request.path}`);
    };
    const { headers, bytes = Buffer.alloc(0) } = request;
    if (!request.path.startsWith("/push/canary-")) return refuse(410, "gone");
    const fault = vapidFault(headers["authorization"] ?? "", {
      origin: origin(),
      knownKey: typeof knownKey === "string" ? knownKey : knownKey(),
      nowSeconds: typeof nowSeconds === "number" ? nowSeconds : nowSeconds(),
    });
    if (fault !== null) return refuse(403, fault);
    if (!/^\d+$/.test(headers["ttl"] ?? "")) return refuse(400, "TTL");
    if (!/^(very-low|low|normal|high)$/.test(headers["urgency"] ?? ""))
      return refuse(400, "Urgency");
    const { topic = "x" } = headers;
    if (!/^[\w-]{1,32}$/.test(topic)) return refuse(400, "Topic");
    if (headers["content-encoding"] !== "aes128gcm") return refuse(415, "encoding");
    if (bytes.length > 4_096) return refuse(413, "size");
    taken.push(request);
    response.writeHead(201, { location: `${origin()}/message/1` }).end();
  };
  return { behaviour, taken, faults };
}

function vapidFault(
  header: string,
  known: { origin: string; knownKey: string; nowSeconds: number },
): string | null {
  const [, text = "", signed = "", key = ""] =
    /^vapid t=([\w-]+\.[\w-]+)\.([\w-]+), k=([\w-]+)$/.exec(header) ?? [];
  if (key !== known.knownKey) return "VapidPkHashMismatch";
  const [head, claims] = text
    .split(".")
    .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
  if (head.alg !== "ES256" || head.typ !== "JWT") return "BadJwtToken";
  const { aud, exp, sub } = claims;
  if (aud !== known.origin || !/^(mailto:\S+@\S+|https:\/\/\S+)$/.test(sub)) return "BadJwtToken";
  if (exp <= known.nowSeconds || exp > known.nowSeconds + 86_400) return "ExpiredJwtToken";
  const point = Buffer.from(key, "base64url");
  const jwk = {
    kty: "EC",
    crv: "P-256",
    x: point.subarray(1, 33).toString("base64url"),
    y: point.subarray(33).toString("base64url"),
  };
  const publicKey = createPublicKey({ format: "jwk", key: jwk });
  const signature = Buffer.from(signed, "base64url");
  const isGood = verify(
    "sha256",
    Buffer.from(text),
    { key: publicKey, dsaEncoding: "ieee-p1363" },
    signature,
  );
  return isGood ? null : "BadJwtToken";
}
