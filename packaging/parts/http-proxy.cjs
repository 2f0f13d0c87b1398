/** The part of http-proxy that the program uses, in bundles: loaded when it is first used. */
exports.createProxyServer = (options) => require("http-proxy").createProxyServer(options);
