# rolecall as an image: the built program, its run-time packages, Node 24. `test/docker-replay.sh` replays these steps.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY packaging ./packaging
COPY src ./src
RUN npm run build && npm prune --omit=dev

FROM node:24-slim
LABEL org.opencontainers.image.title="rolecall" \
      org.opencontainers.image.description="Edge health-routing proxy for PostgreSQL high-availability clusters" \
      org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production
# Where HEALTHCHECK asks: any listener of the configuration will do.
ENV HEALTH_URL=http://127.0.0.1:8008/livez
WORKDIR /app
COPY package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# Nothing is written but `state_file` and the history, where they are configured: the root may be read-only.
USER node
EXPOSE 8008
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["node", "-e", "fetch(process.env.HEALTH_URL).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The configuration is mounted: without one the program ends with 2 and says so.
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve", "--config", "/etc/rolecall/rolecall.yaml"]
