import { fits, isStorable } from "../../../ground/kit/text.ts";
import type { ImportFault } from "../given-file.ts";
import { isLike } from "./clause.ts";
import { type LabelMatcher, MatcherFault, matcherText, parseMatchers } from "./matchers.ts";
import { mustBeLabel, type Part } from "./part.ts";

/** A route, with the settings that it inherits. */
export interface AlertRoute {
  /** Its matchers and those of its parents; "" for the root. */
  title: string;
  receiver: string;
  matchers: LabelMatcher[];
  /** Whether later sibling routes also see the alert. */
  continues: boolean;
  /** `...` stands for every label. */
  groupBy: string[];
  repeatSeconds: number;
  /** Names of time intervals. They aren't inherited. */
  mute: string[];
  active: string[];
  children: AlertRoute[];
}

/** A file with more routes is refused. */
const MOST_ROUTES = 2_000;
/** Alertmanager's default. */
const USUAL_REPEAT = 4 * 3600;

/** Throws ImportFault. `receivers`: the names that exist. */
export function readTree(part: Part, receivers: ReadonlySet<string>): AlertRoute {
  let count = 0;
  const read = (at: Part, around: AlertRoute | null): AlertRoute => {
    count += 1;
    if (count > MOST_ROUTES) throw at.fault(`there are more than ${MOST_ROUTES} routes`);
    const matchers = around === null ? [] : matchersOf(at);
    const own = matchers.map(matcherText).join(", ");
    const route: AlertRoute = {
      title: [around?.title ?? "", own].filter((text) => text !== "").join(", "),
      receiver: receiverOf(at, around, receivers),
      matchers,
      continues: at.field("continue").flag(false),
      groupBy: at.field("group_by").isEmpty
        ? (around?.groupBy ?? [])
        : at.field("group_by").labels(),
      repeatSeconds:
        secondsIn(at.field("repeat_interval")) ?? around?.repeatSeconds ?? USUAL_REPEAT,
      // The older name of the list.
      mute: at.field("mute_time_intervals").texts(),
      active: at.field("active_time_intervals").texts(),
      children: [],
    };
    route.children = at
      .field("routes")
      .list()
      .map((child) => read(child, route));
    return route;
  };
  return read(part, null);
}

function receiverOf(at: Part, around: AlertRoute | null, receivers: ReadonlySet<string>): string {
  const name = at.field("receiver").text() || (around?.receiver ?? "");
  if (receivers.has(name)) return name;
  const part = at.field("receiver").isEmpty ? at : at.field("receiver");
  throw part.fault(name === "" ? "the route names no receiver" : `there is no receiver "${name}"`);
}

/** `matchers`, `match` and `match_re` together. `of`: a prefix of these names, as in `source_match`. */
export function matchersOf(at: Part, of = ""): LabelMatcher[] {
  const listed = at
    .field(`${of}matchers`)
    .list()
    .flatMap((line) => {
      try {
        return checkedMatchers(parseMatchers(line.text()), line);
      } catch (fault) {
        throw fault instanceof MatcherFault ? line.fault(fault.message) : fault;
      }
    });
  const old = (field: string, op: LabelMatcher["op"]) =>
    at
      .field(`${of}${field}`)
      .fields()
      .flatMap(([name, part]) => checkedMatchers([{ name, op, value: part.text() }], part));
  return [...listed, ...old("match", "="), ...old("match_re", "=~")];
}

/** Throws where no condition can express a matcher, and for an invalid pattern. */
export function checkedMatchers(matchers: LabelMatcher[], at: Part): LabelMatcher[] {
  for (const { name, op, value } of matchers) {
    mustBeLabel(name, at);
    if (!fits(value, 4_096) || !isStorable(value))
      throw at.fault(`the value of ${name} is too long, or can't be stored`);
    if (op === "=~" || op === "!~") mustBePattern(value, (why) => at.fault(why));
  }
  return matchers;
}

function mustBePattern(value: string, fault: (why: string) => ImportFault): void {
  try {
    isLike(value, "");
  } catch (error) {
    throw fault(
      `${value} is no pattern: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

const SPAN = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;
const UNITS = [31_536_000, 604_800, 86_400, 3_600, 60, 1, 0.001];

/** Seconds of a duration of Prometheus, `1d12h`; null where there is none. */
function secondsIn(part: Part): number | null {
  const text = part.text();
  if (text === "") return null;
  const found = text === "0" ? [] : SPAN.exec(text)?.slice(1);
  if (found === undefined) throw part.fault(`"${text}" is no length of time, as 4h is`);
  return found.reduce((sum, n, i) => sum + Number(n ?? 0) * (UNITS[i] ?? 0), 0);
}
