{{- /* Every object of a service, after the checks of its values. */}}
{{- define "common.all" -}}
{{- include "common.checks" . }}
{{- $templates := list "configMap" "secret" "persistentVolumeClaim" "serviceAccount" "deployment" "service" "previewService" "analysis" "podDisruptionBudget" "autoscaler" "networkPolicies" "ingress" "httpRoute" "metrics" "dashboard" "testNetworkPolicy" "test" }}
{{- range $templates }}
{{- with include (printf "common.%s" .) $ | trim }}
---
{{ . }}
{{- end }}
{{- end }}
{{- end }}
