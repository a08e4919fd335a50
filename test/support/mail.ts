import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { pem } from "./receiver.ts";

/** A mail as a server took it. */
export interface TakenMail {
  from: string;
  to: string[];
  /** Whether it came through TLS. */
  secure: boolean;
  user: string | undefined;
  helo: string;
  raw: string;
}

export interface MailServer {
  readonly port: number;
  readonly taken: readonly TakenMail[];
  /** Logins it was asked for, right or wrong. */
  readonly logins: readonly string[];
  /** From now on recipients are answered so, `550 5.1.1 no canary here` for example; null takes them. */
  refuse(reply: { code: number; text: string } | null): void;
  /** From now on no password is right; with false it is again. */
  revoke(isRevoked: boolean): void;
  close(): Promise<void>;
}

export const MAIL_USER = "box@example.org";
export const MAIL_PASSWORD = "canary-smtp-password-2b";

/** A real SMTP server on loopback, with the certificate of the test authority. */
export async function startMailServer(
  options: { implicit?: boolean; starttls?: boolean; login?: boolean; onlyAscii?: boolean } = {},
): Promise<MailServer> {
  const { implicit = false, starttls = true, login = false, onlyAscii = false } = options;
  const taken: TakenMail[] = [];
  const logins: string[] = [];
  let isRevoked = false;
  let refusal: { code: number; text: string } | null = null;
  const off = [...(starttls ? [] : ["STARTTLS"]), ...(login ? [] : ["AUTH"])];
  const server = new SMTPServer({
    secure: implicit,
    key: pem("good"),
    cert: pem("good"),
    disabledCommands: off,
    authOptional: !login,
    size: 65_536,
    logger: false,
    closeTimeout: 100,
    hideSMTPUTF8: onlyAscii,
    onAuth({ username = "", password }, _session, done) {
      logins.push(username);
      const isRight = username === MAIL_USER && password === MAIL_PASSWORD && !isRevoked;
      if (isRight) done(null, { user: username });
      else done(Object.assign(new Error(`canary ${password}`), { responseCode: 535 }));
    },
    onRcptTo(_address, _session, done) {
      if (refusal === null) return done();
      done(Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        taken.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          secure: session.secure,
          user: session.user === undefined ? undefined : String(session.user),
          helo: String(session.hostNameAppearsAs),
          raw: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    taken,
    logins,
    refuse: (reply) => {
      refusal = reply;
    },
    revoke: (revoked) => {
      isRevoked = revoked;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The header fields of a mail by name, unfolded and with their encoded words read; in the order they stand. */
export function headersOf(raw: string): [name: string, value: string][] {
  const [head = ""] = raw.split("\r\n\r\n");
  return head
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n")
    .map((line) => {
      const [, name = "", value = ""] = /^([!-9;-~]+): ?(.*)$/s.exec(line) ?? [];
      return [name, decoded(value)];
    });
}

function decoded(value: string): string {
  const joined = value.replace(/(\?=) +(?==\?)/g, "$1");
  return joined
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, how: string, text: string) =>
      how.toLowerCase() === "b"
        ? Buffer.from(text, "base64").toString("latin1")
        : text
            .replaceAll("_", " ")
            .replace(/=([0-9A-F]{2})/g, (_all, hex) =>
              String.fromCharCode(Number.parseInt(hex, 16)),
            ),
    )
    .replace(/[\x80-\xff]+/g, (bytes) => Buffer.from(bytes, "latin1").toString());
}
