/**
 * What packages bring along for others than us. Each file here is one that the program never reaches, or never with a
 * result that it looks at; in the bundle a few words stand in its place. In a source tree the packages are as they came.
 */

/** Functions that are there and refuse, for whoever calls them after all. */
const refusing = (...names) =>
  names
    .map((name) => `export function ${name}() { throw new Error("${name} is left out"); }\n`)
    .join("");

const none = (...names) => names.map((name) => `export const ${name} = "";\n`).join("");

/**
 * What is read of the ASN.1 of a signature: two whole numbers in a sequence (RFC 3279, 2.2.3). Whatever else it is, a signature that
 * is read wrongly is one that doesn't verify.
 */
const TWO_INTEGERS = `
function taken(bytes, tag) {
  const long = bytes[1] === 0x81;
  const from = long ? 3 : 2;
  const size = long ? bytes[2] : bytes[1];
  const isWhole = bytes[0] === tag && size > 0 && size < 256 && bytes.length >= from + size;
  if (!isWhole || (long ? size < 0x80 : size > 0x7f)) throw new Error("no signature in DER");
  return [bytes.slice(from, from + size), bytes.slice(from + size)];
}
export const AsnParser = {
  parse(signature) {
    const [both, behind] = taken(new Uint8Array(signature), 0x30);
    const [r, rest] = taken(both, 0x02);
    const [s, more] = taken(rest, 0x02);
    if (behind.length + more.length > 0) throw new Error("no signature in DER");
    return { r: r.buffer, s: s.buffer };
  },
};
`;

const WEBAUTHN = "node_modules/@simplewebauthn/server/esm";

/** Path in the tree → the module in its place, which exports what the program's other modules name of it. */
export const leftOut = {
  // zod brings its messages in fifty languages; the interface speaks one.
  "node_modules/zod/v4/locales/index.js": 'export { default as en } from "./en.js";\n',
  // Schemas made into code, and read from JSON Schema: nobody here does either.
  "node_modules/zod/v4/core/compile.js":
    refusing("compile", "withParser", "ZodCompileAsyncError", "ZodCompileUnsupportedError") +
    none("INVALID"),
  "node_modules/zod/v4/classic/from-json-schema.js": refusing("fromJSONSchema"),

  // The endings of file names. No mail that a box writes has a file.
  "node_modules/nodemailer/dist/esm/mime-funcs/mime-types.js": refusing(
    "detectMimeType",
    "detectExtension",
  ),

  // Encrypted answers of a provider: nobody asks for them.
  "node_modules/jose/dist/webapi/jwe/compact/decrypt.js": refusing("compactDecrypt"),

  // The client that is compiled, for whoever installs it beside this one.
  "node_modules/pg/lib/native/index.js": 'throw new Error("pg-native is left out");\n',

  // All of ASN.1 and of certificates, for a signature's two numbers.
  "node_modules/@peculiar/asn1-schema/build/es2015/index.js": TWO_INTEGERS,
  "node_modules/@peculiar/asn1-ecc/build/es2015/index.js": none("ECDSASigValue"),

  // Who made an authenticator: certificates, and the languages that they are written in. src/people/passkeys.ts refuses
  // every answer that brings some before the library sees it.
  [`${WEBAUTHN}/registration/verifications/tpm/verifyAttestationTPM.js`]:
    refusing("verifyAttestationTPM"),
  [`${WEBAUTHN}/registration/verifications/verifyAttestationAndroidKey.js`]: refusing(
    "verifyAttestationAndroidKey",
  ),
  [`${WEBAUTHN}/registration/verifications/verifyAttestationAndroidSafetyNet.js`]: refusing(
    "verifyAttestationAndroidSafetyNet",
  ),
  [`${WEBAUTHN}/registration/verifications/verifyAttestationApple.js`]:
    refusing("verifyAttestationApple"),
  [`${WEBAUTHN}/registration/verifications/verifyAttestationFIDOU2F.js`]: refusing(
    "verifyAttestationFIDOU2F",
  ),
  [`${WEBAUTHN}/helpers/convertX509PublicKeyToCOSE.js`]: refusing("convertX509PublicKeyToCOSE"),
  [`${WEBAUTHN}/helpers/getCertificateInfo.js`]: refusing("getCertificateInfo"),
  [`${WEBAUTHN}/helpers/isCertRevoked.js`]: refusing("isCertRevoked"),
  [`${WEBAUTHN}/helpers/validateCertificatePath.js`]: refusing("validateCertificatePath"),
  [`${WEBAUTHN}/helpers/validateExtFIDOGenCEAAGUID.js`]: refusing("validateExtFIDOGenCEAAGUID"),
  [`${WEBAUTHN}/metadata/verifyMDSBlob.js`]: refusing("verifyMDSBlob"),
  [`${WEBAUTHN}/services/defaultRootCerts/android-key.js`]: none(
    ...[1, 2, 3, 4].map((n) => `Google_Hardware_Attestation_Root_${n}`),
  ),
  [`${WEBAUTHN}/services/defaultRootCerts/android-safetynet.js`]: none("GlobalSign_Root_CA"),
  [`${WEBAUTHN}/services/defaultRootCerts/apple.js`]: none("Apple_WebAuthn_Root_CA"),
  [`${WEBAUTHN}/services/defaultRootCerts/mds.js`]: none(
    "GlobalSign_Root_CA_R3",
    "GlobalSign_Root_R46",
  ),
};
