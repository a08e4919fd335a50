import { ServiceError } from "../../ground/kit/errors.ts";
import { alertPage } from "../../ground/page/alert-page.ts";
import { prefersJson } from "./accept.ts";
import type { PagesHandler } from "./app.ts";
import { pageAnswer, rawOperation } from "./raw-operation.ts";
import type { RawRoute } from "./raw-route.ts";
import { sendPage } from "./send-page.ts";

const PATH = "/a/{id}";
const ID = /^[1-9][0-9]{0,15}$/;

/**
 * The page that a message's link leads to: the alert's own where there are pages for people. Else one that reads nothing, so
 * that it can tell nothing. `tls`: whether TLS ends here.
 */
export function alertPageRoute(tls: boolean, pages?: PagesHandler): RawRoute {
  return {
    method: "GET",
    path: PATH,
    async handle(c) {
      const page = (await pages?.(c)) ?? null;
      if (page !== null) return page;
      const id = c.req.param("id") ?? "";
      if (!ID.test(id)) throw new ServiceError("not_found", "There is no such page.");
      if (prefersJson(c.req.header("accept")))
        throw new ServiceError("not_found", `A page for people; programs use /v1/alerts/${id}.`);
      return sendPage(alertPage(id), tls);
    },
  };
}

/** The page as the OpenAPI document shows it. */
export const alertPageOperation = rawOperation("GET", PATH, {
  tag: "Alerts",
  name: "showAlertPage",
  summary: "The page behind a message's link: how to see the alert; the same page if there is none",
  answers: { 200: pageAnswer("OK"), 404: "Not a number, or JSON was asked for" },
});
