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

  // An HTTP/1 parser that only UNDICI_USE_MILO asks for, beside the one that is used.
  "node_modules/undici/lib/dispatcher/parser-h1.js":
    "module.exports = { getMiloEnabled: () => false };\n",

  // The endings of file names. No mail that a box writes has a file.
  "node_modules/nodemailer/dist/esm/mime-funcs/mime-types.js": refusing(
    "detectMimeType",
    "detectExtension",
  ),

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
