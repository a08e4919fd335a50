import { ImportFault } from "../given-file.ts";
import { fieldAt, filesOf, type LiveReader } from "../live.ts";

/** The lists of the query, with the variable that has each one's place. */
const LISTS = [
  "users",
  "rotations",
  "schedules",
  "userOverrides",
  "escalationPolicies",
  "services",
] as const;

const page = (name: string) => `input: {first: 150, after: $${name}}`;

/** One fixed text, because an API key of GoAlert allows one query only. */
const QUERY = `query($from: ISOTimestamp!, $until: ISOTimestamp!, ${LISTS.map((name) => `$${name}: String = ""`).join(", ")}) {
  users(${page("users")}) { nodes { id name email role } pageInfo { hasNextPage endCursor } }
  rotations(${page("rotations")}) { nodes { id name type start timeZone shiftLength activeUserIndex userIDs } pageInfo { hasNextPage endCursor } }
  schedules(${page("schedules")}) { nodes { id name timeZone
    targets { target { id type name } rules { start end weekdayFilter } }
    temporarySchedules { start end shifts { userID start end } }
    shifts(start: $from, end: $until) { userID start end truncated } } pageInfo { hasNextPage endCursor } }
  userOverrides(${page("userOverrides")}) { nodes { start end addUserID removeUserID target { id } } pageInfo { hasNextPage endCursor } }
  escalationPolicies(${page("escalationPolicies")}) { nodes { id name repeat steps { delayMinutes targets { id type name } } } pageInfo { hasNextPage endCursor } }
  services(${page("services")}) { nodes { id name escalationPolicyID maintenanceExpiresAt
    integrationKeys { id type name } heartbeatMonitors { id name timeoutMinutes } } pageInfo { hasNextPage endCursor } }
}`;

const DAYS = 45;

export const liveGoAlert: LiveReader = {
  // An API key is a JWT, the token of a session isn't.
  headers: (token): Record<string, string> =>
    token.split(".").length === 3
      ? { authorization: `Bearer ${token}` }
      : { cookie: `goalert_session.2=${token}` },
  *files({ now }) {
    const pages: object[] = [];
    const time = (days: number) => new Date((now + days * 86_400) * 1000).toISOString();
    const variables: Record<string, string> = { from: time(0), until: time(DAYS) };
    for (let open: readonly string[] = LISTS; open.length > 0; ) {
      const answer = yield { path: "/api/graphql", body: { query: QUERY, variables } };
      const refused = fieldAt(answer, "errors", "0", "message");
      if (refused !== undefined) throw new ImportFault(`GoAlert refused the query: ${refused}`);
      const lists = open.map((name) => [name, fieldAt(answer, "data", name)] as const);
      const data = Object.fromEntries(lists.filter(([, list]) => list !== undefined));
      // A list that ended before is answered again, and is left out.
      pages.push({ data });
      open = open.filter((name) => {
        const next = fieldAt(data, name, "pageInfo");
        const cursor = fieldAt(next, "endCursor");
        const isOpen = fieldAt(next, "hasNextPage") === true && typeof cursor === "string";
        if (isOpen) variables[name] = cursor;
        return isOpen;
      });
    }
    return filesOf("export", pages);
  },
};
