import { z } from "zod";
import { wallAnswer, wallWrite } from "../../../people/wall.ts";
import { listWalls, makeWall, revokeWall } from "../../../people/walls.ts";
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";

const common = {
  ...({ plane: "api", tag: "People", additive: true } as const),
  ...({ manager: true, boxOnly: true } as const),
};

/** Where screens show the wall: below it stands the link's secret. */
export const WALL = "/wall";

/** Links to the wall, which is a page and no route. */
export const wallRoutes: Route[] = [
  route({
    ...common,
    method: "GET",
    path: "/v1/walls",
    name: "listWalls",
    summary: "Links by which screens show the wall, without their secrets",
    status: 200,
    answer: z.object({ walls: z.array(wallAnswer) }),
    errors: ["forbidden"],
    handle: ({ tenant }) => ({ walls: listWalls(tenant.store) }),
  }),
  route({
    ...common,
    method: "POST",
    path: "/v1/walls",
    name: "makeWall",
    summary:
      "Make a link to the wall: open alerts and who is on call, for whoever has it, until it is revoked",
    body: wallWrite,
    status: 201,
    answer: wallAnswer.extend({ wall_url: z.string().meta({ description: "Shown this once." }) }),
    errors: ["invalid_request", "invalid_json", "forbidden", "too_many"],
    handle({ tenant, actor, body }) {
      const { wall, secret } = tenant.store.write((tx) => makeWall(tx, actor.accountId, body));
      return { ...wall, wall_url: `${tenant.publicUrl}${WALL}/${secret}` };
    },
  }),
  route({
    ...common,
    method: "DELETE",
    path: "/v1/walls/{wall}",
    name: "revokeWall",
    summary: "Revoke a link to the wall: screens that show it say so within seconds",
    params: z.strictObject({ wall: z.string() }),
    status: 200,
    answer: deleted,
    errors: ["forbidden", "not_found"],
    handle({ tenant, params }) {
      tenant.store.write((tx) => revokeWall(tx, params.wall));
      return { deleted: true };
    },
  }),
];
