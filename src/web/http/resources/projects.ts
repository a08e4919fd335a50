import { z } from "zod";
import { projectEntry, projectMade, projectWrite } from "../../../core/projects/project.ts";
import { createProject, listProjects } from "../../../core/projects/projects.ts";
import { text } from "../../../ground/kit/fields.ts";
import { callProject, dropProject } from "../../../tenant/project-verbs.ts";
import { deleted, projectPath, queryInteger } from "../fields.ts";
import { type Route, route } from "../route.ts";

/** contract §15, Projects. */
export const projectRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/projects",
    name: "listProjects",
    tag: "Projects",
    summary: "A page of the projects, by name",
    plane: "api",
    query: z.strictObject({ after: text(200).optional(), limit: queryInteger(1, 500).optional() }),
    status: 200,
    answer: z.object({ projects: z.array(projectEntry), next: z.string().nullable() }),
    errors: ["invalid_request"],
    handle: ({ tenant, query }) =>
      listProjects(tenant.store, { after: query.after ?? "", limit: query.limit ?? 200 }),
  }),
  route({
    method: "POST",
    path: "/v1/projects",
    name: "createProject",
    tag: "Projects",
    summary: "Create a project",
    plane: "api",
    body: projectWrite,
    readOnly: ["version", "created_at"],
    status: 201,
    answer: projectMade,
    errors: ["invalid_request", "invalid_json", "name_taken", "too_many"],
    handle: ({ tenant, body }) => tenant.store.write((tx) => createProject(tx, body.name)),
  }),
  route({
    method: "DELETE",
    path: "/v1/projects/{id}",
    name: "deleteProject",
    tag: "Projects",
    summary: "Delete a project with all it owns",
    plane: "api",
    manager: true,
    params: projectPath,
    status: 200,
    answer: deleted,
    errors: ["forbidden", "not_found", "schedule_in_use"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => dropProject(tx, params.id));
      return { deleted: true };
    },
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/rename",
    name: "renameProject",
    tag: "Projects",
    summary: "Rename a project; its tokens keep working",
    plane: "api",
    manager: true,
    params: projectPath,
    body: projectWrite,
    status: 200,
    answer: z.object({ name: z.string() }),
    errors: ["invalid_request", "invalid_json", "forbidden", "not_found", "name_taken"],
    handle: ({ tenant, params, body }) => {
      tenant.store.write((tx) => callProject(tx, params.id, body.name));
      return { name: body.name };
    },
  }),
];
