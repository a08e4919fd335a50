/** Ports for senders that speak no HTTP: what each is called on the command line and what comes in by it. */
export const portNames = [
  "syslog-udp",
  "syslog-tcp",
  "syslog-tls",
  "gelf-udp",
  "gelf-tcp",
  "smtp",
] as const;
export type PortName = (typeof portNames)[number];
/** Those that take messages of a format, without a conversation. */
export type StreamName = Exclude<PortName, "smtp">;

/** Ports for senders that speak HTTP and want a whole address for themselves, and the kind of source that each is for. */
export const webPortKinds = { otlp: "otlp", es: "elasticsearch" } as const;
export type WebPortName = keyof typeof webPortKinds;

/** A port to listen on. */
export interface Port<Name extends string = PortName> {
  readonly name: Name;
  readonly host: string;
  readonly port: number;
  /** Whose messages come here, where they don't say it themselves. */
  readonly bound: { readonly project: string; readonly source: string } | null;
}

/** Tells a port from the other ones, on every machine of a box: what comes to two of one name is treated alike. */
export const portId = ({ name, bound }: Pick<Port<string>, "name" | "bound">): string =>
  bound === null ? name : `${name}=${bound.project}/${bound.source}`;

/** What became of a message, or of a connection that was refused. */
export type PortOutcome =
  | "taken"
  /** Its address is none of those that may send. */
  | "not_allowed"
  /** No token that opens a source of this kind, and the port is bound to none. */
  | "no_source"
  /** Not in the format. */
  | "unreadable"
  /** More came than can be written, and the sender can't be told. */
  | "overloaded"
  /** Its source was deleted meanwhile, or the box stopped. */
  | "failed";

/** What came in by the ports of one name since the start. */
export interface PortCounts {
  readonly port: PortName;
  readonly outcomes: Readonly<Record<PortOutcome, number>>;
}
