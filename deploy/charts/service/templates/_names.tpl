{{- /* The ports of the containers, which all templates refer to. */}}
{{- define "service.httpPort" -}}8080{{- end }}
{{- define "service.healthPort" -}}9090{{- end }}

{{- /* The name of an object of this release: (list $ "users"). */}}
{{- define "service.nameOf" -}}
{{- $root := index . 0 }}
{{- $chart := index . 1 }}
{{- $name := contains $chart $root.Release.Name | ternary $root.Release.Name (printf "%s-%s" $root.Release.Name $chart) }}
{{- trunc 52 $name | trimSuffix "-" }}
{{- end }}

{{- define "service.name" -}}
{{- .Values.fullnameOverride | default (include "service.nameOf" (list . (.Values.nameOverride | default .Chart.Name))) }}
{{- end }}

{{- define "service.accountName" -}}
{{- $own := .Values.serviceAccount.create | ternary (include "service.name" .) "default" }}
{{- .Values.serviceAccount.name | default $own }}
{{- end }}

{{- /* Labels that select the pods of this release. A Deployment cannot change them: they contain no version. */}}
{{- define "service.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end }}

{{- define "service.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ include "service.tag" . | trunc 63 | quote }}
app.kubernetes.io/part-of: fw
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* Labels of pods. They omit the version of the chart: a new chart alone must not roll the pods. */}}
{{- define "service.podLabels" -}}
{{ include "service.selectorLabels" . }}
app.kubernetes.io/version: {{ include "service.tag" . | trunc 63 | quote }}
app.kubernetes.io/part-of: fw
{{- end }}

{{- /* Labels that allow a pod to call services, by their NetworkPolicies: (list "users" "catalog"). */}}
{{- define "service.callerLabels" -}}
{{- range . }}
fw/calls-{{ . }}: "true"
{{- end }}
{{- end }}

{{- /* A block of values. `global` of a parent chart overrides the chart's own: (list $ "ingress"). */}}
{{- define "service.shared" -}}
{{- $root := index . 0 }}
{{- $key := index . 1 }}
{{- $own := deepCopy (get $root.Values $key) }}
{{- $global := get ($root.Values.global | default dict) $key | default dict }}
{{- toYaml (mergeOverwrite $own (deepCopy $global)) }}
{{- end }}

{{- /* The paths of the service: whole segments, which nothing rewrites. */}}
{{- define "service.paths" -}}
- /api/v1/{{ .Chart.Name }}
- /api/v2/{{ .Chart.Name }}
- /docs/{{ .Chart.Name }}
{{- end }}

{{- /* A value as text. Helm reads integers as floating-point numbers, which would print as 1e+06. */}}
{{- define "service.text" -}}
{{- if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}
