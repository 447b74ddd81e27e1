{{/* The parts that all pods share. */}}

{{/* Argument: the number of the user. */}}
{{- define "cairn.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
# Without this line, Kubernetes changes the group of every file of a volume at each start.
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* Argument: whether the root file system is read-only. */}}
{{- define "cairn.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: {{ . }}
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Kubernetes replaces the ConfigMap of running pods, but Cairn reads its settings only at the start. So a
     change of the settings must start new pods. Kubernetes does not know the contents of the Secrets here:
     after a change of a Secret, run `kubectl rollout restart`. */}}
{{- define "cairn.podMetadata" -}}
{{- $root := index . 0 -}}
labels:
  {{- include "cairn.labels" . | nindent 2 }}
  {{- with $root.Values.pods.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
annotations:
  checksum/settings: {{ include "cairn.settingsData" $root | sha256sum }}
  {{- with $root.Values.pods.annotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The account, the place and the user of a pod. Argument: dict with the root; `account` and `user` replace those
     of the values. */}}
{{- define "cairn.podPlace" -}}
{{- $values := .root.Values -}}
serviceAccountName: {{ .account | default (include "cairn.serviceAccountName" .root) }}
automountServiceAccountToken: false
# Otherwise Kubernetes would set a variable for each Service of the namespace. Variables that begin with
# CAIRN_ are settings of Cairn.
enableServiceLinks: false
{{- with $values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $values.pods.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.pods.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.pods.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "cairn.podSecurity" (.user | default $values.pods.runAsUser) | nindent 2 }}
{{- end -}}

{{/* The contents of the ConfigMap with the settings. */}}
{{- define "cairn.settingsData" -}}
cluster.toml: |
  {{- include "cairn.toml" . | trim | nindent 2 }}
operator.toml: |
  {{- include "cairn.operatorToml" . | trim | default "# No rules: every setting has its default." | nindent 2 }}
{{- end -}}

{{/* A pod that runs a command once. Argument: dict with the root, the component, the image, the command, its
     arguments, the ConfigMap, the account (default: that of the values), the resources, and the entries of
     `cairn.programs`. */}}
{{- define "cairn.oncePod" -}}
metadata:
  {{- include "cairn.podMetadata" (list .root .component) | nindent 2 }}
spec:
  restartPolicy: Never
  {{- include "cairn.podPlace" (dict "root" .root "account" .account) | nindent 2 }}
  # An interrupted command is continued by the next one.
  terminationGracePeriodSeconds: 10
  containers:
    - name: {{ .component }}
      image: {{ include "cairn.image" (list .root .image) }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      command: [{{ .command }}]
      args: {{ toJson .arguments }}
      env:
        {{- include "cairn.variables" . | trim | nindent 8 }}
      resources:
        {{- toYaml .resources | nindent 8 }}
      securityContext:
        {{- include "cairn.containerSecurity" true | nindent 8 }}
      volumeMounts:
        - {name: settings, mountPath: /etc/cairn, readOnly: true}
        - {name: temporary, mountPath: /tmp}
  volumes:
    - name: settings
      configMap: {name: {{ .settings }}}
    - name: temporary
      emptyDir: {sizeLimit: 64Mi}
{{- end -}}

{{/* A claim of storage. Argument: dict with the size and the class. */}}
{{- define "cairn.claim" -}}
accessModes: [ReadWriteOnce]
{{- with .storageClass }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests:
    storage: {{ .size }}
{{- end -}}
