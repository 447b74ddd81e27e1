{{/* The names, labels and images of all objects. */}}

{{- define "cairn.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* The name of a CronJob may have 52 characters, so the names of programs are added to at most 30. */}}
{{- define "cairn.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 30 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 30 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 30 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The labels by which selectors find pods. These labels never change, because selectors are immutable.
     Argument: list of the root and the name of the component. */}}
{{- define "cairn.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "cairn.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "cairn.labels" -}}
{{- $root := index . 0 -}}
{{ include "cairn.selectorLabels" . }}
app.kubernetes.io/part-of: cairn
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The image of a program. Argument: list of the root and the name of the program; empty: the command
     line. */}}
{{- define "cairn.image" -}}
{{- $root := index . 0 -}}
{{- $image := $root.Values.image -}}
{{- with $image.registry }}{{ . }}/{{ end -}}
{{- $image.repository -}}
{{- with index . 1 }}-{{ . }}{{ end -}}
:{{ default $root.Chart.AppVersion $image.tag }}
{{- end -}}

{{- define "cairn.serviceAccountName" -}}
{{- default (include "cairn.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "cairn.trialSecret" -}}
{{- default (printf "%s-trial" (include "cairn.fullname" .)) .Values.trial.existingSecret -}}
{{- end -}}

{{/* The programs that run all the time. `key` is the section of the values. `stages` are the stages whose
     queues the program empties. The other entries are the servers that the program uses: each program gets
     only the credentials of its servers. Every program uses Neo4j and S3. */}}
{{- define "cairn.programs" -}}
cloner: {key: cloner, stages: [sync], rabbitmq: true, git: true}
parser: {key: parser, stages: [parse], rabbitmq: true}
embedder: {key: embedder, rabbitmq: true, qdrant: true, provider: true}
graph-writer: {key: graphWriter, stages: [link], rabbitmq: true}
pattern-aggregator: {key: patternAggregator, stages: [aggregate], rabbitmq: true}
scheduler: {key: scheduler, rabbitmq: true, qdrant: true}
query: {key: query, qdrant: true, provider: true, cursorKey: true}
{{- end -}}

{{/* Whether the topology job is a hook. */}}
{{- define "cairn.topologyIsHook" -}}
{{- $mode := .Values.topology.mode -}}
{{- if or (eq $mode "hook") (and (eq $mode "auto") (not .Values.trial.enabled) (not .Values.externalSecrets.enabled)) -}}
true
{{- end -}}
{{- end -}}

{{/* The enabled CronJobs, by the name of their values: the work of the scheduler, and the servers and Secrets
     that it needs besides Neo4j and S3. */}}
{{- define "cairn.cronJobs" -}}
{{- range $name, $needs := dict
    "discovery" (dict "work" "tick" "organisations" true)
    "reconcile" (dict "work" "reconcile" "rabbitmq" true "qdrant" true)
    "sweep" (dict "work" "sweep" "rabbitmq" true "qdrant" true) }}
{{- if (get $.Values $name).enabled }}
{{ $name }}: {{ toJson $needs }}
{{- end }}
{{- end }}
{{- end -}}
