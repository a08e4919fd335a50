import type { ImportReport } from "../importer.ts";

type Role = "owner" | "admin" | "member";

/** A person in an export. */
interface GivenPerson {
  id: string;
  email: string;
  name: string;
  role: Role;
  /** Why the person isn't imported; null: they are. */
  leftOut: string | null;
}

/** A person as a configuration file has them. */
interface PlannedPerson {
  email: string;
  display_name?: string;
  role?: Role;
}

const fold = (email: string) => email.trim().normalize("NFC").toLowerCase();

/** An email that the box accepts. */
const isEmail = (text: string) =>
  /^[^\s@"]{1,64}@[^\s@"]{1,255}$/u.test(text) && !/[\p{Cc}\p{Cf}]/u.test(text);

/** All people of an export: one account for each email, in any case. */
export class GivenPeople {
  readonly planned: PlannedPerson[] = [];
  readonly #byId = new Map<string, string>();
  readonly #byEmail = new Map<string, string>();
  readonly #missed = new Set<string>();
  readonly #report: ImportReport;

  constructor(report: ImportReport) {
    this.#report = report;
  }

  add({ id, email, name, role, leftOut }: GivenPerson): void {
    const what = `user ${name || email || id}`;
    const why = leftOut ?? (isEmail(email) ? null : `"${email}" is no e-mail address.`);
    if (why !== null) {
      this.#missed.add(id);
      this.#report.impossible(what, why);
      return;
    }
    const folded = fold(email);
    const there = this.#byEmail.get(folded);
    this.#byId.set(id, there ?? folded);
    if (there !== undefined) return;
    this.#byEmail.set(folded, folded);
    const display = [...name.trim()].slice(0, 128).join("");
    this.planned.push({
      email: folded,
      ...(display === "" ? {} : { display_name: display }),
      ...(role === "member" ? {} : { role }),
    });
    this.#report.exact(what, `An account of role ${role}.`);
  }

  /** The email of a user, by id or by email. null for an unknown one, reported once. `where`: what names the user. */
  find(ref: { id?: string; email?: string; called?: string }, where: string): string | null {
    const { id = "", email = "", called = "" } = ref;
    const found = this.#byId.get(id) ?? this.#byEmail.get(fold(email));
    if (found !== undefined) return found;
    const who = called || email || id;
    const key = `${who} ${where}`;
    if (!this.#missed.has(key))
      this.#report.impossible(
        where,
        `It names the user ${who}, who isn't imported, and is left out here.`,
      );
    this.#missed.add(key);
    return null;
  }
}
