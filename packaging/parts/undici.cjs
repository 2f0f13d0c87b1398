/** The part of undici that the program uses, in bundles. */
exports.Agent = require("undici/lib/dispatcher/agent");
exports.Client = require("undici/lib/dispatcher/client");
exports.buildConnector = require("undici/lib/core/connect");
// As undici's index does: `request` is not part of the classes.
Object.assign(require("undici/lib/dispatcher/dispatcher").prototype, {
  request: require("undici/lib/api/api-request"),
});
