import { liftSilence, makeSilence, rewriteSilence } from "../../../core/alerts/silencing.ts";
import { type SilenceAnswer, silenceChange, silenceWrite } from "../../../core/quiet/silence.ts";
import { getSilence, toSilence } from "../../../core/quiet/silences.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { Form, FormDone, PageCall } from "../screen.ts";
import { instantField, knownField, localText } from "../ui/local-time.ts";
import { silenceName } from "../ui/silence-words.ts";
import { timeOnClock } from "../ui/times.ts";

/** The one of the address, as it is now. Throws 404. */
export function silenceHere({ tenant: { store }, params, now }: PageCall): SilenceAnswer {
  return toSilence(store, getSilence(store, params["silence"] ?? ""), now);
}

/** What makes it again, as it was. */
function againFields(silence: SilenceAnswer): Record<string, string> {
  const { id, state, until, next_at, holds, managed, created_by, created_at, ...write } = silence;
  return { silence: JSON.stringify(write) };
}

const HOUR = 3600;

/** Back where it ended: these fields are what its form would send. */
const undoOf = (call: PageCall, { id, ends_at }: SilenceAnswer): NonNullable<FormDone["undo"]> => ({
  action: `/silences/${id}`,
  fields: {
    ends_at: localText(call.look.zone, ends_at),
    [knownField("ends_at")]: String(ends_at),
  },
});

/** Of one silence, by what stands behind its address. */
export const silenceForms: Readonly<Record<string, Form>> = {
  end: {
    verb: "deleteSilence",
    act(call) {
      const silence = silenceHere(call);
      call.tenant.store.write((tx) => liftSilence(tx, silence.id));
      const said =
        silence.state === "planned"
          ? `Deleted: ${silenceName(silence)}.`
          : `Ended: ${silenceName(silence)}. What it held back is sent now.`;
      const isHere = call.at === `/silences/${silence.id}/end`;
      const done = { said, ...(isHere && silence.state === "planned" && { to: "/silences" }) };
      // The file makes its own again.
      if (silence.state === "over" || silence.managed) return done;
      return { ...done, undo: { action: "/silences/again", fields: againFields(silence) } };
    },
  },
  longer: {
    verb: "changeSilence",
    act(call) {
      const before = silenceHere(call);
      if (before.repeat !== "none")
        throw new ServiceError("invalid_silence", "Each of its windows would be longer.");
      const ends_at = before.ends_at + HOUR;
      call.tenant.store.write((tx) => rewriteSilence(tx, before.id, { ends_at }));
      const said = `${silenceName(before)} is silenced until ${timeOnClock(call, ends_at)}.`;
      return { said, undo: undoOf(call, before) };
    },
  },
  "": {
    verb: "changeSilence",
    act(call, form) {
      const before = silenceHere(call);
      if (before.managed)
        throw new ServiceError("invalid_silence", "The configuration file says what it is.");
      const zone = before.repeat === "none" ? call.look.zone : before.timezone;
      const time = (name: string) =>
        (form.get(name) ?? "") === "" ? {} : { [name]: instantField(zone, form, name) };
      const change = check(
        silenceChange,
        {
          ...(before.repeat === "none" ? time("ends_at") : time("repeat_until")),
          ...(form.has("reason") && { reason: (form.get("reason") ?? "").trim() }),
        },
        "body",
      );
      call.tenant.store.write((tx) => rewriteSilence(tx, before.id, change));
      return { said: `Changed: ${silenceName(before)}.`, undo: undoOf(call, before) };
    },
  },
};

/** Makes one that was ended again, to end when it was to. */
export const makeAgain: Form = {
  verb: "createSilence",
  act(call, form) {
    let body: unknown;
    try {
      body = JSON.parse(form.get("silence") ?? "");
    } catch {
      throw new ServiceError("invalid_request", "That is no silence.");
    }
    const write = check(silenceWrite, body, "body");
    const { id } = call.tenant.store.write((tx) =>
      makeSilence(tx, { write, createdBy: call.who.accountId }),
    );
    return { said: `Silenced again: ${silenceName(write)}.`, to: `/silences#silence-${id}` };
  },
};
