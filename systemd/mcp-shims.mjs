/**
 * What @modelcontextprotocol/server takes from its surroundings. Its own brings a validator of JSON Schema of 150 kB, which
 * only a server that asks its client questions uses; the box's checks what it is given itself.
 */
export { default as process } from "node:process";

export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error("This server asks no questions.");
  }
}
