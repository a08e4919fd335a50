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
  repeat_minutes?: number;
}

const MOST_STEPS = 10;
const MOST_NAMED = 20;
const YEAR = 525_600;

/**
 * An escalation policy as a ladder: its steps, run `passes` times, each pass `every` minutes after the last. `say` gets
 * a sentence for each part that a ladder can't do.
 */
export function ladderOf(
  steps: readonly LadderStep[],
  { passes, every: given }: { passes: number; every: number },
  say: (how: string) => void,
): PlannedStep[] {
  const every = Math.ceil(given);
  const wanted = every > 0 ? Math.max(1, passes) : 1;
  /** Where one pass ends in the minute in which the next begins, the two steps become one. */
  const gone = (times: number) =>
    Array.from({ length: times }, (_, pass) =>
      steps.map((step) => ({ ...step, after: step.after + pass * every })),
    ).flat();
  const fits = (times: number) => planned(joinedSteps(gone(times))).length <= MOST_STEPS;
  let whole = 1;
  while (whole < Math.min(wanted, MOST_STEPS) && fits(whole + 1)) whole += 1;
  const ladder = fitted(joinedSteps(gone(whole)), say).filter(
    ({ after_minutes }) => after_minutes <= YEAR,
  );
  const last = ladder.at(-1);
  if (whole === wanted || last === undefined) return ladder;
  say(
    `It runs its steps ${wanted} times; a ladder has ${MOST_STEPS} steps, so it runs them ${whole} ${whole === 1 ? "time" : "times"} here, and then pages those of the last step every ${every} minutes until somebody acknowledges.`,
  );
  return [...ladder.slice(0, -1), { ...last, repeat_minutes: Math.min(every, YEAR) }];
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
    `It has ${all.length} steps and a ladder ${MOST_STEPS}: those of the last ${together.length} are paged together, ${tenth.after_minutes} minutes after the alert opened${left.length === 0 ? "" : `, without ${left.join(", ")}, because a step names no more people`}.`,
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
