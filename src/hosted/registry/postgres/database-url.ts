import { isIP } from "node:net";
import { addressClass } from "../../../ground/kit/addresses.ts";

/**
 * The modes of TLS.
 * - `off`: never.
 * - `offered`: if the server supports it; then its certificate is checked.
 * - `unverified`: always, with any certificate.
 * - `verified`: always, with a trusted certificate for that name.
 */
export type DatabaseTls = "off" | "offered" | "unverified" | "verified";

/** One server of the list: a name or address, or the directory of its socket. */
export interface DatabaseHost {
  host: string;
  port: number;
  /** A socket of this machine. */
  isSocket: boolean;
}

export interface DatabaseUrl {
  /** In the order in which they are tried; at least one. */
  hosts: readonly DatabaseHost[];
  user: string;
  /** Undefined: no password is sent. */
  password: string | undefined;
  database: string;
  tls: DatabaseTls;
}

const USUAL_PORT = 5432;
const MODES: Readonly<Record<string, DatabaseTls>> = {
  disable: "off",
  allow: "offered",
  prefer: "offered",
  "no-verify": "unverified",
  require: "verified",
  "verify-ca": "verified",
  "verify-full": "verified",
};

/**
 * Reads `postgres://user:password@host1:5432,host2/database?sslmode=…`. A host can be the directory of a socket, as
 * `%2Frun%2Fpostgresql` or by `?host=/run/postgresql`. `ca`: whether an authority was configured. A returned string
 * says what is wrong, and contains no part of the URL.
 */
export function readDatabaseUrl(text: string, { ca = false } = {}): DatabaseUrl | string {
  const parts = /^postgres(?:ql)?:\/\/(?:([^@/?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(
    text,
  );
  if (parts === null) return "it must be postgres://user@host/database";
  try {
    const [, who = "", where = "", name = "", rest = ""] = parts;
    const params = new URLSearchParams(rest);
    const [user = "", ...secret] = who.split(":");
    const hosts = readHosts(params.get("host") ?? where, params.get("port"));
    if (typeof hosts === "string") return hosts;
    if (user === "") return "it must name the user, as in postgres://user@host/database";
    if (name === "") return "it must name the database, as in postgres://user@host/database";
    const said = [...params.keys()];
    const other = said.find((key) => !["host", "port", "sslmode"].includes(key));
    if (other !== undefined) return `it may say host, port and sslmode, and not "${other}"`;
    if (new Set(said).size < said.length) return "it says one thing twice";
    const tls = readTls(params.get("sslmode"), hosts, ca);
    if (tls === null)
      return ca ? "with an authority its sslmode must be one with TLS" : unknownMode;
    return {
      hosts,
      tls,
      user: decodeURIComponent(user),
      database: decodeURIComponent(name),
      password: secret.length === 0 ? undefined : decodeURIComponent(secret.join(":")),
    };
  } catch {
    return "a % in it isn't followed by two hexadecimal digits";
  }
}

const unknownMode = `its sslmode must be one of ${Object.keys(MODES).join(", ")}`;

function readHosts(list: string, ports: string | null): DatabaseHost[] | string {
  const hosts: DatabaseHost[] = [];
  for (const text of list.split(",")) {
    const parts = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text);
    const host = decodeURIComponent(parts?.[1] ?? parts?.[2] ?? "");
    const port = Number(parts?.[3] ?? ports ?? USUAL_PORT);
    if (host === "" || !(port >= 1 && port <= 65_535)) return "a host of it can't be read";
    hosts.push({ host, port, isSocket: host.startsWith("/") });
  }
  return hosts;
}

function readTls(
  mode: string | null,
  hosts: readonly DatabaseHost[],
  ca: boolean,
): DatabaseTls | null {
  if (mode !== null) {
    const asked = Object.hasOwn(MODES, mode) ? (MODES[mode] ?? null) : null;
    if (!ca) return asked;
    return asked === "verified" ? asked : null;
  }
  if (ca) return "verified";
  return hosts.every(isHere) ? "off" : "offered";
}

/** Whether a connection to the host stays on this machine. */
export function isHere({ host, isSocket }: DatabaseHost): boolean {
  if (isSocket || host === "localhost") return true;
  return isIP(host) !== 0 && addressClass(host) === "loopback";
}

/** The URL without its password. */
export function shownDatabaseUrl({ user, hosts, database }: DatabaseUrl): string {
  return `postgres://${encodeURIComponent(user)}@${hosts.map(shownHost).join(",")}/${encodeURIComponent(database)}`;
}

export function shownHost({ host, port, isSocket }: DatabaseHost): string {
  const name = isSocket ? encodeURIComponent(host) : host.includes(":") ? `[${host}]` : host;
  return port === USUAL_PORT ? name : `${name}:${port}`;
}
