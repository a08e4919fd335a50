import { type LadderInput, ladderCreate } from "../../../core/projects/ladder.ts";
import { check } from "../../../ground/kit/check.ts";
import { readNumber, textDigest, withoutAbsent } from "../ui/plain.ts";
import { putSteps, stepsOfFields } from "../ui/steps-form.ts";

/** A ladder as the fields of its form. What `ladderOfFields` reads of it is the same ladder. */
export function fieldsOfLadder(ladder: LadderInput): URLSearchParams {
  const { name, team, steps, passes, pass_after_minutes: pause } = ladder;
  const fields = new URLSearchParams({ name, team, passes: String(passes) });
  fields.set("pass_after_minutes", pause === null ? "" : String(pause));
  putSteps(fields, steps);
  return fields;
}

/** What a form says, as the interface would take it. Throws 400 with what is wrong at which field. */
export function ladderOfFields(form: URLSearchParams): LadderInput {
  const number = (name: string) => readNumber(form.get(name) ?? "");
  const body = withoutAbsent({
    name: form.get("name") ?? "",
    team: form.get("team") ?? "",
    passes: number("passes"),
    pass_after_minutes: number("pass_after_minutes"),
    steps: stepsOfFields(form),
  });
  return check(ladderCreate, body, "body");
}

/** Tells whether a ladder is still the one that was read. */
export function ladderDigest({ name, steps, passes, pass_after_minutes, team }: LadderInput) {
  const text = JSON.stringify([name, steps, passes, pass_after_minutes, team]);
  return textDigest(text);
}
