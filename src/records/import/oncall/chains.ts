import type { TeamDraft } from "../team/draft.ts";
import type { Given } from "../team/given.ts";
import type { LadderStep } from "../team/ladder.ts";
import type { OnCallFiles } from "./files.ts";

interface Around {
  files: OnCallFiles;
  /** The names of the box's schedules, by OnCall's ids. */
  schedules: ReadonlyMap<string, readonly string[]>;
}

/** In OnCall a wait is a step of its own, which delays all later steps. Returns the ladder's name. */
export function takeChain(draft: TeamDraft, chain: Given, around: Around): string {
  const [id, name] = [chain.text("id"), chain.text("name") || chain.text("id")];
  const what = `escalation chain ${name}`;
  const policies = around.files.policies
    .filter((one) => one.text("escalation_chain_id") === id)
    .toSorted((a, b) => (a.number("position") ?? 0) - (b.number("position") ?? 0));
  const steps: LadderStep[] = [];
  let seconds = 0;
  let passes = 1;
  for (const policy of policies) {
    const after = Math.ceil(seconds / 60);
    const type = policy.text("type");
    if (type === "wait") seconds += policy.number("duration") ?? 300;
    // In OnCall the chain runs five more times and then stops.
    else if (type === "repeat_escalation") passes = 6;
    else steps.push(...stepOf(draft, policy, { ...around, what, after, type }));
  }
  const every = Math.ceil(seconds / 60);
  if (passes > 1 && every === 0)
    draft.nearly(what, "It repeats itself without a wait; here it runs once.");
  return draft.ladder({ what, name, id, steps, passes, every });
}

interface Step extends Around {
  what: string;
  after: number;
  type: string;
}

function stepOf(
  draft: TeamDraft,
  policy: Given,
  { files, schedules, what, after, type }: Step,
): LadderStep[] {
  const at = `Its step ${type} after ${after} minutes`;
  const emailsOf = (ids: readonly string[]) =>
    ids.map((id) => draft.people.find({ id }, what)).filter((one) => one !== null);
  const pages = (people: string[]): LadderStep[] => [{ after, people, schedules: [] }];
  if (policy.raw("important") === true)
    draft.nearly(
      what,
      `${at} uses people's rules for important alerts there; here everybody has one set of rules.`,
    );
  switch (type) {
    case "notify_persons":
      return pages(emailsOf(policy.texts("persons_to_notify")));
    case "notify_person_next_each_time":
      draft.nearly(what, `${at} takes turns; here it pages everybody it names.`);
      return pages(emailsOf(policy.texts("persons_to_notify_next_each_time")));
    case "notify_on_call_from_schedule": {
      const id = policy.text("notify_on_call_from_schedule");
      const found = schedules.get(id) ?? [];
      if (found.length === 0)
        draft.impossible(what, `${at} names the schedule ${id}, which isn't imported.`);
      return [{ after, people: [], schedules: [...found] }];
    }
    case "notify_team_members": {
      const team = policy.text("notify_to_team_members") || policy.text("team_to_notify");
      const members = files.users.filter((user) => user.texts("teams").includes(team));
      if (members.length === 0)
        draft.impossible(what, `${at} pages the team ${team}, of whom nobody is in the files.`);
      return pages(emailsOf(members.map((user) => user.text("id"))));
    }
    case "notify_if_time_from_to":
      draft.nearly(
        what,
        `${at} lets later steps run only from ${policy.text("notify_if_time_from")} to ${policy.text("notify_if_time_to")}; here they run at any time.`,
      );
      return [];
    case "trigger_webhook":
      draft.impossible(
        what,
        `${at} calls the webhook ${policy.text("action_to_trigger")}: make a runbook action of it.`,
      );
      return [];
    default:
      draft.impossible(what, `${at} has nothing like it in a ladder, and is left out.`);
      return [];
  }
}
