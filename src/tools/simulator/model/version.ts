/** The Patroni version that the simulated nodes report. */
export const nodeVersion = "4.1.4";
/** The PostgreSQL version that they report, as `server_version_num` has it: 15.20. */
export const databaseVersion = 150_020;
