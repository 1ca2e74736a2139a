{{- /* Every object of a service, after the checks of its values. */}}
{{- define "common.all" -}}
{{- include "common.values" . }}
{{- include "common.checks" . }}
{{- range include "common.objects" . | fromYamlArray }}
---
{{ include (printf "common.%s" .) $ | trim }}
{{- end }}
{{- range .Values.extraObjects }}
---
{{ tpl (kindIs "string" . | ternary . (toYaml .)) $ }}
{{- end }}
{{- end }}

{{- /* The templates of the objects, each under the values that add it. "deployment" is a Deployment or a Rollout. */}}
{{- define "common.objects" -}}
- deployment
- service
{{- if .Values.progressiveDelivery.enabled }}
- previewService
- analysis
{{- if get (include "common.trafficRouting" . | fromYaml) "traefik" }}
- traefik
{{- end }}
{{- else }}
- configMap
{{- end }}
{{- if .Values.serviceAccount.create }}
- serviceAccount
{{- end }}
{{- if include "common.ownSecrets" . | fromYaml }}
- secret
{{- end }}
{{- with .Values.store }}
{{- if and (eq .type "sqlite") (not .sqlite.existingClaim) (not .sqlite.ephemeral) }}
- persistentVolumeClaim
{{- end }}
{{- end }}
{{- /* The budget of a single pod would block every node drain. */}}
{{- if and .Values.podDisruptionBudget.enabled (ge (include "common.maxReplicas" . | int) 2) }}
- podDisruptionBudget
{{- end }}
{{- if .Values.autoscaling.enabled }}
- autoscaler
{{- end }}
{{- if .Values.networkPolicy.enabled }}
- networkPolicy
- testNetworkPolicy
{{- end }}
{{- if (include "common.shared" (list . "ingress") | fromYaml).enabled }}
- ingress
{{- end }}
{{- if (include "common.shared" (list . "httpRoute") | fromYaml).enabled }}
- httpRoute
{{- end }}
{{- if .Values.metrics.serviceMonitor.enabled }}
- monitor
{{- end }}
{{- if (include "common.shared" (list . "entryProbe") | fromYaml).enabled }}
- entryProbe
{{- end }}
{{- if .Values.metrics.prometheusRule.enabled }}
- alerts
{{- end }}
{{- if .Values.metrics.dashboard.enabled }}
- dashboard
{{- end }}
- test
{{- end }}
