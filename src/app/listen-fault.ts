import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { UsageError } from "../ground/kit/flags.ts";

/** The text of the TLS files, checked to belong together. Throws UsageError that names the file and the fault. */
export function readTls(files: { readonly cert: string; readonly key: string }) {
  const cert = readPem("--tls-cert", files.cert);
  const key = readPem("--tls-key", files.key);
  const fails = (check: () => unknown): boolean => {
    try {
      check();
      return false;
    } catch {
      return true;
    }
  };
  if (fails(() => createSecureContext({ cert })))
    throw new UsageError(`--tls-cert ${files.cert} holds no certificate chain in PEM`);
  if (fails(() => createPrivateKey(key)))
    throw new UsageError(`--tls-key ${files.key} holds no private key in PEM without a passphrase`);
  if (fails(() => createSecureContext({ cert, key })))
    throw new UsageError(`--tls-key ${files.key} is not the key of --tls-cert ${files.cert}`);
  return { cert, key };
}

function readPem(flag: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why =
      code === "ENOENT"
        ? "there is no such file"
        : code === "EACCES"
          ? "this user may not read it"
          : message;
    throw new UsageError(`${flag} ${file}: ${why}`);
  }
}

/** The meaning of an error of `server.listen`, and what to do. */
export function listenFault(error: unknown, { host, port }: { host: string; port: number }): Error {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const place = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const known: Readonly<Record<string, string>> = {
    EADDRINUSE:
      "something else listens there already, maybe another box. Stop it, or give another --listen HOST:PORT",
    EADDRNOTAVAIL: "this machine has no such address. 0.0.0.0 and [::] mean all its addresses",
    EACCES:
      "this user may not listen there: ports below 1024 need the capability CAP_NET_BIND_SERVICE",
    ENOTFOUND: "there is no such host",
    EAI_AGAIN: "there is no such host",
  };
  return new Error(`can't listen on ${place}: ${known[code] ?? message}`, { cause: error });
}
