import { tellTaken } from "../../../core/oncall/ask-answers.ts";
import {
  createOverride,
  deleteOverride,
  listOverrides,
  swapStretches,
} from "../../../core/oncall/overrides.ts";
import { overrideWrite, type StoredSchedule } from "../../../core/oncall/schedule.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { Form, FormDone, PageCall } from "../screen.ts";
import { blocksOf } from "../ui/calendar-rows.ts";
import { peopleNames } from "../ui/people-names.ts";
import {
  daysKept,
  pageWith,
  previewStored,
  scheduleOf,
  schedulePage,
  stretchWords,
} from "../ui/schedule.ts";
import { trying } from "../ui/trying.ts";
import { coverOf, spanOf, stretchAsked } from "./cover.ts";

/** What the page of a schedule does with overrides. */

/** The page again with the days that it showed, without the stretch that was asked about. */
const back = (stored: StoredSchedule, form: URLSearchParams): string =>
  pageWith(
    { path: schedulePage(stored), keep: daysKept(new URLSearchParams(form.get("keep") ?? "")) },
    "",
  );

/** `told`: whoever had the shift heard of it, and hears of this, too. */
const undoOf = (
  stored: StoredSchedule,
  ids: readonly string[],
  told: boolean,
): NonNullable<FormDone["undo"]> => ({
  action: `${schedulePage(stored)}/uncover`,
  fields: { ids: ids.join(" "), ...(told && { told: "true" }) },
});

function putOnCall(
  { tenant, who, params }: PageCall,
  form: URLSearchParams,
  wanted: { account_id: string; starts_at: number; ends_at: number },
  { tells = false }: { tells?: boolean } = {},
): FormDone {
  const { stored } = scheduleOf(tenant.store, params);
  const { account_id, starts_at: startsAt, ends_at } = check(overrideWrite, wanted, "body");
  const { id } = tenant.store.write((tx) => {
    const stretch = { from: wanted.starts_at, until: wanted.ends_at };
    if (tells && stretch.until > stretch.from)
      tellTaken(tx, stored, { ...stretch, by: who.accountId });
    return createOverride(tx, stored, {
      accountId: account_id,
      startsAt,
      endsAt: ends_at,
      createdBy: who.accountId,
    });
  });
  const name =
    account_id === who.accountId ? "You are" : `${peopleNames(tenant.store)(account_id)} is`;
  return {
    said: `${name} on call ${stretchWords(wanted, stored.timezone)}.`,
    undo: undoOf(stored, [id], tells),
    to: back(stored, form),
  };
}

const cover: Form = {
  verb: "createOverride",
  act(call, form) {
    const { stored } = scheduleOf(call.tenant.store, call.params);
    return putOnCall(call, form, coverOf(stored.timezone, form));
  },
};

/** From now on where it has begun. */
const take: Form = {
  verb: "createOverride",
  act(call, form) {
    const starts_at = Math.max(Number(form.get("starts_at")), call.now);
    const ends_at = Number(form.get("ends_at"));
    const wanted = { account_id: call.who.accountId, starts_at, ends_at };
    return putOnCall(call, form, wanted, { tells: true });
  },
};

const swap: Form = {
  verb: "createOverride",
  async act(call, form) {
    const { tenant, who, params } = call;
    const { stored } = scheduleOf(tenant.store, params);
    const [one, other] = await Promise.all([
      standing(call, stored, form.get("mine")),
      standing(call, stored, form.get("theirs")),
    ]);
    if (one.account_id !== who.accountId)
      throw new ServiceError("invalid_override", "That shift isn't yours by now.");
    const { ids } = tenant.store.write((tx) => {
      tellTaken(tx, stored, { ...spanOf(other), by: who.accountId, inReturn: spanOf(one) });
      return swapStretches(tx, stored, { one, other, createdBy: who.accountId });
    });
    const name = peopleNames(tenant.store)(other.account_id);
    return {
      said: `Swapped: ${name} has ${stretchWords(one, stored.timezone)}, you have ${stretchWords(other, stored.timezone)}.`,
      undo: undoOf(stored, ids, true),
      to: back(stored, form),
    };
  },
};

/** The one shift that fills a stretch; what has begun is swapped from now on. Throws 422 where it is no longer one. */
async function standing(call: PageCall, stored: StoredSchedule, text: string | null) {
  const at = stretchAsked(text);
  const from = Math.max(at?.starts_at ?? 0, call.now);
  if (at !== null && at.ends_at > from) {
    const overrides = listOverrides(call.tenant.store, stored);
    const range = { from, until: at.ends_at };
    const [only, ...more] = blocksOf(await previewStored(call, { stored, overrides }, range));
    const account_id = only?.account_id ?? null;
    if (account_id !== null && more.some((one) => one.starts_at < (only?.ends_at ?? 0)))
      throw new ServiceError(
        "invalid_override",
        "Others are on call in that shift too, and a swap would stand for all of them.",
      );
    if (account_id !== null && more.every((one) => one.account_id === account_id))
      return { account_id, starts_at: from, ends_at: at.ends_at };
  }
  throw new ServiceError("invalid_override", "That shift has changed: choose again.");
}

/** Takes back what was just put on call; what is gone by now stays gone. */
const uncover: Form = {
  verb: "deleteOverride",
  act({ tenant, who, params }, form) {
    const { stored } = scheduleOf(tenant.store, params);
    const ids = (form.get("ids") ?? "").split(" ", 2);
    const of = listOverrides(tenant.store, stored).filter(({ id }) => ids.includes(id));
    const own = of.find(({ account_id }) => account_id === who.accountId);
    const other = of.find((one) => one !== own);
    tenant.store.write((tx) => {
      for (const id of ids) deleteOverride(tx, stored, id);
      if (form.get("told") === null || own === undefined) return;
      const inReturn = other && spanOf(other);
      tellTaken(tx, stored, { ...spanOf(own), by: who.accountId, inReturn, undone: true });
    });
    return { said: "Taken back: as it was before.", to: schedulePage(stored) };
  },
};

const remove: Form = {
  verb: "deleteOverride",
  act({ tenant, params }, form) {
    const { stored } = scheduleOf(tenant.store, params);
    const found = listOverrides(tenant.store, stored).find(({ id }) => id === params["override"]);
    tenant.store.write((tx) => deleteOverride(tx, stored, params["override"] ?? ""));
    const path = schedulePage(stored);
    const said = `Removed: ${found === undefined ? "it" : peopleNames(tenant.store)(found.account_id)}.`;
    if (found === undefined) return { said, to: back(stored, form) };
    const { account_id, starts_at, ends_at } = found;
    const fields = { account_id, starts_at: String(starts_at), ends_at: String(ends_at) };
    return { said, undo: { action: `${path}/put-back`, fields }, to: back(stored, form) };
  },
};

/** One that was removed, as the newest. */
const putBack: Form = {
  verb: "createOverride",
  act: (call, form) =>
    putOnCall(call, form, {
      account_id: form.get("account_id") ?? "",
      starts_at: Number(form.get("starts_at")),
      ends_at: Number(form.get("ends_at")),
    }),
};

export const overrideActions: Readonly<Record<string, Form>> = {
  cover,
  "try-cover": trying("previewDraft"),
  take,
  swap,
  uncover,
  "put-back": putBack,
  "overrides/{override}/remove": remove,
};
