/** In the place of a pool that nobody asks for. */
module.exports = class NoPool {};
