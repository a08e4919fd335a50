import assert from "node:assert/strict";
import { after, before } from "node:test";
import type { Role } from "../../src/ground/store/columns.ts";
import type { Form } from "../../src/web/console/screen.ts";
import { screens } from "../../src/web/console/screens.ts";
import { type Person, type TestBox, testBox } from "../support/box.ts";
import { type PageAnswer, tabOf } from "../support/console.ts";
import { dump } from "../support/dump.ts";
import { long, test } from "../support/long.ts";
import { noteStatements, tooWide } from "../support/plans.ts";
import { type Document, readDocument } from "./document.ts";
import { type PageFixture, pageBodies, pageFixture } from "./page-fixture.ts";

const noted = noteStatements();
let box: TestBox;
let document: Document;
const people = new Map<Role, Person>();
before(async () => {
  const at = await testBox();
  // By its name: an address has no passkeys.
  box = Object.create(at, { url: { value: at.url.replace("127.0.0.1", "localhost") } });
  document = await readDocument(box.url);
  for (const role of ["owner", "admin", "member"] as const) people.set(role, box.person(role));
  for (const { key } of people.values()) await box.api("GET", "/v1/me", undefined, key);
  idleDesks(box);
});
after(async () => {
  noted.stop();
  await box.stop();
});

/** Who may ask for them is looked at here; what they do in processes of their own is desk.test.ts's. */
function idleDesks({ tenant }: TestBox): void {
  const { host: house } = tenant;
  assert.ok(house);
  const { doctor } = house;
  const idle = { isRunning: () => false, failure: () => null };
  tenant.standIn({
    ...house,
    doctor: { ...doctor, look: () => {} },
    backups: { ...idle, hours: 1, keep: 1, list: () => [], make: () => {} },
  });
}

/** Every form that there is, by its path. */
const forms: [path: string, form: Form][] = screens.flatMap(({ path, forms: own = {} }) =>
  Object.entries(own).map(([suffix, form]): [string, Form] => [
    suffix === "" ? path : `${path}/${suffix}`,
    form,
  ]),
);

const writes = () => box.tenant.store.sql("SELECT total_changes()").pluck().get();
const leave = (at: string) => {
  const project = /^\/(?:p|oncall)\/(project-\d+)/.exec(at)?.[1];
  return project === undefined ? null : box.api("DELETE", `/v1/projects/${project}`);
};
const person = (role: Role) => people.get(role) as Person;
/** Of everybody who reads, and leaves all as it was. */
async function ofEachRole(): Promise<Map<Role, PageFixture>> {
  const made = [...people].map(async ([role, who]) => [role, await pageFixture(box, who)] as const);
  return new Map(await Promise.all(made));
}
const taken = ({ status }: PageAnswer) => status === 303 || status === 200;

test("every form has an example, and every example a form", () => {
  assert.deepEqual(
    Object.keys(pageBodies).sort(),
    forms.map(([path]) => path).sort(),
    "teach test/matrix/page-fixture.ts the new ones",
  );
});

test("every screen is shown to each role, and to nobody without a session, whatever bearer comes", async () => {
  const fixtures = await ofEachRole();
  for (const { path } of screens) {
    for (const [role, f] of fixtures) {
      const at = await f.address(path);
      const from = writes();
      const shown = MOVED.has(path) ? 303 : 200;
      assert.equal((await f.tab.get(at)).status, shown, `${path} as ${role}`);
      assert.equal(writes(), from, `${path} as ${role} wrote`);
      if (role !== "owner") continue;
      const nobody = tabOf(box, "");
      const bearer: Record<string, string> = { authorization: `Bearer ${f.person.key}` };
      for (const headers of [{}, bearer]) {
        const answer = await nobody.get(at, headers);
        assert.equal(answer.status, 303, `${path} without a session`);
        assert.match(answer.headers.get("location") ?? "", /^\/signin/, path);
        assert.equal(answer.text, "");
      }
      assert.equal(writes(), from);
    }
  }
});

test("every file of a page goes to who has signed in, or says that it isn't theirs, and to nobody else", async () => {
  const fixtures = await ofEachRole();
  for (const { path, files = {} } of screens)
    for (const suffix of Object.keys(files)) {
      for (const [role, f] of fixtures) {
        const at = `${await f.address(path)}/${suffix}`;
        const from = writes();
        const { status, headers } = await f.tab.get(at);
        const isSaved = headers.get("content-disposition")?.startsWith("attachment; ") ?? false;
        // What a frame shows has no rights.
        const isFile = isSaved || /; sandbox;/.test(headers.get("content-security-policy") ?? "");
        assert.ok(
          isFile ? status === 200 : status === 403 && role === "member",
          `${at}: ${status}`,
        );
        assert.equal((await tabOf(box, "").get(at)).status, 303, `${at} without a session`);
        assert.equal(writes(), from, `${at} as ${role} wrote`);
      }
    }
});

test("no form is taken from a stranger, from a bearer, or from another origin's page", async () => {
  const f = await pageFixture(box, person("owner"));
  for (const [path] of forms) {
    const at = await f.address(path);
    const fields = await f.fields(path);
    const nobody = tabOf(box, "");
    const from = writes();
    const refused = async (what: string, wanted: number, sent: Promise<PageAnswer>) => {
      const { status, headers } = await sent;
      assert.equal(status, wanted, `${path} from ${what}`);
      if (wanted === 303) assert.match(headers.get("location") ?? "", /^\/signin/, path);
      assert.equal(writes(), from, `${path} from ${what} wrote`);
    };
    const authorization = `Bearer ${f.person.key}`;
    await refused("a stranger", 303, nobody.post(at, fields));
    await refused("a bearer", 303, nobody.post(at, fields, { headers: { authorization } }));
    for (const [what, headers] of Object.entries(ELSEWHERE))
      await refused(what, 403, f.tab.post(at, fields, { headers }));
  }
});

/** How browsers name a page that isn't the box's own. */
const ELSEWHERE: Record<string, Record<string, string>> = {
  "another origin": { origin: "https://evil.example.org" },
  "no origin that may be told": { origin: "null" },
  "another site": { "sec-fetch-site": "cross-site" },
  "a neighbour's host": { "sec-fetch-site": "same-site" },
};

/** Their own name is everybody's to choose: the interface changes others'. */
const OWN: ReadonlySet<string> = new Set(["/me/name"]);

/** Addresses that lead to others. */
const MOVED: ReadonlySet<string> = new Set(["/simulate"]);

/** Deeds that only pages have, and only for those who manage. */
const OF_MANAGERS: ReadonlySet<string> = new Set(["testRelay"]);
/** The same of owners. */
const OF_OWNERS: ReadonlySet<string> = new Set(["testGateway"]);
/** No operation of the interface: of one's own everybody's, of others' a manager's. */
const GOVERNED: ReadonlySet<string> = new Set(["removePasskey"]);

/** Tries that are done and taken back within one transaction. */
const UNDONE: ReadonlySet<string> = new Set(["/p/{project}/config/plan"]);

/** What the interface says of the operation that a form is. */
function mayDo({ verb }: Form, role: Role): "yes" | "no" | "perhaps" {
  if (GOVERNED.has(verb)) return "perhaps";
  const operation = document.operations.find(({ id }) => id === verb);
  if (OF_OWNERS.has(verb)) return role === "owner" ? "yes" : "no";
  if (OF_MANAGERS.has(verb)) return role === "member" ? "no" : "yes";
  if (operation === undefined || !operation.needsManager)
    return operation?.codes.get(403)?.includes("forbidden") ? "perhaps" : "yes";
  const isBelow = role === "member" || (role === "admin" && operation.needsOwner);
  return isBelow ? "no" : "yes";
}

long(
  "each role does by a form what it may by the interface, and what was done is in the audit",
  async () => {
    const rows = (after: unknown) =>
      box.tenant.store
        .sql<[unknown], { verb: string; via: string; account_id: string }>(
          "SELECT verb, via, account_id FROM audit WHERE id > ?",
        )
        .all(after);
    const faults: string[] = [];
    for (const [path, form] of forms)
      for (const role of people.keys()) {
        const f: PageFixture = await pageFixture(box, person(role));
        const at = await f.address(path);
        const fields = await f.fields(path);
        const last = box.tenant.store.sql("SELECT coalesce(max(id), 0) FROM audit").pluck().get();
        const from = writes();
        // What is done and undone writes: there it is what is left that counts.
        const standing = () => (UNDONE.has(path) ? dump(box.tenant.store.db) : writes());
        const stood = standing();
        const answer = await f.tab.post(at, fields);
        const left = rows(last);
        const what = `${path} as ${role}: ${answer.status}`;
        const said = /<output[^>]*>([\s\S]*?)<\/output>/.exec(answer.text)?.[1] ?? "";
        const may = mayDo(form, role);
        if (answer.status === 403) {
          if (may === "yes") faults.push(`${what}, though the interface lets them`);
          if (writes() !== from) faults.push(`${what} wrote`);
        } else if (!taken(answer)) faults.push(`${what} ${said.replace(/<[^>]*>/g, "").trim()}`);
        else if (may === "no" && !OWN.has(path))
          faults.push(`${what}, though the interface doesn't let them`);
        else if (form.reads) {
          if (left.length > 0 || standing() !== stood) faults.push(`${what} wrote, and only reads`);
        } else {
          if (left.length === 0) faults.push(`${what}: no row in the audit`);
          for (const { verb, via, account_id } of left)
            if (verb !== form.verb || via !== "page" || account_id !== f.person.accountId)
              faults.push(`${what}: a row ${verb} via ${via}`);
        }
        await leave(at);
      }
    assert.deepEqual(faults, []);
  },
);

test("no page and no form reads what grows from end to end", () => {
  assert.deepEqual(tooWide(box.tenant.store.db, noted), []);
});
