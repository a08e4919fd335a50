import {
  fieldAt,
  fileOf,
  filesOf,
  LIVE_DAYS,
  type LiveFiles,
  type LiveReader,
  pagesOf,
  queryOfLink,
  thingIds,
} from "../live.ts";

const LISTS = [
  "users",
  "teams",
  "schedules",
  "on_call_shifts",
  "escalation_chains",
  "escalation_policies",
  "integrations",
  "routes",
  "shift_swaps",
];

export const liveOnCall: LiveReader = {
  headers: (token) => ({ authorization: token }),
  *files({ now }) {
    const files = [];
    const all = (path: string): LiveFiles<unknown[]> =>
      pagesOf(`/api/v1/${path}`, (answer) => queryOfLink(fieldAt(answer, "next")));
    const day = (days: number) => new Date((now + days * 86_400) * 1000).toISOString().slice(0, 10);
    const schedules: string[] = [];
    for (const name of LISTS) {
      const answers = yield* all(`${name}/`);
      files.push(...filesOf(name, answers));
      if (name === "schedules") schedules.push(...thingIds(answers, "results"));
    }
    for (const id of schedules) {
      const place = `schedules/${encodeURIComponent(id)}/final_shifts/`;
      const answers = yield* all(`${place}?start_date=${day(0)}&end_date=${day(LIVE_DAYS)}`);
      files.push(...answers.map((one, i) => fileOf(`final-shifts-${id}-${i + 1}.json`, one)));
    }
    return files;
  },
};
