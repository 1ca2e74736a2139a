{{- /* Sets the defaults of the library for each service (common.values), so that templates can read its values. */}}
{{- define "platform.values" -}}
{{- range include "platform.services" . | fromYamlArray }}
{{- include "common.values" (get $.Subcharts .) }}
{{- end }}
{{- end }}

{{- /* The names of the services that are installed: Helm removes disabled dependencies. */}}
{{- define "platform.services" -}}
{{- range .Chart.Dependencies }}
{{- if .Condition }}
- {{ .Name | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Whether a service is installed: (list $ "reports"). */}}
{{- define "platform.hasService" -}}
{{- $root := index . 0 }}
{{- if has (index . 1) (include "platform.services" $root | fromYamlArray) }}yes{{ end }}
{{- end }}

{{- /* The names of the parts, and of the Secrets that contain their passwords. */}}
{{- define "platform.edgeName" -}}{{ include "common.nameOf" (list . "edge") }}{{- end }}
{{- define "platform.tokensName" -}}{{ include "common.nameOf" (list . "tokens") }}{{- end }}
{{- define "platform.valkeyName" -}}{{ include "common.nameOf" (list . "valkey") }}{{- end }}
{{- define "platform.valkeySecret" -}}
{{- .Values.valkey.existingSecret | default (include "platform.valkeyName" .) }}
{{- end }}
{{- define "platform.postgresName" -}}{{ include "common.nameOf" (list . "postgres") }}{{- end }}
{{- define "platform.postgresSecret" -}}
{{- .Values.postgres.existingSecret | default (include "platform.postgresName" .) }}
{{- end }}

{{- /* Labels that select the pods of one part: (list $ "edge"). */}}
{{- define "platform.selectorLabels" -}}
app.kubernetes.io/name: {{ index . 1 | quote }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}
{{- end }}

{{- /* Labels of pods. They omit the version of the chart, so that a new chart alone does not restart the servers. */}}
{{- define "platform.podLabels" -}}
{{ include "platform.selectorLabels" . }}
app.kubernetes.io/part-of: fw
{{- end }}

{{- define "platform.labels" -}}
{{- $root := index . 0 -}}
{{ include "platform.podLabels" . }}
app.kubernetes.io/managed-by: {{ $root.Release.Service | quote }}
helm.sh/chart: {{ include "common.chartLabel" $root }}
{{- end }}

{{- /* The settings of a pod: (list $ .Values.edge). Kubernetes replaces pods without data 30 s after their node failed. */}}
{{- define "platform.podSettings" -}}
{{- $root := index . 0 }}
{{- $pod := index . 1 }}
{{- include "common.podSettings" (dict "root" $root "pod" $pod) }}
{{- $tolerations := list }}
{{- if not $pod.storage }}{{ $tolerations = include "common.nodeFailureTolerations" 30 | fromYamlArray }}{{ end }}
{{- include "common.placement" (dict "pod" $pod "tolerations" $tolerations) }}
{{- end }}

{{- /* The settings of a container: (list $ .Values.edge). */}}
{{- define "platform.containerSettings" -}}
{{- $pod := index . 1 }}
{{- include "common.containerSettings" (dict "root" (index . 0) "image" $pod.image "tag" $pod.image.tag) }}
{{- with $pod.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* A generated secret: the value that the cluster has, or a new random one. (list $ "Secret name" "key") */}}
{{- define "platform.generatedSecret" -}}
{{- $existing := lookup "v1" "Secret" (index . 0).Release.Namespace (index . 1) | default dict }}
{{- dig "data" (index . 2) "" $existing | b64dec | default (randAlphaNum 40) }}
{{- end }}
