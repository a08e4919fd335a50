/** In the place of Node's HTTP/2, which nobody speaks to this server: no request is one of its. */
export class Http2ServerRequest {}

export const constants = {};
