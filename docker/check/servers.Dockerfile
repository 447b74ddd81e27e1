# hadolint global ignore=DL3008,DL3066
# Replaces the servers of compose.yaml where no registry of images can be reached. The images get the names of
# the real images. RabbitMQ and Prometheus are Debian's packages. MinIO, Neo4j and the test server for Qdrant's
# protocol are those that the tests use: the build context is a folder with `minio`, `neo4j` and `qdrant`.

FROM debian:trixie-slim AS debian
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
ENV DEBIAN_FRONTEND=noninteractive

FROM debian AS rabbitmq
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends rabbitmq-server \
    && rm -rf /var/lib/apt/lists/* /etc/rabbitmq/rabbitmq-env.conf \
    && echo '[rabbitmq_management,rabbitmq_prometheus].' >/etc/rabbitmq/enabled_plugins
USER rabbitmq
CMD ["/usr/lib/rabbitmq/bin/rabbitmq-server"]

FROM debian AS minio
COPY minio /usr/local/bin/minio
# The health check of compose.yaml calls this program.
RUN printf '#!/bin/bash\n: >/dev/tcp/127.0.0.1/9000\n' >/usr/local/bin/mc && chmod +x /usr/local/bin/mc
ENTRYPOINT ["minio"]

FROM debian AS qdrant
COPY qdrant /usr/local/bin/qdrant
CMD ["qdrant", "--listen", "0.0.0.0:6334", "--storage", "/qdrant/storage"]

FROM debian AS neo4j
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends openjdk-21-jre-headless \
    && rm -rf /var/lib/apt/lists/*
COPY neo4j /neo4j/lib
# The health check of compose.yaml calls this program.
RUN printf '#!/bin/bash\n: >/dev/tcp/127.0.0.1/7687\n' >/usr/local/bin/cypher-shell \
    && chmod +x /usr/local/bin/cypher-shell \
    && mkdir -p /neo4j/conf /neo4j/logs /neo4j/run /neo4j/plugins /neo4j/import \
    && printf '%s\n' server.default_listen_address=0.0.0.0 server.http.enabled=false server.https.enabled=false \
        dbms.security.auth_enabled=false dbms.usage_report.enabled=false server.memory.pagecache.size=64m \
        db.transaction.timeout=5m db.lock.acquisition.timeout=30s server.directories.data=/data \
        server.directories.transaction.logs.root=/data/transactions >/neo4j/conf/neo4j.conf
CMD ["java", "-Xms256m", "-Xmx768m", "-XX:+UseG1GC", "--add-opens=java.base/java.nio=ALL-UNNAMED", \
    "--add-opens=java.base/java.io=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", \
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED", "-cp", "/neo4j/lib/*", \
    "org.neo4j.server.CommunityEntryPoint", "--home-dir=/neo4j", "--config-dir=/neo4j/conf", "--console-mode"]

FROM debian AS prometheus
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends prometheus \
    && rm -rf /var/lib/apt/lists/*
ENTRYPOINT ["prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]

# Serves one repository over http: a part of this repository.
FROM debian AS git
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends git python3 \
    && rm -rf /var/lib/apt/lists/*
COPY repository /served/tree
WORKDIR /served/cgi-bin
RUN printf '#!/bin/sh\nexport GIT_PROJECT_ROOT=/served GIT_HTTP_EXPORT_ALL=1\nexec git http-backend\n' >git \
    && chmod +x git \
    && git -C ../tree init --quiet \
    && git -C ../tree add . \
    && git -C ../tree -c user.name=check -c user.email=check@localhost commit --quiet --message Check \
    && git clone --quiet --bare ../tree ../trial.git \
    && chown -R nobody /served
WORKDIR /served
USER nobody
CMD ["python3", "-m", "http.server", "--cgi", "8000"]
