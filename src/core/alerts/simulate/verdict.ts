import type { Ringing, SimulationResult } from "../course-shape.ts";
import { whyNotPaged } from "../reach-report.ts";
import type { Simulation, VerdictLevel } from "./shape.ts";
import type { World } from "./world.ts";

/** Whether an alert would be heard in time: pure. */

/** By then two people should have been reached. */
const SOON = 1800;

type Verdict = Simulation["verdict"];

/** The person whom something rings first, then each further one, with the time of it. */
function heardBy(rings: readonly Ringing[]): Map<string, number> {
  const first = new Map<string, number>();
  for (const { account, at } of rings)
    first.set(account, Math.min(at, first.get(account) ?? Number.POSITIVE_INFINITY));
  return new Map([...first].toSorted(([, a], [, b]) => a - b));
}

/** Whether more of the course can't change the level: it was heard, and half an hour is over or all is well. */
export function isSettled(
  world: World,
  of: { at: number; silent: ReadonlySet<string> },
): (course: SimulationResult, now: number) => boolean {
  let [seen, isHeard] = [0, false];
  return (course, now) => {
    if (course.rings.length > seen) {
      isHeard ||= course.rings.slice(seen).some(({ account }) => !of.silent.has(account));
      seen = course.rings.length;
    }
    return isHeard && (now > of.at + SOON || confirmedSoon(world, course.rings, of.at).size >= 2);
  };
}

function confirmedSoon(world: World, rings: readonly Ringing[], at: number): Set<string> {
  const isConfirmed = ({ contactId }: Ringing) => contactId !== null && world.confirms(contactId);
  return new Set(
    rings.filter((ring) => ring.at <= at + SOON && isConfirmed(ring)).map(({ account }) => account),
  );
}

export function judgeCourse(
  world: World,
  course: SimulationResult,
  of: { at: number; silent: ReadonlySet<string> },
): Verdict {
  const heard = heardBy(course.rings);
  const [first, second] = [...heard.values()];
  const [level, cause] = causeOf(world, course, { ...of, heard });
  const isAnswered = course.ends.how === "ack" && heard.size > 0;
  const who = [...heard].map(
    ([account, at]) => `${world.nameOf(account) ?? account} ${spanText(at - of.at)}`,
  );
  const shown = who.slice(0, MOST_NAMED).join(", ");
  const more = who.length > MOST_NAMED ? ` and ${who.length - MOST_NAMED} more` : "";
  const firsts = who.length === 0 ? "" : `${FIRSTS} ${shown}${more}.`;
  return {
    level: isAnswered ? "good" : level,
    first_ring_at: first ?? null,
    second_person_at: second ?? null,
    sentence: (isAnswered ? "Somebody acknowledges it." : cause) + firsts,
  };
}

const MOST_NAMED = 5;
const FIRSTS = " First to ring:";

/** A verdict's sentence in two: why, and whom it rings first, which may be empty. */
export function verdictParts(sentence: string): { cause: string; firsts: string } {
  const at = sentence.includes(FIRSTS) ? sentence.indexOf(FIRSTS) : sentence.length;
  return { cause: sentence.slice(0, at), firsts: sentence.slice(at) };
}

function causeOf(
  world: World,
  { rungs, rings, held }: SimulationResult,
  of: { at: number; silent: ReadonlySet<string>; heard: ReadonlyMap<string, number> },
): [VerdictLevel, string] {
  const notifies = (event: string) =>
    world.channels.some((channel) => whyNotPaged(channel, event) === null);
  if (world.rule.escalations.length === 0)
    return notifies("alert.opened")
      ? ["warn", "The rule has no ladder: only channels are notified."]
      : ["error", "Nobody is notified: the rule has no ladder, and no channel is, either."];
  const isPaged = rungs.some(({ accounts }) => accounts.length > 0);
  if (held.length > 0 && rungs.length === 0) return ["warn", `Silenced: ${held[0]?.reason ?? ""}.`];
  if (!isPaged) return ["error", "Nobody is on call: the ladder reaches nobody."];
  if (!world.reachable.isKnown)
    return notifies("alert.opened") || notifies("alert.escalated")
      ? ["warn", "Nobody has a contact or a phone: only channels are notified."]
      : ["error", "Nothing rings: nobody has a contact or a phone, and no channel is notified."];
  const people = [...of.heard.keys()];
  if (people.length === 0) return ["error", "Nothing reaches anybody whom it pages."];
  if (people.every((account) => of.silent.has(account)))
    return ["error", "Nobody who answers is rung."];
  const soon = people.filter((account) => (of.heard.get(account) ?? 0) <= of.at + SOON);
  if (soon.length < 2) {
    const until = held.findLast(({ at }) => at <= of.at + SOON);
    if (until !== undefined) return ["warn", `Silenced at first: ${until.reason}.`];
    return ["warn", `Within 30 minutes ${soon.length === 0 ? "nobody is" : "only one is"} rung.`];
  }
  return confirmedSoon(world, rings, of.at).size >= 2
    ? ["good", "Two people are rung within 30 minutes."]
    : ["warn", "Two people are rung within 30 minutes, but not by confirmed ways."];
}

/** `at once`, `after 15 min`. */
function spanText(seconds: number): string {
  if (seconds === 0) return "at once";
  if (seconds < 60) return `after ${seconds} s`;
  if (seconds < 7200) return `after ${Math.round(seconds / 60)} min`;
  return `after ${Math.round(seconds / 360) / 10} h`;
}
