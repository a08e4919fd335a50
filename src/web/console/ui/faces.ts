import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { provedTimes } from "../../../out/contacts/confirmed.ts";
import { accountHues } from "../../../people/accounts.ts";
import type { PageCall } from "../screen.ts";
import { type IconName, icon } from "./icon.ts";
import { ago } from "./times.ts";

/** What the box can prove of a way to somebody: something was seen in the past week, before that, never, or there is no way. */
export type Proof = "proved" | "stale" | "never" | "none";

/** Somebody as pages draw them. */
export interface Face {
  id: string;
  name: string;
  initials: string;
  /** 1 to 8; given once, with the account. */
  hue: number;
  proof: Proof;
  /** When it was proved last, Unix seconds. */
  provedAt: number | null;
}

/** How long what a device sent back stands for a way that rings, in seconds. */
const WEEK = 7 * 86_400;
/** Of so many people without another way it is asked whether they have the app. */
const MOST_ASKED = 50;

export type Faces = (account: string | null) => Face;

const GONE: Face = {
  id: "",
  name: "somebody who was removed",
  initials: "–",
  hue: 8,
  proof: "none",
  provedAt: null,
};

/** Everybody here, or one alone, with what is proved of them. */
export async function facesOf(
  { tenant, now }: Pick<PageCall, "tenant" | "now">,
  only: string | null = null,
): Promise<Faces> {
  const { store } = tenant;
  const people = accountHues(store, only);
  const proved = provedTimes(store, only);
  const apps = new Set<string>();
  const without = people.filter(({ id }) => !proved.has(id));
  for (const { id } of without.slice(0, MOST_ASKED))
    if ((await tenant.devices.list(id)).length > 0) apps.add(id);
  // Of whom it wasn't asked nothing worse is said than that nothing is proved.
  for (const { id } of without.slice(MOST_ASKED)) apps.add(id);
  const proofOf = (id: string): Proof => {
    const at = proved.get(id);
    if (at === undefined) return apps.has(id) ? "never" : "none";
    if (at === 0) return "never";
    return now - at <= WEEK ? "proved" : "stale";
  };
  const faces = new Map(
    people.map(({ id, name, hue }) => {
      const provedAt = proved.get(id) || null;
      return [id, { id, name, initials: initials(name), hue, proof: proofOf(id), provedAt }];
    }),
  );
  return (account) => faces.get(account ?? "") ?? GONE;
}

/** "AO" for Ann Other, of the first word and the last; "AN" for Ann. */
export function initials(name: string): string {
  const words = name.split(/[\s@._-]+/).filter((word) => word !== "");
  const letters = (word: string) => [...word];
  const [first = "", last = ""] = [words[0], words.length > 1 ? words.at(-1) : undefined];
  const both = last === "" ? letters(first).slice(0, 2) : [letters(first)[0], letters(last)[0]];
  return both.join("").toUpperCase();
}

const DOTS: Readonly<Record<Proof, { words: string; look: string; shape: Markup }>> = {
  proved: {
    words: "proved",
    look: "good",
    shape: html`<circle class="f" cx="6" cy="6" r="6"/><path class="k" d="M3.3 6.3 5.3 8.2 8.8 4.2"/>`,
  },
  stale: {
    words: "not proved lately",
    look: "warn",
    shape: html`<circle class="o" cx="6" cy="6" r="4.9"/><path class="f" d="M6 1.1a4.9 4.9 0 0 1 0 9.8z"/>`,
  },
  never: {
    words: "never proved",
    look: "soft",
    shape: html`<circle class="o" cx="6" cy="6" r="4.9"/>`,
  },
  none: {
    words: "nothing reaches them",
    look: "crit",
    shape: html`<circle class="f" cx="6" cy="6" r="6"/><path class="k" d="m4 4 4 4M8 4 4 8"/>`,
  },
};

/** Whether the box has proof that it reaches somebody: a shape, with its words for who doesn't see it. */
export function proofDot(proof: Proof): Markup {
  const { words, look, shape } = DOTS[proof];
  return html`<svg class="proof ${look}" viewBox="0 0 12 12" role="img" aria-label="${words}">${shape}</svg>`;
}

/** "proved 2 h ago", "never proved". */
export function proofWords(
  call: Pick<PageCall, "now" | "look">,
  { proof, provedAt }: Pick<Face, "proof" | "provedAt">,
): Markup {
  const { words, look } = DOTS[proof];
  if (provedAt === null) return html`<span class="${look}">${words}</span>`;
  return html`<span class="${look}">${proof === "stale" ? "last proved" : "proved"} ${ago(call, provedAt)}</span>`;
}

interface ChipLook {
  size?: "small" | "usual" | "large";
  /** It is rung just now. Its dot would be read as "has seen it", and goes meanwhile. */
  rings?: boolean;
  /** Without: where nobody is to be reached, as in what is over. */
  dot?: boolean;
}

/** A person's initials on their colour. The name stands beside it. */
export function chip(
  face: Face,
  { size = "usual", rings = false, dot = true }: ChipLook = {},
): Markup {
  const by = { small: " chip-small", usual: "", large: " chip-large" }[size];
  return html`<span class="chip hue-${face.hue}${by}${rings && " chip-rings"}"><span aria-hidden="true">${face.initials}</span>${dot && !rings && face.id !== "" && proofDot(face.proof)}</span>`;
}

/** The same for what is no person. */
export const squareChip = (
  name: IconName,
  more: Piece = null,
  size: "usual" | "large" = "usual",
): Markup =>
  html`<span class="chip chip-square${size === "large" && " chip-large"}">${icon(name, size === "large" ? "usual" : "small")}${more}</span>`;
