import assert from "node:assert/strict";
import { test } from "node:test";
import { boxConfig } from "../../../src/app/config.ts";
import { clientAddress } from "../../../src/web/http/address.ts";

test("the client is the connection's peer, however its address is written; an IPv6 one counts as its /64", () => {
  const find = clientAddress([]);
  const rows: [string, string][] = [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:c000:207", "192.0.2.7"],
    ["2001:db8::1:2:3:4", "2001:db8:0:0::/64"],
    ["2001:0db8:0000:0001:ffff::1", "2001:db8:0:1::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["1::64:10.1.2.3", "1:0:0:0::/64"],
    ["", ""],
    ["nonsense:", "nonsense:"],
  ];
  for (const [peer, found] of rows) assert.equal(find(peer, "203.0.113.9"), found, peer);
});

test("behind trusted proxies it is the right-most hop that is none of them", () => {
  const find = clientAddress(["10.0.0.0/8", "fd00::/8"]);
  const rows: [string, string | undefined, string][] = [
    ["10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["::ffff:10.0.0.1", "198.51.100.1, 203.0.113.9, 10.1.1.1", "203.0.113.9"],
    ["fd00::1", "2001:db8:5::1, ::ffff:10.2.2.2", "2001:db8:5:0::/64"],
    ["10.0.0.1", "203.0.113.9, unknown", "10.0.0.1"],
    ["10.0.0.1", undefined, "10.0.0.1"],
    ["192.0.2.7", "203.0.113.9", "192.0.2.7"],
  ];
  for (const [peer, forwarded, found] of rows) assert.equal(find(peer, forwarded), found, peer);
  assert.deepEqual([find.trusts("fd12::1"), find.trusts("192.0.2.7")], [true, false]);
});

test("what is no network is named", () => {
  for (const text of ["10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/", "127.1/8", "::1%lo/128", "x"])
    assert.throws(() => clientAddress([text]), new RegExp(`^RangeError: ${text} is no network`));
});

test("a network of the command line that can't be read is a fault, and isn't left out of the list", () => {
  for (const name of ["egressDeny", "trustedProxy"] as const)
    for (const text of ["10.0.0.0/08", "10.0.0.0/1e1", "fe80::1%eth0"])
      assert.throws(() => boxConfig({ data: "x", [name]: [text] }), /must be a network/, text);
  assert.deepEqual(boxConfig({ data: "x", egressDeny: ["10.0.0.0/8,::1"] }).egressDeny, [
    "10.0.0.0/8",
    "::1",
  ]);
});
