import type { TeamDraft } from "../team/draft.ts";
import type { Given } from "../team/given.ts";
import type { LadderStep } from "../team/ladder.ts";

export function takeGoAlertPolicy(
  draft: TeamDraft,
  given: Given,
  schedulesOf: (id: string) => string[],
): string {
  const name = given.text("name") || given.text("id");
  const what = `escalation policy ${name}`;
  const steps: LadderStep[] = [];
  let after = 0;
  for (const step of given.objects("steps", "steps")) {
    const people: string[] = [];
    const schedules: string[] = [];
    for (const target of step.objects("targets", "targets of steps")) {
      const [id, called, type] = [target.text("id"), target.text("name"), target.text("type")];
      const there = schedulesOf(id);
      if (type === "user")
        people.push(...[draft.people.find({ id, called }, what)].filter((one) => one !== null));
      else if (there.length > 0) schedules.push(...there);
      else
        draft.impossible(
          what,
          `Its step after ${after} minutes notifies the ${type} ${called || id}, which isn't imported: a shared channel is an integration here, box connect shows how.`,
        );
    }
    steps.push({ after, people, schedules });
    // GoAlert waits after a step.
    after += step.number("delayMinutes") ?? 0;
  }
  const passes = (given.number("repeat") ?? 0) + 1;
  return draft.ladder({ what, name, id: given.text("id"), steps, passes, every: after });
}

export function takeGoAlertService(
  draft: TeamDraft,
  given: Given,
  policies: ReadonlyMap<string, string>,
): void {
  const name = given.text("name") || given.text("id");
  const what = `service ${name}`;
  const said = draft.lines.length;
  const id =
    given.text("escalationPolicyID") ||
    given.object("escalationPolicy", "policies of services")?.text("id") ||
    "";
  const ladder = policies.get(id);
  if (ladder === undefined)
    draft.impossible(
      what,
      "Its escalation policy isn't in the files: its rule pages nobody until it has a ladder.",
    );
  if ((given.instant("maintenanceExpiresAt") ?? 0) > draft.now)
    draft.nearly(what, "It is in maintenance there; its rule here opens alerts.");
  const source = draft.source(name, given.text("id"));
  for (const key of given.objects("integrationKeys", "integration keys")) {
    const called = key.text("name") || key.text("type");
    if (key.text("type") === "email")
      draft.impossible(
        what,
        `Mail to its integration ${called} comes in through a source of kind email here: box connect email.`,
      );
    else draft.oldKey(source, [name, called], key.text("id"));
  }
  for (const beat of given.objects("heartbeatMonitors", "heartbeat monitors")) {
    const minutes = Math.min(527_040, beat.number("timeoutMinutes") ?? 0);
    const called = draft.heartbeat({
      name: beat.text("name") || name,
      id: beat.text("id"),
      period_seconds: Math.max(10, Math.round(minutes * 60)),
      grace_seconds: 60,
    });
    draft.nearly(
      what,
      `Its heartbeat monitor ${called} has a new address here, which applying shows once: its jobs must call that.`,
    );
  }
  draft.rule({
    name,
    id: given.text("id"),
    match: { sources: [source] },
    ladder,
  });
  if (draft.lines.length === said) draft.exact(what, "A source and a rule of this name.");
}
