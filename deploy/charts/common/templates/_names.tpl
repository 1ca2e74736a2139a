{{- /* The ports of the containers, which all templates refer to. */}}
{{- define "common.httpPort" -}}8080{{- end }}
{{- define "common.healthPort" -}}9090{{- end }}

{{- /* The name of an object of this release: (list $ "users"). */}}
{{- define "common.nameOf" -}}
{{- $root := index . 0 }}
{{- $chart := index . 1 }}
{{- $name := contains $chart $root.Release.Name | ternary $root.Release.Name (printf "%s-%s" $root.Release.Name $chart) }}
{{- regexReplaceAll "[^a-z0-9]+$" (trunc 52 $name) "" }}
{{- end }}

{{- define "common.name" -}}
{{- .Values.fullnameOverride | default (include "common.nameOf" (list . (.Values.nameOverride | default .Chart.Name))) }}
{{- end }}

{{- define "common.accountName" -}}
{{- $own := .Values.serviceAccount.create | ternary (include "common.name" .) "default" }}
{{- .Values.serviceAccount.name | default $own }}
{{- end }}

{{- /* A text as the value of a label, which has at most 63 characters and begins and ends with a letter or digit. */}}
{{- define "common.labelValue" -}}
{{- regexReplaceAll "^[^A-Za-z0-9]+|[^A-Za-z0-9]+$" (trunc 63 .) "" | quote }}
{{- end }}

{{- define "common.chartLabel" -}}
{{- printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | include "common.labelValue" }}
{{- end }}

{{- /* Labels that select the pods of this release. They contain no version, because a Deployment cannot change them. */}}
{{- define "common.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: server
{{- end }}

{{- define "common.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ include "common.labelValue" (include "common.tag" .) }}
app.kubernetes.io/part-of: fw
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ include "common.chartLabel" . }}
{{- end }}

{{- /* Labels of pods. They omit the version of the chart, so that a new chart alone does not replace the pods. */}}
{{- define "common.podLabels" -}}
{{ include "common.selectorLabels" . }}
app.kubernetes.io/version: {{ include "common.labelValue" (include "common.tag" .) }}
app.kubernetes.io/part-of: fw
{{- end }}

{{- /* Labels of a pod that may call services; their NetworkPolicies select it by them: (list "users" "catalog"). */}}
{{- define "common.callerLabels" -}}
{{- range . }}
fw/calls-{{ . }}: "true"
{{- end }}
{{- end }}

{{- /* A block of values. `global` of a parent chart overrides the chart's own: (list $ "ingress"). */}}
{{- define "common.shared" -}}
{{- $root := index . 0 }}
{{- $key := index . 1 }}
{{- $own := deepCopy (get $root.Values $key) }}
{{- $global := get ($root.Values.global | default dict) $key | default dict }}
{{- toYaml (mergeOverwrite $own (deepCopy $global)) }}
{{- end }}

{{- /* The paths of the service: whole segments. */}}
{{- define "common.paths" -}}{{ tpl (toYaml .Values.paths) . }}{{- end }}

{{- /* A value as text. Helm reads numbers as floating-point numbers, which would print as 1e+06. */}}
{{- define "common.text" -}}
{{- if kindIs "float64" . }}{{ toJson . }}{{ else }}{{ . }}{{ end }}
{{- end }}
