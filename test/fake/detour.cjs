// Preloaded into a process: its connections to one port go to another one (DETOUR=PORT:OTHER).
const net = require("node:net");
const [from, to] = (process.env.DETOUR ?? "").split(":").map(Number);
const { connect } = net;
net.connect = (options, ...rest) =>
  connect(Number(options.port) === from ? { ...options, port: to } : options, ...rest);
