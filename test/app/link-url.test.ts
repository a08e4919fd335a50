import assert from "node:assert/strict";
import { test } from "node:test";
import { linkUrl } from "../../src/app/link-url.ts";
import { testBox } from "../support/box.ts";

type Machine = NonNullable<Parameters<typeof linkUrl>[1]>;

/** A machine with these addresses, by interface. */
const machine = (of: Record<string, string[]>): Machine =>
  Object.fromEntries(
    Object.entries(of).map(([name, addresses]) => [
      name,
      addresses.map((address) => ({
        address,
        netmask: "",
        mac: "",
        cidr: null,
        internal: name === "lo",
        ...(address.includes(":")
          ? { family: "IPv6" as const, scopeid: 0 }
          : { family: "IPv4" as const }),
      })),
    ]),
  );

const home = machine({
  lo: ["127.0.0.1", "::1"],
  docker0: ["172.17.0.1"],
  wan0: ["203.0.113.7"],
  usb0: ["169.254.3.4"],
  eth0: ["fe80::1", "192.168.1.20"],
});

for (const [what, url, of, wanted] of [
  ["all of IPv4", "http://0.0.0.0:8080", home, "http://192.168.1.20:8080"],
  ["all there are", "https://[::]:8443", home, "https://192.168.1.20:8443"],
  ["no host", "http://:8080", home, "http://192.168.1.20:8080"],
  ["one address", "http://127.0.0.1:8080", home, "http://127.0.0.1:8080"],
  ["a name", "http://box.lan:8080", home, "http://box.lan:8080"],
  ["no private one", "http://0.0.0.0:1", machine({ e: ["203.0.113.7"] }), "http://203.0.113.7:1"],
  ["none", "http://0.0.0.0:1", machine({ lo: ["127.0.0.1"] }), "http://localhost:1"],
  ["the link alone", "http://0.0.0.0:1", machine({ e: ["169.254.3.4"] }), "http://localhost:1"],
] as const)
  test(`links lead where others find the box: listening at ${what}`, () => {
    assert.equal(linkUrl(url, of), wanted);
  });

test("a box that listens everywhere prints no link to nowhere; the public address goes before", async (t) => {
  const linkOf = async (publicUrl: string) => {
    const box = await testBox({ listen: "0.0.0.0:0", publicUrl });
    t.after(() => box.stop());
    return new URL((await box.api("POST", "/v1/pair/codes", {})).body.link);
  };
  const link = await linkOf("");
  assert.doesNotMatch(link.hostname, /^0\.0\.0\.0$|^\[::\]$/);
  assert.equal((await fetch(new URL("/v1/version", link))).status, 200, link.origin);
  assert.equal((await linkOf("https://box.example.org")).host, "box.example.org");
});
