{{- /* Everything that one service installs. */}}
{{- define "service.all" -}}
{{- include "service.checks" . }}
{{- $templates := list "config" "secret" "volume" "account" "deployment" "service" "budget" "autoscaler" "network" "ingress" "route" "metrics" "dashboard" "testNetwork" "test" }}
{{- range $templates }}
{{- with include (printf "service.%s" .) $ | trim }}
---
{{ . }}
{{- end }}
{{- end }}
{{- end }}
