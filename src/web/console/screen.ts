import type { ServiceError } from "../../ground/kit/errors.ts";
import type { Markup } from "../../ground/kit/html.ts";
import type { Role } from "../../ground/store/columns.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import type { DisplaySettings } from "./display.ts";
import type { System } from "./system-port.ts";

/** Who has signed in, with the role that they have now. */
export interface Who {
  accountId: string;
  role: Role;
  /** As others see it. */
  name: string;
  email: string;
  sessionId: string;
}

/** One request for a screen. */
export interface PageCall {
  tenant: Tenant;
  who: Who;
  /** Of the address, percent-decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** The address that is shown, with its query, below `base`. */
  at: string;
  /** Unix seconds. */
  now: number;
  look: DisplaySettings;
  /** What stands before every address: "", or "/box" behind a proxy. */
  base: string;
  /** As in the address bar: `https://box.example.org/box`, for what is pasted elsewhere. */
  origin: string;
  system: System;
  /** The client's address. */
  address: string;
  /** Whether the browser came by https: what cookies are named after. */
  secure: boolean;
  /** What came back with a form of this page, and why it wasn't taken. */
  returned: Returned | null;
  /** What is shown this once: a new token, by its name. */
  shown: Readonly<Record<string, string>>;
  /** Ids of the rows that an open page shows, where its script asks, each with how it was drawn: see `stayingRow`. */
  rows: ReadonlyMap<string, string>;
  /** Whether an open page asks for parts of itself. */
  isOpen: boolean;
  /** Whether there is a page at this address below `base`: nothing leads nowhere. */
  leads(path: string): boolean;
}

export interface Returned {
  /** The form's own address, below `base`. */
  action: string;
  form: URLSearchParams;
  error: ServiceError;
}

/** A part of a page that is drawn anew by itself. */
export interface Section {
  /** Names of what it shows, as the stream of changes calls them; none where it stays as it was drawn. */
  watches?: readonly string[];
  draw(): Markup | Promise<Markup>;
  /** Unix seconds at which it is another by time alone, which nobody tells: an open page asks for it anew then. */
  turnsAt?: number | null;
  /** Further attributes of its element, made by `html`. */
  attributes?: Markup;
}

/** How a section is drawn, where that is all there is to say of it. */
export type Drawing = Section["draw"];

export interface View {
  title: string;
  /** Stands as the heading; the title where absent. null: the page has its own. */
  heading?: Markup | null;
  /** Stands beside the heading: buttons of icons. */
  tools?(): Markup | Promise<Markup>;
  /** Which entry of the navigation it belongs to. */
  nav: NavId;
  /** By id, in the order of the page. */
  sections: Readonly<Record<string, Section | Drawing>>;
  /** Where they stand; one after another where absent. */
  body?(put: (id: string) => Markup): Markup;
  /** The address that shows just this again, below `base`, where that isn't the one that was asked for. */
  at?: string | undefined;
  /** A script that only this page has, by its name in `src/web/browser/pages`. */
  script?: string;
  /** In a wide window: the screen that stands beside this one, by its address below `base`. */
  beside?: Beside;
  /** Of its answers, beside those that every page has. */
  headers?: Readonly<Record<string, string>>;
}

export interface Beside {
  at: string;
  /** Which of the two it is: the list, or what is chosen in it. */
  as: "list" | "chosen";
  /** The address of both together, where that isn't the page's own. */
  both?: string;
}

/** There is no page here: it lies at another address, below `base`. */
export interface Elsewhere {
  elsewhere: string;
}

export type NavId =
  | "alerts"
  | "oncall"
  | "projects"
  | "silences"
  | "heartbeats"
  | "numbers"
  | "people"
  | "system"
  | "me"
  | "search"
  | "more"
  | "none";

/** What came of a form. */
export interface FormDone {
  /** In a sentence, past tense: "Acknowledged #130." */
  said: string;
  /** A form that takes it back. */
  undo?: { action: string; fields?: Readonly<Record<string, string>> };
  /** Where to go on, below `base`; the page that the form stood on where absent. */
  to?: string;
  /** `Set-Cookie` values: how pages look in this browser. */
  cookies?: readonly string[];
  /** The session is over: its cookie goes, with what the browser cached; `all`: with all that it kept. */
  signsOut?: "cached" | "all";
  /** Shown this once, on the page that `to` names or that the form stood on, and stored nowhere. */
  shown?: Readonly<Record<string, string>>;
  /** Answered in place of any page: for a frame. */
  sheet?: RawDocument;
}

/** One thing that a page can do. */
export interface Form {
  /** As the audit calls it: the name of the same operation of the interface where there is one. */
  verb: string;
  /** What it is done to, `kind` or `kind:id`, where neither its address nor its verb says it: see `targetOf`. */
  target?: string;
  /** Nothing is written: a preview, a try. It is asked without an author. */
  reads?: true;
  /** Something goes out and nothing is stored: it is told in the audit all the same. */
  auditAlways?: true;
  /** Throws ServiceError: the page comes back with what was typed. `tenant.store` writes in the caller's name. */
  act(call: PageCall, form: URLSearchParams): FormDone | Promise<FormDone>;
}

/** What a browser saves and doesn't show. */
export interface PageFile {
  /** As it is saved. */
  name: string;
  /** Its media type. */
  type: string;
  /** Piece by piece, where it may be long. */
  body: string | AsyncIterable<string>;
}

/** A document that isn't one of the console's pages, as it is sent. */
export interface RawDocument {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** A page: one address, what it shows, and what it can do. */
export interface Screen {
  /** `/a/{alert}`. A name that is a kind of thing of the audit says what a form below it is done to. */
  path: string;
  /** Throws ServiceError: its page is shown in the same frame. */
  view(call: PageCall): View | Elsewhere | Promise<View | Elsewhere>;
  /** By what stands behind the path: `ack` is POST `/a/{alert}/ack`, the empty one the page's own address. */
  forms?: Readonly<Record<string, Form>>;
  /** Files that it gives, by what stands behind the path: `export` is GET `/audit/export`. Throws ServiceError. */
  files?: Readonly<Record<string, MakeFile>>;
}

/** Gives what is saved, or what a frame shows. */
export type MakeFile = (call: PageCall) => PageFile | RawDocument | Promise<PageFile | RawDocument>;

/** `p/` and a name → `/p/a%2Fb`: names stand in addresses percent-encoded once. */
export function pathOf(...parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join("/")}`;
}
