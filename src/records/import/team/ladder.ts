/** Whom a step pages, and how many minutes after the alert's opening. */
export interface LadderStep {
  after: number;
  people: readonly string[];
  schedules: readonly string[];
}

/** A step as a configuration has it. */
export interface PlannedStep {
  accounts: string[];
  schedules: string[];
  after_minutes: number;
}

const MOST_STEPS = 10;
const MOST_PASSES = 9;
const MOST_PAUSE = 10_080;
const MOST_NAMED = 20;
const YEAR = 525_600;

/** A ladder as a configuration has it. */
export interface PlannedLadder {
  steps: PlannedStep[];
  /** With `pass_after_minutes`; left out: it runs once. */
  passes?: number;
  pass_after_minutes?: number;
}

/**
 * An escalation policy as a ladder: its steps, run `passes` times, each pass `every` minutes after the last. `say` gets
 * a sentence for each part that a ladder can't do.
 */
export function ladderOf(
  steps: readonly LadderStep[],
  { passes, every: given }: { passes: number; every: number },
  say: (how: string) => void,
): PlannedLadder {
  const every = Math.ceil(given);
  const wanted = every > 0 ? Math.max(1, passes) : 1;
  const gone = (times: number) =>
    Array.from({ length: times }, (_, pass) =>
      steps.map((step) => ({ ...step, after: step.after + pass * every })),
    ).flat();
  // A pass of a ladder holds several of theirs where nine are too few.
  const times = Math.ceil(wanted / MOST_PASSES);
  const fits = planned(joinedSteps(gone(times))).length <= MOST_STEPS;
  const held = fits ? times : 1;
  const once = fitted(joinedSteps(gone(held)), say).filter(
    ({ after_minutes }) => after_minutes <= YEAR,
  );
  const last = once.at(-1)?.after_minutes;
  if (wanted === 1 || last === undefined) return { steps: once };
  const whole = Math.min(MOST_PASSES, Math.ceil(wanted / held));
  if (whole * held < wanted)
    say(`It runs its steps ${wanted} times; a ladder does so ${MOST_PASSES} times.`);
  const pause = held * every - last;
  const pass_after_minutes = Math.min(Math.max(pause, 1), MOST_PAUSE);
  if (pass_after_minutes !== pause)
    say(
      `It begins again ${pause} minutes after its last step; here ${pass_after_minutes} minutes after it.`,
    );
  return { steps: once, passes: whole, pass_after_minutes };
}

/** Joins steps of the same minute. Nobody is named twice in a step. */
function joinedSteps(steps: readonly LadderStep[]): LadderStep[] {
  const byMinute = new Map<number, LadderStep>();
  for (const { after: given, people, schedules } of steps) {
    const after = Math.max(0, Math.ceil(given));
    const before = byMinute.get(after) ?? { after, people: [], schedules: [] };
    byMinute.set(after, {
      after,
      people: [...new Set([...before.people, ...people])],
      schedules: [...new Set([...before.schedules, ...schedules])],
    });
  }
  return [...byMinute.values()].sort((a, b) => a.after - b.after);
}

function planned(steps: readonly LadderStep[]): PlannedStep[] {
  return steps
    .filter(({ people, schedules }) => people.length + schedules.length > 0)
    .flatMap(({ after, people, schedules }) => {
      const parts = Math.ceil(Math.max(people.length, schedules.length) / MOST_NAMED);
      return Array.from({ length: parts }, (_, i) => ({
        accounts: people.slice(i * MOST_NAMED, (i + 1) * MOST_NAMED),
        schedules: schedules.slice(i * MOST_NAMED, (i + 1) * MOST_NAMED),
        after_minutes: Math.min(after, YEAR),
      }));
    });
}

function fitted(steps: readonly LadderStep[], say: (how: string) => void): PlannedStep[] {
  const all = planned(steps);
  if (all.length <= MOST_STEPS) return all;
  const kept = all.slice(0, MOST_STEPS - 1);
  const [tenth, ...late] = all.slice(MOST_STEPS - 1);
  if (tenth === undefined) return kept;
  const together = [tenth, ...late];
  const accounts = [...new Set(together.flatMap((step) => step.accounts))];
  const schedules = [...new Set(together.flatMap((step) => step.schedules))];
  const left = [...accounts.slice(MOST_NAMED), ...schedules.slice(MOST_NAMED)];
  say(
    `It has ${all.length} steps and a ladder ${MOST_STEPS}: those of the last ${together.length} are paged together, ${tenth.after_minutes} minutes after the alert opened${left.length === 0 ? "" : `, without ${left.join(", ")}, because a rung names no more people`}.`,
  );
  return [
    ...kept,
    {
      ...tenth,
      accounts: accounts.slice(0, MOST_NAMED),
      schedules: schedules.slice(0, MOST_NAMED),
    },
  ];
}
