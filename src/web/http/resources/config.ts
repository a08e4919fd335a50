import { z } from "zod";
import { getProject } from "../../../core/projects/projects.ts";
import { scheduleReference } from "../../../core/projects/rule.ts";
import { integer, list, pathName } from "../../../ground/kit/fields.ts";
import type { ChannelList } from "../../../out/services/list.ts";
import { emailField } from "../../../people/account.ts";
import { applyConfig } from "../../../records/config-file/apply.ts";
import { changeKinds } from "../../../records/config-file/changes.ts";
import { ladderEnd } from "../../../records/config-file/ladders-end.ts";
import { readConfig } from "../../../records/config-file/read.ts";
import { projectConfigOf } from "../../../records/config-file/shape.ts";
import { tryConfig } from "../../../records/config-file/try.ts";
import { guardOf } from "../../../tenant/channel-verbs.ts";
import { projectPath } from "../fields.ts";
import { PING } from "../ping.ts";
import { type Route, route } from "../route.ts";

const PATH = "/v1/projects/{id}/config";

const change = z.object({
  kind: z.enum(changeKinds),
  name: z.string(),
  change: z.enum(["create", "update", "delete"]),
  was: z.string().optional().meta({
    description:
      "Of a rule that has another name now: the one before. It takes the same events, and keeps its alerts.",
  }),
});

const shown = z.string().meta({ description: "Shown this once." });

/** A project's configuration as one value: `box config` on the command line. */
export const configRoutes = (channels: ChannelList): Route[] => {
  const projectConfig = projectConfigOf(channels);
  return [
    route({
      method: "GET",
      path: PATH,
      name: "getProjectConfig",
      tag: "Configuration",
      summary:
        "The project's configuration as one value; credentials are said to be there, no more",
      plane: "api",
      manager: true,
      additive: true,
      params: projectPath,
      query: z.strictObject({
        overrides: z.enum(["true", "false"], { error: "must be true or false" }).optional().meta({
          description: "With the overrides of its schedules that aren't over.",
        }),
      }),
      status: 200,
      answer: z.object({ version: z.int(), config: projectConfig }),
      errors: ["invalid_request", "forbidden", "not_found"],
      handle: ({ tenant, params, query }) => {
        const project = getProject(tenant.store, params.id);
        return {
          version: project.version,
          config: readConfig(tenant.store, project, tenant.channels, {
            overrides: query.overrides === "true",
          }),
        };
      },
    }),
    route({
      method: "PUT",
      path: PATH,
      name: "putProjectConfig",
      tag: "Configuration",
      summary:
        "Make the project what is sent, all of it or nothing; what isn't in it is deleted. Version 0 makes the project",
      plane: "api",
      manager: true,
      additive: true,
      params: z.strictObject({ id: pathName(128) }),
      query: z.strictObject({
        dry_run: z.enum(["true", "false"], { error: "must be true or false" }).optional(),
      }),
      body: z.strictObject({
        version: integer(0),
        config: projectConfig,
        assume: list(scheduleReference, 1000).optional().meta({
          description:
            "For a dry run: shared schedules, `{project}/{schedule}`, that will have been made when this is applied.",
        }),
        assume_people: list(emailField, 10_000).optional().meta({
          description:
            "For a dry run: emails of whoever will have an account when this is applied.",
        }),
      }),
      bodyLimit: 4 * 1024 * 1024,
      status: 200,
      answer: z.object({
        version: z.int(),
        changes: z.array(change),
        ladders_end: z.array(ladderEnd).meta({
          description: "Additive: rules with alerts that nobody is told of any more with this.",
        }),
        tokens: z.array(z.object({ name: z.string(), token: shown })),
        secrets: z.array(
          z.object({ id: z.string(), name: z.string(), url: z.string(), secret: shown }),
        ),
        heartbeats: z.array(z.object({ name: z.string(), ping_url: shown, uuid: shown })),
        config: projectConfig,
      }),
      errors: [
        "invalid_silence",
        ...(["invalid_request", "invalid_json", "forbidden", "name_taken"] as const),
        ...(["version_conflict", "address_refused", "missing_credential"] as const),
        ...(["credential_not_allowed", "not_a_member", "unknown_schedule"] as const),
        ...(["unknown_action", "invalid_timezone", "invalid_layer", "schedule_in_use"] as const),
        ...(["too_many", "schedule_too_complex", "invalid_override"] as const),
      ],
      handle: ({ tenant, params, query, body, actor }) => {
        const { assume: schedules = [], assume_people: people = [], ...wanted } = body;
        const options = {
          name: params.id,
          tenantId: tenant.id,
          guard: guardOf(tenant),
          by: actor.accountId,
          ...wanted,
        };
        const { heartbeats, ...applied } =
          query.dry_run === "true"
            ? tryConfig(tenant.store, options, { schedules, people })
            : tenant.store.write((tx) => applyConfig(tx, options));
        const addresses = heartbeats.map(({ name, secret, uuid }) => ({
          name,
          uuid,
          ping_url: `${tenant.publicUrl}${PING}/${secret}`,
        }));
        return { ...applied, heartbeats: addresses };
      },
    }),
  ];
};
