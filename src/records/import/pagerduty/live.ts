import {
  fieldAt,
  fileOf,
  filesOf,
  LIVE_DAYS,
  type LiveFiles,
  type LiveReader,
  pagesOf,
  thingIds,
} from "../live.ts";

export const livePagerDuty: LiveReader = {
  headers: (token) => ({
    authorization: `Token token=${token}`,
    accept: "application/vnd.pagerduty+json;version=2",
  }),
  *files({ now }) {
    const files = [];
    for (const [name, query] of [
      ["users", ""],
      ["escalation_policies", ""],
      ["services", "&include[]=integrations"],
      ["maintenance_windows", "&filter=future"],
    ] as const)
      files.push(...filesOf(name, yield* all(`/${name}?limit=100${query}`)));
    const time = (days: number) => new Date((now + days * 86_400) * 1000).toISOString();
    const range = `since=${time(0)}&until=${time(LIVE_DAYS)}`;
    // The list has no layers.
    for (const id of thingIds(yield* all("/schedules?limit=100"), "schedules")) {
      const place = `/schedules/${encodeURIComponent(id)}`;
      files.push(fileOf(`schedule-${id}.json`, yield { path: `${place}?${range}` }));
      files.push(fileOf(`overrides-${id}.json`, yield { path: `${place}/overrides?${range}` }));
    }
    return files;
  },
};

const all = (path: string): LiveFiles<unknown[]> =>
  pagesOf(path, (answer) => {
    if (fieldAt(answer, "more") !== true) return null;
    const number = (name: string) => Number(fieldAt(answer, name));
    return { offset: `${(number("offset") || 0) + (number("limit") || 100)}` };
  });
