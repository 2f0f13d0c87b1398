# rolecall as an image: the built program, its run-time packages, Node 24. `test/docker-replay.sh` replays these steps.
# The base is pinned by its digest: two builds of one commit have the same base. docs/install.md says how to take a newer one.
ARG NODE_IMAGE=node:24.19.0-bookworm-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df

FROM ${NODE_IMAGE} AS build
# The commit that `rolecall --version` names: --build-arg SOURCE_COMMIT="$(git rev-parse HEAD)". An archive of the repository has it in SOURCE.
ARG SOURCE_COMMIT=unknown
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json LICENSE SOURCE ./
COPY packaging ./packaging
COPY src ./src
RUN SOURCE_COMMIT=${SOURCE_COMMIT} npm run build && npm prune --omit=dev && mkdir state
# Compiled code: the service cannot write it, and would compile at each start.
RUN node packaging/warm-up.mjs code-cache

FROM ${NODE_IMAGE}
ARG NODE_IMAGE
LABEL org.opencontainers.image.title="rolecall" \
      org.opencontainers.image.version="1.0.0" \
      org.opencontainers.image.description="Edge health-routing proxy for PostgreSQL high-availability clusters" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.base.name="${NODE_IMAGE}"
ENV NODE_ENV=production
ENV CACHE_DIRECTORY=/app/code-cache
# One malloc arena for all threads and a fixed trim threshold: glibc returns free memory sooner.
ENV MALLOC_ARENA_MAX=1
ENV MALLOC_TRIM_THRESHOLD_=131072
# Where state and history are kept, if the configuration names no file: mount a volume there.
ENV STATE_DIRECTORY=/var/lib/rolecall
# Where HEALTHCHECK asks: any listener of the configuration will do.
ENV HEALTH_URL=http://127.0.0.1:8008/livez
WORKDIR /app
COPY package.json LICENSE ./
# What `rolecall render` prints, and the files for Kubernetes.
COPY deploy ./deploy
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/code-cache ./code-cache
# The only folder to which the program writes, for `state_file` and the history. The root may be read-only.
COPY --from=build --chown=1000:1000 /app/state /var/lib/rolecall
# The user `node`. By number, because Kubernetes cannot verify a name (`runAsNonRoot`).
USER 1000:1000
EXPOSE 8008 9108
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["node", "-e", "fetch(process.env.HEALTH_URL).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The configuration is mounted: without one the program ends with 2 and says so.
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve", "--config", "/etc/rolecall/rolecall.yaml"]
