import { fromProviderPage, toProviderPage } from "./signin/oidc.ts";
import { phonePage } from "./signin/phone.ts";
import { signInPage } from "./signin/sign-in.ts";
import type { OpenPage } from "./visit.ts";

/** Every page that needs no session. */
export const openPages: readonly OpenPage[] = [
  signInPage,
  phonePage,
  toProviderPage,
  fromProviderPage,
];
