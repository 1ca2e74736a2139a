{{- /* Every object of a service, after the checks of its values. */}}
{{- define "common.all" -}}
{{- include "common.values" . }}
{{- include "common.checks" . }}
{{- $templates := list "configMap" "secret" "persistentVolumeClaim" "serviceAccount" "deployment" "service" "previewService" "analysis" "podDisruptionBudget" "autoscaler" "networkPolicy" "ingress" "httpRoute" "metrics" "dashboard" "testNetworkPolicy" "test" "extraObjects" }}
{{- range $templates }}
{{- with include (printf "common.%s" .) $ | trim }}
---
{{ . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "common.extraObjects" -}}
{{- range .Values.extraObjects }}
---
{{ tpl (kindIs "string" . | ternary . (toYaml .)) $ }}
{{- end }}
{{- end }}
