import type { Engine } from "../engine.ts";
import {
  type Answer,
  type Asked,
  type Burst,
  dueMissing,
  hearComing,
  hearMore,
  hearNew,
  type Memory,
  missingKey,
  nothing,
  readFact,
} from "./words.ts";

/** The box is compared with the contract's words after each thing that happens. */
export interface Laws {
  faults: string[];
  seen: { events: number; fresh: number; more: number; missing: number; either: number };
  /** Events come: `send` sends them. */
  comes(burst: Burst, send: () => void): void;
  /** Time has passed. */
  passed(): void;
  /** Reads what happened to the box. */
  read(): void;
  started(isRestored: boolean): void;
  /** Somebody resolves all. */
  endAll(): void;
  /** Whether an alert says that something is missing. */
  isMissing(): boolean;
  backup(to: string): void;
  isBackedUp(): boolean;
}

interface Row {
  id: number;
  rule: string;
  template: string;
  host: string | null;
  state: string;
  openedAt: number;
  firstSeen: number;
}

const ROWS = `SELECT id, rule, template, json_extract(identifiers, '$.host') AS host, state, opened_at AS openedAt, first_seen AS firstSeen
  FROM alerts ORDER BY id`;
const MINUTE = 60;

/** What is known, and which silences were told. */
interface Known {
  memory: Memory;
  /** By key when it came last before the silence that was told. */
  told: Map<string, number>;
}

export function lawsOf(engine: Engine, asked: Asked): Laws {
  const faults: string[] = [];
  const seen = { events: 0, fresh: 0, more: 0, missing: 0, either: 0 };
  let known: Known = { memory: nothing(engine.now()), told: new Map() };
  let saved: Known | null = null;
  let read = 0;
  let ids = new Set<number>();
  const rows = () => engine.store.sql<[], Row>(ROWS).all();
  const fault = (what: string) => void faults.push(`${engine.now()}: ${what}`);

  const judge = (
    answer: Answer,
    { rule, now, burst }: { rule: string; now: Row[]; burst: Burst },
  ): number => {
    const host = rule === "rule 1" && asked.byHost ? burst.host : null;
    const mine = now.filter(
      (row) => row.rule === rule && row.template === burst.text && row.host === host,
    );
    const opened = mine.filter(({ id }) => !ids.has(id)).length;
    const isOpen = mine.some(({ state }) => state !== "resolved");
    if (answer === "either") seen.either += 1;
    if (answer === "no" && opened > 0) fault(`${rule} opened for ${JSON.stringify(burst)}`);
    if (answer === "yes" && !isOpen) fault(`${rule} didn't open for ${JSON.stringify(burst)}`);
    return opened;
  };

  const laws: Laws = {
    faults,
    seen,
    comes(burst, send) {
      laws.passed();
      send();
      seen.events += burst.n;
      const { memory } = known;
      const now = rows();
      seen.fresh += judge(hearNew(memory, burst, asked), { rule: "rule 0", now, burst });
      seen.more += judge(hearMore(memory, burst, asked), { rule: "rule 1", now, burst });
      hearComing(memory, burst, asked);
      const key = missingKey(burst, asked);
      const isTaken =
        burst.level >= asked.missingLevel && (asked.missing === "text" || burst.source === "app");
      const stays = now.find(
        (row) => row.rule === "rule 2" && row.template === key && row.state !== "resolved",
      );
      if (isTaken && stays !== undefined) fault(`${key} came, and alert ${stays.id} stays`);
      ids = new Set(now.map(({ id }) => id));
    },
    passed() {
      const now = engine.now();
      const dues = dueMissing(known.memory, now);
      const fresh = rows().filter(({ id }) => !ids.has(id));
      for (const { id, rule, template, openedAt, firstSeen } of fresh) {
        ids.add(id);
        if (rule !== "rule 2") fault(`${rule} opened by itself`);
        seen.missing += 1;
        const due = dues.find(({ key }) => key === template);
        if (due === undefined) fault(`${template} is called missing, and isn't watched`);
        else if (openedAt < due.from || (openedAt > due.until && due.until < Infinity))
          fault(`${template} is missing since ${openedAt}, must be from ${JSON.stringify(due)}`);
        else if (Math.abs(firstSeen - due.last) >= MINUTE) fault(`${template}: came ${firstSeen}`);
        else if (known.told.get(template) === due.last) fault(`${template} is told twice`);
        if (due !== undefined) known.told.set(template, due.last);
      }
      for (const { key, last, until } of dues)
        if (until <= now && known.told.get(key) !== last) {
          known.told.set(key, last);
          fault(`${key} is missing since ${until}, and nobody is told`);
        }
    },
    read() {
      const { facts } = engine;
      for (; read < facts.length; read++) {
        const fact = facts[read];
        if (fact !== undefined) readFact(known.memory, fact, engine.now());
      }
    },
    started(isRestored) {
      if (isRestored && saved !== null) {
        known = structuredClone(saved);
        ids = new Set(rows().map(({ id }) => id));
      }
      laws.read();
    },
    endAll() {
      for (const { id, state } of rows()) if (state !== "resolved") engine.resolve(id);
    },
    isMissing: () => rows().some(({ rule, state }) => rule === "rule 2" && state !== "resolved"),
    backup(to) {
      engine.backup(to);
      saved = structuredClone(known);
    },
    isBackedUp: () => saved !== null,
  };
  laws.read();
  return laws;
}
