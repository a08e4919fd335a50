import {
  type Port,
  type PortName,
  portNames,
  type WebPortName,
  webPortKinds,
} from "../web/intake/port.ts";

/** Parses `HOST:PORT`. For other text it adds a sentence that names the flag to `faults`. */
export function listenAddress(name: string, text: string, faults: string[]) {
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s]*)):(\d{1,5})$/.exec(text);
  const port = Number(found?.[3] ?? -1);
  if (found === null || port < 0 || port > 65535) {
    faults.push(`--${name} must be HOST:PORT like 0.0.0.0:8080 or [::]:8080, not "${text}"`);
    return { host: "127.0.0.1", port: 0 };
  }
  return { host: found[1] ?? found[2] ?? "", port };
}

/** Whether only this machine can reach the listener. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host);
}

/** The flags of the ports: `HOST:PORT`, or `HOST:PORT=PROJECT/SOURCE`, each any number of times. */
type PortFlags = { readonly [Name in PortName | WebPortName]?: string[] | undefined };

/** The ports to open, by protocol. */
export type Ports = ReturnType<typeof portsOf>;

/** In an environment variable, commas separate several ports: a comma that is followed by an address. */
const BETWEEN = /,(?=[^,=]*:\d{1,5}(?:=|,|$))/;

/** The ports to open. Faults: text that isn't a port; a port that anyone could page by (no `allowFrom`). */
export function portsOf(flags: PortFlags, allowFrom: readonly string[], faults: string[]) {
  const read = <Name extends PortName | WebPortName>(names: readonly Name[]): Port<Name>[] =>
    names.flatMap((name) =>
      (flags[name] ?? [])
        .flatMap((text) => text.split(BETWEEN))
        .map((text) => portOf(name, text.trim(), faults)),
    );
  const ports = read(portNames);
  const web = read(Object.keys(webPortKinds) as WebPortName[]);
  for (const port of [...ports, ...web]) {
    if (port.name.startsWith("gelf") && port.bound === null)
      faults.push(
        `--${port.name} needs a source, as HOST:PORT=PROJECT/SOURCE: GELF has no place for a token`,
      );
    const asksNothing = port.name.endsWith("-udp") || port.bound !== null;
    if (asksNothing && !isLoopback(port.host) && allowFrom.length === 0)
      faults.push(
        `--${port.name} ${port.host}:${port.port} would let anyone who reaches it page you, because it needs no secret: limit the senders with --allow-from CIDR`,
      );
  }
  return { ports, web };
}

function portOf<Name extends string>(name: Name, text: string, faults: string[]): Port<Name> {
  const [, address = "", place] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const at = listenAddress(name, address, faults);
  if (place === undefined) return { name, ...at, bound: null };
  const [project = "", source = "", ...more] = place.split("/");
  if (project === "" || source === "" || more.length > 0)
    faults.push(`--${name} takes HOST:PORT=PROJECT/SOURCE, not "${text}"`);
  return { name, ...at, bound: { project, source } };
}
