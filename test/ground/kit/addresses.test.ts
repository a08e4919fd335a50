import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AddressRules,
  addressClass,
  addressRefusal,
  type Cidr,
  inCidr,
  parseCidr,
  readAddress,
} from "../../../src/ground/kit/addresses.ts";
import { ServiceError } from "../../../src/ground/kit/errors.ts";
import { checkUrl } from "../../../src/ground/kit/url.ts";
import fc from "../../support/property.ts";

const box: AddressRules = { role: "box" };
const hosted: AddressRules = { role: "hosted" };

function cidr(text: string): Cidr {
  return parseCidr(text) ?? assert.fail(`no CIDR: ${text}`);
}

/** [address, what a box says, what the hosted role says]; null: may be called. */
const table: [string, string | null, string | null][] = [
  ["93.184.215.14", null, null],
  ["2606:4700::6810:84e5", null, null],

  ["127.0.0.1", null, "loopback"],
  ["127.255.255.254", null, "loopback"],
  ["::1", null, "loopback"],
  ["0:0:0:0:0:0:0:1", null, "loopback"],
  ["::ffff:127.0.0.1", null, "loopback"],
  ["::ffff:7f00:1", null, "loopback"],
  ["0:0:0:0:0:ffff:7f00:0001", null, "loopback"],
  ["64:ff9b::127.0.0.1", null, "loopback"],
  ["64:ff9b::7f00:1", null, "loopback"],
  ["2002:7f00:1::", null, "loopback"],

  ["10.0.0.1", null, "private"],
  ["172.16.0.1", null, "private"],
  ["172.31.255.255", null, "private"],
  ["172.32.0.1", null, null],
  ["192.168.1.1", null, "private"],
  ["100.64.0.1", null, "private"],
  ["fd12:3456::1", null, "private"],
  ["fc00::1", null, "private"],
  ["fec0::1", null, "private"],
  ["::ffff:10.0.0.1", null, "private"],
  ["::ffff:a00:1", null, "private"],
  ["64:ff9b::10.0.0.1", null, "private"],
  ["2002:a00:1::1", null, "private"],
  // Teredo: the client's address stands inverted at the end, the server's after the prefix.
  ["2001:0:0808:0808::f5ff:fffe", null, "private"],
  ["2001:0:0a00:0001::f7f7:f7f7", null, "private"],
  ["2001:0:0808:0808::f7f7:f7f7", null, null],

  ["169.254.0.1", "link_local", "link_local"],
  ["169.254.169.254", "metadata", "metadata"],
  ["169.254.170.2", "link_local", "link_local"],
  ["fe80::1", "link_local", "link_local"],
  ["fe80::1%eth0", "link_local", "link_local"],
  ["febf::1", "link_local", "link_local"],
  ["::ffff:169.254.169.254", "metadata", "metadata"],
  ["::ffff:a9fe:a9fe", "metadata", "metadata"],
  ["64:ff9b::169.254.169.254", "metadata", "metadata"],
  ["64:ff9b::a9fe:a9fe", "metadata", "metadata"],
  ["2002:a9fe:a9fe::", "metadata", "metadata"],
  ["2001:0:a9fe:a9fe::f7f7:f7f7", "metadata", "metadata"],
  ["2001:0:0808:0808::5601:5601", "metadata", "metadata"],
  ["fd00:ec2::254", "metadata", "metadata"],
  ["fd00:0ec2:0:0:0:0:0:0254", "metadata", "metadata"],
  ["100.100.100.200", "metadata", "metadata"],
  ["168.63.129.16", "metadata", "metadata"],
  ["192.0.0.192", "metadata", "metadata"],
  ["::ffff:100.100.100.200", "metadata", "metadata"],

  ["0.0.0.0", "unspecified", "unspecified"],
  ["0.1.2.3", "unspecified", "unspecified"],
  ["::", "unspecified", "unspecified"],
  ["::ffff:0.0.0.0", "unspecified", "unspecified"],
  ["64:ff9b::", "unspecified", "unspecified"],
  ["255.255.255.255", "broadcast", "broadcast"],
  ["::ffff:255.255.255.255", "broadcast", "broadcast"],
  ["224.0.0.1", "multicast", "multicast"],
  ["239.255.255.250", "multicast", "multicast"],
  ["ff02::1", "multicast", "multicast"],
  ["192.0.2.1", "documentation", "documentation"],
  ["198.51.100.1", "documentation", "documentation"],
  ["203.0.113.1", "documentation", "documentation"],
  ["2001:db8::1", "documentation", "documentation"],
  ["3fff::1", "documentation", "documentation"],
  ["198.18.0.1", "reserved", "reserved"],
  ["198.19.255.255", "reserved", "reserved"],
  ["2001:2::1", "reserved", "reserved"],
  ["240.0.0.1", "reserved", "reserved"],
  ["192.0.0.8", "reserved", "reserved"],
  // Deprecated or local forms of carrying an IPv4 address: refused whole.
  ["::127.0.0.1", "reserved", "reserved"],
  ["::ffff:0:127.0.0.1", "reserved", "reserved"],
  ["64:ff9b:1::127.0.0.1", "reserved", "reserved"],
  ["100::1", "reserved", "reserved"],

  ["localhost", "not_an_address", "not_an_address"],
  ["127.1", "not_an_address", "not_an_address"],
  ["", "not_an_address", "not_an_address"],
];

test("every spelling of every class is judged alike, for each role", () => {
  for (const [address, forBox, forHosted] of table) {
    assert.equal(addressRefusal(address, box), forBox, `${address} from a box`);
    assert.equal(addressRefusal(address, hosted), forHosted, `${address} from the hosted role`);
  }
});

test("any IPv4 address and what carries it are judged alike", () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.constantFrom(box, hosted), (address, rules) => {
      const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
      const hex = [a * 256 + b, c * 256 + d].map((group) => group.toString(16)).join(":");
      const expected = addressRefusal(address, rules);
      for (const form of [
        `::ffff:${address}`,
        `::FFFF:${hex}`,
        `64:ff9b::${hex}`,
        `2002:${hex}::9`,
      ]) {
        assert.equal(addressRefusal(form, rules), expected, form);
      }
    }),
  );
});

test("an IPv6 address is the one that the URL parser writes back, byte for byte", () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
      assert.deepEqual(readAddress(address), readAddress(canonical));
    }),
  );
  assert.deepEqual(
    readAddress("1:2::fffe:10.1.2.3")?.toByteArray(),
    [0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 255, 254, 10, 1, 2, 3],
  );
});

test("the longest listed prefix decides, deny wins a tie", () => {
  const rules: AddressRules = {
    role: "hosted",
    deny: ["0.0.0.0/0", "10.1.2.0/24", "10.9.9.9"].map(cidr),
    allow: ["10.0.0.0/8", "10.1.2.3/32", "10.9.9.9/32", "169.254.0.0/16"].map(cidr),
  };
  assert.equal(addressRefusal("93.184.215.14", rules), "denied");
  assert.equal(addressRefusal("10.0.0.1", rules), null);
  assert.equal(addressRefusal("10.1.2.4", rules), "denied");
  assert.equal(addressRefusal("10.1.2.3", rules), null);
  assert.equal(addressRefusal("::ffff:10.1.2.4", rules), "denied");
  assert.equal(addressRefusal("10.9.9.9", rules), "denied");
  assert.equal(addressRefusal("169.254.169.254", rules), null);
});

test("no allow list opens what isn't one host, nor what a translator would call", () => {
  const rules: AddressRules = { role: "box", allow: ["0.0.0.0/0", "::/0"].map(cidr) };
  for (const address of ["0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255"]) {
    assert.notEqual(addressRefusal(address, rules), null, address);
  }
  const six: AddressRules = { role: "box", allow: [cidr("::/0")] };
  assert.equal(addressRefusal("64:ff9b::a9fe:a9fe", six), "metadata");
});

test("CIDR text: what is read and what isn't", () => {
  const { address, bits } = cidr("10.0.0.0/8");
  assert.deepEqual([address.toByteArray(), bits], [[10, 0, 0, 0], 8]);
  assert.equal(cidr("10.0.0.1").bits, 32);
  assert.equal(cidr("::/0").bits, 0);
  assert.deepEqual(cidr("::ffff:10.0.0.0/104"), cidr("10.0.0.0/8"));
  for (const bad of ["", "10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "::/129", "a/8", "10.0.0.0/8/8"]) {
    assert.equal(parseCidr(bad), null, bad);
  }
  for (const bad of ["10.0.0.0/-1", "10.0.0.0/08", "fe80::1%eth0/64", "::ffff:0:0/90"]) {
    assert.equal(parseCidr(bad), null, bad);
  }
  assert.equal(inCidr("192.168.1.5", cidr("192.168.0.0/23")), true);
  assert.equal(inCidr("192.168.2.5", cidr("192.168.0.0/23")), false);
  assert.equal(inCidr("::1", cidr("0.0.0.0/0")), false);
  assert.equal(addressClass("::ffff:8.8.8.8"), "public");
});

function refusedWith(url: string, rules: AddressRules): string {
  try {
    checkUrl(url, rules, "/webhook_url");
    return "ok";
  } catch (error) {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.details[0]?.field, "/webhook_url");
    return `${error.status} ${error.details[0]?.reason}`;
  }
}

test("a URL is judged at write time by its spelling and its literal host", () => {
  const rows: [string, string, string][] = [
    ["https://example.com/hook?x=1", "ok", "ok"],
    ["http://example.com:8443/#part", "ok", "ok"],
    ["http://nas.local:9/x", "ok", "ok"],
    ["http://192.168.1.10/", "ok", "403 private"],
    ["http://localhost:8080/", "ok", "403 loopback"],
    ["http://LOCALHOST./", "ok", "403 loopback"],
    ["http://a.localhost/", "ok", "403 loopback"],
    ["http://localhost.example.com/", "ok", "ok"],
    ["http://2130706433/", "ok", "403 loopback"],
    ["http://0x7f.1/", "ok", "403 loopback"],
    ["http://017700000001/", "ok", "403 loopback"],
    ["http://①②⑦.0.0.1/", "ok", "403 loopback"],
    ["http://%31%32%37.0.0.1/", "ok", "403 loopback"],
    ["http://127.0.0.1./", "ok", "403 loopback"],
    ["http://[::1]/", "ok", "403 loopback"],
    ["http://[::ffff:127.0.0.1]/", "ok", "403 loopback"],
    ["http://169.254.169.254/latest", "403 metadata", "403 metadata"],
    ["http://0xa9fea9fe/", "403 metadata", "403 metadata"],
    ["http://[::ffff:a9fe:a9fe]/", "403 metadata", "403 metadata"],
    ["http://0/", "403 unspecified", "403 unspecified"],
    ["http://[::]/", "403 unspecified", "403 unspecified"],
    ["ftp://example.com/", "400 scheme", "400 scheme"],
    ["file:///etc/passwd", "400 scheme", "400 scheme"],
    ["javascript:alert(1)", "400 scheme", "400 scheme"],
    ["http://user@example.com/", "400 credentials", "400 credentials"],
    ["http://:pass@example.com/", "400 credentials", "400 credentials"],
    ["http://example.com:0/", "400 port", "400 port"],
    ["", "400 not_a_url", "400 not_a_url"],
    ["example.com", "400 not_a_url", "400 not_a_url"],
    ["http:example.com", "400 not_a_url", "400 not_a_url"],
    ["http:///example.com", "400 not_a_url", "400 not_a_url"],
    ["http://", "400 not_a_url", "400 not_a_url"],
    [" http://example.com/", "400 not_a_url", "400 not_a_url"],
    ["http://exa\tmple.com/", "400 not_a_url", "400 not_a_url"],
    ["http:\\\\example.com/", "400 not_a_url", "400 not_a_url"],
    ["http://999.1.1.1/", "400 not_a_url", "400 not_a_url"],
    [`http://example.com/${"x".repeat(2048)}`, "400 too_long", "400 too_long"],
  ];
  for (const [url, forBox, forHosted] of rows) {
    assert.equal(refusedWith(url, box), forBox, `${url} from a box`);
    assert.equal(refusedWith(url, hosted), forHosted, `${url} from the hosted role`);
  }
});
