import * as z from "zod";
import { wallAnswer, wallWrite } from "../../../people/wall.ts";
import { listWalls, makeWall, revokeWall } from "../../../people/walls.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const walls = routesIn(inTenant, {
  at: "/walls",
  tag: "People",
  additive: true,
  manager: true,
  boxOnly: true,
});

/** Where screens show the wall: below it stands the link's secret. */
export const WALL = "/wall";

/** Links to the wall, which is a page and no route. */
export const wallRoutes: Route[] = [
  walls.get("", {
    name: "listWalls",
    summary: "Links to the wall screen, without their secrets",
    answer: z.object({ walls: z.array(wallAnswer) }),
    read: (store) => ({ walls: listWalls(store) }),
  }),
  walls.post("", {
    name: "makeWall",
    summary:
      "Make a link to the wall screen: anybody who has it sees open alerts and who is on call, until it is revoked",
    body: wallWrite,
    status: 201,
    answer: wallAnswer.extend({ wall_url: z.string().meta({ description: "Shown this once." }) }),
    errors: ["too_many"],
    handle: ({ tenant, actor, body }) => {
      const { wall, secret } = tenant.store.write((tx) => makeWall(tx, actor.accountId, body));
      return { ...wall, wall_url: `${tenant.publicUrl}${WALL}/${secret}` };
    },
  }),
  walls.delete("/{wall}", {
    name: "revokeWall",
    summary: "Revoke a link to the wall screen: screens that show it say so within seconds",
    write: (tx, { params }) => revokeWall(tx, params.wall),
  }),
];
