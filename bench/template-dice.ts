/** A message and the event that it is one of. */
export interface Labelled {
  event: string;
  line: string;
}

/** Writes a line of one event. */
export type Make = (r: Dice) => string;

/** A small deterministic source of choices. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 4_294_967_296) * limit);
  }

  of(words: string): string {
    const list = words.split(" ");
    return list[this.below(list.length)] ?? "";
  }

  text(alphabet: string, length: number): string {
    let made = "";
    for (let i = 0; i < length; i++) made += alphabet[this.below(alphabet.length)];
    return made;
  }

  hex(length: number): string {
    return this.text("0123456789abcdef", length);
  }

  get pod(): string {
    const name = this.of("web api payments orders checkout auth-service redis-cache");
    return `${name}-${this.text("bcdf2456789", 9)}-${this.text("bcdfgh24567", 5)}`;
  }

  get ip(): string {
    return `10.${this.below(256)}.${this.below(256)}.${this.below(256)}`;
  }

  get uuid(): string {
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-a${this.hex(3)}-${this.hex(12)}`;
  }

  get user(): string {
    return this.of("alice bob carol dave erin frank grace heidi ivan judy mallory");
  }

  get wideUser(): string {
    return this.of("José Müller Zoë Łukasz 张伟 Иван Søren Ángel Björk अमित");
  }

  get ms(): string {
    return this.of(
      `${this.below(900)}ms ${this.below(90)}.${this.below(10)}ms ${this.below(9)}.${this.below(100)}s`,
    );
  }

  get path(): string {
    return this.of(
      `/api/v1/users/${this.below(999)} /health /orders/${this.uuid}/items /static/app.${this.hex(8)}.js`,
    );
  }

  get ulid(): string {
    return `01${this.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24)}`;
  }

  get jwt(): string {
    const part = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return `eyJhbGciOiJIUzI1NiJ9.eyJ${this.text(part, 40)}.${this.text(part, 43)}`;
  }

  /** A name that is a plain word, as teams give them. */
  get word(): string {
    return this.of(
      "orders payments users billing shipping search mail audit catalog inventory sessions invoices reports metrics carts products reviews coupons refunds tickets profiles media exports accounts customers ledger pricing loyalty delivery checkout",
    );
  }

  get slug(): string {
    return `${this.word}-${this.of("api worker service web consumer gateway cache proxy scheduler backend")}`;
  }

  get snake(): string {
    return `${this.word}_${this.of("id items history created_at status by_user archive totals")}`;
  }

  get camel(): string {
    const word = this.word;
    const kind = this.of("Service Repository Controller Handler Client Manager Importer");
    return `${word.charAt(0).toUpperCase()}${word.slice(1)}${kind}`;
  }

  get namespace(): string {
    return this.of("default prod staging dev kube-system monitoring payments ingress-nginx qa");
  }

  get host(): string {
    return this.of(
      `atlas hera zeus apollo db${this.below(9)} web-${this.below(40)} ip-10-0-${this.below(99)}-${this.below(250)} node-${this.below(30)}.example.internal`,
    );
  }

  get domain(): string {
    return this.of("shop.example.com api.example.org example.net mail.acme.io login.acme.com");
  }

  get region(): string {
    return this.of("us-east-1 us-west-2 eu-central-1 eu-west-1 ap-southeast-2 sa-east-1");
  }

  get clock(): string {
    return `${this.day(1)}:${this.day(2)}:${this.day(2)}`;
  }

  /** Two digits that can be an hour, or a day. */
  day(most: 1 | 2): string {
    return String(10 + this.below(most === 1 ? 13 : 18));
  }

  date(sign: string): string {
    return ["2025", this.of("01 03 07 11"), this.day(2)].join(sign);
  }

  get iso(): string {
    return `${this.date("-")}T${this.clock}.${100 + this.below(899)}Z`;
  }

  /** A time stamp with a blank in it. */
  get spaced(): string {
    return `${this.date("-")} ${this.clock}.${100 + this.below(899)}`;
  }

  get syslog(): string {
    return `${this.of("Jan Mar Jul Nov")} ${this.day(2)} ${this.clock}`;
  }

  get access(): string {
    return `${this.day(2)}/Oct/2025:${this.clock} +0000`;
  }
}

/** So many lines of every event, in an order that the seed decides. */
export function linesOf(events: readonly Make[], seed: number, each: number): Labelled[] {
  const choices = new Dice(seed);
  const lines: Labelled[] = [];
  events.forEach((make, event) => {
    for (let i = 0; i < each; i++) lines.push({ event: `S${event}`, line: make(choices) });
  });
  return shuffled(lines, choices);
}

/** The lines in another order. */
export function shuffled<T>(lines: readonly T[], dice: { below(limit: number): number }): T[] {
  const copy = [...lines];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = dice.below(i + 1);
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}

/** A source of choices for shuffling. */
export function dice(seed: number): { below(limit: number): number } {
  return new Dice(seed);
}
