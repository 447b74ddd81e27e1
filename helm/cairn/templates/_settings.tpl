{{/* The settings of Cairn: addresses, TOML, and the variables with secrets. */}}

{{/* Adds the default port to an address. Argument: list of the address and the port. */}}
{{- define "cairn.address" -}}
{{- $address := index . 0 -}}
{{- if contains ":" $address }}{{ $address }}{{ else }}{{ $address }}:{{ index . 1 }}{{ end -}}
{{- end -}}

{{/* The servers, with the Secret of each. The servers of a trial replace the servers in the values. */}}
{{- define "cairn.servers" -}}
{{- $name := include "cairn.fullname" . -}}
{{- $servers := pick .Values "rabbitmq" "neo4j" "qdrant" "s3" | deepCopy -}}
{{- $_ := set $servers "cursorKey" (dict "existingSecret" .Values.query.existingSecret "key" .Values.query.cursorKeyKey) -}}
{{- if .Values.trial.enabled -}}
{{- $secret := include "cairn.trialSecret" . -}}
{{- $_ := set $servers "rabbitmq" (dict "addresses" (list (printf "%s-rabbitmq:5672" $name)) "tls" false
      "managementAddress" (printf "%s-rabbitmq:15672" $name) "managementTls" false "vhost" .Values.rabbitmq.vhost
      "existingSecret" $secret "usernameKey" "rabbitmq-username" "passwordKey" "rabbitmq-password") -}}
{{- $_ := set $servers "neo4j" (dict "address" (printf "%s-neo4j:7687" $name) "tls" false "user" "neo4j"
      "existingSecret" $secret "passwordKey" "neo4j-password") -}}
{{- $_ := set $servers "qdrant" (dict "address" (printf "%s-qdrant:6334" $name) "tls" false
      "existingSecret" $secret "apiKeyKey" "qdrant-api-key") -}}
{{- $_ := set $servers "s3" (dict "endpoint" (printf "http://%s-minio:9000" $name) "bucket" .Values.s3.bucket
      "region" .Values.s3.region "existingSecret" $secret
      "accessKeyIdKey" "s3-access-key-id" "secretAccessKeyKey" "s3-secret-access-key") -}}
{{- $_ := set $servers "cursorKey" (dict "existingSecret" $secret "key" "cursor-key") -}}
{{- end -}}
{{- toYaml $servers -}}
{{- end -}}

{{/* A value in the syntax of TOML, on one line. JSON strings are also strings of TOML. Helm reads all numbers as
     floating-point numbers, so whole numbers are converted back. */}}
{{- define "cairn.toml.value" -}}
{{- if kindIs "map" . -}}
{{- $pairs := list -}}
{{- range $key := keys . | sortAlpha -}}
{{- $pairs = append $pairs (printf "%s = %s" (include "cairn.toml.key" $key) (include "cairn.toml.value" (get $ $key))) -}}
{{- end -}}
{ {{ join ", " $pairs }} }
{{- else if kindIs "slice" . -}}
[{{- range $index, $item := . }}{{ if $index }}, {{ end }}{{ include "cairn.toml.value" $item }}{{ end }}]
{{- else if kindIs "string" . -}}
{{- toJson . -}}
{{- else if kindIs "float64" . -}}
{{- if eq . (floor .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{- define "cairn.toml.key" -}}
{{- if regexMatch "^[A-Za-z0-9_-]+$" . }}{{ . }}{{ else }}{{ toJson . }}{{ end -}}
{{- end -}}

{{/* The lines of a section: simple values first, then each nested section. Argument: list of the name of the
     section and its values. A section without values is left out. */}}
{{- define "cairn.toml.section" -}}
{{- $name := index . 0 -}}{{- $values := index . 1 -}}
{{- if $values }}
[{{ $name }}]
{{- range $key := keys $values | sortAlpha }}
{{- if not (kindIs "map" (get $values $key)) }}
{{ include "cairn.toml.key" $key }} = {{ include "cairn.toml.value" (get $values $key) }}
{{- end }}
{{- end }}
{{ range $key := keys $values | sortAlpha }}
{{- if kindIs "map" (get $values $key) }}
{{- include "cairn.toml.section" (list (printf "%s.%s" $name (include "cairn.toml.key" $key)) (get $values $key)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The maximum number of query processes. An update adds one process at a time. */}}
{{- define "cairn.queryProcesses" -}}
{{- $query := .Values.query -}}
{{- add 1 (ternary $query.autoscaling.maxReplicas $query.replicas $query.autoscaling.enabled) -}}
{{- end -}}

{{/* The host names of the query service. */}}
{{- define "cairn.queryHosts" -}}
{{- $service := printf "%s-query" (include "cairn.fullname" .) -}}
{{- $namespace := .Release.Namespace -}}
{{- $hosts := list $service (printf "%s.%s" $service $namespace) (printf "%s.%s.svc" $service $namespace)
      (printf "%s.%s.svc.cluster.local" $service $namespace) -}}
{{- range list .Values.ingress .Values.gateway }}{{ if .enabled }}{{ $hosts = append $hosts .host }}{{ end }}{{ end -}}
{{- concat $hosts .Values.query.extraHosts | uniq | toJson -}}
{{- end -}}

{{/* The settings file. It contains no secret: the variables of `cairn.variables` add the secrets. */}}
{{- define "cairn.toml" -}}
{{- $root := . -}}
{{- $servers := include "cairn.servers" . | fromYaml -}}
{{- $config := .Values.config | deepCopy -}}
operator = "/etc/cairn/operator.toml"
cache_directory = "/var/cache/cairn"
{{ include "cairn.toml.section" (list "http" (dict "listen" "0.0.0.0:9090")) }}
{{- with $servers.rabbitmq }}
{{- $urls := list }}
{{- range .addresses }}
{{- $scheme := ternary "amqps" "amqp" $servers.rabbitmq.tls }}
{{- $port := ternary "5671" "5672" $servers.rabbitmq.tls }}
{{- $urls = append $urls (printf "%s://%s/%s" $scheme (include "cairn.address" (list . $port)) ($servers.rabbitmq.vhost | urlquery)) }}
{{- end }}
{{- $_ := set $config.rabbitmq "urls" $urls }}
{{- $_ := set $config.rabbitmq "management_url" (printf "%s://%s" (ternary "https" "http" .managementTls) .managementAddress) }}
{{- end }}
{{- include "cairn.toml.section" (list "rabbitmq" $config.rabbitmq) }}
{{- with $servers.s3 }}
{{- $_ := set $config.s3 "bucket" .bucket }}
{{- $_ := set $config.s3 "region" .region }}
{{- with .endpoint }}{{ $_ := set $config.s3 "endpoint" . }}{{ end }}
{{- end }}
{{- include "cairn.toml.section" (list "s3" $config.s3) }}
{{- with $servers.neo4j }}
{{- $_ := set $config.neo4j "url" (printf "%s://%s" (ternary "bolt+s" "bolt" .tls) (include "cairn.address" (list .address "7687"))) }}
{{- $_ := set $config.neo4j "user" .user }}
{{- end }}
{{- include "cairn.toml.section" (list "neo4j" $config.neo4j) }}
{{- with $servers.qdrant }}
{{- $_ := set $config.qdrant "url" (printf "%s://%s" (ternary "https" "http" .tls) (include "cairn.address" (list .address "6334"))) }}
{{- end }}
{{- include "cairn.toml.section" (list "qdrant" $config.qdrant) }}
{{- $embedding := dict "kind" .Values.embedding.kind }}
{{- if eq .Values.embedding.kind "http" }}
{{- with .Values.embedding.keyName }}{{ $_ := set $embedding "key_name" . }}{{ end }}
{{- $provider := .Values.embedding.provider | deepCopy }}
{{- if .Values.embedding.existingSecret }}
{{- $_ := set $provider "api_key" (dict "env" "EMBEDDING_API_KEY") }}
{{- end }}
{{- $_ := set $embedding "provider" $provider }}
{{- end }}
{{- include "cairn.toml.section" (list "embedding" $embedding) }}
{{- include "cairn.toml.section" (list "pipeline" $config.pipeline) }}
{{- $_ := set $config.query "listen" "0.0.0.0:8080" }}
{{- $_ := set $config.query "cursor_key_file" "/etc/cairn-cursor-key/key" }}
{{- $_ := set $config.query "processes" (include "cairn.queryProcesses" . | int) }}
{{- $gateway := get $config.query "gateway" | default dict }}
{{- $_ := set $gateway "allowed_hosts" (include "cairn.queryHosts" . | fromJsonArray) }}
{{- $_ := set $config.query "gateway" $gateway }}
{{- include "cairn.toml.section" (list "query" $config.query) }}
{{- range $index, $organisation := .Values.organisations }}
[[organisations]]
{{- range $key := omit $organisation "hosting" "token" | keys | sortAlpha }}
{{ $key }} = {{ include "cairn.toml.value" (get $organisation $key) }}
{{- end }}
{{- $hosting := $organisation.hosting | deepCopy }}
{{- if $organisation.token }}
{{- $_ := set $hosting "token" (dict "env" (printf "ORGANISATION_TOKEN_%d" $index)) }}
{{- end }}
{{ include "cairn.toml.section" (list "organisations.hosting" $hosting) }}
{{- end }}
{{- end -}}

{{/* The operator's file. */}}
{{- define "cairn.operatorToml" -}}
{{- $operator := .Values.operator | deepCopy -}}
{{- $sources := get $operator "sources" | default dict -}}
{{- if .Values.gitTokens -}}
{{- $tokens := dict -}}
{{- range $index, $token := .Values.gitTokens }}{{ $_ := set $tokens $token.place (printf "GIT_TOKEN_%d" $index) }}{{ end -}}
{{- $_ := set $sources "tokens" $tokens -}}
{{- end -}}
{{- if .Values.gitSsh.existingSecret -}}
{{- $_ := set $sources "ssh_key" "/etc/cairn-ssh/key" -}}
{{- $_ := set $sources "ssh_known_hosts" "/etc/cairn-ssh/known_hosts" -}}
{{- end -}}
{{- $_ := set $operator "sources" $sources -}}
{{- range $key := keys $operator | sortAlpha }}
{{- if not (kindIs "map" (get $operator $key)) }}
{{- $key }} = {{ include "cairn.toml.value" (get $operator $key) }}
{{ end }}
{{- end }}
{{- range $key := keys $operator | sortAlpha }}
{{- if kindIs "map" (get $operator $key) }}
{{- include "cairn.toml.section" (list $key (get $operator $key)) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A variable with a secret. Argument: list of the variable, the Secret and the key. */}}
{{- define "cairn.secretVariable" -}}
- name: {{ index . 0 }}
  valueFrom:
    secretKeyRef:
      name: {{ index . 1 }}
      key: {{ index . 2 }}
{{ end -}}

{{/* The variables of a container. Argument: dict with the root, and the entries of `cairn.programs`. */}}
{{- define "cairn.variables" -}}
{{- $root := .root -}}
{{- $servers := include "cairn.servers" .root | fromYaml -}}
- name: CAIRN_CLUSTER_CONFIG
  value: /etc/cairn/cluster.toml
{{ with $servers.neo4j -}}
{{ include "cairn.secretVariable" (list "CAIRN__NEO4J__PASSWORD" .existingSecret .passwordKey) }}
{{- end }}
{{- with $servers.s3 }}
{{- include "cairn.secretVariable" (list "AWS_ACCESS_KEY_ID" .existingSecret .accessKeyIdKey) }}
{{- include "cairn.secretVariable" (list "AWS_SECRET_ACCESS_KEY" .existingSecret .secretAccessKeyKey) }}
{{- end }}
{{- if .rabbitmq }}
{{- with $servers.rabbitmq }}
{{- include "cairn.secretVariable" (list "RABBITMQ_USERNAME" .existingSecret .usernameKey) }}
{{- include "cairn.secretVariable" (list "RABBITMQ_PASSWORD" .existingSecret .passwordKey) }}
{{- $scheme := ternary "amqps" "amqp" .tls }}
{{- $port := ternary "5671" "5672" .tls }}
{{- $urls := list }}
{{- range .addresses }}
{{- $urls = append $urls (printf "%s://$(RABBITMQ_USERNAME):$(RABBITMQ_PASSWORD)@%s/%s" $scheme (include "cairn.address" (list . $port)) ($servers.rabbitmq.vhost | urlquery)) }}
{{- end -}}
- name: CAIRN__RABBITMQ__URLS
  value: {{ join "," $urls | quote }}
- name: CAIRN__RABBITMQ__MANAGEMENT_URL
  value: {{ printf "%s://$(RABBITMQ_USERNAME):$(RABBITMQ_PASSWORD)@%s" (ternary "https" "http" .managementTls) .managementAddress | quote }}
{{ end }}
{{- end }}
{{- if and .qdrant $servers.qdrant.existingSecret }}
{{- include "cairn.secretVariable" (list "CAIRN__QDRANT__API_KEY" $servers.qdrant.existingSecret $servers.qdrant.apiKeyKey) }}
{{- end }}
{{- if and .provider (eq $root.Values.embedding.kind "http") $root.Values.embedding.existingSecret }}
{{- include "cairn.secretVariable" (list "EMBEDDING_API_KEY" $root.Values.embedding.existingSecret $root.Values.embedding.apiKeyKey) }}
{{- end }}
{{- if .git }}
{{- range $index, $token := $root.Values.gitTokens }}
{{- include "cairn.secretVariable" (list (printf "GIT_TOKEN_%d" $index) $token.secretName $token.secretKey) }}
{{- end }}
{{- end }}
{{- if .organisations }}
{{- range $index, $organisation := $root.Values.organisations }}
{{- with $organisation.token }}
{{- include "cairn.secretVariable" (list (printf "ORGANISATION_TOKEN_%d" $index) .secretName .secretKey) }}
{{- end }}
{{- end }}
{{- end }}
{{- with .drainSeconds -}}
- name: CAIRN__PIPELINE__DRAIN_SECONDS
  value: {{ . | quote }}
{{ end }}
{{- range $name := keys $root.Values.env | sortAlpha -}}
- name: {{ $name }}
  value: {{ get $root.Values.env $name | quote }}
{{ end }}
{{- end -}}
