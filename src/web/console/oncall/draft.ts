import { restrictsNothing } from "../../../core/oncall/layer.ts";
import {
  type Covers,
  type Layer,
  type ScheduleInput,
  type StoredSchedule,
  scheduleWrite,
} from "../../../core/oncall/schedule.ts";
import { isTimezone } from "../../../core/oncall/zone.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { instantField, knownField, lastMondayNine, localText } from "../ui/local-time.ts";
import { hoursOf, restrictionOf } from "./hours.ts";

/** Among a layer's people: a turn in which nobody is on call. */
export const TURN_OF_NOBODY = "nobody";

/** A schedule as its form holds it: kept as text until it is saved, so that nothing typed is lost. */
export interface LayerDraft {
  name: string;
  people: string[];
  starts: string;
  /** The instant that `starts` was drawn with. */
  known: string;
  length: string;
  /** Minutes of one unit of the length. */
  unit: string;
  when: "always" | "hours" | "kept";
  /** Boxes that are ticked: hours since Sunday 00:00. */
  hours: ReadonlySet<number>;
  /** A restriction that boxes can't say, as JSON; "" where there is none. */
  kept: string;
  /** How many are on call at once. */
  take: string;
  /** `out:` or `only:` and the name of holidays; "" for all days. */
  holidays: string;
}

export interface ScheduleDraft {
  name: string;
  timezone: string;
  shared: boolean;
  shiftCheck: boolean;
  handOver: boolean;
  covers: Covers;
  layers: LayerDraft[];
}

type Restriction = NonNullable<Layer["restriction"]>;

export const TURN_UNITS = [
  { value: "10080", name: "weeks" },
  { value: "1440", name: "days" },
  { value: "60", name: "hours" },
  { value: "1", name: "minutes" },
];

const workHours: ReadonlySet<number> = new Set(
  [1, 2, 3, 4, 5].flatMap((day) => Array.from({ length: 8 }, (_, hour) => day * 24 + 9 + hour)),
);

export function draftOf(stored: StoredSchedule): ScheduleDraft {
  const { name, timezone, shared, shift_check: shiftCheck, covers, layers } = stored;
  const { hand_over: handOver } = stored;
  return {
    name,
    timezone,
    shared,
    shiftCheck,
    handOver,
    covers,
    layers: layers.map((layer) => layerDraft(layer, timezone)),
  };
}

function layerDraft(layer: Layer, timezone: string): LayerDraft {
  const { name, participants, rotation_start, shift_minutes, restriction, take = 1 } = layer;
  const unit = TURN_UNITS.find(({ value }) => shift_minutes % Number(value) === 0)?.value ?? "1";
  const { holidays, ...plain } = restriction ?? {};
  // Whole days: what its holidays are is said apart.
  const isAlways = restriction === null || restrictsNothing(plain as Restriction);
  const hours = isAlways ? workHours : hoursOf(restriction);
  return {
    name,
    people: participants.map((one) => one ?? TURN_OF_NOBODY),
    starts: localText(timezone, rotation_start),
    known: String(rotation_start),
    length: String(shift_minutes / Number(unit)),
    unit,
    when: isAlways ? "always" : hours === null ? "kept" : "hours",
    hours: hours ?? workHours,
    take: String(take),
    kept: hours === null ? JSON.stringify(plain) : "",
    holidays: holidays === undefined ? "" : `${holidays.mode}:${holidays.calendar}`,
  };
}

const MOST_LAYERS = 50;

export function draftOfForm(form: URLSearchParams): ScheduleDraft {
  const text = (name: string) => form.get(name) ?? "";
  const count = Math.min(MOST_LAYERS, Math.max(0, Math.floor(Number(text("layers"))) || 0));
  return {
    name: text("name"),
    timezone: text("timezone"),
    shared: form.has("shared"),
    shiftCheck: form.has("shift_check"),
    handOver: form.has("hand_over"),
    covers: form.has("covers_hours") ? "hours" : "always",
    layers: Array.from({ length: count }, (_, index): LayerDraft => {
      const of = (field: string) => text(`l${index}-${field}`);
      const when = of("when");
      const added = of("add");
      return {
        name: of("name"),
        starts: of("starts"),
        known: of(knownField("starts")),
        people: [...form.getAll(`l${index}-person`), ...(added === "" ? [] : [added])],
        length: of("length"),
        unit: of("unit"),
        kept: of("kept"),
        take: of("take"),
        holidays: of("holidays"),
        when: when === "hours" || when === "kept" ? when : "always",
        hours: new Set(form.getAll(`l${index}-hour`).map(Number)),
      };
    }),
  };
}

/** What a button of the form does to the draft: `up:0:1` is layer 0's second person earlier. */
export function changedBy(
  draft: ScheduleDraft,
  change: string,
  at: { now: number; me: string },
): ScheduleDraft {
  const [what = "", ...rest] = change.split(":");
  const [layer = 0, place = 0] = rest.map(Number);
  const layers = [...draft.layers];
  if (what === "new-layer") return { ...draft, layers: [...layers, newLayer(draft, at)] };
  if (what === "layer-up") return { ...draft, layers: moved(layers, layer, -1) };
  if (what === "layer-down") return { ...draft, layers: moved(layers, layer, 1) };
  if (what === "layer-remove") return { ...draft, layers: without(layers, layer) };
  const own = layers[layer];
  if (own === undefined) return draft;
  const people =
    what === "up"
      ? moved(own.people, place, -1)
      : what === "down"
        ? moved(own.people, place, 1)
        : what === "remove"
          ? without(own.people, place)
          : own.people;
  layers[layer] = { ...own, people };
  return { ...draft, layers };
}

function newLayer(
  { timezone, layers }: ScheduleDraft,
  at: { now: number; me: string },
): LayerDraft {
  const zone = isTimezone(timezone) ? timezone : "UTC";
  const rotation_start = lastMondayNine(zone, at.now);
  return layerDraft(
    {
      name: `layer ${layers.length + 1}`,
      participants: [at.me],
      rotation_start,
      shift_minutes: 10_080,
      restriction: null,
    },
    zone,
  );
}

function moved<T>(list: readonly T[], from: number, by: number): T[] {
  const item = list[from];
  const to = from + by;
  if (item === undefined || to < 0 || to >= list.length) return [...list];
  return without(list, from).toSpliced(to, 0, item);
}

const without = <T>(list: readonly T[], at: number): T[] => list.filter((_, index) => index !== at);

/** What is saved, or tried. Throws 400 and 422 naming fields as the interface does. */
export function inputOf(draft: ScheduleDraft): ScheduleInput {
  const { name, timezone, shared, shiftCheck, handOver, covers, layers } = draft;
  if (!isTimezone(timezone))
    throw new ServiceError(
      "invalid_timezone",
      "The time zone is no IANA name (like Europe/London).",
      {
        details: [{ field: "/timezone", reason: "must be an IANA name" }],
      },
    );
  const body = {
    name,
    timezone,
    shared,
    shift_check: shiftCheck,
    hand_over: handOver,
    covers,
    layers: layers.map((layer, at) => layerOf(layer, timezone, at)),
  };
  return check(scheduleWrite, body, "body");
}

function layerOf(layer: LayerDraft, timezone: string, index: number): unknown {
  const { name, people, starts, known, length, unit, when, hours, kept, take, holidays } = layer;
  const field = `layers/${index}/rotation_start`;
  const times = new URLSearchParams({ [field]: starts, [knownField(field)]: known });
  const restriction =
    when === "hours"
      ? restrictionOf(hours, `/layers/${index}/restriction`)
      : when === "kept" && kept !== ""
        ? parsed(kept)
        : null;
  return {
    name,
    participants: people.map((one) => (one === TURN_OF_NOBODY ? null : one)),
    restriction: holidays === "" ? restriction : onHolidays(restriction, holidays),
    rotation_start: instantField(timezone, times, field),
    shift_minutes: Number(length) * Number(unit),
    ...(take !== "" && take !== "1" && { take: Number(take) }),
  };
}

const WHOLE_DAYS = { days: [], start_minute: 0, end_minute: 1440 };

function onHolidays(restriction: unknown, holidays: string): unknown {
  const [, mode, calendar] = /^(out|only):(.+)$/s.exec(holidays) ?? [];
  const hours = restriction === null ? WHOLE_DAYS : restriction;
  if (mode === undefined || typeof hours !== "object") return restriction;
  return { ...hours, holidays: { calendar, mode } };
}

/** A field of our own that somebody else filled in is refused as what it isn't. */
function parsed(kept: string): unknown {
  try {
    return JSON.parse(kept);
  } catch {
    return kept;
  }
}
