/** The part of prom-client that the program uses, in bundles. */
exports.Registry = require("prom-client/lib/registry");
exports.Counter = require("prom-client/lib/counter");
exports.Gauge = require("prom-client/lib/gauge");
exports.Histogram = require("prom-client/lib/histogram");
