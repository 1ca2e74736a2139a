{{- /*
Sets .Values to the defaults of this chart, the values of the service, and `global`: the last one that has a key wins.
Helm stores the defaults in .Values.common if this chart is a dependency of the service. A second call has no effect.
*/}}
{{- define "common.values" -}}
{{- if hasKey .Values "common" }}
{{- $values := mustMergeOverwrite (deepCopy .Values.common) (omit .Values "common" "global") (deepCopy (.Values.global | default dict)) }}
{{- include "common.removeNulls" $values }}
{{- $_ := set . "Values" $values }}
{{- end }}
{{- end }}

{{- /* Removes the keys of a map that are null. Helm itself does this only for keys that the chart has a default for. */}}
{{- define "common.removeNulls" -}}
{{- range $key, $value := . }}
{{- if kindIs "invalid" $value }}{{ $_ := unset $ $key }}
{{- else if kindIs "map" $value }}{{ include "common.removeNulls" $value }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The name of an object of this release: (list $ "users"). */}}
{{- define "common.nameOf" -}}
{{- $release := (first .).Release.Name }}
{{- $name := contains (last .) $release | ternary $release (printf "%s-%s" $release (last .)) }}
{{- regexReplaceAll "[^a-z0-9]+$" (trunc 52 $name) "" }}
{{- end }}

{{- define "common.name" -}}
{{- .Values.fullnameOverride | default (include "common.nameOf" (list . (include "common.serviceName" .))) }}
{{- end }}

{{- /* The name of the service in labels: that of its chart. This chart itself, installed directly, takes that of the release. */}}
{{- define "common.serviceName" -}}
{{- .Values.nameOverride | default (eq .Chart.Name "common" | ternary .Release.Name .Chart.Name) }}
{{- end }}

{{- define "common.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "common.name" .) "default") }}
{{- end }}

{{- /* A text as the value of a label, which has at most 63 characters and begins and ends with a letter or digit. */}}
{{- define "common.labelValue" -}}
{{- regexReplaceAll "^[^A-Za-z0-9]+|[^A-Za-z0-9]+$" (trunc 63 . | replace "+" "_") "" | quote }}
{{- end }}

{{- /* Labels that select the pods of this release. They contain no version, because a Deployment cannot change them. */}}
{{- define "common.selectorLabels" -}}
app.kubernetes.io/name: {{ include "common.serviceName" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: server
{{- end }}

{{- define "common.testLabels" -}}
app.kubernetes.io/name: {{ include "common.serviceName" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: test
{{- end }}

{{- /* The label with which a pod may call a service: (list $ "users"). */}}
{{- define "common.callerLabel" -}}
{{ (first .).Values.labelDomain }}/calls-{{ last . }}: "true"
{{- end }}

{{- /* Name, labels and annotations of an object: (dict "root" $ "suffix" "-metrics" "labels" map "annotations" map). */}}
{{- define "common.metadata" -}}
{{- with .root -}}
name: {{ printf "%s%s" (include "common.name" .) ($.suffix | default "") | quote }}
labels:
  app.kubernetes.io/name: {{ include "common.serviceName" . | quote }}
  app.kubernetes.io/instance: {{ .Release.Name | quote }}
  app.kubernetes.io/version: {{ include "common.labelValue" (include "common.tag" .) }}
  app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
  helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | include "common.labelValue" }}
  {{- with merge (dict) ($.labels | default dict) .Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) ($.annotations | default dict) .Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The tag of the image, which is the version in labels. */}}
{{- define "common.tag" -}}{{ .Values.image.tag | default .Chart.AppVersion }}{{- end }}

{{- define "common.image" -}}
{{- with .Values.image.registry }}{{ . }}/{{ end }}{{ .Values.image.repository }}
{{- with include "common.tag" . }}:{{ . }}{{ end }}
{{- with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* The largest number of pods. */}}
{{- define "common.maxReplicas" -}}
{{- .Values.autoscaling.enabled | ternary .Values.autoscaling.maxReplicas .Values.replicaCount }}
{{- end }}
