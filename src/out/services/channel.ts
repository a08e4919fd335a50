import type * as z from "zod";
import type { Egress } from "../../ground/kit/egress.ts";
import type { Random } from "../../ground/kit/random.ts";
import type { SentTo } from "../../ground/kit/sent-to.ts";
import type { Credentials } from "../outbox/credentials.ts";
import type { IntegrationRow, Outgoing, Sent } from "../outbox/destination.ts";
import type { EventBody } from "../outbox/event.ts";
import type { Message } from "../outbox/message.ts";
import type { Via } from "../outbox/senders/sent.ts";

/** A kind's fields: texts, optional where one may be left out; `description` says what it is, in words. */
type Fields = z.ZodObject<Record<string, z.ZodType<string | undefined>>>;

/** What one attempt works with. `event` and `words` are made when they are asked for: a spread copy has neither. */
export interface ChannelAttempt<C = Credentials> {
  credentials: C;
  /** The event's fixed body, its id, and the second to sign with. */
  message: Outgoing;
  /** The same event as a value. */
  event: EventBody;
  /** The same event in words: plain text, within no service's limits yet. */
  words: Message;
  /** Whose attempt it is. */
  integration: IntegrationRow;
  /** The guarded way out; time limit and body cap are its own unless the kind asks for less. */
  egress: Egress;
  /** Wall time in Unix milliseconds. */
  now: number;
  /** The operator's settings by name; each has a value. */
  settings: Settings;
  host: Host;
}

/** The part of an attempt that a message of words is made and sent by. */
export type WordsAttempt<C> = Via & Pick<ChannelAttempt<C>, "credentials" | "event" | "words">;

/** Values of the settings that kinds declare. */
export type Settings = Readonly<Record<string, string>>;

/** What only the role that runs the tenant can do or knows. */
export interface Host {
  /** Pushes to the devices of the tenant's members; absent on a box. */
  push?: (integration: IntegrationRow, message: Outgoing) => Promise<Sent>;
  /** Whether a hosted relay pushes for this box. */
  hasRelay(): boolean;
  /** Whether presses on buttons of this bot's messages are heard; absent where none are. */
  hears?: (bot: { kind: "telegram" | "slack"; token: string }) => boolean;
}

/** An operator's setting of a kind, in an environment variable and a flag of `serve`. */
export interface Setting {
  /** `--telegram-api <url>`; the setting's name is the flag's in camel case. */
  flag: string;
  about: string;
  usual: string;
  /** The value as it is used; a bad one puts a sentence that names the flag into `faults`. */
  read(flag: string, value: string, faults: string[]): string;
}

/**
 * A kind of channel, whole: what it is called with, what reads show of it, how it sends. The list
 * (`list.ts`) makes of it the checks, routes, command line, configuration file and documents.
 *
 * A field called `url` is shown as it is; every other is sealed and never read again.
 */
export interface Channel {
  /** `telegram`: the integration's type, pinned after creation. */
  kind: string;
  /** `a Telegram chat`: what the command line says that it adds. */
  about: string;
  fields: Fields;
  /** Where a kind can be reached in several ways: sets of optional fields, of which one must be whole. */
  oneOf?: readonly (readonly string[])[];
  /** Fields that hold a web address: judged at write, 403 where it may not be called. */
  addresses?: readonly string[];
  /** Fields that hold a bare host: judged likewise. */
  hosts?: readonly string[];
  /** Where its secrets are sent: at another place they have to be given again. None for one whose secrets stay here. */
  sent?: SentTo;
  /** How the command line takes a field: `--chat <id>`, or `<url>` for a word of its own. */
  flags: Readonly<Record<string, string>>;
  /** Makes the `secret` that was left out; it is answered once. */
  mint?(random: Random): string;
  /** What reads show as the url of a kind without a `url`; empty where nothing may be shown. */
  shown?(credentials: Credentials): string;
  settings?: Readonly<Record<string, Setting>>;
  /**
   * It pushes to the members' own devices: reads say how many the caller has, and on a box it reaches
   * nobody by itself.
   */
  pushes?: true;
  /** Several people read it: a storm is told there in one message a minute. */
  isChat?: true;
  /** What goes out is the event's own body, or nothing: no words are made for it. */
  bodyAsIs?: true;
  /** Whether it can be test-fired here; default: yes. */
  canTest?(host: Host): boolean;
  /**
   * One attempt, with its verdict: `delivered`, `later` (worth another attempt), `never` (with why),
   * `waiting` (our own queue was full) or `dropped` where this row goes nowhere from here. `learned` credentials are stored in place of the old.
   * Errors never hold a credential. What a service answered beside that goes no further.
   */
  send(attempt: ChannelAttempt): Promise<Sent>;
}

/** A kind as its file writes it: `send` knows its own fields and settings by name. */
type Definition<F extends Fields, S extends string> = Omit<
  Channel,
  "fields" | "oneOf" | "addresses" | "hosts" | "sent" | "flags" | "shown" | "settings" | "send"
> & {
  fields: F;
  oneOf?: readonly (readonly (keyof z.output<F> & string)[])[];
  addresses?: readonly (keyof z.output<F> & string)[];
  hosts?: readonly (keyof z.output<F> & string)[];
  sent?: { [part in keyof SentTo]: readonly (keyof z.output<F> & string)[] };
  flags: { readonly [name in keyof z.output<F> & string]: string };
  shown?(credentials: z.output<F>): string;
  settings?: Readonly<Record<S, Setting>>;
  send(
    attempt: ChannelAttempt<z.output<F>> & { settings: Readonly<Record<S, string>> },
  ): Promise<Sent>;
};

/** A kind whose fields and settings are known by name. */
type Defined<K extends string, F extends Fields, S extends string> = Omit<
  Channel,
  "kind" | "fields" | "settings"
> & {
  readonly kind: K;
  readonly fields: F;
  readonly settings?: Readonly<Record<S, Setting>>;
};

/** A kind of channel; what calls it has checked that its credentials are complete. */
export function channel<const K extends string, F extends Fields, S extends string = never>(
  definition: Definition<F, S> & { kind: K },
): Defined<K, F, S> {
  return definition as unknown as Defined<K, F, S>;
}

/** The fields that a kind can't be called without and that aren't there: of several ways, those of the one that was begun. */
export function missingOf(kind: Channel, credentials: Credentials): string[] {
  const missing = (names: readonly string[]) => names.filter((name) => !credentials[name]);
  const { oneOf = [[]] } = kind;
  const begun = oneOf.find((names) => missing(names).length < names.length) ?? oneOf[0] ?? [];
  const isWhole = oneOf.some((names) => missing(names).length === 0);
  return missing([...fieldsOf(kind).required, ...(isWhole ? [] : begun)]);
}

/** The fields of a kind by name, and those that it can't do without. */
export function fieldsOf({ fields }: Channel): { all: string[]; required: string[] } {
  const all = Object.keys(fields.shape);
  return { all, required: all.filter((name) => !fields.shape[name]?.isOptional()) };
}
