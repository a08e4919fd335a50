import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { type ErrorCode, ServiceError } from "../../ground/kit/errors.ts";
import { UsageError } from "../../ground/kit/flags.ts";
import type { Log } from "../../ground/kit/log.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { prepareDirectory } from "../../ground/store/directory.ts";
import { mayTell } from "../../ground/store/durable.ts";
import { type FaultKind, StoreFault } from "../../ground/store/faults.ts";
import { othersIn } from "../../ground/store/files.ts";
import { setMeta } from "../../ground/store/meta.ts";
import { mustBeAlone, STANDS_BY } from "../../ground/store/record/mark.ts";
import { mustExist, openStore, type Store } from "../../ground/store/store.ts";
import { ensureTenant } from "../../tenant/tenant.ts";
import type { Directory } from "../operate/status.ts";
import type { OpenDirectory } from "./directory.ts";
import { rotateKeyFile } from "./key-file.ts";
import * as people from "./people.ts";
import { askServing } from "./serve-sock.ts";

interface Verb<Given extends unknown[], Answer> {
  given: z.ZodType<Given>;
  does(desk: OpenDirectory, ...given: Given): Answer | Promise<Answer>;
}

const verb = <Given extends unknown[], Answer>(
  given: z.ZodType<Given>,
  does: (desk: OpenDirectory, ...given: Given) => Answer | Promise<Answer>,
): Verb<Given, Answer> => ({ given, does });

const text = z.string();

/** What commands change on a data directory. Each is named as its command. */
const verbs = {
  "pair-code": verb(z.tuple([people.seatFlags]), people.issue),
  "account set-role": verb(z.tuple([text, text]), people.setRole),
  "account remove": verb(z.tuple([text]), people.remove),
  "account set-password": verb(z.tuple([text, text]), people.setPassword),
  "key create": verb(z.tuple([text, text]), people.createOwnKey),
  "key revoke": verb(z.tuple([text]), people.revoke),
  "session end": verb(z.tuple([text]), people.endOwnSession),
  "sign-in password": verb(z.tuple([z.boolean()]), people.openPasswords),
  "key-file rotate": verb(z.tuple([]), rotateKeyFile),
  backup: verb(z.tuple([z.int()]), ({ store }, at) =>
    store.write((tx) => {
      setMeta(tx, "last_backup", at);
      tx.note({ topic: "host" });
    }),
  ),
};

type Verbs = typeof verbs;
type DeskVerb = keyof Verbs;
type Given<V extends DeskVerb> = z.infer<Verbs[V]["given"]>;
type Answer<V extends DeskVerb> = Awaited<ReturnType<Verbs[V]["does"]>>;

/**
 * Has a change made by the box that serves the directory. Where nobody serves it, opens the store for it. Throws what
 * the change throws, and StoreFault, also where no box ever served: only a pairing code makes the store then, in a
 * directory that is missing or empty (contract §3).
 */
export async function atDesk<V extends DeskVerb>(
  directory: Directory,
  verb: V,
  ...given: Given<V>
): Promise<Answer<V>> {
  const asked = await askDesk(directory.data, verb, ...given);
  if (asked !== null) return asked.answer;
  const { data, clock, random } = directory;
  const path = join(data, "box.db");
  if (verb === "pair-code" && isEmpty(data)) {
    people.checkSeat(given[0] as people.SeatFlags);
    prepareDirectory(data);
  } else mustExist(path);
  mustBeAlone(data, "only the box that serves it can change it: box serve --database …");
  const store = openStore({ path, kind: "box", clock, random, older: "refuse" });
  try {
    ensureTenant(store);
    return await run({ data, store, random, sealer: null }, verb, given);
  } finally {
    store.close();
  }
}

/** Whether it is for a box to begin with. One with other things in it is another directory than was meant. */
function isEmpty(data: string): boolean {
  const found = statSync(data, { throwIfNoEntry: false });
  return found === undefined || (found.isDirectory() && othersIn(data).length === 0);
}

/** Has a change made by the box that serves the directory. null where nobody does. Throws as `atDesk`. */
export async function askDesk<V extends DeskVerb>(
  data: string,
  verb: V,
  ...given: Given<V>
): Promise<{ answer: Answer<V> } | null> {
  const line = await askServing(data, JSON.stringify({ verb, given }));
  if (line === null) return null;
  const said = JSON.parse(line) as { fault: Fault } | { answer: Answer<V> };
  if ("fault" in said) throw thrownBy(said.fault);
  return said;
}

async function run<V extends DeskVerb>(
  desk: OpenDirectory,
  verb: V,
  given: Given<V>,
): Promise<Answer<V>> {
  const does = verbs[verb].does as (desk: OpenDirectory, ...given: unknown[]) => Promise<Answer<V>>;
  return does(desk, ...given);
}

const asked = z.object({
  verb: z.enum(Object.keys(verbs) as [DeskVerb, ...DeskVerb[]]),
  given: z.array(z.unknown()),
});

/** Answers one request of the socket, also with a refusal once it may be told. Never rejects. */
export async function answerDesk(
  { store, sealer, log }: { store: Store; sealer: Sealer; log: Log },
  line: string,
): Promise<string> {
  const said = async (does: () => unknown) => {
    try {
      return { answer: await does() };
    } catch (error) {
      return { fault: faultOf(error, log) };
    }
  };
  const done = await said(() => {
    const { verb, given } = understood(line);
    return run({ data: dirname(store.path), store, random: store.random, sealer }, verb, given);
  });
  const told = await said(() => mayTell(store));
  return JSON.stringify("fault" in told ? told : done);
}

/** What the socket of a machine that stands by answers, where the one that serves can't be asked. */
export function standbyAnswer(owner: string | null): string {
  const message =
    owner === null
      ? "This machine stands by, and nobody serves the box now: box doctor says more."
      : `${STANDS_BY} It is ${owner}.`;
  return JSON.stringify({ fault: { of: "store", kind: "unavailable", message } satisfies Fault });
}

/** Throws UsageError. */
function understood(line: string): { verb: DeskVerb; given: Given<DeskVerb> } {
  try {
    const { verb, given } = asked.parse(JSON.parse(line));
    return { verb, given: verbs[verb].given.parse(given) as Given<DeskVerb> };
  } catch {
    throw new UsageError(
      "The box that serves this directory doesn't know this command: use the program of the box's own version.",
    );
  }
}

/** An error on its way through the socket. */
type Fault = { message: string } & (
  | { of: "request"; code: ErrorCode }
  | { of: "usage" }
  | { of: "store"; kind: FaultKind }
);

function faultOf(error: unknown, log: Log): Fault {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ServiceError) return { of: "request", code: error.code, message };
  if (error instanceof UsageError) return { of: "usage", message };
  if (error instanceof StoreFault) return { of: "store", kind: error.kind, message };
  log.error({ err: error }, "a command at the data directory failed");
  return { of: "store", kind: "unavailable", message };
}

function thrownBy(fault: Fault): Error {
  if (fault.of === "request") return new ServiceError(fault.code, fault.message);
  if (fault.of === "usage") return new UsageError(fault.message);
  return new StoreFault(fault.kind, fault.message);
}
