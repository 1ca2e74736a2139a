{{- /* Where the containers listen, and what every other template calls these ports. */}}
{{- define "service.httpPort" -}}8080{{- end }}
{{- define "service.healthPort" -}}9090{{- end }}

{{- /* The name of what a chart installs in this release: (list $ "users"). */}}
{{- define "service.nameOf" -}}
{{- $root := index . 0 }}
{{- $chart := index . 1 }}
{{- $name := contains $chart $root.Release.Name | ternary $root.Release.Name (printf "%s-%s" $root.Release.Name $chart) }}
{{- trunc 52 $name | trimSuffix "-" }}
{{- end }}

{{- define "service.name" -}}
{{- .Values.fullnameOverride | default (include "service.nameOf" (list . .Chart.Name)) }}
{{- end }}

{{- define "service.accountName" -}}
{{- $own := .Values.serviceAccount.create | ternary (include "service.name" .) "default" }}
{{- .Values.serviceAccount.name | default $own }}
{{- end }}

{{- /* Labels that select this release's pods: immutable on a Deployment, so nothing that varies by version. */}}
{{- define "service.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end }}

{{- define "service.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ include "service.version" . | quote }}
app.kubernetes.io/part-of: fw
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* Those of a pod: nothing that changes with the chart alone, because a change rolls the pods. */}}
{{- define "service.podLabels" -}}
{{ include "service.selectorLabels" . }}
app.kubernetes.io/version: {{ include "service.version" . | quote }}
app.kubernetes.io/part-of: fw
{{- end }}

{{- /* What a pod must carry to be let in by the NetworkPolicy of a service: (list "users" "catalog"). */}}
{{- define "service.callerLabels" -}}
{{- range . }}
fw/calls-{{ . }}: "true"
{{- end }}
{{- end }}

{{- /* Values of a whole platform, which it gives to its charts as global, win over a chart's own. */}}
{{- define "service.shared" -}}
{{- $root := index . 0 }}
{{- $key := index . 1 }}
{{- $own := deepCopy (get $root.Values $key) }}
{{- $global := get ($root.Values.global | default dict) $key | default dict }}
{{- toYaml (mergeOverwrite $own (deepCopy $global)) }}
{{- end }}

{{- /*
Those of the NetworkPolicy, but for its peers in "from", to which a platform adds its own. An empty list
of the platform's leaves the chart's: as a rule without peers or ports it would let everything through.
*/}}
{{- define "service.policy" -}}
{{- $policy := deepCopy .Values.networkPolicy }}
{{- range $key, $value := get (.Values.global | default dict) "networkPolicy" | default dict }}
{{- if $value }}{{ $_ := set $policy $key $value }}{{ end }}
{{- end }}
{{- toYaml $policy }}
{{- end }}

{{- define "service.version" -}}
{{- $image := include "service.shared" (list . "image") | fromYaml }}
{{- $image.tag | default .Chart.AppVersion | trunc 63 }}
{{- end }}

{{- define "service.image" -}}
{{- $image := include "service.shared" (list . "image") | fromYaml }}
{{- with $image.registry }}{{ . }}/{{ end }}{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- with $image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* The paths that lead to a service: whole segments, and nothing is rewritten. */}}
{{- define "service.paths" -}}
- /api/v1/{{ .Chart.Name }}
- /api/v2/{{ .Chart.Name }}
- /docs/{{ .Chart.Name }}
{{- end }}

{{- /* A value as text: Helm reads whole numbers as floating ones, which print as 1e+06. */}}
{{- define "service.text" -}}
{{- if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}
