import assert from "node:assert/strict";
import { test } from "node:test";
import { ImportFault } from "../../../src/records/import/given-file.ts";
import fc from "../../support/property.ts";
import { importOf } from "./imported.ts";

const config = {
  global: {
    smtp_smarthost: "mail.example.com:25",
    smtp_from: "a@example.com",
    slack_api_url: "https://s.example.com",
  },
  route: {
    receiver: "a",
    group_by: ["alertname"],
    repeat_interval: "1h",
    routes: [
      { matchers: ['team=~"x|y"'], receiver: "b", continue: true, mute_time_intervals: ["n"] },
      {
        match: { team: "z" },
        match_re: { a: "b.*" },
        active_time_intervals: ["n"],
        routes: [{ matchers: ["c=d"] }],
      },
    ],
  },
  receivers: [
    { name: "a", webhook_configs: [{ url: "https://example.com" }] },
    { name: "b", slack_configs: [{ channel: "#c" }], email_configs: [{ to: "b@example.com" }] },
    { name: "c", telegram_configs: [{ bot_token: "1:a", chat_id: "-1" }] },
  ],
  inhibit_rules: [{ source_matchers: ["s=c"], target_match: { s: "w" }, equal: ["team"] }],
  time_intervals: [
    {
      name: "n",
      time_intervals: [
        {
          weekdays: ["monday"],
          times: [{ start_time: "09:00", end_time: "17:00" }],
          location: "UTC",
        },
      ],
    },
  ],
};

const silence = {
  matchers: [{ name: "team", value: "x.*", isRegex: true, isEqual: true }],
  startsAt: "2026-11-22T11:00:00Z",
  endsAt: "2026-11-22T15:00:00Z",
  comment: "c",
  createdBy: "d",
  status: { state: "active" },
};
const whole = { config, silences: [silence] };

/** The places of a value, each as the keys that lead there. */
function places(value: unknown, above: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [above];
  const below = Object.entries(value).flatMap(([key, inner]) => places(inner, [...above, key]));
  return above.length === 0 ? below : [above, ...below];
}

function changed(value: unknown, [key, ...rest]: readonly string[], to: unknown): unknown {
  if (key === undefined) return to;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string,
    unknown
  >;
  copy[key] = changed(copy[key], rest, to);
  return copy;
}

const odd = fc.oneof(
  fc.constantFrom(
    null,
    "",
    0,
    [],
    {},
    [[]],
    [null],
    "a",
    "x/y",
    "__proto__",
    "~",
    "-1",
    "{",
    '"',
    "\\",
    "é=ü",
    'a=~"["',
  ),
  fc.string({ maxLength: 300 }),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }),
);

test("whatever stands in one place of a configuration, it is told with its place, or a file comes of it that a box takes", () => {
  let read = 0;
  const all = places(whole).filter((place) => place.length > 1);
  fc.assert(
    fc.property(fc.constantFrom(...all), odd, (place, value) => {
      try {
        const { config, silences } = changed(whole, place, value) as typeof whole;
        importOf(config, silences);
        read += 1;
      } catch (fault) {
        assert.ok(fault instanceof ImportFault, `${place.join("/")}: ${String(fault)}`);
        assert.match(fault.message, /^(?:alertmanager\.yml|silences-0\.json): /);
      }
    }),
    { numRuns: Number(process.env["RUNS"] ?? 150) },
  );
  assert.ok(read > 20, `${read} were read`);
});
