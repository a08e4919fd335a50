import type { Clock } from "../../ground/kit/clock.ts";
import type { Api } from "./api.ts";
import type { NamedLook, NamedWord, RunEvidence } from "./evidence.ts";
import type { Seeded } from "./seeded.ts";
import { namedSetting } from "./world.ts";

/** Each sender has names of its own, so its reports on a name are in order. */
export const NAMED_SENDERS = 2;
const NAMES = 6;
/** Longer than a run, so nothing ends by itself. */
const LASTS = 3 * 3600;

type Words = RunEvidence["words"];

/**
 * One step of a sender that names its alerts: it reports a few of its names as firing, continuing or ended. Each report
 * is entered in the ledger before it is sent. A new firing has the next instance number.
 */
export function createNamer(
  { api, clock, token, words }: { api: Api; clock: Clock; token: string; words: Words },
  sender: number,
): (choice: Seeded) => Promise<void> {
  const names = Array.from({ length: NAMES }, (_, i) => `name ${sender}.${i}`);
  return async (choice) => {
    const first = choice.between(0, NAMES - 1);
    const some = names.slice(first, first + choice.between(1, 3));
    const said = some.map((name) => nextWord(words, name, choice));
    const expires_at = Math.floor(clock.now() / 1000) + LASTS;
    const lines = said.map((word) => JSON.stringify({ ...wireOf(word), expires_at }));
    const reply = await api
      .send("/v1/ingest", { bearer: token, type: "application/x-ndjson", body: lines.join("\n") })
      .catch(() => null);
    // A report without an answer may have been accepted.
    const answered = reply !== null && reply.status < 500;
    if (answered)
      for (const word of said) word.outcome = reply.status === 202 ? "accepted" : "refused";
  };
}

/** The sender's next report on a name. After an end, answered or not, the next firing is a new instance. */
function nextWord(words: Words, name: string, choice: Seeded): NamedWord {
  const last = words.findLast((word) => word.name === name);
  const begins = last === undefined || last.status === "resolved";
  const status = !begins && choice.chance(0.4) ? "resolved" : "firing";
  const instance = (last?.instance ?? 0) + (begins ? 1 : 0);
  const word: NamedWord = { name, status, instance, outcome: "unknown" };
  words.push(word);
  return word;
}

function wireOf({ name, status, instance }: NamedWord): object {
  const message = `${name} is ${status}`;
  return { message, dedup_key: name, status, instance: String(instance) };
}

/** The alerts of each name, and all reports on it. Leaves out names with a report under way. */
export async function lookAtNames(api: Api, words: Words): Promise<NamedLook[]> {
  const before = words.map((word) => ({ ...word }));
  const { alerts } = await api.need("GET", `/v1/alerts?project=${namedSetting.name}&limit=500`);
  const standing = (alerts as { dedup_key: string; instance: string; state: string }[]).filter(
    ({ state }) => state !== "resolved",
  );
  const moved = new Set(
    words.filter((word, i) => word.outcome !== before[i]?.outcome).map(({ name }) => name),
  );
  return [...Map.groupBy(before, ({ name }) => name)]
    .filter(([name]) => !moved.has(name))
    .map(([name, said]) => ({
      name,
      said,
      standing: standing
        .filter(({ dedup_key }) => dedup_key === name)
        .map(({ instance }) => Number(instance)),
    }));
}
