import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** An authenticator as a program (WebAuthn, level 3): one ES256 passkey, which says what a test wants it to say. */
export interface Authenticator {
  /** base64url. */
  readonly credential: string;
  /** What `PublicKeyCredential.toJSON()` gives after `create()`, as text. */
  create(asked: Asked, said?: Said): string;
  /** The same after `get()`. */
  get(asked: Asked, said?: Said): string;
}

export interface Asked {
  challenge: string;
  rpId: string;
  origin: string;
  /** base64url: whose it is. */
  userHandle: string;
}

/** What it says otherwise than it should. */
export interface Said {
  type?: string;
  present?: boolean;
  verified?: boolean;
  /** Counts up by itself where absent. */
  counter?: number;
  /** `packed` is signed by the passkey itself where no statement is given. */
  format?: string;
  statement?: Map<unknown, unknown>;
  algorithm?: number;
  key?: KeyObject;
  client?: object;
  credential?: string;
  userHandle?: string | null;
}

const url64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64url");
const sha = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest();

/** Enough of CBOR (RFC 8949). */
export function cbor(value: unknown): Buffer {
  const head = (kind: number, n: number) => {
    if (n < 24) return Buffer.from([(kind << 5) | n]);
    if (n < 256) return Buffer.from([(kind << 5) | 24, n]);
    return Buffer.from([(kind << 5) | 25, n >> 8, n & 255]);
  };
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string") return Buffer.concat([head(3, value.length), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  const entries = [...(value as Map<unknown, unknown>)];
  return Buffer.concat([head(5, entries.length), ...entries.flat().map(cbor)]);
}

export function authenticator(): Authenticator {
  const id = randomBytes(32);
  const credential = url64(id);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  let count = 0;

  const dataOf = (asked: Asked, said: Said, attested: Buffer) => {
    const { present = true, verified = true } = said;
    count = said.counter ?? count + 1;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(count);
    const flags = (present ? 1 : 0) | (verified ? 4 : 0) | (attested.length > 0 ? 0x40 : 0);
    return Buffer.concat([sha(asked.rpId), Buffer.from([flags]), counter, attested]);
  };
  const clientOf = ({ challenge, origin }: Asked, type: string, said: Said) =>
    Buffer.from(
      JSON.stringify({
        type: said.type ?? type,
        challenge,
        origin,
        crossOrigin: false,
        ...said.client,
      }),
    );
  const answer = (said: Said, response: object) =>
    JSON.stringify({
      id: said.credential ?? credential,
      rawId: said.credential ?? credential,
      type: "public-key",
      response,
      clientExtensionResults: {},
      authenticatorAttachment: "platform",
    });

  return {
    credential,
    create(asked, said = {}) {
      const key = new Map<number, number | Buffer>([
        [1, 2],
        [3, said.algorithm ?? -7],
        [-1, 1],
        [-2, Buffer.from(x, "base64url")],
        [-3, Buffer.from(y, "base64url")],
      ]);
      const attested = Buffer.concat([
        Buffer.alloc(16),
        Buffer.from([0, id.length]),
        id,
        cbor(key),
      ]);
      const authData = dataOf(asked, said, attested);
      const client = clientOf(asked, "webauthn.create", said);
      const own = () => sign("sha256", Buffer.concat([authData, sha(client)]), privateKey);
      const signed = said.format === "packed" ? { alg: -7, sig: own() } : {};
      const made = new Map<string, unknown>([
        ["fmt", said.format ?? "none"],
        ["attStmt", said.statement ?? new Map(Object.entries(signed))],
        ["authData", authData],
      ]);
      const clientDataJSON = url64(client);
      const transports = ["internal"];
      return answer(said, { clientDataJSON, attestationObject: url64(cbor(made)), transports });
    },
    get(asked, said = {}) {
      const authData = dataOf(asked, said, Buffer.alloc(0));
      const client = clientOf(asked, "webauthn.get", said);
      const signed = Buffer.concat([authData, sha(client)]);
      const { userHandle = asked.userHandle } = said;
      return answer(said, {
        clientDataJSON: url64(client),
        authenticatorData: url64(authData),
        signature: url64(sign("sha256", signed, said.key ?? privateKey)),
        ...(userHandle === null ? {} : { userHandle }),
      });
    },
  };
}
