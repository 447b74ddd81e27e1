{{- define "cairn.trialRabbitmqSettings" -}}
# Three halves of the longest time of a handler (docs/cluster.toml).
consumer_timeout = 1800000
# The memory of the node is not the memory of the container.
vm_memory_high_watermark.absolute = 768MiB
{{- end -}}

{{- define "cairn.isScaledByQueues" -}}
{{- $root := . -}}
{{- range $name, $program := include "cairn.programs" . | fromYaml -}}
{{- if and $program.stages (get $root.Values $program.key).autoscaling.enabled -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* The servers of a trial. The probes use only programs that the images contain. The programs in these images
     have their own users, whose numbers are low, and Neo4j writes its settings into its root file system. */}}
{{- define "cairn.trialServers" -}}
rabbitmq:
  user: 999
  isReadOnly: true
  ignore: container-security-context-user-group-id
  data: /var/lib/rabbitmq
  memory: 512Mi
  memoryLimit: 1536Mi
  ports: {amqp: 5672, management: 15672, metrics: 15692}
  clientPorts: [5672, 15672]
  clients: [cloner, parser, embedder, graph-writer, pattern-aggregator, scheduler, topology, operator, reconcile, sweep]
  alive: amqp
  ready: {exec: {command: [rabbitmq-diagnostics, -q, check_port_connectivity]}}
  env: {RABBITMQ_DEFAULT_VHOST: {{ .Values.rabbitmq.vhost | quote }}}
  secrets:
    - {name: RABBITMQ_DEFAULT_USER, key: rabbitmq-username}
    - {name: RABBITMQ_DEFAULT_PASS, key: rabbitmq-password}
neo4j:
  user: 7474
  isReadOnly: false
  ignore: container-security-context-user-group-id,container-security-context-readonlyrootfilesystem
  data: /data
  memory: 1Gi
  memoryLimit: 2Gi
  ports: {bolt: 7687, http: 7474}
  clientPorts: [7687]
  clients: [cloner, parser, embedder, graph-writer, pattern-aggregator, scheduler, query, discovery, reconcile, sweep, topology, operator]
  alive: bolt
  ready: {httpGet: {path: /, port: http}}
  env:
    NEO4J_server_memory_heap_max__size: 1G
    NEO4J_server_memory_pagecache_size: 256M
    NEO4J_db_transaction_timeout: 5m
    NEO4J_db_lock_acquisition_timeout: 30s
  secrets:
    - {name: GRAPH_PASSWORD, key: neo4j-password}
  # The image reads each variable that begins with NEO4J_ as a setting, except this one.
  after: {NEO4J_AUTH: neo4j/$(GRAPH_PASSWORD)}
qdrant:
  user: 1000
  isReadOnly: true
  ignore: container-security-context-user-group-id
  data: /qdrant/storage
  scratch: /qdrant/init
  memory: 512Mi
  memoryLimit: 2Gi
  ports: {http: 6333, grpc: 6334}
  clientPorts: [6334]
  clients: [embedder, scheduler, query, topology, operator, reconcile, sweep]
  alive: grpc
  ready: {httpGet: {path: /readyz, port: http}}
  env:
    QDRANT_INIT_FILE_PATH: /qdrant/init/.qdrant-initialized
    QDRANT__STORAGE__SNAPSHOTS_PATH: /qdrant/storage/snapshots
    QDRANT__TELEMETRY_DISABLED: "true"
  secrets:
    - {name: QDRANT__SERVICE__API_KEY, key: qdrant-api-key}
minio:
  user: 1000
  isReadOnly: true
  ignore: container-security-context-user-group-id
  data: /data
  memory: 512Mi
  memoryLimit: 1Gi
  ports: {s3: 9000}
  clientPorts: [9000]
  clients: [cloner, parser, embedder, graph-writer, pattern-aggregator, scheduler, query, discovery, reconcile, sweep, topology, operator]
  alive: s3
  ready: {httpGet: {path: /minio/health/ready, port: s3}}
  args: [server, /data]
  env: {HOME: /tmp}
  secrets:
    - {name: MINIO_ROOT_USER, key: s3-access-key-id}
    - {name: MINIO_ROOT_PASSWORD, key: s3-secret-access-key}
{{- end -}}
