import * as z from "zod";
import { defaultLadderOf } from "../../../core/projects/ladders.ts";
import {
  projectEntry,
  projectMade,
  projectPatch,
  projectWrite,
} from "../../../core/projects/project.ts";
import {
  createProject,
  getProject,
  listProjects,
  setDefaultLadder,
} from "../../../core/projects/projects.ts";
import { text } from "../../../ground/kit/fields.ts";
import { queryLimit } from "../../../ground/kit/query-fields.ts";
import { callProject, dropProject } from "../../../tenant/project-verbs.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const projects = routesIn(inTenant, { at: "/projects", tag: "Projects" });

/** contract §15, Projects. */
export const projectRoutes: Route[] = [
  projects.get("", {
    name: "listProjects",
    summary: "A page of the projects, by name",
    query: z.strictObject({
      after: text(200).default("").describe("`next` of the page before."),
      limit: queryLimit(500, 200),
    }),
    answer: z.object({ projects: z.array(projectEntry), next: z.string().nullable() }),
    read: (store, { query }) => listProjects(store, query),
  }),
  projects.post("", {
    name: "createProject",
    summary: "Create a project",
    body: projectWrite,
    // A project has its ladder by PATCH: a body that names one here is refused, and not passed over.
    reads: projectEntry.omit({ default_ladder: true }),
    status: 201,
    answer: projectMade,
    errors: ["name_taken", "too_many"],
    write: (tx, { body }) => createProject(tx, body.name),
  }),
  projects.patch("/{id}", {
    name: "changeProject",
    summary: "Change a project's settings",
    additive: true,
    manager: true,
    body: projectPatch,
    answer: z.object({ name: z.string(), default_ladder: z.string().nullable() }),
    errors: ["unknown_ladder"],
    write: (tx, { params: { id }, body: { default_ladder: ladder } }) => {
      const project = ladder === undefined ? getProject(tx, id) : setDefaultLadder(tx, id, ladder);
      return { name: project.name, default_ladder: defaultLadderOf(tx, project) };
    },
  }),
  projects.delete("/{id}", {
    name: "deleteProject",
    summary: "Delete a project with all it owns",
    manager: true,
    errors: ["schedule_in_use"],
    write: (tx, { params }) => dropProject(tx, params.id),
  }),
  projects.post("/{id}/rename", {
    name: "renameProject",
    summary: "Rename a project; its tokens keep working",
    manager: true,
    body: projectWrite,
    answer: z.object({ name: z.string() }),
    errors: ["name_taken"],
    write: (tx, { params, body }) => {
      callProject(tx, params.id, body.name);
      return { name: body.name };
    },
  }),
];
