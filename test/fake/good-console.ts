import { type ConsoleAnswer, FakeConsole } from "./fake-console.ts";

/** A row of SHOW DATABASES, without its name and host. */
export const shownDatabase = { port: 5000, pool_mode: null, current_connections: 0, paused: 0, disabled: 0 };

/** The console of a PgBouncer with the database `orders` that has nothing that doctor reports. */
export function goodConsole(): FakeConsole {
  const fake = new FakeConsole();
  const settings = { pool_mode: "transaction", server_login_retry: "1", query_wait_timeout: "120", so_reuseport: "0" };
  const answers: Readonly<Record<string, ConsoleAnswer>> = {
    "SHOW VERSION": [{ version: "PgBouncer 1.24.1" }],
    "SHOW DATABASES": [
      { name: "orders", host: "127.0.0.9", ...shownDatabase },
      { name: "pgbouncer", host: null, ...shownDatabase },
    ],
    "SHOW POOLS": [],
    "SHOW PEERS": [],
    "SHOW CONFIG": Object.entries(settings).map(([key, value]) => ({ key, value })),
    "PAUSE pgbouncer": { error: "cannot pause admin db: pgbouncer" },
  };
  fake.answer = (command) =>
    command === "SHOW CLIENTS" ? fake.shownClients() : (answers[command] ?? { error: `invalid command '${command}'` });
  return fake;
}
