import {
  fieldAt,
  fileOf,
  filesOf,
  type LiveFiles,
  type LiveReader,
  pagesOf,
  queryOfLink,
  thingIds,
} from "../live.ts";

export const liveOpsgenie: LiveReader = {
  headers: (token) => ({ authorization: `GenieKey ${token}` }),
  *files() {
    const files = [];
    const all = (path: string): LiveFiles<unknown[]> =>
      pagesOf(`/v2/${path}`, (answer) => queryOfLink(fieldAt(answer, "paging", "next")));
    for (const [name, query] of [
      ["users", "?limit=100"],
      ["escalations", ""],
      ["integrations", ""],
      ["heartbeats", ""],
    ] as const)
      files.push(...filesOf(name, yield* all(`${name}${query}`)));
    const schedules = yield* all("schedules?expand=rotation");
    files.push(...filesOf("schedules", schedules));
    // The list has no members.
    for (const id of thingIds(yield* all("teams"), "data")) {
      const place = `/v2/teams/${encodeURIComponent(id)}`;
      files.push(fileOf(`team-${id}.json`, yield { path: place }));
      files.push(fileOf(`routing-rules-${id}.json`, yield { path: `${place}/routing-rules` }));
    }
    for (const id of thingIds(schedules, "data")) {
      const place = `/v2/schedules/${encodeURIComponent(id)}`;
      files.push(fileOf(`overrides-${id}.json`, yield { path: `${place}/overrides` }));
      const timeline = yield { path: `${place}/timeline?interval=3&intervalUnit=months` };
      files.push(fileOf(`timeline-${id}.json`, timeline));
    }
    return files;
  },
};
